//! The page of a paper: for each figure, the paper's statement, pictures, and the published values next to ours.

use crate::contrast::visible;
use crate::html::{colour, escape};
use crate::shell::shell;
use experiment::results::Interval;
use experiment::results::numbers::{Scale, mean_and_half, number};
use experiment::results::reproduction::{Claim, Figure, Origin, Paper, Picture, Value, Verdict, WORDS, behind_number};
use serde::Serialize;
use std::fmt::Write;

const SCRIPT: &str = include_str!("../assets/paper.js");
const NONE: &str = "\u{2013}";

/// Data for the script: all pictures of the page, numbered consecutively.
#[derive(Serialize)]
struct Data<'a> {
    pictures: Vec<&'a Picture>,
    /// Colours of each line of each picture.
    colours: Vec<Vec<String>>,
}

pub fn page(paper: &Paper) -> String {
    let mut body = String::new();
    header(&mut body, paper);
    let mut pictures = Vec::new();
    for figure in &paper.figures {
        section(&mut body, figure, pictures.len());
        pictures.extend(&figure.pictures);
    }
    let words = WORDS.map(|(word, means)| format!("<b>{}</b>: {}.", escape(word), escape(means)));
    _ = writeln!(body, "<p class=\"note\">{}</p>", words.join(" "));
    let colours = pictures.iter().map(|picture| colours(picture)).collect();
    shell(&format!("{} \u{00b7} packetscale", paper.title), &body, &Data { pictures, colours }, SCRIPT)
}

/// Returns the colours of a picture's lines. Controllers keep their own; other lines take the next of the palette.
fn colours(picture: &Picture) -> Vec<String> {
    let lines = picture.lines.iter().enumerate();
    lines.map(|(at, line)| visible(&colour(line.colour.as_deref().unwrap_or_default(), at))).collect()
}

fn header(out: &mut String, paper: &Paper) {
    _ = write!(
        out,
        "<header>\n<p class=\"over\">packetscale <span class=\"host\">a paper reproduced</span></p>\n<h1>{}</h1>\n\
         <p class=\"answer\">{}</p>\n<p class=\"note\">{}. {}.</p>\n<p>{}</p>\n",
        escape(&paper.title),
        escape(&verdict(&paper.figures)),
        escape(&paper.authors.join(", ")),
        escape(&paper.published),
        escape(paper.about.trim()),
    );
    if paper.figures.len() > 1 {
        out.push_str("<ul class=\"contents\">\n");
        for figure in &paper.figures {
            _ = writeln!(out, "<li><a href=\"#{0}\">{1}</a></li>", escape(&figure.name), escape(&figure.title));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</header>\n");
}

/// The verdict in words: `3 figures: of 14 comparisons, 12 kept, 2 missed for a reason that is given.`
fn verdict(figures: &[Figure]) -> String {
    let count =
        |wanted: Verdict| figures.iter().flat_map(Figure::verdicts).filter(|verdict| *verdict == wanted).count();
    let (kept, differs, unexpected) = (count(Verdict::Kept), count(Verdict::Differs), count(Verdict::Unexpected));
    let judged = kept + differs + unexpected;
    let mut words = plural(figures.len(), "figure");
    if judged > 0 {
        _ = write!(words, ": of {}, {kept} kept", plural(judged, "comparison"));
        if differs > 0 {
            _ = write!(words, ", {differs} missed for a reason that is given");
        }
        if unexpected > 0 {
            _ = write!(words, ", {unexpected} not as expected");
        }
    }
    if figures.iter().any(|figure| figure.quick) {
        words.push_str(". The short form: fewer or shorter runs than the figure needs");
    }
    words + "."
}

fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

fn section(out: &mut String, figure: &Figure, first_picture: usize) {
    _ = write!(
        out,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"note\">{}</p>\n<p>{}</p>\n",
        escape(&figure.name),
        escape(&figure.title),
        escape(&figure.place),
        escape(&figure.says)
    );
    if !figure.values.is_empty() {
        values(out, &figure.values);
    }
    if !figure.claims.is_empty() {
        claims(out, &figure.claims);
    }
    for (at, picture) in figure.pictures.iter().enumerate() {
        _ = writeln!(
            out,
            "<figure data-figure=\"picture-{}\"><figcaption><h3>{}</h3><p>{}</p></figcaption><div class=\"panels\"></div></figure>",
            first_picture + at,
            escape(&picture.title),
            escape(picture.caption.trim())
        );
    }
    for note in &figure.notes {
        _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
    sources(out, figure);
    out.push_str("</section>\n");
}

fn values(out: &mut String, values: &[Value]) {
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"published\"><caption>Published and ours</caption><thead><tr><th scope=\"col\"></th>\
         <th scope=\"col\" class=\"n\">Published</th><th scope=\"col\" class=\"n\">Ours</th><th scope=\"col\" class=\"n\">Ratio</th>\
         <th scope=\"col\">Unit</th><th scope=\"col\">Ours is</th><th scope=\"col\">In the paper</th><th scope=\"col\">Verdict</th></tr></thead><tbody>\n",
    );
    for value in values {
        _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&value.what),
            plain(value.published),
            found(value.ours, value.half_width),
            value.ratio.map_or(NONE.to_string(), |ratio| format!("{ratio:.2}")),
            escape(&value.unit),
            value.origin.word(),
            escape(&value.place),
            judged(value.verdict, &value.because),
        );
    }
    out.push_str("</tbody></table></div>\n");
}

