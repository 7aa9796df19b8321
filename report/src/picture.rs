//! A page of one picture, as on the page of the results, with its controls.

use crate::data::{Data, data};
use crate::document::{SCRIPT, controls, overview, scenario_of, streams, title};
use crate::places::{is_of_a_run, metrics, places};
use crate::shell::shell;
use experiment::results::{Results, groups};

/// Returns the names of the pictures that the page of these results has, in its order.
pub fn names(results: &Results) -> Vec<String> {
    figures(results, &data(results, &scenario_of(results))).into_iter().map(|(name, _)| name).collect()
}

/// The page of the picture of this name; empty if the page of the results has none.
pub fn page(results: &Results, name: &str) -> Option<String> {
    let mut data = data(results, &scenario_of(results));
    let (_, figure) = figures(results, &data).into_iter().find(|(known, _)| known == name)?;
    let body = match name {
        // Both are of the stream that is chosen.
        "stream" | "stream-delay" => streams(results),
        _ if is_of_a_run(name) => controls(results, ["delay", "rtt"].contains(&name)) + &figure,
        _ => figure,
    };
    data.keep(metrics(name), ["flight", "sequence"].contains(&name));
    Some(shell(&title(results), &body, &data, SCRIPT))
}

/// The pictures of the page, each with its name.
fn figures(results: &Results, data: &Data) -> Vec<(String, String)> {
    let mut html = String::new();
    overview(&mut html, results, &groups(&results.runs), data);
    places(&mut html, results, |_| true);
    html += &streams(results);
    let mut found: Vec<(String, String)> = Vec::new();
    for part in html.split(BEGIN).skip(1) {
        if let Some(((name, _), (figure, _))) = part.split_once('"').zip(part.split_once(END))
            && !found.iter().any(|(known, _)| known == name)
        {
            found.push((name.to_string(), format!("{BEGIN}{figure}{END}")));
        }
    }
    found
}

const BEGIN: &str = "<figure data-figure=\"";
const END: &str = "</figure>";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn page_has_every_picture_once() {
        for results in [example::demo(), example::sweep(), example::packets(), example::arrivals()] {
            let whole = crate::page(&results);
            let on_page = whole.matches(BEGIN).count();
            let names = names(&results);
            assert_eq!(names.len(), on_page, "{names:?}");
            for name in names {
                assert!(whole.contains(&format!("{BEGIN}{name}\"")), "{name}");
            }
        }
        assert!(page(&example::demo(), "no such picture").is_none());
    }

    #[test]
    fn picture_has_only_its_curves() {
        let page = page(&example::demo(), "window").unwrap();
        assert!(page.contains("\"metric\":\"window\"") && !page.contains("\"metric\":\"rtt\""));
    }
}
