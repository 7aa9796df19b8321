// Behaviour of every page: redraws for a new width and for paper, marks tables that are wider than the screen, and
// stores results for tests on the root element.
const Frame = (() => {
  function redraw() { View.all.forEach((view) => view.redraw()); }

  // Note above each table that is wider than its place: how much of it is hidden.
  function sayWhatScrolls() {
    for (const box of document.querySelectorAll(".scroll")) {
      let words = box.previousElementSibling;
      if (!words?.classList.contains("more")) {
        words = Chart.html("p", { class: "more", hidden: "" });
        box.before(words);
      }
      const columns = [...box.querySelectorAll("thead tr:last-child th")];
      const beyond = columns.filter((th) => th.offsetLeft + th.offsetWidth > box.clientWidth + 1).length;
      words.hidden = box.clientWidth === 0 || box.scrollWidth <= box.clientWidth + 1;
      words.textContent = columns.length ? `Scroll sideways: ${beyond} of ${columns.length} columns are further right \u2192` : "Scroll sideways \u2192";
    }
  }

  // Contents of a fold are drawn when it opens; a link to a fold opens it.
  function folds() {
    const open = () => {
      const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const fold = target && target.closest("details");
      if (fold && !fold.open) {
        fold.open = true;
        target.scrollIntoView();
      }
    };
    window.addEventListener("hashchange", open);
    document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", () => setTimeout(open)));
    document.addEventListener("toggle", (e) => {
      View.all.forEach((view) => view.figures.filter((figure) => e.target.contains(figure.host)).forEach((figure) => figure.draw()));
      sayWhatScrolls();
    }, true);
    open();
  }

  function finish() {
    sayWhatScrolls();
    const root = document.documentElement;
    root.dataset.errors = JSON.stringify(errors);
    root.dataset.width = window.innerWidth;
    root.dataset.fits = root.scrollWidth <= window.innerWidth;
  }

  // On paper folds are open, and the figures are drawn for its width.
  function printing() {
    let opened = [];
    window.addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      opened.forEach((d) => { d.open = true; });
      document.documentElement.classList.add("paper");
      redraw();
    });
    window.addEventListener("afterprint", () => {
      opened.forEach((d) => { d.open = false; });
      document.documentElement.classList.remove("paper");
      redraw();
    });
  }

  // `draw` draws the page for the first time.
  function start(draw = () => {}) {
    Chart.html("div", { id: "said", class: "unseen", "aria-live": "polite" }, document.body);
    draw();
    document.querySelectorAll("figure").forEach(Save.buttons);
    folds();
    // A picture's height follows its width: drawn in the next frame, it is not observed in this one.
    let width = document.body.clientWidth;
    new ResizeObserver(() => {
      if (document.body.clientWidth === width) return;
      width = document.body.clientWidth;
      requestAnimationFrame(() => { redraw(); finish(); });
    }).observe(document.body);
    printing();
    finish();
  }

  return { start };
})();
