//! The picture of the scoreboard: for each quantity print across and ours up, both logarithmic.
//!
//! Perfect agreement is the diagonal; the band around it is 15 % wide on both sides. A factor is a line beside the
//! diagonal, a narrow column a dot, a wrong shape a hook. The cross in a corner is one standard deviation of one run.

use crate::agreement::quantity::{Cell, Quantity};
use crate::papers::NEAR;
use std::fmt::Write as _;

const COLUMNS: usize = 6;
/// Side of a panel, and the space around it.
const SIDE: f64 = 130.0;
const GAP: f64 = 34.0;
/// A quantity of fewer cells shows no shape.
const FEWEST_CELLS: usize = 18;
/// Empty part of an axis on both sides, as a factor.
const MARGIN: f64 = 1.25;
const HEADS: f64 = 26.0;
const INK: &str = "#808080";
const DOTS: &str = "#0072B2";
const BAND: &str = "#009E73";

/// Draws the quantities of many cells as SVG.
pub fn picture(quantities: &[Quantity]) -> String {
    let shown: Vec<&Quantity> = quantities.iter().filter(|quantity| quantity.cells.len() >= FEWEST_CELLS).collect();
    let rows = shown.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS as f64 * (SIDE + GAP) + GAP, rows as f64 * (SIDE + GAP + HEADS) + GAP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"9\" \
         fill=\"{INK}\">\n"
    );
    for (at, quantity) in shown.into_iter().enumerate() {
        let left = GAP + (at % COLUMNS) as f64 * (SIDE + GAP);
        let top = GAP + HEADS + (at / COLUMNS) as f64 * (SIDE + GAP + HEADS);
        panel(&mut out, quantity, (left, top));
    }
    out + "</svg>\n"
}

/// Where logarithms are in a panel.
struct Place {
    left: f64,
    bottom: f64,
    from: f64,
    to: f64,
}

impl Place {
    fn along(&self, logarithm: f64) -> f64 {
        SIDE * (logarithm.clamp(self.from, self.to) - self.from) / (self.to - self.from)
    }

    fn point(&self, printed: f64, ours: f64) -> String {
        format!("{:.1},{:.1}", self.left + self.along(printed), self.bottom - self.along(ours))
    }
}

fn panel(out: &mut String, quantity: &Quantity, (left, top): (f64, f64)) {
    let cells: Vec<(f64, f64)> = quantity.cells.iter().filter_map(logarithms).collect();
    let all = || cells.iter().flat_map(|(printed, ours)| [*printed, *ours]);
    let from = all().fold(f64::MAX, f64::min) - MARGIN.ln();
    let to = all().fold(f64::MIN, f64::max) + MARGIN.ln();
    let place = Place { left, bottom: top + SIDE, from, to };
    let table = quantity.figure.rsplit('/').next().unwrap_or_default().replace('-', " ");
    _ = writeln!(out, "<text x=\"{left}\" y=\"{}\" font-size=\"11\">{table}</text>", top - 17.0);
    _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">{}</text>", top - 6.0, quantity.name.to_lowercase());
    let near = (1.0 + NEAR).ln();
    let corners = [
        place.point(from, from),
        place.point(from, from + near),
        place.point(to - near, to),
        place.point(to, to),
        place.point(to, to - near),
        place.point(from + near, from),
    ];
    _ = writeln!(out, "<polygon points=\"{}\" fill=\"{BAND}\" fill-opacity=\".25\"/>", corners.join(" "));
    _ = writeln!(
        out,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"{INK}\" stroke-opacity=\".5\"/>"
    );
    for (printed, ours) in &cells {
        let (x, y) = (left + place.along(*printed), place.bottom - place.along(*ours));
        _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.8\" fill=\"{DOTS}\" fill-opacity=\".6\"/>");
    }
    if let Some(noise) = quantity.noise() {
        let (x, reach) = (left + SIDE - 8.0, SIDE * noise / (to - from));
        let y = place.bottom - 8.0 - reach;
        _ = writeln!(
            out,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{INK}\" stroke-width=\"2\"/>",
            y - reach,
            y + reach
        );
    }
    ticks(out, &place);
}

/// Powers of ten below the panel; where there is none, both ends.
fn ticks(out: &mut String, place: &Place) {
    let (first, last) = (place.from / 10f64.ln(), place.to / 10f64.ln());
    let powers: Vec<f64> = (first.ceil() as i32..=last.floor() as i32).map(|power| 10f64.powi(power)).collect();
    let shown = if powers.is_empty() { vec![place.from.exp(), place.to.exp()] } else { powers };
    for value in shown {
        let (x, y) = (place.left + place.along(value.ln()), place.bottom + 11.0);
        let words = if value >= 0.1 { format!("{:.2}", value) } else { format!("{value:e}") };
        let words =
            if words.contains('.') { words.trim_end_matches('0').trim_end_matches('.').to_string() } else { words };
        _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{words}</text>");
    }
}

fn logarithms(cell: &Cell) -> Option<(f64, f64)> {
    Some((cell.printed_logarithm(), cell.ours()?))
}
