// Queues of many links over time: a row for each link, the darker the longer its packets waited.
const Queues = (() => {
  const SHADES = 6;
  const ROW = 22, LEAST = 90;
  const WIDEST = 150, NARROW = 90, LETTER = 6.3;

  // Upper bounds of the shades: the squares of equal steps, so that short queues differ, too.
  const bounds = (largest) => Array.from({ length: SHADES }, (_, k) => largest * ((k + 1) / SHADES) ** 2);
  const value = ({ v, q }, i) => (v[i] === null || v[i] === undefined ? NaN : v[i] * q);

  // Times with the same shade side by side are one cell: from, to, row from below, shade.
  function cells({ curve }, row, tops) {
    const out = [];
    curve.v.forEach((_, i) => {
      const wait = value(curve, i), shade = tops.findIndex((top) => wait <= top);
      if (shade < 0) return;
      const from = curve.t0 + (i - 0.5) * curve.dt, last = out[out.length - 1];
      if (last && last.shade === shade && Math.abs(last.to - from) < curve.dt / 2) last.to = from + curve.dt;
      else out.push({ from, to: from + curve.dt, row, shade });
    });
    return out;
  }

  function panel(run, tops, names, alone) {
    const all = run.queues.flatMap((queue) => cells(queue, names.length - 1 - names.indexOf(queue.name), tops));
    const shades = tops.map((top, shade) => ({
      name: `to ${Format.short(top, "s")}`, save: false, kinds: ["cells"], xs: [], ys: [],
      cells: all.filter((cell) => cell.shade === shade),
      colour: `color-mix(in oklab, var(--heat) ${Math.round(100 * (shade + 1) / SHADES)}%, var(--paper))`,
    }));
    const saved = run.queues.map(({ name, curve }) => ({
      save: name, kinds: [], xs: curve.v.map((_, i) => curve.t0 + i * curve.dt), ys: curve.v.map((_, i) => value(curve, i)),
    }));
    return { title: alone ? "" : run.controller, series: [...shades, ...saved] };
  }

  function draw(host, view, x, runs) {
    const some = runs.filter((run) => run.queues?.length);
    if (!host || !some.length) return;
    const largest = some.flatMap((run) => run.queues.flatMap(({ curve }) => curve.v.map((_, i) => value(curve, i))))
      .reduce((a, b) => (b > a ? b : a), 0);
    // A link is known by its name: another run may have others.
    const names = [...new Set(some.flatMap((run) => run.queues.map((queue) => queue.name)))];
    const longest = Math.max(...names.map((name) => name.length)) * LETTER + 12;
    const left = Math.max(Chart.LEFT, Math.min(longest, host.clientWidth < 600 ? NARROW : WIDEST));
    const fitting = Math.floor((left - 12) / LETTER);
    new Chart.Figure(host, view, {
      x, left, height: Math.max(LEAST, ROW * names.length), silent: true,
      y: {
        title: "Queueing delay", unit: "s", range: [0, names.length],
        names: names.map((name) => (name.length > fitting ? name.slice(0, fitting - 1) + "…" : name)),
      },
      panels: some.map((run) => panel(run, bounds(largest || 1), names, some.length === 1)),
    });
  }

  return { draw };
})();
