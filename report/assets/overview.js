// The pictures of all runs together: throughput against delay, completion times, and figures against a swept key.
const Overview = (() => {
  // A range that holds these values with a margin; where all are the same, a tenth around them, and around zero up to one.
  const margin = (lo, hi, log, share = 0.04) => {
    if (log) return [lo / 1.15, hi * 1.15];
    const pad = hi > lo ? (hi - lo) * share : Math.abs(hi) * 0.1 || 1;
    return [lo >= 0 ? Math.max(0, lo - pad) : lo - pad, hi + pad];
  };
  const CORNERS = 72;

  // Corners of the ellipse of one standard deviation; `delay` gives a delay of what the axis counts.
  function ring({ mean: [x, y], factor: [xx, yx, yy] }, delay) {
    return Array.from({ length: CORNERS }, (_, k) => {
      const [c, s] = [Math.cos(2 * Math.PI * k / CORNERS), Math.sin(2 * Math.PI * k / CORNERS)];
      return [delay(x + xx * c), y + yx * c + yy * s];
    });
  }

  // Dots of the runs, ellipses of the replications, and a line through the means where something is swept.
  const CROWD = 12;
  function cloudSeries(clouds, look, { swept, joined, log, many, unit, clouds: everywhere }, alone) {
    const crowded = swept && everywhere.length > CROWD;
    const delay = (v) => (log ? 10 ** v : v);
    const dots = clouds.flatMap((cloud) => cloud.runs.map((run) => ({ run, point: cloud.point })));
    const plain = { whole: true, colour: look.colour };
    const runs = {
      ...plain, save: look.name, kinds: ["dots"], radius: many ? 1.5 : 2.4,
      xs: dots.map((d) => d.run[0]), ys: dots.map((d) => d.run[1]),
      labels: dots.map((d) => `${look.name}${d.point ? ", " + d.point : ""}, seed ${d.run[2]}: ${Format.value(d.run[0], "s")}, ${Format.value(d.run[1], unit)}`),
    };
    const means = {
      ...plain, ...look, save: false, kinds: many ? ["dots"] : joined ? ["line"] : [], role: "thin", radius: 1.5, marker: many ? undefined : look.marker,
      xs: clouds.map((c) => delay(c.mean[0])), ys: clouds.map((c) => c.mean[1]),
      // Words have no order, so no line: each stands beside its mean, as do the values of a controller that is alone. Where
      // nothing is swept the controller does.
      texts: many || crowded || (swept && joined && !alone) ? undefined : clouds.map((c) => (swept ? c.point.replaceAll(/[^,]* = /g, "") : look.name)),
    };
    const rings = clouds.filter((cloud) => cloud.factor).map((cloud) => ring(cloud, delay));
    const ellipses = { ...plain, save: false, kinds: many ? [] : ["rings"], rings: many ? [] : rings, xs: [], ys: [] };
    return [ellipses, runs, means];
  }

  function tradeoff(host, picture, looks) {
    if (!host || !picture) return;
    const series = looks.flatMap((look, i) => {
      const own = picture.clouds.filter((cloud) => cloud.controller === i);
      return own.length ? cloudSeries(own, look, picture, looks.length === 1) : [];
    });
    const xs = series.flatMap((s) => [...s.xs, ...(s.rings ?? []).flat().map((corner) => corner[0])]);
    const { log } = picture;
    const view = new View();
    view.setFull(...margin(...Plot.extent(xs), log, 0.08));
    new Chart.Figure(host, view, {
      x: { title: picture.x, unit: "s", log, name: "delay", prefixed: true }, y: { title: picture.y, unit: picture.unit, zero: false },
      height: 260, panels: [{ series }], scatter: true,
    });
  }

  // Each flow of one run, a dot for each replication.
  function flows(host, picture, palette) {
    if (!host || !picture) return;
    const series = picture.flows.map(({ name, runs }, i) => ({
      name, whole: true, colour: picture.flows.length > 1 ? palette[i % palette.length] : undefined, kinds: ["dots"], radius: 5, xs: runs.map((r) => r[0]), ys: runs.map((r) => r[1]),
      labels: runs.map((r) => `${name}, seed ${r[2]}: ${Format.value(r[0], "s")}, ${Format.value(r[1], "bit/s")}`), texts: [name],
    }));
    const view = new View();
    view.setFull(...margin(...Plot.extent(series.flatMap((s) => s.xs)), false, 0.12));
    new Chart.Figure(host, view, {
      x: { title: "Round-trip time, mean", unit: "s", name: "delay", prefixed: true }, y: { title: "Throughput", unit: "bit/s", zero: false },
      height: 260, panels: [{ series }], scatter: true,
    });
  }

  // The range of each percentile, as a closed line: up along the lower ends, down along the upper ones.
  function shade({ percentiles }, look) {
    const side = (end) => percentiles.map(([x, range], i) => [range?.[end] ?? x, i / 100]);
    return { whole: true, save: false, kinds: ["rings"], role: "shade", colour: look.colour, rings: [[...side(0), ...side(1).reverse()]], xs: [], ys: [] };
  }

  // Distributions of completion times, a staircase for each controller.
  function completions(host, data, looks) {
    if (!host || !data) return;
    const xs = data.panels.flatMap((p) => p.lines.flatMap((l) => l.percentiles.flatMap(([x, range]) => range ?? [x])));
    const view = new View();
    view.setFull(...margin(xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b)), true));
    const stairs = (line) => ({
      ...looks[line.controller], kinds: ["stairs"], spaced: true,
      xs: line.percentiles.map((x) => x[0]), ys: line.percentiles.map((_, i) => i / 100),
    });
    const several = data.panels.length > 1;
    new Chart.Figure(host, view, {
      x: { title: "Completion time", unit: "s", log: true, name: "time" }, y: { title: "Share of flows", unit: "ratio", top: 1 },
      height: several ? 140 : 240, columns: Math.min(3, data.panels.length),
      panels: data.panels.map(({ title, lines }) => ({
        title, series: [...lines.filter((l) => l.percentiles.some((x) => x[1])).map((l) => shade(l, looks[l.controller])), ...lines.map(stairs)],
      })),
    });
  }

  // Distance between lines with a point at the same word.
  const APART = 0.1;

  // Mean and interval: joined by a line where the values have an order, else a dot with a bar at each of them.
  function lineSeries(line, lines, among, words) {
    // The runs of several flows together have a name of their own, which no controller has.
    const known = among.find((list) => list.some((look) => look.name === line.controller));
    const looks = known ?? among.find((list) => list.length > 0) ?? [{}];
    const at = known ? looks.findIndex((look) => look.name === line.controller) : lines.indexOf(line) % looks.length;
    const aside = (x) => {
      const here = words ? lines.filter((other) => other.points.some((p) => p[0] === x)) : [line];
      return (here.indexOf(line) - (here.length - 1) / 2) * APART;
    };
    return {
      ...looks[at], xs: line.points.map((p) => p[0] + aside(p[0])), ys: line.points.map((p) => p[1]),
      lo: line.points.map((p) => p[2]?.[0] ?? p[1]), hi: line.points.map((p) => p[2]?.[1] ?? p[1]),
      kinds: words ? ["dots", "bars"] : ["band", "line"], radius: 1.5, marker: line.points.length > 40 ? undefined : looks[at].marker,
    };
  }

  // Charts of different figures share x but not y: one figure each, in one place.
  function sweep(host, data, ...looks) {
    if (!host || !data) return;
    const { key, unit, names, charts } = data;
    const values = charts.flatMap((c) => c.panels.flatMap((p) => p.lines.flatMap((l) => l.points.map((q) => q[0]))));
    const lo = values.reduce((a, b) => Math.min(a, b)), hi = values.reduce((a, b) => Math.max(a, b));
    const log = names.length === 0 && lo > 0 && hi / lo >= 10;
    const view = new View();
    view.setFull(...(names.length ? [lo - 0.4, hi + 0.4] : margin(lo, hi, log)));
    const x = { title: key, unit, log, values: [...new Set(values)], name: key, prefixed: unit === "s", names: names.length ? names : undefined };
    const box = host.querySelector(".panels");
    const multiples = Math.max(...charts.map((c) => c.panels.length));
    box.style.setProperty("--columns", multiples > 1 ? 1 : Math.min(2, charts.length));
    const series = (panel) => panel.lines.filter((l) => l.points.length).map((l) => lineSeries(l, panel.lines, looks, names.length > 0 && !data.ordered));
    // Panels with the same lines have one legend: above all charts, or above the first of those that follow each other.
    const all = charts.map((chart) => [...new Map(chart.panels.flatMap(series).map((s) => [s.name, s])).values()]);
    const keys = all.map((own) => own.map((s) => s.name).join());
    const same = keys.every((key) => key === keys[0]), several = charts.some((chart) => charts.length * chart.panels.length > 1);
    let legend;
    let drawn = 0;
    for (const [number, chart] of charts.entries()) {
      const part = Chart.html("div", { class: "part" }, box);
      Chart.html("h4", {}, part, chart.label);
      const place = Chart.html("div", { class: "panels" }, part);
      if (several && keys[number] !== keys[number - 1]) legend = new Chart.Legend(same ? box : place, all[number]);
      new Chart.Figure(part, view, {
        x, y: { title: chart.label, unit: chart.unit, zero: chart.unit !== "", log: chart.log, own: chart.own, above: true }, height: multiples > 1 ? 110 : 190,
        columns: Math.min(4, multiples), legend,
        panels: chart.panels.map((panel) => ({ title: panel.title, series: series(panel) })),
      });
      drawn += Number(part.dataset.drawn);
    }
    host.dataset.drawn = drawn;
  }

  return { tradeoff, flows, completions, sweep };
})();
