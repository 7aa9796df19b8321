// A range of x shared by several pictures, and the position of the pointer.
class View {
  static all = [];
  constructor() { this.full = [0, 1]; this.range = [0, 1]; this.figures = []; this.cursor = null; View.all.push(this); }
  setFull(lo, hi) { this.full = [lo, hi > lo ? hi : lo + 1]; this.range = [...this.full]; }
  get zoomed() { return this.range[0] > this.full[0] || this.range[1] < this.full[1]; }
  zoom(lo, hi) {
    const least = (this.full[1] - this.full[0]) * 1e-4;
    if (hi - lo < least) return;
    const width = Math.min(hi - lo, this.full[1] - this.full[0]);
    lo = Math.min(Math.max(lo, this.full[0]), this.full[1] - width);
    this.range = [lo, lo + width];
    this.redraw();
  }
  reset() { this.range = [...this.full]; this.redraw(); }
  redraw() {
    this.figures.forEach((f) => f.draw());
    this.onchange?.(this.zoomed);
  }
  // `panel`: the one that is pointed at.
  point(x, panel = this.pointed) {
    [this.cursor, this.pointed] = [x, panel];
    this.figures.forEach((f) => f.point(x));
  }
}

// Pointer and keyboard actions on a panel: read values, choose a range, reset.
function listen(figure, panel) {
  const { view } = figure, { frame } = panel;
  const toX = (e) => {
    const box = frame.getBoundingClientRect(), px = (e.clientX - box.left) / box.width * panel.width;
    return panel.sx.invert(Math.min(Math.max(px, panel.left), panel.right));
  };
  let start = null;
  const brush = (a, b) => { panel.brush.setAttribute("x", a); panel.brush.setAttribute("width", b - a); };
  frame.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || !panel.sx) return;
    start = toX(e);
    if (e.isTrusted) frame.setPointerCapture(e.pointerId);
  });
  frame.addEventListener("pointermove", (e) => {
    if (!panel.sx) return;
    const x = toX(e);
    view.point(x, panel);
    figure.nearestDot(panel, e);
    if (start !== null) brush(panel.sx.apply(Math.min(start, x)), panel.sx.apply(Math.max(start, x)));
  });
  frame.addEventListener("pointerup", (e) => {
    if (start === null) return;
    const x = toX(e), from = start;
    start = null;
    brush(0, 0);
    if (Math.abs(panel.sx.apply(x) - panel.sx.apply(from)) > 8) view.zoom(Math.min(from, x), Math.max(from, x));
  });
  frame.addEventListener("pointercancel", () => { start = null; brush(0, 0); });
  frame.addEventListener("pointerleave", () => { if (start === null) view.point(null); });
  frame.addEventListener("dblclick", () => view.reset());
  frame.addEventListener("keydown", (e) => byKey(figure, panel, e));
  frame.addEventListener("blur", () => view.point(null));
}

// Of a swept key only values that were run are read: that which is nearest on the axis.
function atStop({ values, log }, x) {
  if (!values?.length || x === null) return x;
  const place = (v) => (log ? Math.log(v) : v);
  return values.reduce((best, v) => (Math.abs(place(v) - place(x)) < Math.abs(place(best) - place(x)) ? v : best));
}

// The next value that was run, in a direction; from nowhere, the first from that end.
function nextStop({ x }, view, forth) {
  const stops = x.values.filter((v) => v >= view.range[0] && v <= view.range[1]).sort((p, q) => (forth ? p - q : q - p));
  const here = atStop(x, view.cursor);
  return stops.find((v) => here === null || (forth ? v > here : v < here)) ?? stops[stops.length - 1] ?? here;
}

function byKey(figure, panel, e) {
  const { view } = figure, [a, b] = view.range;
  const { log } = figure.spec.x, at = view.cursor ?? (log ? Math.sqrt(a * b) : (a + b) / 2);
  const step = (by) => (log ? at * (b / a) ** by : at + (b - a) * by);
  const near = (k) => (log ? [at * (a / at) ** k, at * (b / at) ** k] : [at + (a - at) * k, at + (b - at) * k]);
  const swept = figure.spec.x.values?.length > 0, fine = e.shiftKey ? 0.1 : 0.01;
  const actions = {
    ArrowRight: () => view.point(swept ? nextStop(figure.spec, view, true) : Math.min(b, step(fine)), panel),
    ArrowLeft: () => view.point(swept ? nextStop(figure.spec, view, false) : Math.max(a, step(-fine)), panel),
    "+": () => view.zoom(...near(0.5)), "=": () => view.zoom(...near(0.5)),
    "-": () => view.zoom(...near(2)),
    Escape: () => view.reset(), Home: () => view.reset(),
  };
  if (e.ctrlKey || e.metaKey || e.altKey || !actions[e.key]) return;
  e.preventDefault();
  actions[e.key]();
  const said = panel.keys.map((k) => `${k.series.name} ${k.out.textContent}`).join(", ");
  document.getElementById("said").textContent = `${panel.spec.title ?? ""} ${panel.where.textContent}: ${said}`;
}
