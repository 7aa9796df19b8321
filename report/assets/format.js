"use strict";
// Errors are stored on the root element, so that readers and tests can check that there were none.
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

// Numbers as people read them.
const Format = (() => {
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

  const withUnit = (text, unit) => (unit ? `${text}${"\u00a0"}${unit}` : text);

  // A value with its own prefix.
  function value(v, unit, significant = 4) {
    if (!Number.isFinite(v)) return "–";
    const p = prefix(unit, Math.abs(v));
    return withUnit(digits(v / p.factor, significant), p.unit);
  }

  // The shortest form.
  function short(v, unit, significant = 3) {
    const p = prefix(unit, Math.abs(v));
    return withUnit(String(Number((v / p.factor).toPrecision(significant))).replace("-", "−"), p.unit);
  }

  return { prefix, value, short, digits };
})();
