//! Controllers that are named on the command line by their file.

use std::path::Path;

/// A file, `mine.so`, as a scenario writes it: `{ kind = "c", file = "mine.so" }`. Other words stay as they are.
pub fn written(word: &str) -> String {
    let is_object = Path::new(word).extension().is_some_and(|extension| extension == "so");
    if !is_object {
        return word.to_string();
    }
    format!("{{ kind = \"c\", file = {} }}", toml::Value::String(word.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_becomes_table_and_names_stay() {
        assert_eq!(written("labs/mine.so"), "{ kind = \"c\", file = \"labs/mine.so\" }");
        for word in ["rapid", "{ kind = \"c\", file = \"mine.so\" }", "so"] {
            assert_eq!(written(word), word);
        }
    }
}
