//! A heat map: a table with cells coloured by their numbers, so that it needs no script and is accessible as a table.

use crate::html::escape;
use std::fmt::Write;

const NONE: &str = "\u{2013}";
/// Up to this number of columns, cells are large and maps are side by side.
pub const FEW: usize = 6;

/// How a number becomes a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// Two colours, away from one half.
    FromHalf,
    /// One colour, the stronger the larger, the largest of the map strongest.
    UpToLargest,
}

/// A map.
pub struct Heat<'a> {
    /// Heading, without markup.
    pub title: &'a str,
    /// Caption, without markup.
    pub caption: &'a str,
    /// Relation of rows to columns, as in `beside`.
    pub corner: &'a str,
    /// Name of each row, and HTML to write before it.
    pub rows: &'a [(&'a str, String)],
    /// Names of the columns.
    pub columns: &'a [&'a str],
    /// Returns the number of a row and a column.
    pub value: &'a dyn Fn(usize, usize) -> Option<f64>,
    /// Returns the number in few digits.
    pub shown: fn(f64) -> String,
    /// Its colours.
    pub shade: Shade,
}

impl Heat<'_> {
    /// Writes the map as a figure.
    pub fn draw(&self, out: &mut String) {
        let (count, title) = (self.columns.len(), escape(self.title));
        let all = (0..self.rows.len()).flat_map(|row| (0..count).map(move |column| (row, column)));
        let largest = all.filter_map(|(row, column)| (self.value)(row, column)).fold(0.0, f64::max);
        // Three maps of two to six columns fill the width of a page.
        let (large, cell) = match count {
            1..=FEW => (" large", format!(" style=\"--cell:{:.1}rem\"", 15.0 / (count + 1) as f64)),
            _ => ("", String::new()),
        };
        _ = write!(
            out,
            "<figure><figcaption><h3>{title}</h3><p>{}</p></figcaption><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"{title}\"><table class=\"heat{large}\"{cell}><thead><tr><th scope=\"col\">{}</th>",
            escape(self.caption),
            escape(self.corner)
        );
        for column in self.columns {
            _ = write!(out, "<th scope=\"col\"><span>{}</span></th>", escape(column));
        }
        out.push_str("</tr></thead><tbody>\n");
        for (row, (name, mark)) in self.rows.iter().enumerate() {
            _ = write!(out, "<tr><th scope=\"row\">{mark}{}</th>", escape(name));
            (0..count).for_each(|column| self.cell(out, row, column, largest));
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div></figure>\n");
    }

    fn cell(&self, out: &mut String, row: usize, column: usize, largest: f64) {
        let Some(value) = (self.value)(row, column) else {
            _ = write!(out, "<td>{NONE}</td>");
            return;
        };
        let (class, strength) = match self.shade {
            Shade::FromHalf if value < 0.5 => ("cold", (0.5 - value) * 2.0),
            Shade::FromHalf => ("hot", (value - 0.5) * 2.0),
            Shade::UpToLargest if largest > 0.0 => ("hot", (value / largest).sqrt()),
            Shade::UpToLargest => ("hot", 0.0),
        };
        _ = write!(
            out,
            "<td class=\"{class}\" style=\"--s:{:.0}%\" data-row=\"{}\" data-column=\"{}\" data-value=\"{value}\">{}</td>",
            strength * 100.0,
            escape(self.rows[row].0),
            escape(self.columns[column]),
            (self.shown)(value)
        );
    }
}

/// Returns a number with three digits at most.
pub fn short(value: f64) -> String {
    match value {
        0.0 => "0".to_string(),
        value if value < 0.095 => format!("{value:.2}"),
        value if value < 9.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
