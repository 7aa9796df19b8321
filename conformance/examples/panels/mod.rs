//! Draws windows over time, two curves in each panel, as SVG on standard output.

const COLUMNS: usize = 3;
const PANEL: (f64, f64) = (300.0, 120.0);
const HERE: &str = "#D55E00";
const THERE: &str = "#0072B2";

/// Points of a curve: seconds and packets.
pub type Curve = Vec<(f64, f64)>;

/// The axes of every panel: seconds, and packets up to this many.
pub struct Axes {
    pub seconds: u64,
    pub top: f64,
}

/// Draws a panel for each name, with the curves of both sides; `other` names the other side.
pub fn draw(names: &[&str], axes: &Axes, other: &str, curves: impl Fn(&str) -> (Curve, Curve)) {
    let rows = names.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS as f64 * (PANEL.0 + 40.0) + 20.0, rows as f64 * (PANEL.1 + 40.0) + 40.0);
    println!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"#808080\">"
    );
    println!(
        "<text x=\"40\" y=\"16\"><tspan fill=\"{HERE}\">here</tspan>, <tspan fill=\"{THERE}\">{other}</tspan>: window in packets over {} s</text>",
        axes.seconds
    );
    for (i, name) in names.iter().enumerate() {
        let left = 40.0 + (i % COLUMNS) as f64 * (PANEL.0 + 40.0);
        let top = 45.0 + (i / COLUMNS) as f64 * (PANEL.1 + 40.0);
        println!("<text x=\"{left}\" y=\"{}\">{name}</text>", top - 6.0);
        for level in [0.0, 1.0, 2.0, 3.0].map(|third| third * axes.top / 3.0) {
            let y = top + PANEL.1 * (1.0 - level / axes.top);
            println!(
                "<line x1=\"{left}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#808080\" stroke-opacity=\".3\"/>",
                left + PANEL.0
            );
            println!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"10\">{level}</text>",
                left - 4.0,
                y + 3.0
            );
        }
        let (here, there) = curves(name);
        print!("{}{}", line(&there, axes, (left, top), THERE), line(&here, axes, (left, top), HERE));
    }
    println!("</svg>");
}

fn line(curve: &Curve, axes: &Axes, (left, top): (f64, f64), colour: &str) -> String {
    let points: Vec<String> = (curve.iter())
        .map(|(s, packets)| {
            let x = s / axes.seconds as f64 * PANEL.0;
            let y = PANEL.1 * (1.0 - packets.min(axes.top) / axes.top);
            format!("{:.1},{:.1}", left + x, top + y)
        })
        .collect();
    format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\"/>\n", points.join(" "))
}
