// Fills the page's places with pictures of its data, following the selectors.
const Page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const place = (name) => document.querySelector(`[data-figure="${name}"]`);
  const time = new View();
  const index = new View();
  const tail = new View();
  const done = new View();
  const TIME = { title: "Time", unit: "s", name: "t" };
  const chosen = { point: 0, replication: 0, axes: "shared" };

  const controllerIndex = (name) => data.controllers.findIndex((c) => c.name === name);
  // Where a run has several flows, each has a colour; a single one has that of its controller.
  const flowColour = (run, flow) => (run.flow_count > 1 ? data.palette[flow % data.palette.length] : undefined);

  function numbers(values, q) {
    return Float64Array.from(values, (v) => (v === null ? NaN : v * q));
  }

  function series(curve, more) {
    const ys = numbers(curve.v, curve.q);
    const out = { xs: Float64Array.from(ys, (_, i) => curve.t0 + i * curve.dt), ys, stepped: true, ...more };
    if (curve.lo) Object.assign(out, { lo: numbers(curve.lo, curve.q), hi: numbers(curve.hi, curve.q) });
    return out;
  }

  const runs = () => data.runs.filter((r) => r.point === chosen.point && r.replication === chosen.replication);
  const curves = (run, metric) => run.curves.filter((c) => c.metric === metric);

  // One panel per run, with the common settings of all time figures. A single run needs no name.
  function timePanels(make) {
    const all = runs();
    return all.map((run) => ({
      title: all.length > 1 ? run.controller : "",
      colour: data.controllers[controllerIndex(run.controller)].colour,
      series: make(run),
      bands: data.warmup_s > 0 ? [{ from: 0, to: data.warmup_s, label: "warm-up" }] : [],
    }));
  }

  // Style of a flow, the `k`-th of `n` drawn ones.
  const flowLook = (run, flow, k, n) => ({ colour: flowColour(run, flow), dash: n > data.palette.length / 2 ? Marks.look(k).dash : "" });

  // A curve clipped to its flow's lifetime.
  function lived(run, curve) {
    const [start, end] = run.lives[curve.flow] ?? [0, null];
    const inside = (_, i) => curve.t0 + (i + 0.5) * curve.dt > start && (end === null || curve.t0 + (i - 0.5) * curve.dt < end);
    const cut = (values) => values?.map((v, i) => (inside(v, i) ? v : null));
    return { ...curve, v: cut(curve.v), lo: cut(curve.lo), hi: cut(curve.hi) };
  }

  // The flows of a run as lines.
  function perFlow(run, metric, kinds) {
    const all = curves(run, metric).map((curve) => lived(run, curve)), alone = all.length === 1;
    return all.map((curve, k) => {
      const name = curve.flow === null ? "all" : run.names[curve.flow];
      const { lo, hi, ...plain } = curve;
      return series(alone ? curve : plain, {
        kinds: alone && lo ? ["band", ...kinds] : kinds, name, ...flowLook(run, curve.flow, k, all.length), role: all.length > 4 ? "thin" : "",
      });
    });
  }

  // With the mean of each flow over its own life.
  const got = (run) => perFlow(run, "throughput", ["line"]).map((line, k) => {
    const mean = run.throughput_bps[curves(run, "throughput")[k].flow];
    return { ...line, at_rest: mean === null || mean === undefined ? undefined : `mean ${Format.value(mean, "bit/s", 3)}` };
  });

  function throughput(run) {
    const at = data.measured ? ` at ${data.measured}` : "";
    return [
      ...(data.traffic || !data.capacity_bps ? curves(run, "available") : []).map((c) => series(c, { name: (data.traffic ? "available" : "capacity") + at, kinds: ["area"], role: "available" })),
      ...(data.traffic ? curves(run, "traffic") : []).map((c) => series(c, { name: "traffic", kinds: ["line"], role: "traffic" })),
      ...(run.flow_count > run.names.length || data.traffic ? curves(run, "total") : []).map((c) => series(c, { name: "all flows" + at, kinds: ["line"], role: "thin", colour: "var(--soft)" })),
      ...got(run),
    ];
  }

  function queue(run) {
    return [
      ...curves(run, "queue_delay_max").map((c) => series(c, { name: "longest in interval", kinds: ["line"], role: "faint" })),
      ...curves(run, "queue_delay").map((c) => series(c, { name: "queueing delay", kinds: c.lo ? ["band", "line"] : ["line"] })),
    ];
  }

  // Each flow's part of the total, one above the other. Flows that have no curve of their own share the rest.
  function shares(run) {
    const elsewhere = run.elsewhere ?? [];
    const total = curves(run, "total")[0], flows = curves(run, "throughput").filter((c) => !elsewhere.includes(c.flow));
    if (!total || flows.length < 2) return [];
    const all = series(total).ys;
    let below = all.map(() => 0);
    const stacked = (name, values, colour) => {
      const lo = below, hi = lo.map((v, i) => (all[i] > 0 ? Math.min(1, v + values(i) / all[i]) : NaN));
      below = hi.map((v) => v || 0);
      const ys = hi.map((v, i) => v - lo[i]);
      return series(total, { name, colour, kinds: ["stack"], whole: true, lo, hi, ys });
    };
    const layers = flows.map((flow) => {
      const own = series(flow).ys;
      return stacked(run.names[flow.flow], (i) => own[i] || 0, flowColour(run, flow.flow));
    });
    const rest = run.flow_count - elsewhere.length - flows.length;
    return rest > 0 ? [...layers, stacked(`${rest} more flows`, (i) => all[i], "var(--soft)")] : layers;
  }

  // A picture that is alone is large.
  const TALL = 400;
  const FIGURES = {
    throughput: {
      y: { above: true, title: "Throughput", unit: "bit/s" }, height: (panels) => (panels === 1 ? TALL : panels === 2 ? 250 : 180), make: throughput,
      adjust(panel, run) {
        if (data.capacity_bps) panel.levels = [{ y: data.capacity_bps, label: "capacity" }];
        panel.marks = run.events;
      },
    },
    shares: { y: { above: true, title: "Share", unit: "ratio", top: 1 }, height: () => 170, make: shares },
    rate: { y: { above: true, title: "Rate", unit: "bit/s" }, height: () => 170, make: (run) => perFlow(run, "rate", ["line"]) },
    delay: { y: { above: true, title: "Delay", unit: "s" }, axes: true, height: () => 170, make: queue },
    rtt: { y: { above: true, title: "Round-trip time", unit: "s", zero: false }, axes: true, height: () => 170, grid: true, make: (run) => perFlow(run, "rtt", ["line"]) },
    window: { y: { title: "Window (packets)", unit: "" }, height: () => 170, grid: true, make: (run) => perFlow(run, "window", ["line"]) },
    flight: { y: { title: "Packets", unit: "" }, height: () => 170, grid: true, make: (run) => Packets.flight(run, flowLook) },
    losses: {
      y: { title: "Packets", unit: "" }, height: () => 150, grid: true, make: (run) => perFlow(run, "losses", ["stems"]),
      adjust(panel) { if (panel.series.every((s) => s.ys.every((v) => !(v > 0)))) panel.empty = "none"; },
    },
  };

  function drawTime() {
    let end = 0;
    for (const run of data.runs) for (const c of run.curves) end = Math.max(end, c.t0 + (c.v.length - 0.5) * c.dt);
    const kept = time.zoomed ? time.range : null;
    time.setFull(0, end);
    if (kept) time.range = kept;
    for (const [name, figure] of Object.entries(FIGURES)) {
      const host = place(name);
      if (!host) continue;
      const selected = runs();
      const all = timePanels(figure.make);
      if (figure.adjust) all.forEach((panel, i) => figure.adjust(panel, selected[i]));
      const panels = all.filter((panel) => panel.series.length);
      const columns = figure.grid || panels.length > 6 ? Math.min(3, panels.length) : panels.length > 3 ? 2 : 1;
      const axes = figure.axes ? { own: chosen.axes === "own", log: chosen.axes === "log" } : {};
      new Chart.Figure(host, time, { x: TIME, y: { ...figure.y, ...axes }, height: figure.height(panels.length), columns, panels });
    }
    const colour = (name) => data.controllers[controllerIndex(name)].colour;
    Packets.draw(place("sequence"), time, TIME, runs(), colour);
    Queues.draw(place("queues"), time, TIME, runs());
    const notice = element("notice");
    if (!notice) return;
    notice.hidden = data.left_out === 0;
    notice.textContent = `The curves of ${data.left_out} of ${data.left_out + data.runs.length} runs were left out to keep the page small; the exported tables have them.`;
  }

  // Style of a controller if several share a panel: colour, dash and marker each distinguish them.
  const look = (name) => {
    const i = controllerIndex(name);
    return { name, colour: data.controllers[i]?.colour, ...Marks.look(i) };
  };

  // A distribution of times: a staircase for each of `lines`, which have a name, a style and points of time and share.
  // The axis is logarithmic where the longest time is far from that of the first twentieth, and holds what is between them.
  const FAR = 20;
  function distribution(host, view, lines, what, y) {
    if (!host) return;
    const series = lines.map(({ points, ...look }) => ({
      xs: points.map((p) => p[0]), ys: points.map((p) => (y.log && !(p[1] > 0) ? NaN : p[1])), kinds: ["stairs"], spaced: true, ...look,
    }));
    const changing = lines.flatMap(({ points }) => points.filter((p, i) => p[0] > 0 && (i === points.length - 1 || (p[1] > 0.05 && p[1] < 0.95)))).map((p) => p[0]);
    const [lo, hi] = changing.length ? Plot.extent(changing) : [0, 1], log = lo > 0 && hi / lo >= FAR;
    if (lines.length === 1) Object.assign(series[0], { marker: undefined, dash: "" });
    const kept = view.zoomed ? view.range : null;
    view.setFull(log ? lo / 1.1 : 0, hi * (log ? 1.1 : 1.02));
    if (kept) view.range = kept;
    new Chart.Figure(host, view, { x: { title: what, unit: "s", log, name: "time", prefixed: true }, y, height: 240, panels: [{ series }] });
  }

  function drawDistributions() {
    const waits = runs().filter((r) => r.ccdf.length).map((r, _, all) => ({ points: r.ccdf, ...look(r.controller), ...(all.length === 1 ? { name: "all packets" } : {}) }));
    distribution(place("ccdf"), tail, waits, "Queueing delay", { title: "Share above", unit: "ratio", log: true, top: 1 });
    const files = runs().flatMap((r) => r.files.map((points, i) => {
      const own = look(r.controller);
      return { points, ...own, name: r.files.length > 1 ? `${own.name}, source ${i}` : own.name };
    }));
    distribution(place("files"), done, files, "Time", { title: "Share within", unit: "ratio", top: 1 });
  }

  function streams() {
    const of = (list) => list.flatMap((run) => run.streams.map((stream) => ({ run, stream })));
    const here = of(runs());
    return here.length ? here : of(data.runs);
  }

  function fillStreams() {
    const select = element("stream");
    if (!select) return;
    select.replaceChildren(...streams().map(({ run, stream }, i) => {
      const words = `${run.controller}, flow ${stream.flow}, at ${stream.start_s.toFixed(4)} s`;
      return new Option(words, i);
    }));
    drawStream();
  }

  function drawStream() {
    const host = place("stream");
    const entry = host && streams()[Number(element("stream").value) || 0];
    if (!entry) return;
    const { run, stream } = entry, { gaps } = stream;
    const xs = gaps.map((_, i) => i + 1);
    const column = (c, scale = 1e-9) => gaps.map((g) => (g[c] === null ? NaN : g[c] * scale));
    const gapAt = (rate) => gaps.map((g) => g[6] * 8 / rate);
    const rate = (v) => Format.value(v, "bit/s");
    const lines = [
      { name: "intended", ys: column(0), kinds: ["line"], stepped: true, role: "intended" },
      { name: "created", ys: column(1), kinds: ["dots"], role: "created", shape: 1 },
      { name: "received", ys: column(2), kinds: ["line", "dots"], role: "received", shape: 0 },
      { name: "denoised", ys: column(3), kinds: ["line"], stepped: true, role: "heavy" },
    ];
    if (stream.available_bps > 0) lines.push({ name: `available ${rate(stream.available_bps)}`, ys: gapAt(stream.available_bps), kinds: ["line"], stepped: true, role: "truth" });
    if (stream.estimate_bps > 0) lines.push({ name: `estimate ${rate(stream.estimate_bps)}`, ys: gapAt(stream.estimate_bps), kinds: ["line"], stepped: true, role: "estimate" });
    const marks = gaps.map((g, i) => ({ x: i + 0.5, label: rate(g[5]).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ") }))
      .filter((_, i) => i === 0 || gaps[i][5] !== gaps[i - 1][5]);
    index.setFull(0.5, gaps.length + 0.5);
    const colour = data.controllers[controllerIndex(run.controller)].colour;
    const X = { title: "Packet of the stream", unit: "", name: "packet" };
    new Chart.Figure(host, index, {
      x: X, y: { title: "Gap", unit: "s", zero: false }, height: 220,
      panels: [{ colour, marks, series: lines.map((l) => ({ xs, ...l })) }],
    });
    new Chart.Figure(place("stream-delay"), index, {
      x: X, y: { above: true, title: "Delay", unit: "s" }, height: 120,
      panels: [{ colour, marks: marks.map((m) => ({ ...m, label: "" })), series: [{ name: "delay above smallest", xs, ys: column(4), kinds: ["line", "dots"] }] }],
    });
    const error = stream.available_bps > 0 && stream.estimate_bps > 0 ? stream.estimate_bps / stream.available_bps - 1 : NaN;
    element("stream-words").textContent = `${gaps.length} gaps at ${rate(stream.rate_bps)} on average, replication ${run.replication + 1}. `
      + (stream.estimate_bps > 0 ? `Estimate ${rate(stream.estimate_bps)}` : "No estimate: the estimator abstained")
      + (stream.available_bps > 0 ? `; really available ${rate(stream.available_bps)}` : "")
      + (Number.isFinite(error) ? ` (${error < 0 ? "−" : "+"}${Format.digits(Math.abs(error) * 100, 2)} %).` : ".");
  }

  // A selector above several pictures has one value.
  function select(name, options, key) {
    const boxes = [...document.querySelectorAll(`select.${name}`)];
    for (const box of boxes) {
      box.replaceChildren(...options.map(([value, words]) => new Option(words, value)));
      box.value = chosen[key];
      box.addEventListener("change", () => {
        chosen[key] = Number(box.value);
        boxes.forEach((other) => { other.value = box.value; });
        drawChosen();
      });
    }
  }

  function drawChosen() {
    if (!data.runs.length) return;
    drawTime();
    drawDistributions();
    fillStreams();
  }

  function draw() {
    const looks = data.controllers.map((c) => look(c.name));
    // Controllers that meet in a mix have looks of their own, after those.
    const met = Object.entries(data.flow_colours).filter(([name]) => controllerIndex(name) < 0)
      .map(([name, colour], i) => ({ name, colour, ...Marks.look(looks.length + i) }));
    Overview.sweep(place("by-way"), data.by_way, looks);
    Overview.sweep(place("at-links"), data.at_links, looks);
    Overview.tradeoff(place("tradeoff"), data.tradeoff, looks);
    Overview.flows(place("flow-tradeoff"), data.by_flow, data.palette);
    Overview.completions(place("completions"), data.completed, looks);
    Overview.sweep(place("sizes"), data.sizes, looks);
    Overview.sweep(place("sweep"), data.sweep, looks, met);
    Multiples.draw(place("multiples"), data.multiples, looks);
    const kept = new Set(data.runs.map((run) => run.point));
    const replications = [...new Set(data.runs.map((r) => r.replication))].sort((a, b) => a - b);
    const seed = (r) => data.runs.find((run) => run.replication === r).seed;
    // The middle one: the ends of a sweep are its extremes.
    chosen.point = [...kept][Math.floor(kept.size / 2)] ?? 0;
    chosen.replication = replications[0] ?? 0;
    select("point", data.points.map((name, i) => [i, name || "nothing swept"]).filter(([i]) => kept.has(i)), "point");
    select("replication", replications.map((r) => [r, `${r + 1} (seed ${seed(r)})`]), "replication");
    element("stream")?.addEventListener("change", drawStream);
    element("axes")?.addEventListener("change", (e) => { chosen.axes = e.target.value; drawTime(); });
    const resets = [...document.querySelectorAll(".reset")];
    time.onchange = (zoomed) => resets.forEach((reset) => { reset.hidden = !zoomed; });
    resets.forEach((reset) => reset.addEventListener("click", () => time.reset()));
    drawChosen();
  }

  return { draw };
})();
Frame.start(Page.draw);
