//! The links of the documents must lead to existing files, and to existing headings in them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Returns the links of a page that lead nowhere. `read` returns the text of a file of the repository, or `None` if
/// it does not exist; a folder has an empty text.
pub fn dead(path: &str, text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let offence = |target: &str| {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let place = if file.is_empty() { path.to_string() } else { beside(path, file) };
        let Some(found) = (if place == path { Some(text.to_string()) } else { read(&place) }) else {
            return Some(format!("{path}: {target}: {place} is not there"));
        };
        let lost = !anchor.is_empty() && place.ends_with(".md") && !anchors(&found).contains(anchor);
        lost.then(|| format!("{path}: {target}: {place} has no such heading"))
    };
    targets(text).iter().filter_map(|target| offence(target)).collect()
}

/// Returns the targets, within the repository, of the links of a page. Links in code are left out.
pub fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        for marker in ["](", "src=\"", "srcset=\"", "href=\""] {
            let end = if marker == "](" { ')' } else { '"' };
            let parts = line.split(marker).skip(1).filter_map(|rest| rest.split(end).next());
            found.extend(parts.map(|target| target.split_whitespace().next().unwrap_or("").to_string()));
        }
    }
    found.retain(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"));
    found
}

/// Returns the lines outside fenced blocks, without what is in backticks.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join("``"));
        }
    }
    lines
}

/// Returns the anchors of a page's headings, as forges make them: lower case, blanks become hyphens, punctuation is
/// removed. A repeated heading gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().to_lowercase();
        let slug: String = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let again = (1..).map(|n| format!("{slug}-{n}"));
        let name = std::iter::once(slug.clone()).chain(again).find(|name| !found.contains(name));
        found.extend(name);
    }
    found
}

/// Returns a link of a page as a path from the root of the repository.
fn beside(page: &str, link: &str) -> String {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}
