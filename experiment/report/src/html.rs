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

/// Escapes JSON for the content of a `<script>` element, so that nothing in it can end the element or open a comment.
/// `<` occurs in JSON only inside strings, where an escape means the same.
pub fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Colours for controllers whose own colour is not of the form `#rrggbb`: those of Okabe and Ito that stand out on
/// white. Colour-blind readers can tell them apart.
pub const FALLBACK: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Returns `colour` if it is `#rrggbb`, else the `index`-th fallback.
pub fn colour(colour: &str, index: usize) -> String {
    let hex = colour.strip_prefix('#').is_some_and(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()));
    if hex { colour.to_ascii_lowercase() } else { FALLBACK[index % FALLBACK.len()].to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_becomes_text() {
        assert_eq!(escape(r#"<b a="1">'&"#), "&lt;b a=&quot;1&quot;&gt;&#39;&amp;");
    }

    #[test]
    fn data_cannot_end_its_script_element_and_still_means_the_same() {
        let json = serde_json::to_string("</script><!-- x").unwrap();
        let safe = script_data(&json);
        assert!(!safe.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!-- x");
    }

    #[test]
    fn only_six_hex_digits_are_a_colour() {
        assert_eq!(colour("#AABBCC", 0), "#aabbcc");
        for bad in ["red;}</style>", "#12345", "#12345g", "", "#é1234"] {
            assert_eq!(colour(bad, 1), "#d55e00", "{bad}");
        }
    }
}
