//! Folded sections of a page, and its table of contents.

use std::fmt::Write;

/// Sections that a reader opens.
#[derive(Debug, Default)]
pub struct Folds {
    /// The sections.
    pub html: String,
    /// Where the last one begins.
    last: usize,
    names: Vec<(String, String)>,
}

impl Folds {
    /// Adds a section: heading and note, both HTML, and content; without content it adds nothing.
    pub fn add(&mut self, id: &str, heading: &str, note: &str, content: &str) {
        if content.is_empty() {
            return;
        }
        self.last = self.html.len();
        self.names.push((id.to_string(), heading.to_string()));
        _ = writeln!(
            self.html,
            "<details class=\"fold\" id=\"{id}\"><summary><h2>{heading}</h2> <span>{note}</span></summary>\n{content}</details>"
        );
    }

    /// Opens the section that was added last.
    pub fn open_last(&mut self) {
        let rest = self.html.split_off(self.last);
        self.html.push_str(&rest.replacen("<details class=\"fold\"", "<details open class=\"fold\"", 1));
    }

    /// The list of contents: a link to each section, which opens it.
    pub fn contents(&self) -> String {
        if self.names.is_empty() {
            return String::new();
        }
        let links = self.names.iter().map(|(id, heading)| format!("<li><a href=\"#{id}\">{heading}</a></li>"));
        format!("<nav aria-label=\"Contents\"><ul class=\"toc\">{}</ul></nav>\n", links.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_list_folds_but_not_empty_ones() {
        let mut folds = Folds::default();
        folds.add("links", "Links", "", "<p>three</p>");
        folds.add("traffic", "Traffic", "", "");
        assert!(folds.contents().contains("<a href=\"#links\">Links</a>") && !folds.contents().contains("Traffic"));
        assert!(folds.html.contains("<details class=\"fold\" id=\"links\">"));
    }
}