/// A published number, no longer than printed.
fn plain(value: f64) -> String {
    value.to_string().replace('-', "\u{2212}")
}

fn found(mean: Option<f64>, half_width: Option<f64>) -> String {
    let Some(mean) = mean else { return NONE.to_string() };
    match mean_and_half(Interval { mean, half_width }, Scale { factor: 1.0, symbol: "" }) {
        (mean, Some(half)) => format!("{mean}<span class=\"half\"> \u{00b1}\u{202f}{half}</span>"),
        (mean, None) => mean,
    }
}

fn judged(verdict: Verdict, because: &str) -> String {
    let words = verdict.words(!because.is_empty());
    let because =
        if because.is_empty() { String::new() } else { format!(" <span class=\"why\">{}</span>", escape(because)) };
    let class = match verdict {
        Verdict::NotJudged => return because,
        Verdict::Kept => " class=\"met\"",
        Verdict::Differs => "",
        Verdict::Unexpected => " class=\"missed\"",
    };
    format!("<span{class}><b>{words}</b></span>{because}")
}

fn claims(out: &mut String, claims: &[Claim]) {
    out.push_str("<div class=\"expect\"><ul>\n");
    for claim in claims {
        let class = match claim.verdict {
            Verdict::Unexpected => "missed",
            Verdict::NotJudged => "",
            Verdict::Kept | Verdict::Differs => "met",
        };
        let unit = behind_number(&escape(&claim.unit));
        let found = claim.found.map_or("no value".to_string(), |found| number(found) + &unit);
        _ = writeln!(
            out,
            "<li class=\"{class}\">\u{201c}{}\u{201d} <span class=\"why\">({})</span> {}: <code>{}</code>, {} <b>{found}</b> ({})</li>",
            escape(&claim.words),
            escape(&claim.place),
            judged(claim.verdict, &claim.because),
            escape(&claim.bound),
            claim.origin.word(),
            escape(&claim.selected),
        );
    }
    out.push_str("</ul></div>\n");
}

fn sources(out: &mut String, figure: &Figure) {
    for source in &figure.sources {
        let what = match source.origin {
            Origin::Simulated => format!("Simulated: {}, {}", source.name, plural(source.count, "run")),
            Origin::Recorded => format!("Recorded: {}, {}", source.name, plural(source.count, "point")),
            Origin::Computed | Origin::Published => {
                format!("Computed: {}, {}", source.name, plural(source.count, "answer"))
            }
        };
        let without = source
            .unanswered
            .iter()
            .map(|why| format!("<p class=\"note\">No answer at some points: {}</p>", escape(why)));
        _ = writeln!(
            out,
            "<details><summary>{}</summary>{}<pre tabindex=\"0\">{}</pre></details>",
            escape(&what),
            without.collect::<String>(),
            escape(&source.recipe)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn shows_published_and_ours_with_ratio() {
        let page = page(&example::paper());
        let row = page.lines().find(|line| line.contains("Queue of the top 1 %")).expect("the row");
        for cell in [">25<", ">24.7<", ">0.99<", ">computed<", "<b>kept</b>"] {
            assert!(row.contains(cell), "{cell} in {row}");
        }
    }

    #[test]
    fn statement_shows_published_and_our_unit() {
        let mut paper = example::paper();
        let claim = &mut paper.figures[0].claims[0];
        claim.unit = "ms".to_string();
        claim.found = Some(4.25);
        assert!(page(&paper).contains("<b>4.250 ms</b>"));
    }

    #[test]
    fn the_verdict_counts_what_was_judged() {
        let page = page(&example::paper());
        assert!(
            page.contains(
                "2 figures: of 3 comparisons, 1 kept, 1 missed for a reason that is given, 1 not as expected."
            )
        );
    }

    #[test]
    fn a_hostile_paper_opens_no_element() {
        let calm = page(&example::paper());
        let page = page(&example::hostile_paper());
        assert_eq!(page.matches("<script").count(), calm.matches("<script").count());
        assert_eq!((page.matches("</script").count(), page.matches("</style").count()), (3, 1));
        assert!(!page.contains("<b onclick"));
    }

    #[test]
    fn paper_page_requests_nothing_from_network() {
        let page = page(&example::paper()).replace("url(#", "");
        let page = crate::shell::without_names(&page);
        for reference in ["http://", "https://", "url(", "@import", " src="] {
            assert!(!page.contains(reference), "{reference}");
        }
    }
}
