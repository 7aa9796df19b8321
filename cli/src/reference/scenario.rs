//! Keys of scenario files.

use super::{assert_documented, code, table};
use experiment::scenario::keys::{Key, SECTIONS, Section};

const ABOUT: &str = "# Keys of a scenario file

[Scenarios](../scenarios.md) shows how to use them; `packetscale run FILE --print` prints a file with its defaults.

* **time, rate, data, packets**: text with a unit, like `\"30 ms\"`, `\"10 Gbit/s\"`, `\"1500 B\"`, `\"100 packets\"`. Times: `ps ns us ms
  s min h`. Rates: `bit/s kbit/s Mbit/s Gbit/s Tbit/s`, or `bps` to `Tbps`. Data: `B kB MB GB TB` (powers of 1000), `KiB MiB GiB`
  (powers of 1024).
* **fraction**: a number (`0.01`) or a percentage (`\"1 %\"`), stored in steps of 2^-32.
* **switch**: `true` or `false`.
* A **dot** joins the keys of tables: `coalescing.time` is `coalescing = { time = \"120 us\" }`. A required key of a table is required
  where the table is given.
* Paths of files start at the scenario's folder. An unknown key is an error with its line.
";

/// A default: as a scenario writes it in code marks, words as they are.
fn default(key: &Key) -> String {
    let value = key.default.parse::<f64>().is_ok() || ["true", "false"].contains(&key.default);
    let quoted = key.default.starts_with(['"', '[']) && key.default.ends_with(['"', ']']);
    if value || quoted { code(key.default) } else { key.default.to_string() }
}

fn section(section: &Section) -> String {
    let row = |key: &Key| [code(key.name), key.takes.to_string(), default(key), key.meaning.to_string()];
    let about = if section.about.is_empty() { String::new() } else { format!("{}\n\n", section.about) };
    let keys = table(["key", "value", "default", "meaning"], section.keys.iter().map(row));
    format!("\n## {}\n\n{}", section.heading, (about + &keys).trim_end().to_string() + "\n")
}

#[test]
fn scenario() {
    let sections: String = SECTIONS.iter().map(section).collect();
    assert_documented("scenario.md", &format!("{ABOUT}{sections}"));
}
