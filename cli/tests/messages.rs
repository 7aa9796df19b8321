//! What the command says of what is wrong.

use crate::command::{folder, packetscale, stderr};

/// U+202E turns the direction of writing, and a terminal takes commands that begin with ESC.
#[test]
fn what_a_message_quotes_changes_nothing_on_a_terminal() {
    let folder = folder("[run]\nduration = \"\u{202e}1 s\"\n");
    let name = "no\u{202e}ne\u{1b}[31m";
    for (arguments, shown) in [
        (&["run", "small.toml"][..], "found \"\\u{202e}1 s\""),
        (&["run", name], "no\\u{202e}ne\\u{1b}[31m: "),
        (&["estimate", name], "no\\u{202e}ne\\u{1b}[31m: "),
        (&["no\u{202e}ne"], "unrecognized subcommand 'no\\u{202e}ne'"),
    ] {
        let output = packetscale(folder.path(), arguments);
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(shown), "{said:?}");
        assert!(!said.contains(['\u{202e}', '\u{1b}']), "{said:?}");
    }
}
