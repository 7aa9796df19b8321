//! The page of a matrix: for each path, heat maps of shares, of a third flow's losses, and of the queue.

use crate::contrast::visible;
use crate::folds::Folds;
use crate::heat::{FEW, Heat, Shade, short};
use crate::html::{colour, escape};
use crate::shell::{NO_PICTURES, shell};
use experiment::results::matrix::{Matrix, Pair, Setting};
use std::fmt::Write;

/// Below this part of an equal share a controller is called starved.
const STARVED: f64 = 0.2;

/// One heat map.
struct Map {
    title: &'static str,
    caption: &'static str,
    /// Value of the row's controller when it competes with the column's.
    value: fn(&Pair, usize) -> Option<f64>,
    shown: fn(f64) -> String,
    shade: Shade,
}

const MAPS: [Map; 3] = [
    Map {
        title: "Share, %",
        caption: "Share of the row\u{2019}s flow when it competes with the column\u{2019}s. 50: equal. On the diagonal: the \
                  smaller share of two flows of one controller.",
        value: Pair::share_of,
        shown: |share| format!("{:.0}", share * 100.0),
        shade: Shade::FromHalf,
    },
    Map {
        title: "Loss of a third flow, %",
        caption: "Packets that a light sender of constant rate loses when competing with the pair.",
        value: |pair, _| pair.third_loss_ratio.map(|loss| loss.mean),
        shown: |loss| short(loss * 100.0),
        shade: Shade::UpToLargest,
    },
    Map {
        title: "Queueing delay, 95th percentile, ms",
        caption: "Waiting time at the bottleneck, over all packets.",
        value: |pair, _| pair.queue_delay_p95_s.map(|delay| delay.mean),
        shown: |delay| short(delay * 1e3),
        shade: Shade::UpToLargest,
    },
];

pub fn page(matrix: &Matrix) -> String {
    let mut folds = Folds::default();
    for (number, setting) in matrix.settings.iter().enumerate() {
        folds.add(&format!("setting-{number}"), &escape(&setting.title), "3 maps", &section(matrix, setting));
        if number == 0 {
            folds.open_last();
        }
    }
    let mut body = String::new();
    header(&mut body, matrix);
    body.push_str(&folds.contents());
    body.push_str(&folds.html);
    shell("All pairs of controllers \u{00b7} packetscale", &body, &(), NO_PICTURES)
}

fn header(out: &mut String, matrix: &Matrix) {
    let short = if matrix.quick { " The short form: fewer and shorter runs." } else { "" };
    let commit = matrix.commit.as_ref().map_or(String::new(), |commit| format!(", commit {}", escape(commit)));
    _ = write!(
        out,
        "<header>\n<p class=\"over\">packetscale <span class=\"host\">simulated</span></p>\n<h1>Every pair of \
         controllers</h1>\n<ul class=\"verdict\">{}</ul>\n<p class=\"note\">Two flows share a link, one of each controller, from \
         nearly the same start. {} simulated runs; a number is the mean over replications.{short} packetscale \
         {}{commit}.</p>\n</header>\n",
        verdict(matrix).iter().map(|said| format!("<li>{}</li>", escape(said))).collect::<String>(),
        matrix.runs,
        escape(&matrix.version),
    );
}

/// The controllers with the largest and the smallest share, on each path; of one controller, how two of it share.
fn verdict(matrix: &Matrix) -> Vec<String> {
    let name = |one: usize| matrix.controllers[one].0.as_str();
    let one = |setting: &Setting| {
        if matrix.controllers.len() == 1 {
            let share = setting.pair(0, 0)?.share_of(0)?;
            return Some(format!(
                "{}: of two flows of {}, the one that gets less gets {:.0} %.",
                setting.title,
                name(0),
                share * 100.0
            ));
        }
        let mut means: Vec<(f64, usize)> =
            (0..matrix.controllers.len()).filter_map(|one| Some((mean_share(matrix, setting, one)?, one))).collect();
        means.sort_by(|a, b| a.0.total_cmp(&b.0));
        let said = |(share, one): &(f64, usize), what| {
            format!("{} gets {what} on average ({:.0} %)", name(*one), share * 100.0)
        };
        let (least, most) = (said(means.first()?, "least"), said(means.last()?, "most"));
        let pairs = setting.pairs.iter().filter(|pair| pair.row != pair.column);
        let starved = pairs.clone().filter(|pair| is_starved(pair)).count();
        Some(format!(
            "{}: {most}, {least}; in {starved} of {} pairs one flow gets less than a fifth of its equal share.",
            setting.title,
            pairs.count()
        ))
    };
    matrix.settings.iter().filter_map(one).collect()
}

