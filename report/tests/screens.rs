//! Visual checks: every kind of page on a desktop and on a phone, light and dark.

mod chromium;
mod example;
#[path = "example/pages.rs"]
mod pages;

use chromium::{chromium, flags, url};
use serde::Deserialize;
use std::process::Command;

/// Width and height of a first screen.
const SCREENS: [(u32, u32); 2] = [(1300, 900), (420, 900)];

/// Screens of a desktop that a page fills before anything is opened.
const MOST_SCREENS: f64 = 5.0;

/// Measurements of a page at one width.
#[derive(Debug, Deserialize)]
struct Found {
    page: String,
    width: u32,
    dark: bool,
    /// Errors of the page's script.
    errors: String,
    /// Whether the page is no wider than the screen.
    fits: bool,
    /// Upper and lower edge of the first picture.
    first: [f64; 2],
    /// Height of the page before anything is opened.
    folded: f64,
    /// Whether the first line under the heading has text.
    answer: String,
    /// Curves with a contrast below 3:1, and their contrast.
    faint: Vec<(String, f64)>,
    curves: usize,
    /// Tables that are cut without a note.
    unsaid: usize,
    cut: usize,
    /// Figures without their three buttons.
    unsaved: usize,
    figures: usize,
    /// Places of pictures that have none.
    undrawn: Vec<String>,
}

/// Measures each page at each width, in one browser.
const LOOK: &str = r#"
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const pixel = (paint) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = paint; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const over = ([r, g, b, a], below, opacity) => [r, g, b].map((v, i) => v * a / 255 * opacity + below[i] * (1 - a / 255 * opacity));
const contrast = (one, other) => {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};
// Paths that are curves, dots or markers; areas and bands are what curves lie on.
function faint(page) {
  const paper = pixel(page.getComputedStyle(page.document.body).backgroundColor);
  const out = [], every = ".curve, .dots, .marker";
  const all = [...page.document.querySelectorAll(".frame svg *")].filter((e) => e.matches("path, line, circle") && e.closest(every));
  for (const shape of all) {
    const look = page.getComputedStyle(shape), group = shape.closest(every);
    const grounds = [paper], figure = shape.closest("[data-figure]")?.dataset.figure;
    const area = shape.closest("svg").querySelector(".area, .area path");
    if (area && figure === "throughput") grounds.push(pixel(page.getComputedStyle(area).fill));
    const paint = look.stroke === "none" ? look.fill : look.stroke;
    const least = Math.min(...grounds.map((ground) => contrast(over(pixel(paint), ground, Number(look.opacity)), ground)));
    if (!(least >= 3)) out.push([`${figure} ${group.getAttribute("class")} ${paint}`, least]);
  }
  return { faint: out, curves: all.length };
}
function look(name, page, width, before) {
  const { document } = page, root = document.documentElement;
  const cut = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1);
  const said = (box) => box.previousElementSibling?.matches(".more") && box.previousElementSibling.getBoundingClientRect().height > 0;
  const figures = [...document.querySelectorAll("figure")];
  return {
    page: name, width, errors: root.dataset.errors, fits: root.scrollWidth <= page.innerWidth,
    ...before,
    answer: document.querySelector("header .answer, header .verdict").textContent, ...faint(page),
    cut: cut.length, unsaid: cut.filter((box) => !said(box)).length,
    dark: luminance(pixel(page.getComputedStyle(document.body).backgroundColor)) < 0.5,
    undrawn: figures.filter((figure) => figure.dataset.figure && !figure.querySelector(".frame svg")).map((figure) => figure.dataset.figure), figures: figures.length, unsaved: figures.filter((figure) => figure.querySelectorAll(".save button").length !== 3).length,
  };
}
// Every page draws itself while it loads, and what is folded when it opens.
window.addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  const firsts = frames.map(({ contentWindow: page }) => {
    const picture = page.document.querySelector("figure .frame svg, figure table").getBoundingClientRect();
    return { first: [picture.top + page.scrollY, picture.bottom + page.scrollY], folded: page.document.body.scrollHeight };
  });
  frames.forEach((frame) => frame.contentDocument.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
  setTimeout(() => {
    const found = frames.map((frame, i) => look(frame.title, frame.contentWindow, frame.clientWidth, firsts[i]));
    document.querySelector("pre").textContent = JSON.stringify(found);
  }, 500);
});
"#;

fn survey(dark: bool) -> Vec<Found> {
    let folder = tempfile::tempdir().unwrap();
    let pages = pages::pages();
    for (name, page) in &pages {
        std::fs::write(folder.path().join(format!("{name}.html")), page).unwrap();
    }
    let frame = |name: &str, (width, height): (u32, u32)| {
        format!(
            "<iframe title=\"{name}\" style=\"border:0;width:{width}px;height:{height}px\" src=\"{name}.html\"></iframe>"
        )
    };
    let frames = pages.iter().flat_map(|(name, _)| SCREENS.map(|screen| frame(name, screen)));
    let visitor = format!(
        "<!doctype html><meta charset=\"utf-8\"><script>{LOOK}</script>{}<pre></pre>",
        frames.collect::<String>()
    );
    let file = folder.path().join("visitor.html");
    std::fs::write(&file, visitor).unwrap();
    let mut command = Command::new("chromium");
    command.args(flags(folder.path())).arg("--allow-file-access-from-files");
    command.arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }));
    let output = command.arg(url(&file)).output().unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let found = dom.split("<pre>").nth(1).and_then(|rest| rest.split("</pre>").next()).unwrap_or_default();
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).unwrap_or_else(|_| panic!("{found}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn judge(found: &Found) {
    let at = format!("{} at {}", found.page, found.width);
    assert_eq!(found.errors, "[]", "{at}");
    assert!(found.fits, "{at}: wider than the screen");
    assert!(!found.answer.is_empty(), "{at}: no first line");
    assert_eq!(found.faint, [], "{at}");
    assert!(found.undrawn.is_empty(), "{at}: {:?}", found.undrawn);
    assert_eq!(found.unsaid, 0, "{at}: of {} tables that are cut", found.cut);
    assert_eq!(found.unsaved, 0, "{at}: of {} figures", found.figures);
    let height = f64::from(SCREENS[0].1);
    let screens = found.folded / height;
    assert!(found.width < SCREENS[0].0 || found.page == "paper" || screens <= MOST_SCREENS, "{at}: {screens} screens");
    let whole = !["evaluation", "matrix-3", "matrix-23", "paper"].contains(&found.page.as_str());
    let [top, bottom] = found.first;
    assert!(if whole { bottom <= height } else { top < height }, "{at}: the first picture is from {top} to {bottom}");
}

/// A table of 23 columns is cut on a phone, and a demo has curves: the survey has something to find.
#[test]
fn shows_everything_and_picture_on_first_screen() {
    if !chromium() {
        return;
    }
    for dark in [false, true] {
        let all = survey(dark);
        assert_eq!(all.len(), pages::pages().len() * SCREENS.len());
        all.iter().for_each(judge);
        assert!(all.iter().all(|found| found.dark == dark));
        assert!(all.iter().any(|found| found.page == "matrix-23" && found.cut > 0));
        assert!(all.iter().any(|found| found.page == "demo" && found.curves > 20));
    }
}

#[test]
fn page_of_thousand_points_is_below_five_megabytes() {
    let size = report::page(&pages::thousand()).len();
    assert!(size < 5_000_000, "{size}");
}
