//! The page of probe streams: each method's scores, a stream before and after its denoisers, and the spread of its
//! errors.

use crate::contrast::visible;
use crate::html::{colour, escape};
use crate::shell::shell;
use experiment::results::reproduction::Picture;
use serde::Serialize;
use std::fmt::Write;

const SCRIPT: &str = include_str!("../../assets/paper.js");

/// The content of the page.
#[derive(Clone, Debug, Default)]
pub struct ProbePage {
    /// Name of the scenario.
    pub name: String,
    /// A sentence with the number of streams and the path.
    pub about: String,
    /// Headings of the table's columns.
    pub head: Vec<String>,
    /// How many columns, from the first, hold keys.
    pub keys: usize,
    /// The table's rows, with a cell for each heading.
    pub rows: Vec<Vec<String>>,
    /// Pictures, each with the heading of its section. Pictures under one heading are grouped.
    pub pictures: Vec<(String, Picture)>,
    /// Notes that help to read the page.
    pub notes: Vec<String>,
    /// The resolved scenario.
    pub recipe: String,
}

#[derive(Serialize)]
struct Data<'a> {
    pictures: Vec<&'a Picture>,
    colours: Vec<Vec<String>>,
}

pub fn html(streams: &ProbePage) -> String {
    let mut body = String::new();
    _ = write!(
        body,
        "<header>\n<p class=\"over\">packetscale <span class=\"host\">probe streams, simulated</span></p>\n<h1>{}</h1>\n\
         <p class=\"verdict\">{}</p>\n</header>\n<section id=\"scores\">\n<h2>Accuracy</h2>\n",
        escape(&streams.name),
        escape(&streams.about),
    );
    table(&mut body, streams);
    for note in &streams.notes {
        _ = writeln!(body, "<p class=\"note\">{}</p>", escape(note));
    }
    body.push_str("</section>\n");
    let mut section = "";
    for (at, (heading, picture)) in streams.pictures.iter().enumerate() {
        if heading != section {
            let close = if section.is_empty() { "" } else { "</section>\n" };
            _ = writeln!(body, "{close}<section>\n<h2>{}</h2>", escape(heading));
            section = heading;
        }
        _ = writeln!(
            body,
            "<figure data-figure=\"picture-{at}\"><figcaption><h3>{}</h3><p>{}</p></figcaption><div class=\"panels\"></div></figure>",
            escape(&picture.title),
            escape(&picture.caption)
        );
    }
    let close = if section.is_empty() { "" } else { "</section>\n" };
    _ = write!(
        body,
        "{close}<section>\n<details><summary>The scenario</summary><pre tabindex=\"0\">{}</pre></details>\n</section>\n",
        escape(&streams.recipe)
    );
    let pictures: Vec<&Picture> = streams.pictures.iter().map(|(_, picture)| picture).collect();
    let of = |picture: &&Picture| (0..picture.lines.len()).map(|at| visible(&colour("", at))).collect();
    let colours = pictures.iter().map(of).collect();
    shell(&format!("{} \u{00b7} packetscale", streams.name), &body, &Data { pictures, colours }, SCRIPT)
}

fn table(out: &mut String, streams: &ProbePage) {
    let class = |column: usize| if column < streams.keys { "" } else { " class=\"n\"" };
    out.push_str("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
    for (column, head) in streams.head.iter().enumerate() {
        _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(column), escape(head));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &streams.rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let tag = if column == 0 { "th scope=\"row\"" } else { "td" };
            let end = if column == 0 { "th" } else { "td" };
            let shown = if column < streams.keys { cell.clone() } else { cell.replace('-', "\u{2212}") };
            _ = write!(out, "<{tag}{}>{}</{end}>", class(column), escape(&shown));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(name: &str) -> ProbePage {
        let picture = Picture { title: "Gaps".into(), ..Picture::default() };
        ProbePage {
            name: name.into(),
            about: "Two streams.".into(),
            head: vec!["method".into(), "R2".into()],
            keys: 1,
            rows: vec![vec!["bass+multi-rate".into(), "0.42".into()]],
            pictures: vec![("One stream".into(), picture.clone()), ("One stream".into(), picture)],
            notes: Vec::new(),
            recipe: "[probe]".into(),
        }
    }

    #[test]
    fn pictures_under_heading_share_section() {
        let page = html(&example("probe"));
        assert_eq!(page.matches("<h2>One stream</h2>").count(), 1);
        assert_eq!(page.matches("<figure data-figure=\"picture-").count(), 2);
        assert_eq!(page.matches("<section").count(), page.matches("</section>").count());
    }

    #[test]
    fn a_hostile_name_opens_no_element() {
        let page = html(&example("<script>alert(1)</script>"));
        assert!(!page.contains("<script>alert"));
    }
}
