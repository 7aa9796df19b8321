// Pictures of panels that share their axes, drawn by Observable Plot for the width there is and the range that is looked at.
const Chart = (() => {
  const LEFT = 52, RIGHT = 14;
  // Pixels that a mean over several values is wide.
  const BIN = 6;
  const SVG = "http://www.w3.org/2000/svg";

  function html(tag, attributes, parent, text) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent?.append(element);
    return element;
  }

  function svg(tag, attributes, parent) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.append(element);
    return element;
  }

  const number = (v) => Number.isFinite(v);

  class Figure {
    // spec: { x: {title, unit, log, name, values, prefixed, names}, y: {title, unit, log, zero, own, above, top, range, names}, left, height,
    // columns, silent, scatter, legend, panels: [{ title, colour, series, bands, levels, marks, empty }] }.
    // `own`: each panel has its own range of y; `above`: the title is already above the panels; `values`: ticks of x, if they fit;
    // `names`: words in place of the numbers 0, 1, ...; `silent`: legends read no values; `legend`: one for several panels, a Legend.
    constructor(host, view, spec) {
      Object.assign(this, { host, view, spec });
      this.box = host.querySelector(".panels");
      this.box.replaceChildren();
      this.box.style.setProperty("--columns", spec.columns ?? 1);
      this.panels = spec.panels.map((p) => this.panel(p));
      view.figures = view.figures.filter((other) => other.host !== host).concat(this);
      this.draw();
    }

    panel(spec) {
      const box = html("div", { class: "panel" }, this.box);
      if (spec.colour) box.style.setProperty("--c", spec.colour);
      spec.series.forEach((s, i) => { if (s.colour) box.style.setProperty(`--s${i}`, s.colour); });
      const head = html("div", { class: "head" }, box);
      if (spec.title) html("span", { class: "name" }, head, spec.title);
      const shared = this.spec.legend;
      const where = shared?.where ?? html("span", { class: "where" }, head);
      const keys = spec.series.map((series, i) => ({ series, i })).filter(({ series }) => series.name)
        .map(({ series, i }) => ({ series, out: shared?.outs.get(series.name) ?? legend(head, series, paint(series, i)) }));
      if (shared) head.classList.add("alone");
      else if (this.spec.scatter || this.spec.silent) keys.forEach((key) => key.out.remove());
      const frame = html("div", {
        class: "frame", tabindex: "0", role: "application", "aria-roledescription": "chart",
        "aria-label": `${described(this.spec, spec)} Left and right arrow read values, plus and minus zoom, Escape shows all.`,
      }, box);
      const panel = { spec, box, frame, keys, where, step: html("p", { class: "step" }, box) };
      listen(this, panel);
      return panel;
    }

    // A picture in a fold is drawn when that opens.
    draw() {
      if (this.box.clientWidth === 0) return;
      const { y } = this.spec, stacked = getComputedStyle(this.box).gridTemplateColumns.split(" ").length === 1;
      const common = this.domain(this.panels);
      this.panels.forEach((panel, i) => {
        const last = !stacked || this.spec.x.names || i === this.panels.length - 1;
        this.drawPanel(panel, y.own ? this.domain([panel]) : common, last);
      });
      this.host.dataset.drawn = this.panels.reduce((sum, panel) => sum + panel.drawn, 0);
      if (this.view.cursor !== null) this.point(this.view.cursor);
    }

    // Range of y over these panels, for visible values.
    domain(panels) {
      const { y } = this.spec, [x0, x1] = this.view.range;
      if (y.range) return y.range;
      // Measurements are not negative: an interval below zero does not extend the axis.
      const floor = (low, mean) => (mean >= 0 && y.zero !== false ? Math.max(0, low) : low);
      const all = panels.flatMap(({ spec }) => [
        ...(spec.levels ?? []).map((level) => level.y),
        ...spec.series.flatMap((s) => [
          ...(s.rings ?? []).flat().map((corner) => corner[1]),
          ...[...s.xs].flatMap((x, i) => (s.whole || (x >= x0 && x <= x1) ? [s.ys[i], s.hi?.[i], s.lo && floor(s.lo[i], s.ys[i])] : [])),
        ]),
      ]).filter((v) => number(v) && !(y.log && v <= 0));
      let lo = Plot.min(all), hi = Plot.max(all);
      if (lo === undefined) return y.log ? [0.1, 1] : [0, 1];
      if (y.log) return lo < hi ? [lo / 1.15, y.top ?? hi * 1.15] : [lo / 3, y.top ?? hi * 3];
      if (y.zero !== false) lo = Math.min(0, lo);
      // Where all is zero there is nothing to read a scale from: up to one of the unit, or to 6 %.
      const pad = (hi - lo || Math.abs(hi)) * 0.06 || (y.unit === "ratio" ? 0.06 : 1);
      return [y.zero !== false ? lo : lo - pad, y.top ?? hi + pad];
    }

    drawPanel(panel, domain, last) {
      const { x, y } = this.spec, width = Math.max(220, Math.round(panel.frame.clientWidth));
      const left = this.spec.left ?? (width < 300 ? 46 : LEFT), inner = width - left - RIGHT;
      const upright = x.names && Math.max(...x.names.map((name) => name.length)) * 7.5 * x.names.length > inner;
      const longest = upright ? Math.min(24, Math.max(...x.names.map((name) => name.length))) : 0;
      const rows = rowsOf(panel.spec.marks, this.view.range, inner);
      const top = 24 + (rows.count ? 16 * rows.count + 4 : 0), bottom = last ? 40 + longest * 4.2 : 14;
      const height = Math.min(this.spec.height, Math.max(110, Math.round(width * 0.55))) + top + bottom;
      Object.assign(panel, { width, left, right: width - RIGHT, top, base: height - bottom, drawn: 0, mean_s: 0 });
      const root = Plot.plot({
        width, height, marginLeft: left, marginRight: RIGHT, marginTop: top, marginBottom: bottom,
        style: { background: "transparent", color: "var(--ink)", fontSize: "12.5px", overflow: "visible" },
        x: { ...xAxis(x, this.view.range, inner, upright, last), inset: 0 },
        y: yAxis(y, domain, this.spec.height),
        marks: [...ground(panel, this.view.range, domain, rows), ...this.series(panel, domain), ...front(panel, this.view.range, domain)],
      });
      root.setAttribute("aria-hidden", "true");
      Object.assign(panel, { sx: root.scale("x"), sy: root.scale("y") });
      panel.brush = svg("rect", { class: "brush", y: top, height: panel.base - top, x: 0, width: 0 }, root);
      panel.hair = svg("line", { class: "hair", y1: top, y2: panel.base, x1: 0, x2: 0, visibility: "hidden" }, root);
      panel.frame.replaceChildren(root);
      panel.step.textContent = panel.mean_s ? `Means of ${Format.short(panel.mean_s, "s")}, in a band from the least to the greatest value.` : "";
    }

    series(panel, domain) {
      const range = this.view.range, taken = [];
      const words = panel.spec.series.flatMap((series, i) => besides(panel, series, paint(series, i), range, domain, this.spec, taken));
      const marks = panel.spec.series.flatMap((series, i) => {
        const all = seen(series, range, (panel.right - panel.left) / BIN), { x, y } = this.spec;
        // A logarithm has no zero.
        const points = x.log || y.log ? all.filter((p) => !x.log || p.x > 0).map((p) => (y.log && !(p.y > 0) ? { ...p, y: NaN, lo: NaN, hi: NaN } : p)) : all;
        const { per } = points[0] ?? { per: 1 };
        if (per > 1 && series.kinds.includes("line") && x.unit === "s") panel.mean_s = Math.max(panel.mean_s, per * (series.xs[1] - series.xs[0]));
        panel.drawn += series.kinds.length ? points.length + (series.cells?.length ?? 0) : 0;
        return Marks.of(series, points, paint(series, i), domain);
      });
      return [...marks, ...words];
    }

    // In a scatter, the name of the dot nearest to the pointer.
    nearestDot(panel, e) {
      if (!this.spec.scatter) return;
      const box = panel.frame.getBoundingClientRect(), k = panel.width / box.width;
      const [px, py] = [(e.clientX - box.left) * k, (e.clientY - box.top) * k];
      let best = { distance: 24 };
      for (const series of panel.spec.series.filter((s) => s.labels)) {
        series.labels.forEach((label, i) => {
          const distance = Math.hypot(panel.sx.apply(series.xs[i]) - px, panel.sy.apply(series.ys[i]) - py);
          if (distance < best.distance) best = { distance, label };
        });
      }
      panel.where.textContent = best.label ?? "";
    }

    // Hair line and values at `x`; nothing when it is null.
    point(pointed) {
      const { spec } = this, [x0, x1] = this.view.range, x = atStop(spec.x, pointed), swept = spec.x.values?.length > 0;
      if (spec.scatter) return;
      for (const panel of this.panels.filter((panel) => panel.sx)) {
        const inside = x !== null && x >= x0 && x <= x1;
        panel.hair.setAttribute("visibility", inside ? "visible" : "hidden");
        for (const end of ["x1", "x2"]) panel.hair.setAttribute(end, inside ? panel.sx.apply(x).toFixed(1) : 0);
        // A legend that panels share reads the one that is pointed at.
        if (spec.legend && inside && this.view.pointed !== panel) continue;
        const value = () => spec.x.names?.[Math.round(x)] ?? (swept ? Format.short(x, spec.x.unit, 6) : Format.value(x, spec.x.log || spec.x.unit === "s" ? spec.x.unit : ""));
        const which = spec.legend ? [spec.y.title, panel.spec.title].filter(Boolean).join(", ") + ": " : "";
        panel.where.textContent = inside ? `${which}${spec.x.name} = ${value()}` : "";
        for (const { series, out } of panel.keys) {
          const at = inside ? nearest(series.xs, x) : -1, run = !swept || Math.abs(series.xs[at] - x) < (spec.x.names ? 0.5 : Number.EPSILON);
          out.textContent = inside ? Format.value(run ? series.ys[at] ?? NaN : NaN, series.unit ?? spec.y.unit) : series.at_rest ?? "";
        }
      }
    }
  }

  const paint = (series, i) => (series.colour ? `var(--s${i})` : "var(--c, var(--ink))");

  function nearest(xs, x) {
    const i = Plot.bisectLeft(xs, x);
    return i > 0 && (i === xs.length || x - xs[i - 1] < xs[i] - x) ? i - 1 : i;
  }

  // What is seen of a series: one entry per value, or the mean and the extremes of several where there are more values than
  // `most`. Of one that is `whole`, whose x need not grow, all values.
  function seen(series, range, most) {
    const { xs, ys, lo = ys, hi = ys } = series;
    if (series.whole) return [...xs].map((x, i) => ({ x, lo: lo[i], hi: hi[i], y: ys[i], per: 1 }));
    const from = Math.max(0, Plot.bisectLeft(xs, range[0]) - 1), to = Math.min(xs.length, Plot.bisectLeft(xs, range[1]) + 2);
    const per = series.stepped ? Math.max(1, Math.ceil((to - from) / most)) : 1, out = [];
    for (let i = from - from % per; i < to; i += per) {
      const here = Array.from({ length: Math.min(per, xs.length - i) }, (_, k) => i + k).filter((k) => number(ys[k]));
      const x = per > 1 ? (xs[i] + xs[Math.min(xs.length, i + per) - 1]) / 2 : xs[i];
      if (!here.length) out.push({ x, y: NaN, lo: NaN, hi: NaN, per });
      else out.push({ x, y: Plot.mean(here, (k) => ys[k]), lo: Plot.min(here, (k) => lo[k]), hi: Plot.max(here, (k) => hi[k]), per });
    }
    return series.stepped && xs.length > 1 ? whole(out, per * (xs[1] - xs[0]) / 2) : out;
  }

  // A step spans its interval, half of it on either side of its point, also without neighbours.
  function whole(points, half) {
    const open = (p) => !p || Number.isNaN(p.y);
    return points.flatMap((p, i) => (open(p) ? [p] : [
      ...(open(points[i - 1]) ? [{ ...p, x: p.x - half }] : []), p, ...(open(points[i + 1]) ? [{ ...p, x: p.x + half }] : []),
    ]));
  }

  const titled = ({ title, unit }) => (unit ? `${title} (${unit})` : title);
  const tick = (factor) => (v) => (v === 0 ? "0" : String(Number((v / factor).toPrecision(6))).replace("-", "−"));

  // The unit that a logarithmic axis shows once: one without prefixes. With others each tick has its own.
  const said = ({ unit }) => (["s", "bit/s", "ratio"].includes(unit) ? "" : unit);

  // Ticks of a logarithmic axis that have space for a label.
  function logarithmic([lo, hi], most) {
    const scale = Plot.scaleLog([lo, hi], [0, 1]), written = scale.tickFormat(most, "");
    const ticks = scale.ticks(most).filter((t) => written(t) !== "");
    return ticks.length > 1 ? ticks : undefined;
  }

  function xAxis(x, range, inner, upright, last) {
    const most = Math.max(2, Math.floor(inner / 70));
    const base = { domain: range, type: x.log ? "log" : "linear", labelAnchor: "right", labelArrow: "none" };
    if (!last) return { ...base, label: null, tickFormat: () => "", ticks: most };
    if (x.names) return { ...base, label: x.title || null, ticks: x.names.map((_, i) => i), tickFormat: (i) => cut(x.names[i] ?? "", upright ? 24 : 60), tickRotate: upright ? -35 : 0 };
    if (x.log) {
      const fits = x.values?.length > 1 && apart(x.values, range, inner);
      return { ...base, label: titled({ title: x.title, unit: said(x) }), ticks: fits ? x.values : logarithmic(range, most / 2), tickFormat: (v) => Format.short(v, said(x) ? "" : x.unit) };
    }
    const { factor, unit } = x.unit === "bit/s" || x.prefixed ? Format.prefix(x.unit, range[1]) : { factor: 1, unit: x.unit };
    return { ...base, label: titled({ title: x.title, unit }), ticks: most, tickFormat: tick(factor) };
  }

  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const apart = (values, [a, b], inner) => {
    const at = values.map((v) => Math.log(v / a) / Math.log(b / a) * inner).sort((p, q) => p - q);
    return at.every((p, i) => i === 0 || p - at[i - 1] >= 34);
  };

  function yAxis(y, domain, height) {
    const most = Math.max(2, Math.floor(height / 52));
    const base = { domain, grid: !y.names, type: y.log ? "log" : "linear", labelAnchor: "top", labelArrow: "none" };
    if (y.names) return { ...base, label: null, ticks: y.names.map((_, i) => i + 0.5), tickSize: 0, tickFormat: (i) => y.names[y.names.length - 0.5 - i] };
    if (y.log) return { ...base, label: y.above ? said(y) || null : titled({ title: y.title, unit: said(y) }), ticks: logarithmic(domain, most), tickFormat: (v) => Format.short(v, said(y) ? "" : y.unit) };
    const { factor, unit } = Format.prefix(y.unit, Math.max(Math.abs(domain[0]), Math.abs(domain[1])));
    return { ...base, label: y.above ? unit || null : titled({ title: y.title, unit }), ticks: most, tickFormat: tick(factor) };
  }

  // Rows for the labels of the marks, so that none covers another.
  function rowsOf(marks = [], [x0, x1], inner) {
    const ends = [], rows = new Map();
    for (const mark of marks.filter((mark) => mark.label && mark.x >= x0 && mark.x <= x1)) {
      const width = mark.label.length * 7 + 12, left = Math.min((mark.x - x0) / (x1 - x0) * inner, inner - width + RIGHT);
      const row = [0, 1, 2].find((row) => (ends[row] ?? -Infinity) <= left);
      if (row === undefined) continue;
      ends[row] = left + width;
      rows.set(mark, { row, left });
    }
    return { rows, count: ends.length };
  }

  // Background of the curves: the warm-up, and vertical lines with labels above the panel.
  function ground(panel, [x0, x1], [y0, y1], { rows }) {
    const inside = (panel.spec.bands ?? []).map((band) => ({ ...band, from: Math.max(x0, band.from), to: Math.min(x1, band.to) })).filter((band) => band.to > band.from);
    const marks = (panel.spec.marks ?? []).filter((mark) => mark.x >= x0 && mark.x <= x1);
    const words = [...rows].map(([mark, { row, left }]) =>
      Plot.text([mark.label], { frameAnchor: "top-left", textAnchor: "start", dx: left + 3, dy: -18 * row - 18, fill: "var(--ink)", className: "event" }));
    return [
      Plot.rect(inside, { x1: "from", x2: "to", y1: y0, y2: y1, fill: "var(--wash)" }),
      Plot.ruleX(marks, { x: "x", stroke: "var(--soft)", strokeDasharray: "3 3", className: "mark" }),
      ...words,
    ];
  }

  // Foreground of the curves.
  function front(panel, [x0, x1], domain) {
    const bands = (panel.spec.bands ?? []).filter((band) => band.from < x1 && (Math.min(band.to, x1) - Math.max(band.from, x0)) / (x1 - x0) * (panel.right - panel.left) > 60);
    const halo = { stroke: "var(--paper)", strokeWidth: 4, fill: "var(--soft)" };
    const words = (x, y, text, more) => Plot.text([text], { x: [x], y: [y], ...halo, ...more });
    return [
      ...bands.map((band) => words(Math.max(x0, band.from), domain[0], band.label, { textAnchor: "start", dx: 4, dy: -9 })),
      ...(panel.spec.levels ?? []).flatMap((level) => [
        Plot.ruleY([level.y], { stroke: "var(--soft)", strokeDasharray: "5 4", className: "level" }),
        ...(level.label ? [words(x1, level.y, level.label, { textAnchor: "end", dy: -7, dx: -3 })] : []),
      ]),
      Plot.ruleY([domain[0]], { stroke: "var(--soft)" }),
      ...(panel.spec.empty ? [Plot.text([panel.spec.empty], { frameAnchor: "middle", fill: "var(--soft)" })] : []),
    ];
  }

  // A label next to a point, if there is a place where it covers no other label.
  function besides(panel, series, colour, [x0, x1], [y0, y1], spec, taken) {
    const place = (v, a, b, log) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
    const inner = panel.right - panel.left, tall = panel.base - panel.top;
    return (series.texts ?? []).flatMap((text, i) => {
      const x = place(series.xs[i], x0, x1, spec.x.log) * inner, y = tall - place(series.ys[i], y0, y1, spec.y.log) * tall;
      const width = text.length * 7;
      const places = [[9, 0, "start"], [-9 - width, 0, "end"], [9, 15, "start"], [9, -15, "start"], [-9 - width, 15, "end"], [-9 - width, -15, "end"]];
      const free = ([dx, dy]) => x + dx > 0 && x + dx + width < inner + RIGHT && y + dy > 6 && y + dy < tall - 4
        && taken.every((t) => x + dx + width < t.x || x + dx > t.x + t.width || Math.abs(y + dy - t.y) > 13);
      const found = places.find(free);
      if (!found) return [];
      taken.push({ x: x + found[0], y: y + found[1], width });
      return [Plot.text([text], { x: [series.xs[i]], y: [series.ys[i]], dx: found[2] === "end" ? -9 : 9, dy: found[1], textAnchor: found[2], fill: colour, fontWeight: 600, stroke: "var(--paper)", strokeWidth: 3 })];
    });
  }

  // Text alternative of a panel.
  const MOST_SAID = 8;
  function described({ x, y }, { title, series, marks = [] }) {
    const named = series.filter((s) => s.name);
    const one = (s) => {
      const ys = [...s.ys].filter(number), unit = s.unit ?? y.unit;
      if (!ys.length) return `${s.name}: no values.`;
      const [lo, hi] = Plot.extent(ys);
      return lo === hi ? `${s.name}: ${Format.value(lo, unit)}.` : `${s.name}: from ${Format.value(lo, unit)} to ${Format.value(hi, unit)}, ${s.at_rest ?? `mean ${Format.value(Plot.mean(ys), unit)}`}.`;
    };
    const more = named.length > MOST_SAID ? ` And ${named.length - MOST_SAID} more.` : "";
    const events = marks.filter((mark) => mark.label).slice(0, MOST_SAID).map((mark) => ` ${mark.label} at ${Format.short(mark.x, x.unit)}.`).join("");
    return `${y.title || "Values"}${title ? `, ${title}` : ""}, against ${(x.title || x.name).toLowerCase()}. ${named.slice(0, MOST_SAID).map(one).join(" ")}${more}${events}`;
  }

  function legend(head, series, colour) {
    const key = html("span", { class: "key" }, head);
    const sample = svg("svg", { class: "sample", width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" }, key);
    Marks.sample(sample, series, colour, svg);
    html("span", {}, key, series.name);
    return html("output", {}, key, series.at_rest);
  }

  // Common legend of several panels: above `place`, with the values of the panel under the pointer.
  class Legend {
    constructor(place, all) {
      const head = html("div", { class: "head shared" });
      all.forEach((s, i) => { if (s.colour) head.style.setProperty(`--s${i}`, s.colour); });
      place.before(head);
      this.where = html("span", { class: "where" }, head);
      this.outs = new Map(all.map((series, i) => [series.name, legend(head, series, paint(series, i))]));
    }
  }

  return { Figure, Legend, html, LEFT };
})();
