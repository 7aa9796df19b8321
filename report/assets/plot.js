// Panels that share their axes: SVG, drawn anew for the width there is and the range that is looked at.
const Plot = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 58, right: 10, top: 8 };

  function svg(tag, attributes, parent) {
    const element = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent?.append(element);
    return element;
  }

  function html(tag, attributes, parent, text) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent?.append(element);
    return element;
  }

  // A range of x that several figures look at together.
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

  // First index whose x is not below `x`.
  function lower(xs, x) {
    let a = 0, b = xs.length;
    while (a < b) { const m = (a + b) >> 1; if (xs[m] < x) a = m + 1; else b = m; }
    return a;
  }

  function nearest(xs, x) {
    const i = lower(xs, x);
    return i > 0 && (i === xs.length || x - xs[i - 1] < xs[i] - x) ? i - 1 : i;
  }

  // What is seen of a series: one entry per value, or per pixel with its extremes where values stand closer. Of one that
  // is `whole`, whose x need not grow, all values.
  function seen(series, range, pixels) {
    const { xs, ys, lo = ys, hi = ys } = series;
    if (series.whole) return [...xs].map((x, i) => ({ x, lo: lo[i], hi: hi[i], mid: ys[i], per: 1 }));
    const from = Math.max(0, lower(xs, range[0]) - 1), to = Math.min(xs.length, lower(xs, range[1]) + 1);
    const per = Math.max(1, Math.floor((to - from) / Math.max(1, pixels)));
    const out = [];
    for (let i = from; i < to; i += per) {
      let low = Infinity, high = -Infinity, sum = 0, count = 0;
      for (let k = i; k < Math.min(to, i + per); k++) {
        if (Number.isNaN(ys[k])) continue;
        low = Math.min(low, lo[k]); high = Math.max(high, hi[k]); sum += ys[k]; count++;
      }
      out.push({ x: xs[Math.min(to - 1, i + (per >> 1))], lo: low, hi: high, mid: count ? sum / count : NaN, per });
    }
    return out;
  }

  const f = (v) => v.toFixed(1);

  function segments(points) {
    const all = [];
    let current = null;
    for (const p of points) {
      if (Number.isNaN(p.mid)) { current = null; continue; }
      if (!current) all.push(current = []);
      current.push(p);
    }
    return all;
  }

  const DRAW = {
    line(points, sx, sy) {
      return segments(points).map((s) => "M" + s.map((p) =>
        p.per > 1 && p.hi > p.lo ? `${f(sx(p.x))} ${f(sy(p.lo))}V${f(sy(p.hi))}` : `${f(sx(p.x))} ${f(sy(p.mid))}`).join("L")
        + (s.length === 1 ? "h.1" : "")).join("");
    },
    mean(points, sx, sy) {
      return segments(points).map((s) => "M" + s.map((p) => `${f(sx(p.x))} ${f(sy(p.mid))}`).join("L")).join("");
    },
    area(points, sx, sy) {
      return segments(points).map((s) =>
        `M${f(sx(s[0].x))} ${f(sy(0))}L` + s.map((p) => `${f(sx(p.x))} ${f(sy(p.mid))}`).join("L")
        + `V${f(sy(0))}Z`).join("");
    },
    band(points, sx, sy) {
      return segments(points).map((s) => "M" + s.map((p) => `${f(sx(p.x))} ${f(sy(p.hi))}`).join("L") + "L"
        + s.slice().reverse().map((p) => `${f(sx(p.x))} ${f(sy(p.lo))}`).join("L") + "Z").join("");
    },
    stack(points, sx, sy) { return DRAW.band(points, sx, sy); },
    // Rectangles, given by their times and rows.
    cells(points, sx, sy, series) {
      return series.cells.map(({ from, to, row }) => `M${f(sx(from))} ${f(sy(row + 1))}H${f(sx(to))}V${f(sy(row))}H${f(sx(from))}Z`).join("");
    },
    stems(points, sx, sy) {
      return points.filter((p) => p.hi > 0).map((p) => `M${f(sx(p.x))} ${f(sy(0))}V${f(sy(p.hi))}`).join("");
    },
    steps(points, sx, sy) {
      return segments(points).map((s) => s.map((p, i) =>
        `${i ? "L" : "M"}${f(sx(p.x - 0.5))} ${f(sy(p.mid))}H${f(sx(p.x + 0.5))}`).join("")).join("");
    },
    stairs(points, sx, sy) {
      return segments(points).map((s) => s.map((p, i) =>
        i ? `H${f(sx(p.x))}V${f(sy(p.mid))}` : `M${f(sx(p.x))} ${f(sy(p.mid))}`).join("")).join("");
    },
    dots(points, sx, sy, series) {
      return points.filter((p) => !Number.isNaN(p.mid)).map((p) => Shapes.ALL[series.shape ?? 0](sx(p.x), sy(p.mid), series.radius ?? 2)).join("");
    },
    // Closed lines, given by their corners.
    rings(points, sx, sy, series) {
      return series.rings.map((ring) => "M" + ring.map(([x, y]) => `${f(sx(x))} ${f(sy(y))}`).join("L") + "Z").join("");
    },
    bars(points, sx, sy) {
      return points.filter((p) => p.hi > p.lo).map((p) =>
        `M${f(sx(p.x))} ${f(sy(p.lo))}V${f(sy(p.hi))}m-3 0h6M${f(sx(p.x) - 3)} ${f(sy(p.lo))}h6`).join("");
    },
  };

  class Figure {
    // spec: { x: {title, unit, log, name, values}, y: {title, unit, log, zero, own, above, range, names}, left, height, columns, silent,
    // panels: [...] }; `own`: each panel its own range of y; `above`: the title stands above the panels already; `values`: ticks of x, if they fit; `names`: of
    // rows, from above; `silent`: legends read no values; `legend`: one for several panels, a Legend.
    constructor(host, view, spec) {
      Object.assign(this, { host, view, spec });
      this.box = host.querySelector(".panels");
      this.box.replaceChildren();
      this.box.style.setProperty("--columns", spec.columns ?? 1);
      this.panels = spec.panels.map((p, i) => this.panel(p, i));
      view.figures = view.figures.filter((other) => other.host !== host).concat(this);
      this.draw();
    }

    panel(spec) {
      const box = html("div", { class: "panel ctl" }, this.box);
      if (spec.colour) box.style.setProperty("--c", spec.colour);
      const head = html("div", { class: "head" }, box);
      if (spec.title) html("span", { class: "name" }, head, spec.title);
      const shared = this.spec.legend;
      const where = shared?.where ?? html("span", { class: "where" }, head);
      const keys = spec.series.filter((s) => s.name).map((s) => ({ series: s, out: shared?.outs.get(s.name) ?? legend(head, s) }));
      if (shared) head.classList.add("alone");
      else if (this.spec.scatter || this.spec.silent) keys.forEach((key) => key.out.remove());
      else head.classList.add("read");
      const frame = html("div", {
        class: "frame", tabindex: "0", role: "application", "aria-roledescription": "chart",
        "aria-label": `${this.spec.y.title}${spec.title ? ", " + spec.title : ""}. Left and right arrow read values, plus and minus zoom, Escape shows all.`,
      }, box);
      const panel = { spec, box, frame, keys, where };
      this.listen(panel);
      return panel;
    }

    draw() {
      const { x, y } = this.spec;
      const stacked = getComputedStyle(this.box).gridTemplateColumns.split(" ").length === 1;
      const common = this.domain(this.panels);
      let drawn = 0;
      this.panels.forEach((panel, i) => {
        const last = !stacked || i === this.panels.length - 1;
        drawn += this.drawPanel(panel, x, y, y.own ? this.domain([panel]) : common, last);
      });
      this.host.dataset.drawn = drawn;
      if (this.view.cursor !== null) this.point(this.view.cursor);
    }

    // Range of y over these panels, of what is seen.
    domain(panels) {
      const { y } = this.spec, [x0, x1] = this.view.range;
      if (y.range) return y.range;
      let lo = Infinity, hi = -Infinity;
      const take = (v) => {
        if (!Number.isFinite(v) || (y.log && !(v > 0))) return;
        lo = Math.min(lo, v); hi = Math.max(hi, v);
      };
      // What is measured is not negative: an interval that reaches below zero makes no room there.
      const floor = (low, mean) => (mean >= 0 && y.zero !== false ? Math.max(0, low) : low);
      for (const { spec } of panels) {
        for (const s of spec.series) {
          const [from, to] = s.whole ? [0, s.xs.length] : [lower(s.xs, x0), lower(s.xs, x1 + (x1 - x0) * 1e-9)];
          s.rings?.flat().forEach((corner) => take(corner[1]));
          for (let i = from; i < to; i++) { take(s.ys[i]); if (s.hi) { take(s.hi[i]); take(floor(s.lo[i], s.ys[i])); } }
        }
        (spec.levels ?? []).forEach((l) => take(l.y));
      }
      if (!(hi >= lo)) return y.log ? [0.1, 1] : [0, 1];
      if (y.log) return [10 ** Math.floor(Math.log10(lo)), 10 ** Math.ceil(Math.log10(hi) - 1e-9)];
      if (y.zero !== false) lo = Math.min(0, lo);
      // Where all is zero there is nothing to read a scale from: up to one of the unit, or to 6 %.
      const pad = (hi - lo || Math.abs(hi)) * 0.06 || (y.unit === "ratio" ? 0.06 : 1);
      return [y.zero !== false ? lo : lo - pad, y.top ?? hi + pad];
    }

    drawPanel(panel, x, y, [y0, y1], last) {
      const width = Math.max(220, Math.round(panel.frame.clientWidth || 600));
      const staggered = x.names && x.names.length > 1 && named(x.names, this.columns(width)).every === 2;
      const bottom = !last ? 10 : staggered ? 50 : 38;
      const height = this.spec.height + bottom;
      const [x0, x1] = this.view.range;
      const left = this.spec.left ?? MARGIN.left, right = width - MARGIN.right, base = height - bottom;
      const scale = (a, b, from, to, log) => {
        const g = log ? Math.log10 : (v) => v;
        const k = (to - from) / (g(b) - g(a));
        return (v) => from + (g(log ? Math.max(v, a * 1e-3) : v) - g(a)) * k;
      };
      const sx = scale(x0, x1, left, right, x.log), sy = scale(y0, y1, base, MARGIN.top, y.log);
      const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
      Object.assign(panel, { sx, sy, x0, x1, left, right, top: MARGIN.top, base, width, staggered, taken: [] });
      const id = `clip${Figure.clips = (Figure.clips ?? 0) + 1}`;
      const clip = (id, more) => svg("rect", { x: left, y: MARGIN.top - more, width: right - left, height: base - MARGIN.top + 2 * more }, svg("clipPath", { id }, root));
      clip(id, 3);
      clip(`${id}m`, 7);
      this.axes(root, panel, x, y, sx, sy, [y0, y1], last);
      const ink = svg("g", { "clip-path": `url(#${id})` }, root);
      // Words stand beside points, not over them.
      for (const { texts, xs, ys } of panel.spec.series) texts?.forEach((_, i) => panel.taken.push({ left: sx(xs[i]) - 5, low: sy(ys[i]) + 4, width: 10 }));
      let drawn = 0, shaded = false;
      const shade = () => { if (!shaded) this.bands(ink, panel, sx); shaded = true; };
      for (const series of panel.spec.series) {
        // The shading lies above areas, which would hide it, and below lines.
        if (!series.kinds.every((kind) => kind === "area" || kind === "stack")) shade();
        const points = seen(series, [x0, x1], right - left);
        for (const kind of series.kinds) {
          const d = DRAW[kind](points, sx, sy, series);
          if (!d) continue;
          const path = svg("path", { d, class: `${kind} ${series.role ?? ""}` }, ink);
          if (series.colour) path.style.setProperty("--line", series.colour);
          if (series.dash && (kind === "line" || kind === "mean")) path.setAttribute("stroke-dasharray", series.dash);
          drawn += (series.cells ?? points).length;
        }
        // A marker at zero is seen whole.
        if (series.marker !== undefined) this.markers(root, `url(#${id}m)`, series, points, sx, sy);
        series.texts?.forEach((text, i) => this.beside(ink, text, sx(series.xs[i]), sy(series.ys[i]), panel));
      }
      shade();
      if (panel.spec.empty) svg("text", { class: "note", x: f((left + right) / 2), y: f((MARGIN.top + base) / 2) }, ink).textContent = panel.spec.empty;
      this.levels(ink, panel, sy);
      this.bandNames(root, panel, sx);
      this.marks(root, panel, sx);
      panel.hair = svg("line", { class: "hair", y1: MARGIN.top, y2: base, x1: -9, x2: -9 }, root);
      panel.brush = svg("rect", { class: "brush", y: MARGIN.top, height: base - MARGIN.top, x: 0, width: 0 }, root);
      panel.frame.replaceChildren(root);
      return drawn;
    }

    // As many numbers as have room on the axis.
    columns(width) { return Math.max(2, Math.floor((width - MARGIN.right - (this.spec.left ?? MARGIN.left)) / 56)); }

    axes(root, panel, x, y, sx, sy, [y0, y1], last) {
      const { left, right, top, base } = panel;
      const [x0, x1] = this.view.range;
      const grid = svg("g", { class: "axis" }, root);
      const text = (at, attributes) => { const t = svg("text", attributes, grid); t.textContent = at; return t; };
      if (y.names) y.names.forEach((name, row) => text(name, { x: left - 6, y: f(sy(y.names.length - row - 0.5) + 4), class: "y" }));
      else this.ticks(grid, text, panel, y, sy, [y0, y1]);
      const px = x.log ? { factor: 1, unit: "" } : { factor: 1, unit: x.unit };
      const fit = (x.unit === "bit/s" || x.prefixed) && !x.log ? Scale.prefix(x.unit, x1) : px;
      const columns = this.columns(panel.width);
      const xt = x.names ? named(x.names, columns) : x.log ? { ticks: apart(x.values, sx, x0, x1) ?? Scale.logarithmic(x0, x1, columns) } : Scale.linear(x0 / fit.factor, x1 / fit.factor, columns);
      // Names that have no room beside each other stand in two rows.
      for (const t of panel.staggered ? x.names.keys() : xt.ticks) {
        const at = f(sx(t * fit.factor)), lower = panel.staggered && t % 2 === 1 ? 12 : 0;
        svg("line", { class: "tick", x1: at, x2: at, y1: base, y2: base + 4 + lower }, grid);
        if (last) text(x.log && !x.names ? power(t, x.unit) : xt.label(t), { x: at, y: base + 16 + lower, class: "x" });
      }
      svg("line", { class: "zero", x1: left, x2: right, y1: base, y2: base }, grid);
      const xu = x.log ? "" : fit.unit;
      if (last) text(xu ? `${x.title} (${xu})` : x.title, { x: f((left + right) / 2), y: base + (panel.staggered ? 45 : 33), class: "title" });
    }

    ticks(grid, text, { left, right, top, base }, y, sy, [y0, y1]) {
      const py = y.log ? { factor: 1, unit: "" } : Scale.prefix(y.unit, Math.max(Math.abs(y0), Math.abs(y1)));
      // A small panel has its lines closer than a large one; powers of ten may stand closer than numbers that nobody looks for.
      const room = base - top, rows = Math.max(2, y.log ? Math.floor(room / 22) : Math.max(Math.floor(room / 32), Math.min(6, Math.floor(room / 18))));
      const yt = y.log ? { ticks: Scale.logarithmic(y0, y1, rows) } : Scale.linear(y0 / py.factor, y1 / py.factor, rows);
      for (const t of yt.ticks) {
        const at = f(sy(t * py.factor));
        svg("line", { class: t === 0 ? "zero" : "grid", x1: left, x2: right, y1: at, y2: at }, grid);
        const label = text(y.log ? power(t, y.unit) : yt.label(t), { x: left - 6, y: at, class: "y" });
        label.setAttribute("dominant-baseline", "central");
      }
      const unit = y.log ? "" : py.unit;
      text(y.above ? unit : unit ? `${y.title} (${unit})` : y.title, { class: "title", transform: `translate(12 ${f((top + base) / 2)}) rotate(-90)` });
    }

    bands(ink, panel, sx) {
      for (const band of panel.spec.bands ?? []) {
        const a = Math.max(panel.left, sx(band.from)), b = Math.min(panel.right, sx(band.to));
        if (!(b > a)) continue;
        svg("rect", { class: "warmup", x: f(a), y: panel.top, width: f(b - a), height: panel.base - panel.top }, ink);
      }
    }

    // Above the curves, which would cross the words.
    bandNames(root, panel, sx) {
      for (const band of panel.spec.bands ?? []) {
        const a = Math.max(panel.left, sx(band.from)), b = Math.min(panel.right, sx(band.to));
        if (b - a > 52) svg("text", { class: "note", x: f(a + 4), y: panel.top + (panel.spec.levels ? 24 : 11) }, root).textContent = band.label;
      }
    }

    levels(ink, panel, sy) {
      for (const level of panel.spec.levels ?? []) {
        svg("line", { class: `level ${level.role ?? ""}`, x1: panel.left, x2: panel.right, y1: f(sy(level.y)), y2: f(sy(level.y)) }, ink);
        if (level.label) svg("text", { class: "note end", x: panel.right - 3, y: f(sy(level.y) - 4) }, ink).textContent = level.label;
      }
    }

    marks(root, panel, sx) {
      let free = -Infinity;
      for (const mark of panel.spec.marks ?? []) {
        const at = sx(mark.x);
        if (!(at >= panel.left && at <= panel.right)) continue;
        svg("line", { class: "mark", x1: f(at), x2: f(at), y1: panel.top, y2: panel.base }, root);
        const room = mark.label.length * 6;
        if (at < free || at + room > panel.right) continue;
        svg("text", { class: "note", x: f(at + 4), y: panel.top + (mark.low ? 37 : 11) }, root).textContent = mark.label;
        free = at + room + 6;
      }
    }

    // A word beside a point, where it covers no other word and has room; where there is no such place, none.
    beside(ink, text, x, y, panel) {
      const width = text.length * 6, taken = panel.taken;
      const places = [[8, 14], [8, -6], [-8 - width, 14], [-8 - width, -6], [8, 26]].map(([dx, dy]) => [x + dx, y + dy]);
      const free = ([left, low]) => left > panel.left && left + width < panel.right && low > panel.top + 4 && low < panel.base
        && taken.every((word) => left + width < word.left || left > word.left + word.width || Math.abs(low - word.low) > 12);
      const place = places.find(free);
      if (!place) return;
      taken.push({ left: place[0], low: place[1], width });
      svg("text", { class: "note", x: f(place[0]), y: f(place[1]) }, ink).textContent = text;
    }

    markers(root, clip, series, points, sx, sy) {
      const marker = Shapes.marker(series.marker);
      let free = -Infinity, d = "";
      for (const p of points) {
        if (Number.isNaN(p.mid) || (series.spaced && sx(p.x) < free)) continue;
        d += marker.draw(sx(p.x), sy(p.mid), 3.5);
        free = sx(p.x) + 70;
      }
      const path = svg("path", { d, class: marker.kind, "clip-path": clip }, root);
      if (series.colour) path.style.setProperty("--line", series.colour);
    }

    // In a scatter, the name of the dot nearest to the pointer.
    nearestDot(panel, e) {
      const box = panel.frame.getBoundingClientRect(), k = panel.width / box.width;
      const [px, py] = [(e.clientX - box.left) * k, (e.clientY - box.top) * k];
      let best = { distance: 20 };
      for (const series of panel.spec.series.filter((s) => s.labels)) {
        series.labels.forEach((label, i) => {
          const distance = Math.hypot(panel.sx(series.xs[i]) - px, panel.sy(series.ys[i]) - py);
          if (distance < best.distance) best = { distance, label };
        });
      }
      panel.where.textContent = best.label ?? "";
    }

    // Hair line and values at `x`; nothing when it is null.
    point(x) {
      const { spec } = this;
      if (spec.scatter) return;
      for (const panel of this.panels) {
        const inside = x !== null && x >= panel.x0 && x <= panel.x1;
        const at = inside ? f(panel.sx(x)) : -9;
        panel.hair?.setAttribute("x1", at);
        panel.hair?.setAttribute("x2", at);
        // A legend that panels share reads the one that is pointed at.
        if (spec.legend && inside && this.view.pointed !== panel) continue;
        const value = () => spec.x.names?.[Math.round(x)] ?? Scale.value(x, spec.x.log || spec.x.unit === "s" ? spec.x.unit : "");
        const which = spec.legend ? [spec.y.title, panel.spec.title].filter(Boolean).join(", ") + ": " : "";
        panel.where.textContent = inside ? `${which}${spec.x.name} = ${value()}` : "";
        for (const { series, out } of panel.keys) {
          const i = inside ? nearest(series.xs, x) : -1;
          const v = i >= 0 && i < series.ys.length ? series.ys[i] : NaN;
          out.textContent = inside ? Scale.value(v, series.unit ?? spec.y.unit) : "";
        }
      }
    }

    listen(panel) {
      const { view } = this, { frame } = panel;
      const toX = (e) => {
        const box = frame.getBoundingClientRect();
        const px = (e.clientX - box.left) / box.width * panel.width;
        const u = (Math.min(Math.max(px, panel.left), panel.right) - panel.left) / (panel.right - panel.left);
        return this.spec.x.log ? panel.x0 * (panel.x1 / panel.x0) ** u : panel.x0 + u * (panel.x1 - panel.x0);
      };
      let start = null;
      frame.addEventListener("pointerdown", (e) => {
        if (e.button !== 0) return;
        start = toX(e);
        if (e.isTrusted) frame.setPointerCapture(e.pointerId);
      });
      frame.addEventListener("pointermove", (e) => {
        const x = toX(e);
        view.point(x, panel);
        if (this.spec.scatter) this.nearestDot(panel, e);
        if (start === null) return;
        const a = panel.sx(Math.min(start, x)), b = panel.sx(Math.max(start, x));
        panel.brush.setAttribute("x", f(a));
        panel.brush.setAttribute("width", f(b - a));
      });
      frame.addEventListener("pointerup", (e) => {
        const x = toX(e), from = start;
        start = null;
        panel.brush.setAttribute("width", 0);
        if (from !== null && Math.abs(panel.sx(x) - panel.sx(from)) > 8) view.zoom(Math.min(from, x), Math.max(from, x));
      });
      frame.addEventListener("pointercancel", () => { start = null; panel.brush.setAttribute("width", 0); });
      frame.addEventListener("pointerleave", () => { if (start === null) view.point(null); });
      frame.addEventListener("dblclick", () => view.reset());
      frame.addEventListener("keydown", (e) => this.key(panel, e));
      frame.addEventListener("blur", () => view.point(null));
    }

    key(panel, e) {
      const { view } = this, [a, b] = view.range;
      const log = this.spec.x.log, at = view.cursor ?? (log ? Math.sqrt(a * b) : (a + b) / 2);
      const step = (by) => (log ? at * (b / a) ** by : at + (b - a) * by);
      const near = (k) => (log ? [at * (a / at) ** k, at * (b / at) ** k] : [at + (a - at) * k, at + (b - at) * k]);
      const fine = e.shiftKey ? 0.1 : 0.01;
      const actions = {
        ArrowRight: () => view.point(Math.min(b, step(fine)), panel),
        ArrowLeft: () => view.point(Math.max(a, step(-fine)), panel),
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
  }

  // Ticks of an axis whose values are the numbers of names, as many as there is room for.
  function named(names, most) {
    const room = Math.max(1, most * 56 / (Math.max(...names.map((name) => name.length)) * 6.5 + 12));
    const every = Math.max(1, Math.ceil(names.length / room));
    return { every, ticks: names.map((_, i) => i).filter((i) => i % every === 0), label: (t) => names[t] };
  }

  // The values that were swept, where all have room for a label.
  function apart(values, sx, x0, x1) {
    const seen = (values ?? []).filter((v) => v >= x0 && v <= x1), at = seen.map(sx).sort((a, b) => a - b);
    return seen.length > 1 && at.every((x, i) => i === 0 || x - at[i - 1] >= 44) ? seen : undefined;
  }

  // A tick of a logarithmic axis: with its own prefix where the unit takes one, else as a power of ten.
  function power(t, unit) {
    if (unit === "s" || unit === "bit/s") {
      const p = Scale.prefix(unit, t);
      return `${Math.round(t / p.factor * 1000) / 1000} ${p.unit}`;
    }
    const exponent = Math.floor(Math.log10(t) + 1e-9);
    if (t >= 0.001 && t < 1e5) return String(Math.round(t * 1e6) / 1e6);
    const raised = String(exponent).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
    const mantissa = Number((t / 10 ** exponent).toPrecision(2));
    return (mantissa === 1 ? "" : mantissa + "·") + "10" + raised;
  }

  function legend(head, series) {
    const key = html("span", { class: "key" }, head);
    const sample = svg("svg", { class: "sample", viewBox: "0 0 26 10", "aria-hidden": "true" }, key);
    for (const kind of series.kinds) {
      const d = ["area", "band", "stack", "cells"].includes(kind) ? "M1 1H25V9H1Z" : kind === "dots" ? Shapes.ALL[series.shape ?? 0](13, 5, 2.4) : "M1 5H25";
      if (kind === "bars" || kind === "rings") continue;
      const path = svg("path", { d, class: `${kind} ${series.role ?? ""}` }, sample);
      if (series.colour) path.style.setProperty("--line", series.colour);
      if (series.dash && (kind === "line" || kind === "mean")) path.setAttribute("stroke-dasharray", series.dash);
    }
    if (series.marker !== undefined) {
      const marker = Shapes.marker(series.marker);
      const path = svg("path", { d: marker.draw(13, 5, 3.2), class: marker.kind }, sample);
      if (series.colour) path.style.setProperty("--line", series.colour);
    }
    html("span", {}, key, series.name);
    return html("output", {}, key);
  }

  // What several panels have in common, said once: above `place`, with the values of the panel that is pointed at.
  class Legend {
    constructor(place, all) {
      const head = html("div", { class: "head read shared" });
      place.before(head);
      this.where = html("span", { class: "where" }, head);
      this.outs = new Map(all.map((series) => [series.name, legend(head, series)]));
    }
  }

  return { Figure, Legend, View, LEFT: MARGIN.left, html };
})();
