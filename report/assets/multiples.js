// All points of a large sweep: for each figure a grid of small panels, the facets of one picture.
const Multiples = (() => {
  const CELL = 52, WORDS = 100;
  // Times are drawn over at most this range.
  const DECADES = 1e4;

  // The figure as other pictures have it, so that it is saved alike.
  function spec({ rows, columns, across }, { label, unit, lines }, looks) {
    const panels = rows.values.flatMap((row, r) => columns.values.map((column, c) => ({
      title: `${row}, ${column}`,
      series: lines.filter((line) => line.row === r && line.column === c).map((line) => ({
        name: looks[line.controller].name, kinds: [], xs: line.points.map((p) => p[0]), ys: line.points.map((p) => p[1]),
      })),
    })));
    return { x: { title: across.key, unit: "", names: across.values }, y: { title: label, unit }, panels };
  }

  function plot(part, data, { label, unit, lines }, looks) {
    const { rows, columns, across } = data, width = part.clientWidth;
    if (width === 0) return 0;
    const points = lines.flatMap((line) => line.points.map(([at, y]) => ({ x: across.places[at], y, row: rows.values[line.row], column: columns.values[line.column], line: line.controller })));
    const log = unit === "s", most = Plot.max(points, (p) => p.y) || 1;
    const least = log ? Math.max(most / DECADES, Plot.min(points.filter((p) => p.y > 0), (p) => p.y) ?? most / DECADES) : 0;
    const top = unit === "ratio" ? Math.max(1, most) : most;
    const drawn = points.map((p) => ({ ...p, y: log ? Math.max(p.y, least) : p.y }));
    const root = Plot.plot({
      width, height: CELL * rows.values.length + 30, marginLeft: 8, marginRight: WORDS, marginTop: 26, marginBottom: 4,
      style: { background: "transparent", color: "var(--ink)", fontSize: "11px" },
      fx: { domain: columns.values, padding: 0.06, label: null, axis: "top" }, fy: { domain: rows.values, padding: 0.1, label: null, axis: "right" },
      x: { axis: null, domain: [-0.05, 1.05] }, y: { axis: null, type: log ? "log" : "linear", domain: log && least === top ? [least / 2, top] : [least, top] },
      marks: [
        Plot.frame({ stroke: "var(--rule)" }),
        Plot.line(drawn, { x: "x", y: "y", fx: "column", fy: "row", z: "line", stroke: (p) => `var(--s${p.line})`, strokeWidth: 1.5, className: "curve" }),
      ],
      color: { type: "identity" },
    });
    root.setAttribute("role", "img");
    root.setAttribute("aria-label", `${label}: ${rows.values.length * columns.values.length} panels, from ${Format.value(least, unit)} to ${Format.value(top, unit)}${log ? ", logarithmic" : ""}.`);
    part.replaceChildren(root);
    return points.length;
  }

  function draw(host, data, looks) {
    if (!host || !data) return;
    const box = host.querySelector(".panels"), view = new View();
    looks.forEach((look, i) => box.style.setProperty(`--s${i}`, look.colour));
    const legend = new Chart.Legend(box, looks.map((look) => ({ ...look, marker: undefined, dash: "", kinds: ["line"] })));
    legend.outs.forEach((out) => out.remove());
    const parts = data.figures.map((figure) => {
      const part = Chart.html("div", { class: "part" }, box);
      const { unit } = figure, all = figure.lines.flatMap((line) => line.points.map((p) => p[1]));
      Chart.html("h4", {}, part, `${figure.label}, up to ${Format.short(Plot.max(all) ?? 0, unit)}${unit === "s" ? ", logarithmic" : ""}`);
      return { figure, frame: Chart.html("div", { class: "frame" }, part) };
    });
    box.style.setProperty("--columns", Math.min(2, parts.length));
    const redraw = () => { host.dataset.drawn = parts.reduce((sum, { figure, frame }) => sum + plot(frame, data, figure, looks), 0); };
    view.figures = parts.map(({ figure }, i) => ({ host, spec: spec(data, figure, looks), draw: i === 0 ? redraw : () => {}, point: () => {} }));
    redraw();
  }

  return { draw };
})();
