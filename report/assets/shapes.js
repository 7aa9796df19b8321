// What tells lines apart beside their colours: markers and dashes.
const Shapes = (() => {
  const f = (v) => (Math.round(v * 10) / 10).toString();
  // A closed outline around a point, from its corners in units of `r`.
  const outline = (...corners) => (x, y, r) => `M${corners.map(([dx, dy]) => `${f(x + dx * r)} ${f(y + dy * r)}`).join("L")}Z`;
  const star = Array.from({ length: 10 }, (_, k) => {
    const r = k % 2 ? 0.6 : 1.5, angle = Math.PI * k / 5;
    return [r * Math.sin(angle), -r * Math.cos(angle)];
  });

  const ALL = [
    (x, y, r) => `M${f(x - r)} ${f(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
    outline([-1, -1], [1, -1], [1, 1], [-1, 1]),
    outline([0, -1.2], [1.2, 0.9], [-1.2, 0.9]),
    outline([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]),
    outline([0, 1.2], [1.2, -0.9], [-1.2, -0.9]),
    outline(...star),
    outline([-1, -1.2], [1, -1.2], [-1, 1.2], [1, 1.2]),
    outline([-1.2, 0], [0.9, -1.2], [0.9, 1.2]),
    outline([-1.2, -1], [-1.2, 1], [1.2, -1], [1.2, 1]),
    outline([1.2, 0], [-0.9, -1.2], [-0.9, 1.2]),
  ];
  const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2"];

  // The shape and the class of the marker of the `i`-th of several lines: each shape first hollow, then filled, then again.
  const marker = (i) => ({ draw: ALL[i % ALL.length], kind: Math.floor(i / ALL.length) % 2 ? "markers filled" : "markers" });
  // How the `i`-th of several lines looks beside its colour.
  const look = (i) => ({ dash: DASHES[i % DASHES.length], marker: i });

  return { ALL, marker, look };
})();
