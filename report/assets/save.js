// Saves a figure: as SVG and PNG, as it looks now, and as CSV, the numbers that are drawn.
const Save = (() => {
  const NS = "http://www.w3.org/2000/svg";
  // Style attributes of a shape, for use without the style sheet.
  const LOOK = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity", "font-size",
    "font-weight", "font-variant", "text-anchor", "dominant-baseline", "display"];
  const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";
  const MARGIN = 12;

  const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

  // A copy of a drawing whose elements carry their own looks.
  function copied(drawing, box) {
    const copy = drawing.cloneNode(true), parts = (root) => [root, ...root.querySelectorAll("*")];
    const here = parts(drawing), there = parts(copy);
    here.forEach((element, i) => {
      const look = getComputedStyle(element);
      there[i].setAttribute("style", LOOK.map((name) => `${name}:${plain(look.getPropertyValue(name))}`).join(";"));
    });
    there.filter((element) => element.matches(".hair, .brush")).forEach((element) => element.remove());
    there.forEach((element) => ["fill", "stroke", "class"].forEach((name) => element.removeAttribute(name)));
    for (const [name, value] of Object.entries(box)) copy.setAttribute(name, value);
    copy.querySelectorAll("style").forEach((element) => element.remove());
    return new XMLSerializer().serializeToString(copy);
  }

  // Programs that draw SVG know few ways to write a colour: this one, and `none`, all know.
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  function plain(paint) {
    if (!/^(oklab|oklch|color|lab|lch)\(/.test(paint)) return paint;
    if (!known.has(paint)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = paint;
      pixel.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
      known.set(paint, `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`);
    }
    return known.get(paint);
  }

  const colour = (element, of) => plain(getComputedStyle(element).getPropertyValue(of));
  const inked = (paint) => paint && paint !== "transparent" && !/[,/] ?0\)$/.test(paint);

  // Text at its place; upright where it is written from top to bottom.
  function words(element, { x, y, width, height }, text = element.textContent) {
    const look = getComputedStyle(element);
    const [cx, cy] = [x + width / 2, y + height / 2];
    const place = look.writingMode === "horizontal-tb" ? `x="${x.toFixed(1)}" y="${(cy + 4).toFixed(1)}"`
      : `transform="translate(${(cx + 4).toFixed(1)} ${(y + height).toFixed(1)}) rotate(-90)"`;
    return `<text ${place} fill="${plain(look.color)}" font-size="${look.fontSize}" font-weight="${look.fontWeight}">${escaped(text)}</text>`;
  }

  // The lines of a paragraph, as they are wrapped on the screen.
  function wrapped(paragraph, at) {
    const texts = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT), range = document.createRange(), lines = [];
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      for (const { 0: word, index } of node.data.matchAll(/\s*\S+/g)) {
        range.setStart(node, index + word.length - word.trimStart().length);
        range.setEnd(node, index + word.length);
        const box = at(range), line = lines[lines.length - 1];
        if (line && Math.abs(line.box.y - box.y) < box.height / 2) line.text += word;
        else lines.push({ box, text: word.trimStart() });
      }
    }
    return lines;
  }

  // The figure as one drawing: its heading, caption, legends, panels, and the cells of its tables, at their positions.
  function svg(host) {
    const frame = host.getBoundingClientRect();
    const at = (element) => {
      const box = element.getBoundingClientRect();
      return { x: box.left - frame.left + MARGIN, y: box.top - frame.top + MARGIN, width: box.width, height: box.height };
    };
    const parts = [];
    let right = frame.width + MARGIN;
    for (const element of host.querySelectorAll("h3, figcaption p, h4, .name, .where, .key > span, .key output, td, th, td > b, th span, svg")) {
      const box = at(element);
      if (!(box.width > 0)) continue;
      right = Math.max(right, box.x + box.width);
      if (element.matches("p")) {
        parts.push(...wrapped(element, at).map((line) => words(element, line.box, line.text)));
        continue;
      }
      const cell = element.matches("td, th, b");
      if (element.matches("svg")) {
        parts.push(copied(element, box));
        continue;
      }
      if (cell && inked(colour(element, "background-color"))) {
        parts.push(`<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" fill="${colour(element, "background-color")}"/>`);
      }
      if (element.querySelector("b, span")) continue;
      parts.push(words(element, cell ? { ...box, x: box.x + 4 } : box));
    }
    const [width, height] = [Math.ceil(right + MARGIN), Math.ceil(frame.height + 2 * MARGIN)];
    return `<svg xmlns="${NS}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}">`
      + `<rect width="100%" height="100%" fill="${colour(document.body, "background-color")}"/>${parts.join("")}</svg>`;
  }

  // Twice as many pixels as on the screen.
  function png(host) {
    const image = new Image();
    return new Promise((done, failed) => {
      image.onload = () => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(done, "image/png");
      };
      image.onerror = () => failed(new Error("the picture cannot be made"));
      image.src = URL.createObjectURL(new Blob([svg(host)], { type: "image/svg+xml" }));
    }).finally(() => URL.revokeObjectURL(image.src));
  }

  const field = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const number = (value) => (value === undefined || value === null || Number.isNaN(value) ? "" : String(value));
  const titled = ({ title, unit }) => (unit && unit !== "ratio" ? `${title} (${unit})` : title);

  // One row for each point of each series, in plain units; of a table, one for each cell; of a network, one for each link.
  function csv(host) {
    const lines = [["quantity", "panel", "series", "x", "value", "low", "high"]];
    const figures = View.all.flatMap((view) => view.figures).filter((figure) => host.contains(figure.host));
    for (const { spec } of figures) {
      lines[0][3] = titled(spec.x);
      for (const panel of spec.panels) {
        for (const series of panel.series.filter((series) => series.save !== false)) {
          const where = [titled({ title: spec.y.title, unit: series.unit ?? spec.y.unit }), panel.title ?? "", series.save ?? series.name ?? ""];
          series.xs.forEach((x, i) => {
            lines.push([...where, spec.x.names?.[Math.round(x)] ?? number(x), number(series.ys[i]), number(series.lo?.[i]), number(series.hi?.[i])]);
          });
        }
      }
    }
    host.querySelectorAll("[data-value]").forEach((cell) => {
      lines.push([host.querySelector("h3").textContent, "", cell.dataset.row, cell.dataset.column, cell.dataset.value, "", ""]);
    });
    return lines.map((line) => line.map(field).join(",") + "\n").join("");
  }

  function hand(name, blob) {
    const link = Chart.html("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const KINDS = {
    SVG: (host) => new Blob([svg(host)], { type: "image/svg+xml" }),
    PNG: png,
    CSV: (host) => new Blob([csv(host)], { type: "text/csv" }),
  };

  function buttons(host) {
    const title = host.querySelector("h3")?.textContent ?? "picture";
    const stem = `${document.querySelector("h1")?.textContent ?? ""} ${title}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const row = Chart.html("span", { class: "save" });
    for (const [kind, make] of Object.entries(KINDS)) {
      const button = Chart.html("button", { type: "button", "aria-label": `Save \u201c${title}\u201d as ${kind}` }, row, kind);
      button.addEventListener("click", async () => hand(`${stem}.${kind.toLowerCase()}`, await make(host)));
    }
    host.querySelector("figcaption")?.prepend(row);
  }

  return { buttons, svg, png, csv };
})();
