//! One HTML file around a page's body: its style, its data and its script.

use crate::html::{escape, script_data};
use crate::json::json;
use serde::Serialize;

const STYLE: &str = include_str!("../assets/page.css");
/// Observable Plot and its parts of D3, built by `assets/vendor/make.mjs`.
const LIBRARY: &str = include_str!("../assets/vendor/plot.min.js");
/// Scripts common to every page: numbers, selection, marks, pictures, saving, and behaviour of the whole page.
const COMMON: [&str; 6] = [
    include_str!("../assets/format.js"),
    include_str!("../assets/view.js"),
    include_str!("../assets/marks.js"),
    include_str!("../assets/chart.js"),
    include_str!("../assets/save.js"),
    include_str!("../assets/frame.js"),
];
/// The script of a page without pictures.
pub const NO_PICTURES: &str = "Frame.start();\n";

/// Returns the document: `title` in the tab, `body` as HTML, `data` for `script`.
pub fn shell(title: &str, body: &str, data: &impl Serialize, script: &str) -> String {
    // A page of tables needs no library.
    let library = if script == NO_PICTURES { String::new() } else { format!("<script>\n{LIBRARY}</script>\n") };
    let json = json(data);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"packetscale\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n{library}<script>\n{common}{script}</script>\n</body>\n</html>\n",
        title = escape(title),
        data = script_data(&json),
        common = COMMON.concat(),
    )
}

/// The page without XML namespace names, and without the address in a licence, which are never requested.
#[cfg(test)]
pub fn without_names(page: &str) -> String {
    let names = ["http://www.w3.org/", "http://www.apache.org/licenses/"];
    names.iter().fold(page.to_string(), |page, name| page.replace(name, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `npm run check` in that folder makes the library from the lock's packages and compares all bytes; this needs no network.
    #[test]
    fn library_versions_match_lock_file() {
        let lock: serde_json::Value = serde_json::from_str(include_str!("../assets/vendor/package-lock.json")).unwrap();
        let licences = include_str!("../assets/vendor/LICENSES");
        let (terms, _) = LIBRARY.strip_prefix("/*!\n").and_then(|rest| rest.split_once("*/")).unwrap();
        assert_eq!(terms, licences, "the page carries the licences");
        let named: Vec<(&str, &str)> =
            licences.lines().filter_map(|line| line.split_once(": Copyright")?.0.rsplit_once(' ')).collect();
        assert!(named.iter().any(|(name, _)| *name == "@observablehq/plot") && named.len() > 10, "{named:?}");
        for (name, version) in named {
            assert_eq!(lock["packages"][format!("node_modules/{name}")]["version"], version, "{name}");
        }
    }
}
