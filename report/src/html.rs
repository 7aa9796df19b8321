//! Makes text from outside harmless before it enters the page.

/// Escapes `text` for the content of an element or of a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Returns words for the content of an element, escaped. No line ends between a number and its unit.
pub fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(' ') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        let next = behind.split([' ', ',', '.', ';', ':', ')']).next().unwrap_or_default();
        let of_unit = before.ends_with(|c: char| c.is_ascii_digit()) && is_unit(next);
        out.push_str(before);
        out.push(if of_unit { '\u{a0}' } else { ' ' });
        rest = behind;
    }
    escape(&(out + rest))
}

/// Whether a word is a unit, perhaps with a prefix.
fn is_unit(word: &str) -> bool {
    let unit =
        word.strip_prefix(['n', '\u{b5}', 'm', 'k', 'M', 'G', 'T']).filter(|rest| !rest.is_empty()).unwrap_or(word);
    ["%", "s", "bit/s", "B", "packets"].contains(&unit)
}

/// Escapes JSON for the content of a `<script>` element, so that nothing in it can end the element or open a comment.
/// `<` occurs in JSON only inside strings, where an escape means the same.
pub fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Colours for controllers whose own colour is not of the form `#rrggbb`: those of Okabe and Ito with enough contrast on
/// white, distinguishable by colour-blind readers.
pub const FALLBACK: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Returns `colour` if it is `#rrggbb`, else the `index`-th fallback.
pub fn colour(colour: &str, index: usize) -> String {
    let hex = colour.strip_prefix('#').is_some_and(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()));
    if hex { colour.to_ascii_lowercase() } else { FALLBACK[index % FALLBACK.len()].to_string() }
}

/// Turns of the wheel of colours from one further colour to the next: by the golden section none is near another for long.
const TURN: f64 = 0.618_033_988_749_895;

/// The `index`-th further colour, each with another hue, for pages with more series than the colours above.
pub fn further(index: usize) -> String {
    let hue = (index as f64 * TURN).fract() * 6.0;
    // Of medium saturation and lightness, so that all are visible on white and on black.
    let (low, high) = (60.0, 190.0);
    let channel = |from: f64| {
        let away = (hue - from).rem_euclid(6.0);
        let share = (2.0 - away.min(6.0 - away)).clamp(0.0, 1.0);
        (low + (high - low) * share).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(2.0), channel(4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red is at the beginning of the wheel, with both others least.
    #[test]
    fn further_colours_are_distinct() {
        assert_eq!(further(0), "#be3c3c");
        let mut all: Vec<String> = (0..40).map(further).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 40);
    }

    #[test]
    fn markup_in_a_name_becomes_text() {
        assert_eq!(escape(r#"<b a="1">'&"#), "&lt;b a=&quot;1&quot;&gt;&#39;&amp;");
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(
            words("got 8.47 Mbit/s (A), 97 %, 1 \u{b5}s."),
            "got 8.47\u{a0}Mbit/s (A), 97\u{a0}%, 1\u{a0}\u{b5}s."
        );
        assert_eq!(words("3 runs & 2 more, queue = 5 packets"), "3 runs &amp; 2 more, queue = 5\u{a0}packets");
    }

    #[test]
    fn data_cannot_close_script_element() {
        let json = serde_json::to_string("</script><!-- x").unwrap();
        let safe = script_data(&json);
        assert!(!safe.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!-- x");
    }

    #[test]
    fn colours_need_six_hex_digits() {
        assert_eq!(colour("#AABBCC", 0), "#aabbcc");
        for bad in ["red;}</style>", "#12345", "#12345g", "", "#é1234"] {
            assert_eq!(colour(bad, 1), "#d55e00", "{bad}");
        }
    }
}
