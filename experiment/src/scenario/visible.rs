//! Text of others in a message: what would not be seen as a character is seen as its number.

use std::fmt::Write;

/// Whether a character is none that a reader sees: it controls a terminal, turns the direction of writing (Unicode UAX 9), or
/// has no width.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns the text with its hidden characters as escapes, like `\u{202e}`. Lines stay lines.
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        let _ = if is_hidden(c) && c != '\n' { write!(out, "{}", c.escape_default()) } else { out.write_char(c) };
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_an_invisible_character_by_its_number() {
        assert_eq!(visible("a\u{202e}b\u{1b}[31m\r\u{feff}"), "a\\u{202e}b\\u{1b}[31m\\r\\u{feff}");
        assert_eq!(visible("één\u{202f}µs, two\nlines"), "één\u{202f}µs, two\nlines");
    }
}
