// The pictures of an evaluation: for each question, a chart of each figure, over the points of its sweep or, where there is
// one point only, over the controllers.
const EvaluationPage = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Distance between controllers at the same point.
  const APART = 0.14;

  function chart(part, question, figure, column) {
    const alone = question.points.length === 1;
    const names = alone ? data.contenders.map((c) => c.name) : question.points;
    const series = data.contenders.map((contender, i) => {
      const cells = question.rows.filter((row) => row.contender === i).map((row) => row.cells[column]);
      const xs = cells.map((_, at) => (alone ? i : at + (i - (data.contenders.length - 1) / 2) * APART));
      const half = cells.map((cell) => cell?.half_width ?? 0), ys = cells.map((cell) => cell?.mean ?? NaN);
      return {
        name: contender.name, colour: contender.colour, ...Marks.look(i), xs, ys,
        lo: ys.map((y, k) => y - half[k]), hi: ys.map((y, k) => y + half[k]), kinds: ["line", "bars"],
      };
    });
    const view = new View();
    view.setFull(-0.5, names.length - 0.5);
    new Chart.Figure(part, view, {
      x: { title: alone ? "" : question.keys, unit: "", name: question.keys || "controller", names },
      y: { title: figure.label, unit: figure.unit, above: true }, height: 120, panels: [{ series }],
    });
    return Number(part.dataset.drawn);
  }

  function draw() {
    data.questions.forEach((question, number) => {
      const host = document.querySelector(`[data-figure="question-${number}"]`);
      const box = host.querySelector(".panels");
      box.style.setProperty("--columns", Math.min(2, question.figures.length));
      let drawn = 0;
      question.figures.forEach((figure, column) => {
        if (question.rows.every((row) => row.cells[column] === null)) return;
        const part = Chart.html("div", { class: "part" }, box);
        Chart.html("h4", {}, part, figure.label);
        Chart.html("div", { class: "panels" }, part);
        drawn += chart(part, question, figure, column);
      });
      host.dataset.drawn = drawn;
    });
  }

  return { draw };
})();
Frame.start(EvaluationPage.draw);
