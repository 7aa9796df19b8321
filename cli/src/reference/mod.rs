//! The pages of `docs/reference`, from the declarations in the code. Each is compared with the file, or written:
//!
//! ```text
//! WRITE_DOCS=1 cargo test -p packetscale-cli --lib reference
//! ```

mod columns;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod commands;
mod registries;
mod scenario;

use std::fs;
use std::path::Path;

/// The first line of every page, for those who edit it.
const NOTE: &str = "<!-- Generated: WRITE_DOCS=1 cargo test -p packetscale-cli --lib reference -->\n";

/// Compares a page of `docs/reference` with its file, or writes the file.
#[track_caller]
fn assert_documented(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference").join(name);
    let page = format!("{NOTE}{page}");
    if std::env::var_os("WRITE_DOCS").is_some() {
        return fs::write(&path, page).expect("a page that can be written");
    }
    let file = fs::read_to_string(&path).unwrap_or_default();
    let stale = page.lines().zip(file.lines()).find(|(ours, theirs)| ours != theirs);
    assert!(
        page == file,
        "docs/reference/{name} differs from the code, first at {stale:?}; write it with WRITE_DOCS=1 cargo test -p \
         packetscale-cli --lib reference"
    );
}

/// A table in Markdown; nothing if it has no rows.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: [String; N]| format!("|{}|\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let rows: String = rows.into_iter().map(line).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("{}|{}\n{rows}", line(head.map(str::to_string)), "---|".repeat(N))
}

/// Text in code marks; nothing of an empty one.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}