fn is_starved(pair: &Pair) -> bool {
    pair.share.is_some_and(|share| share.mean.min(1.0 - share.mean) < STARVED / 2.0)
}

fn mean_share(matrix: &Matrix, setting: &Setting, one: usize) -> Option<f64> {
    let others = (0..matrix.controllers.len()).filter(|other| *other != one);
    let shares: Vec<f64> = others.filter_map(|other| setting.pair(one, other)?.share_of(one)).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

fn section(matrix: &Matrix, setting: &Setting) -> String {
    let mut out = String::new();
    let size = if matrix.controllers.len() > FEW { " many" } else { "" };
    _ = writeln!(out, "<div class=\"maps{size}\">");
    for map in &MAPS {
        draw(&mut out, matrix, setting, map);
    }
    out.push_str("</div>\n");
    _ = writeln!(
        out,
        "<details><summary>The scenario of the first pair</summary><pre tabindex=\"0\">{}</pre></details>",
        escape(&setting.scenario)
    );
    out
}

fn draw(out: &mut String, matrix: &Matrix, setting: &Setting, map: &Map) {
    let mark = |row: usize, own: &str| format!("<i class=\"swatch\" style=\"--c:{}\"></i>", visible(&colour(own, row)));
    let controllers = matrix.controllers.iter().enumerate();
    let rows: Vec<(&str, String)> = controllers.map(|(row, (name, own))| (name.as_str(), mark(row, own))).collect();
    let columns: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let heat = Heat {
        title: map.title,
        caption: map.caption,
        corner: "beside",
        rows: &rows,
        columns: &columns,
        value: &|row, column| setting.pair(row, column).and_then(|pair| (map.value)(pair, row)),
        shown: map.shown,
        shade: map.shade,
    };
    heat.draw(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::evaluation::Cell;

    fn matrix(name: &str) -> Matrix {
        let cell = |mean| Some(Cell { mean, half_width: None });
        let pair = |row, column, share| Pair {
            row,
            column,
            share: cell(share),
            third_loss_ratio: cell(0.02),
            queue_delay_p95_s: cell(0.0123),
            ..Pair::default()
        };
        let setting = Setting {
            title: "8 Mbit/s".to_string(),
            pairs: vec![pair(0, 0, 0.45), pair(0, 1, 0.05), pair(1, 1, 0.5)],
            ..Setting::default()
        };
        let controllers = vec![(name.to_string(), String::new()), ("cubic".to_string(), "#0072B2".to_string())];
        Matrix { controllers, settings: vec![setting], runs: 3, ..Matrix::default() }
    }

    #[test]
    fn shows_both_sides_of_pair() {
        let page = page(&matrix("rapid"));
        let cell = |class: &str, row: &str, column: &str, value: &str, shown: &str| {
            let name = format!("data-row=\"{row}\" data-column=\"{column}\" data-value=\"{value}\"");
            page.contains(&format!("<td class=\"{class}\" style=\"--s:90%\" {name}>{shown}</td>"))
        };
        assert!(cell("cold", "rapid", "cubic", "0.05", "5"));
        assert!(cell("hot", "cubic", "rapid", "0.95", "95"));
        assert!(page.contains(">2.0<") && page.contains(">12<"));
    }

    #[test]
    fn first_line_names_largest_share_and_starved() {
        let expected = "8 Mbit/s: cubic gets most on average (95 %), rapid gets least on average (5 %); in 1 of 1 pairs one flow \
                        gets less than a fifth of its equal share.";
        assert_eq!(verdict(&matrix("rapid")), [expected]);
    }

    #[test]
    fn a_single_controller_is_not_ranked() {
        let mut matrix = matrix("rapid");
        matrix.controllers.truncate(1);
        matrix.settings[0].pairs.truncate(1);
        assert_eq!(verdict(&matrix), ["8 Mbit/s: of two flows of rapid, the one that gets less gets 45 %."]);
    }

    #[test]
    fn a_hostile_name_opens_no_element() {
        let page = page(&matrix("</script><script><b onclick=\"x\">"));
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
        assert!(!page.contains("<b onclick"));
    }
}
