// The marks of Observable Plot that a series is drawn with, by its kinds: line, area, band, stack, cells, stems, stairs, dots,
// bars, rings.
const Marks = (() => {
  const HOLLOW = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"];
  const STROKED = ["asterisk", "plus", "times", "diamond2", "square2", "triangle2"];
  const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2"];

  // How the `i`-th of several lines looks apart from its colour: each symbol first hollow, then filled, then those of lines alone.
  const look = (i) => ({ dash: DASHES[i % DASHES.length], marker: i });
  const WEIGHTS = { thin: 1.3, heavy: 2.2, faint: 0.7, traffic: 1, intended: 1, truth: 1.4, estimate: 1.6 };
  const ROLE_DASH = { truth: "2 3", estimate: "9 4" };
  const ROLE_COLOUR = { traffic: "var(--traffic)", intended: "var(--soft)", created: "var(--soft)", truth: "var(--ink)", estimate: "var(--ink)", heavy: undefined };

  function symbol(marker, colour) {
    const all = HOLLOW.length, i = marker % (2 * all + STROKED.length);
    const filled = i >= all && i < 2 * all;
    return { symbol: i < 2 * all ? HOLLOW[i % all] : STROKED[i - 2 * all], stroke: colour, fill: filled ? colour : "var(--paper)" };
  }

  const clip = true;

  // Of a series in the place of `points`, with the range of the axis for what begins at its foot.
  const KINDS = {
    line: (points, c, s) => [
      ...(points.some((p) => p.per > 1 && p.hi > p.lo) && !s.lo ? [Plot.areaY(points, { x: "x", y1: "lo", y2: "hi", fill: c, fillOpacity: 0.16, curve: "step", clip, className: "band" })] : []),
      Plot.lineY(points, { x: "x", y: "y", stroke: c, strokeWidth: s.width ?? WEIGHTS[s.role] ?? 1.8, strokeDasharray: ROLE_DASH[s.role] ?? (s.dash || undefined), curve: s.stepped ? "step" : "linear", clip, className: `curve ${s.role ?? ""}` }),
    ],
    area: (points, c, s, [foot]) => [Plot.areaY(points, { x: "x", y1: foot, y2: "y", fill: s.role === "available" ? "var(--available)" : c, curve: "step", clip, className: "area" })],
    band: (points, c, s) => [Plot.areaY(points, { x: "x", y1: "lo", y2: "hi", fill: c, fillOpacity: 0.2, curve: s.stepped ? "step" : "linear", clip, className: "band" })],
    stack: (points, c) => [Plot.areaY(points, { x: "x", y1: "lo", y2: "hi", fill: c, fillOpacity: 0.85, curve: "step", clip, className: "stack" })],
    cells: (_, c, s) => [Plot.rect(s.cells, { x1: "from", x2: "to", y1: "row", y2: (d) => d.row + 1, fill: c, clip, className: "cells" })],
    stems: (points, c, s, [foot]) => [Plot.ruleX(points.filter((p) => p.y > 0), { x: "x", y1: foot, y2: "hi", stroke: c, strokeWidth: 1.4, clip, className: "curve" })],
    stairs: (points, c, s) => [Plot.lineY(points, { x: "x", y: "y", stroke: c, strokeWidth: 1.8, strokeDasharray: s.dash || undefined, curve: "step-after", clip, className: "curve" })],
    dots: (points, c, s) => [Plot.dot(points.filter((p) => Number.isFinite(p.y)), { x: "x", y: "y", r: s.radius ?? 2, symbol: HOLLOW[s.shape ?? 0], ...(s.hollow ? { stroke: c } : { fill: c }), className: "dots" })],
    bars: (points, c) => [Plot.ruleX(points.filter((p) => p.hi > p.lo), { x: "x", y1: "lo", y2: "hi", stroke: c, strokeWidth: 1.4, className: "curve" })],
    rings: (_, c, s) => s.rings.map((ring) => Plot.line(ring, { stroke: s.role === "shade" ? "none" : c, strokeWidth: 1.1, fill: c, fillOpacity: s.role === "shade" ? 0.2 : 0.12, curve: "linear-closed", clip, className: "ring" })),
  };

  function of(series, points, own, domain) {
    const colour = (series.colour ? undefined : ROLE_COLOUR[series.role]) ?? own;
    const drawn = series.kinds.flatMap((kind) => KINDS[kind](points, colour, series, domain));
    if (series.marker === undefined) return drawn;
    const some = series.spaced ? points.filter((_, i) => i % Math.max(1, Math.floor(points.length / 6)) === 0) : points;
    return [...drawn, Plot.dot(some.filter((p) => Number.isFinite(p.y)), { x: "x", y: "y", r: 3.6, strokeWidth: 1.6, ...symbol(series.marker, colour), className: "marker" })];
  }

  // The same, small, for a legend.
  const AREAS = ["area", "band", "stack", "cells"];
  function sample(into, series, own, svg) {
    const colour = (series.colour ? undefined : ROLE_COLOUR[series.role]) ?? own;
    const fill = series.role === "available" ? "var(--available)" : colour;
    if (series.kinds.some((kind) => AREAS.includes(kind) && kind !== "band")) svg("rect", { x: 1, y: 1, width: 24, height: 10, rx: 2, fill }, into);
    else if (series.kinds.some((kind) => kind !== "dots" && kind !== "bars" && kind !== "rings")) {
      svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: colour, "stroke-width": series.role === "faint" ? 1 : 2.4, "stroke-dasharray": ROLE_DASH[series.role] ?? series.dash ?? "" }, into);
    }
    const dot = series.marker !== undefined ? symbol(series.marker, colour) : series.kinds.includes("dots") ? { symbol: HOLLOW[series.shape ?? 0], fill: colour } : null;
    if (!dot) return;
    const drawn = Plot.plot({ width: 12, height: 12, margin: 0, axis: null, x: { domain: [0, 1], range: [0, 12] }, y: { domain: [0, 1], range: [12, 0] }, marks: [Plot.dot([[0.5, 0.5]], { r: 3.4, strokeWidth: 1.5, ...dot, className: "marker" })] });
    const path = drawn.querySelector(".marker");
    path.setAttribute("transform", "translate(7,0)");
    into.append(path);
  }

  return { of, look, sample };
})();
