// The pictures of a paper: lines against a swept value, whole curves, and published points.
const PaperPage = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Published points are ink, computed lines are plain, simulated points carry markers and their intervals.
  function look(line, i) {
    if (line.origin === "published") return { kinds: ["dots"], shape: 3, colour: "var(--ink)", dash: "" };
    const { dash, marker } = Marks.look(i);
    if (line.dense || line.origin === "computed") return { kinds: ["line"], dash };
    return { kinds: ["line", "bars"], dash, marker };
  }

  function series(line, i, picture) {
    const points = line.points.filter(([x]) => !picture.x.log || x > 0);
    const ys = points.map((p) => p[1] ?? NaN), half = points.map((p) => p[2] ?? 0);
    const drawn = { colour: `var(--line${i})`, ...look(line, i) };
    return {
      name: `${line.name} (${line.origin})`, xs: points.map((p) => p[0]), ys,
      lo: ys.map((y, k) => y - half[k]), hi: ys.map((y, k) => y + half[k]), ...drawn,
    };
  }

  function draw(host, picture) {
    const lines = picture.lines.map((line, i) => series(line, i, picture)).filter((line) => line.xs.length);
    const xs = lines.flatMap((line) => line.xs);
    const view = new View();
    const lo = picture.x.from ?? xs.reduce((a, b) => Math.min(a, b), Infinity);
    const hi = picture.x.to ?? xs.reduce((a, b) => Math.max(a, b), -Infinity);
    if (xs.length === 0) return;
    view.setFull(lo, hi);
    new Chart.Figure(host, view, {
      x: { title: picture.x.label, unit: picture.x.unit, log: picture.x.log, name: picture.x.label },
      y: { title: picture.y.label, unit: picture.y.unit, log: picture.y.log, zero: picture.y.from === null || picture.y.from === 0, top: picture.y.to ?? undefined },
      height: 300, panels: [{ series: lines }],
    });
  }

  function drawAll() {
    data.pictures.forEach((picture, number) => {
      const host = document.querySelector(`[data-figure="picture-${number}"]`);
      data.colours[number].forEach((colour, i) => host.style.setProperty(`--line${i}`, colour));
      draw(host, picture);
    });
  }

  return { drawAll };
})();
Frame.start(PaperPage.drawAll);
