// Single packets: how many are under way, and each one by its number in the flow.
const Packets = (() => {
  const series = (points, more) => ({ xs: points.map((p) => p[0]), ys: points.map((p) => p[1]), ...more });

  // One line per flow. `look` gives its colour and dash.
  const flight = (run, look) => (run.packets ?? []).map((flow, k) =>
    series(flow.in_flight, { name: run.names[flow.flow], kinds: ["line"], ...look(run, flow.flow, k, run.packets.length) }));

  function numbered(flow) {
    const all = [
      series(flow.acknowledged, { name: "acknowledged", kinds: ["stairs"], colour: "var(--soft)" }),
      series(flow.sent, { name: "sent", kinds: ["dots"], radius: 1.2 }),
      series(flow.sent_again, { name: "sent again", kinds: ["dots"], shape: 2, radius: 2.8, colour: "var(--ink)" }),
      series(flow.lost, { name: "dropped or lost", kinds: ["dots"], shape: 3, radius: 2.8, colour: "var(--bad)" }),
    ];
    return all.filter((list) => list.xs.length);
  }

  // One panel for each flow.
  function draw(host, view, x, runs, colours) {
    if (!host) return;
    const panels = runs.flatMap((run) => (run.packets ?? []).map((flow) => ({
      title: [runs.length > 1 && run.controller, run.packets.length > 1 && run.names[flow.flow]].filter(Boolean).join(", "),
      colour: colours(run.controller), series: numbered(flow),
    })));
    if (!panels.length) return;
    const y = { title: "Packet", unit: "", zero: false, own: true };
    new Chart.Figure(host, view, { x, y, height: panels.length > 1 ? 200 : 300, columns: Math.min(2, panels.length), panels });
  }

  return { flight, draw };
})();
