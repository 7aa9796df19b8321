//! Lines of cells in columns.

/// Spaces between two columns.
pub(crate) const GAP: usize = 2;

/// Formats lines of cells in columns. Aligns the columns in `right` to the right, the others to the left.
pub fn to_lines(lines: &[Vec<String>], right: std::ops::Range<usize>) -> String {
    aligned(lines, |column| !right.contains(&column), &|_| None)
}

/// Formats lines of cells in columns, aligned left or right.
pub(crate) fn aligned(
    lines: &[Vec<String>],
    left: impl Fn(usize) -> bool,
    paint: &dyn Fn(usize) -> Option<String>,
) -> String {
    let widest = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(widest).collect();
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let cell = if left(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            match (column, paint(number)) {
                (0, Some(colour)) => format!("{colour}{cell}\x1b[0m"),
                _ => cell,
            }
        });
        out.push_str(cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end());
        out.push('\n');
    }
    out
}
