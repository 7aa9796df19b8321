//! One HTML file around a page's body: its style, its data and its script.

use crate::html::{escape, script_data};
use serde::Serialize;

const STYLE: &str = include_str!("../assets/page.css");
/// The scripts that every page begins with: numbers, markers, plots, what saves them, and what every page does.
const PLOTS: [&str; 5] = [
    include_str!("../assets/scale.js"),
    include_str!("../assets/shapes.js"),
    include_str!("../assets/plot.js"),
    include_str!("../assets/save.js"),
    include_str!("../assets/frame.js"),
];
/// The script of a page without pictures.
pub const NO_PICTURES: &str = "Frame.start();\n";

/// Returns the document: `title` in the tab, `body` as HTML, `data` for `script`.
pub fn shell(title: &str, body: &str, data: &impl Serialize, script: &str) -> String {
    let json = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"packetscale\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{plots}{script}</script>\n</body>\n</html>\n",
        title = escape(title),
        data = script_data(&json),
        plots = PLOTS.concat(),
    )
}
