//! Lines of cells in columns. Widths are those of a terminal, where an ideograph takes two columns and an accent none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    let widest = |column: usize| lines.iter().map(|line| line[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(widest).collect();
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let blank = " ".repeat(width - cell.width());
            let cell = if left(column) { format!("{cell}{blank}") } else { format!("{blank}{cell}") };
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

/// The beginning of a text that is wider than `most` columns, and `…`.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_string();
    }
    let (begun, _) = within(text.chars(), most.saturating_sub(1));
    format!("{}…", begun.trim_end())
}

/// Both ends of a text that is wider than `most` columns, with `…` between them.
pub(crate) fn ends(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_string();
    }
    let (begun, used) = within(text.chars(), most / 2);
    let (end, _) = within(text.chars().rev(), most.saturating_sub(1 + used));
    format!("{}…{}", begun.trim_end(), end.chars().rev().collect::<String>().trim_start())
}

/// As many letters as fit into `most` columns, and the columns that they take.
fn within(letters: impl Iterator<Item = char>, most: usize) -> (String, usize) {
    let (mut taken, mut used) = (String::new(), 0);
    for letter in letters {
        let width = letter.width().unwrap_or(0);
        if used + width > most {
            break;
        }
        taken.push(letter);
        used += width;
    }
    (taken, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ideograph_takes_two_columns() {
        let lines = [["流A", "1"], ["accent: e\u{301}", "22"]].map(|line| line.map(str::to_string).to_vec());
        assert_eq!(to_lines(&lines, 1..2), "流A         1\naccent: e\u{301}  22\n");
        assert_eq!((beginning("混雑制御", 5).as_str(), ends("混雑制御", 7).as_str()), ("混雑…", "混…制御"));
        assert_eq!((beginning("short", 5).as_str(), ends("abcdefgh", 5).as_str()), ("short", "ab…gh"));
    }
}
