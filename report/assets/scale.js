"use strict";
// Errors are kept on the root element, so that whoever opens the page, a test included, can see that there were none.
const errors = [];
const keepError = (what) => {
  errors.push(String(what));
  document.documentElement.dataset.errors = JSON.stringify(errors);
};
window.addEventListener("error", (e) => keepError(e.message));
window.addEventListener("unhandledrejection", (e) => keepError(e.reason));
for (const level of ["error", "warn"]) {
  const write = console[level].bind(console);
  console[level] = (...what) => { keepError(what.join(" ")); write(...what); };
}

// Numbers as people read them, and ticks.
const Scale = (() => {
  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const PREFIXED = { "bit/s": PREFIXES, s: PREFIXES.slice(4) };

  // Prefix in which `largest` has one to three digits before the point.
  function prefix(unit, largest) {
    if (unit === "ratio") return { factor: 0.01, unit: "%" };
    const table = PREFIXED[unit];
    if (!table || !(largest > 0)) return { factor: 1, unit };
    const [factor, letter] = table.find(([f]) => largest >= f * 0.9999) ?? table[table.length - 1];
    return { factor, unit: letter + unit };
  }

  function digits(value, significant) {
    if (value === 0) return "0";
    const decimals = Math.min(12, Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(value)))));
    return value.toFixed(decimals).replace("-", "−");
  }

  // A value with its own prefix, for read-outs.
  function value(v, unit) {
    if (!Number.isFinite(v)) return "–";
    const p = prefix(unit, Math.abs(v));
    return digits(v / p.factor, 4) + (p.unit ? " " + p.unit : "");
  }

  // The same in few digits, for legends.
  function short(v, unit) {
    const p = prefix(unit, Math.abs(v));
    return `${Number((v / p.factor).toPrecision(2))} ${p.unit}`.trim();
  }

  // Round steps of 1, 2 or 5 times a power of ten.
  function linear(lo, hi, most) {
    const raw = (hi - lo) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5, 10].find((s) => s * power >= raw * 0.999) ?? 10);
    const ticks = [];
    for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) ticks.push(k * step);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return { ticks, label: (t) => (Math.abs(t) < step / 2 ? "0" : t.toFixed(Math.min(decimals, 12)).replace("-", "−")) };
  }

  // In each decade as many ticks as fit: 1, 2 and 5, 1 and 3, or 1; of many decades every second, third, ... power.
  const IN_DECADE = [[1, 2, 5], [1, 3], [1]];
  function logarithmic(lo, hi, most) {
    const first = Math.floor(Math.log10(lo) - 1e-9), last = Math.ceil(Math.log10(hi) + 1e-9);
    const ticks = (steps, every) => {
      const all = [];
      for (let k = first; k <= last; k++) if (k % every === 0) all.push(...steps.map((m) => m * 10 ** k));
      return all.filter((t) => t >= lo * 0.999 && t <= hi * 1.001);
    };
    const dense = IN_DECADE.map((steps) => ticks(steps, 1)).find((all) => all.length <= most);
    // Less than a decade may lie between two of them.
    if (dense && dense.length < 2) return linear(lo, hi, most).ticks;
    return dense ?? ticks([1], Math.ceil((last - first) / Math.max(1, most)));
  }

  return { prefix, value, short, digits, linear, logarithmic };
})();
