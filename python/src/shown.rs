//! Display in notebooks: tables as plain HTML in the notebook's own colours, and pictures of the page.

use crate::fault::input;
use crate::page;
use experiment::results::{Comparison, Results, Table, cell, groups, to_expectations};
use pyo3::prelude::*;
use report::escape;
use std::path::PathBuf;

/// Maximum number of displayed rows.
const FIRST: usize = 10;

/// The table that the command prints with --wide, and the text below it.
pub fn results(results: &Results) -> String {
    let Comparison { lines, numbers, notes } = Comparison::of(results, &groups(&results.runs), true);
    let below = notes + &to_expectations(results, false);
    let below = if below.is_empty() { below } else { format!("<pre>{}</pre>", escape(&below)) };
    table(&lines, |column| numbers[column]) + &below
}

/// Returns the first rows of a table, and how many there are.
pub fn first_rows(of: &Table<'_>) -> String {
    let rows = of.rows().take(FIRST).collect::<Vec<_>>();
    let head = of.columns.iter().map(|(name, _)| name.clone()).collect();
    let lines: Vec<Vec<String>> =
        std::iter::once(head).chain(rows.iter().map(|row| row.iter().map(cell).collect())).collect();
    let length = of.rows().count();
    let shown = if length > FIRST { format!(", of which {FIRST} are shown") } else { String::new() };
    let said = format!("<p>{}: {length} rows{shown}</p>", escape(of.name));
    table(&lines, |column| !rows.iter().any(|row| row[column].is_string())) + &said
}

/// A heading and lines of cells. Columns of numbers are aligned to the right.
fn table(lines: &[Vec<String>], of_numbers: impl Fn(usize) -> bool) -> String {
    let side = |column: usize| if of_numbers(column) { "right" } else { "left" };
    let row = |line: &Vec<String>, tag: &str| {
        let cells = line.iter().enumerate().map(|(column, text)| {
            let style = format!("text-align: {}; white-space: nowrap", side(column));
            format!("<{tag} style=\"{style}\">{}</{tag}>", escape(text))
        });
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let (head, body) = lines.split_first().map_or((String::new(), String::new()), |(head, body)| {
        (row(head, "th"), body.iter().map(|line| row(line, "td")).collect())
    });
    format!("<div style=\"overflow-x: auto\"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>")
}

/// A picture of the page, displayed by notebooks: a self-contained page without network requests.
#[pyclass(frozen, module = "packetscale")]
pub struct Picture {
    name: String,
    page: String,
}

impl Picture {
    /// The picture of this name, or the first of the page.
    pub fn of(results: &Results, name: Option<&str>) -> PyResult<Picture> {
        let known = report::pictures(results);
        let found = known.iter().find(|known| name.is_none_or(|name| *known == name));
        let made = found.and_then(|name| Some(Picture { page: report::picture(results, name)?, name: name.clone() }));
        made.ok_or_else(|| {
            let found = name.map_or("no picture".to_string(), |name| format!("\"{name}\""));
            let expected =
                if known.is_empty() { "results with runs".into() } else { format!("one of {}", known.join(", ")) };
            input(format!("picture: found {found}; expected {expected}")).into()
        })
    }
}

#[pymethods]
impl Picture {
    /// The name of the picture.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Writes the picture as an HTML file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| page::write(&path, &self.page)).map_err(PyErr::from)
    }

    /// A frame with the page of the picture, as high as that is.
    fn _repr_html_(&self) -> String {
        let within = self.page.replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe title=\"{}\" srcdoc=\"{within}\" style=\"width: 100%; height: 36em; border: 0\" \
             onload=\"this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'\"></iframe>",
            escape(&self.name)
        )
    }

    fn __repr__(&self) -> String {
        format!("<packetscale.Picture {}>", self.name)
    }
}
