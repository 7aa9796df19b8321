//! `packetscale report` as people use it.

use crate::support::Place;

const SCENARIO: &str = r#"
run = { duration = "2 s", replications = 3 }
path = { rate = "10 Mbit/s", delay = "10 ms" }
flow = [{ controller = "cubic", start = { uniform = ["0 s", "1 s"] } }]
expect = [{ metric = "utilisation", at_most = 2, why = "a part of one" }]
"#;

#[test]
fn the_page_of_a_folder_is_made_again_and_one_of_two_folders() {
    let place = Place::with(SCENARIO);
    for (out, rate) in [("slow", 10), ("fast", 20)] {
        place.done(&format!("run small.toml --out {out} --set 'path.rate=\"{rate} Mbit/s\"'"));
    }
    let before = place.read("slow/report.html");
    assert_eq!(place.done("report slow").out, "Written to slow/report.html\n");
    assert_eq!(place.read("slow/report.html"), before, "nothing of the page is lost in the folder");

    place.done("report slow fast --out both/page.html");
    let both = place.read("both/page.html");
    assert!(both.contains("cubic, slow") && both.contains("cubic, fast"));
    assert!(both.contains("<code>path.rate</code></th><td>10 Mbit/s</td><td>20 Mbit/s</td>"));
    assert!(both.contains("As expected: both expectations are met."));
    let again = place.refused("report slow fast --out both/page.html");
    assert_eq!(again, "both/page.html: found a file; expected none, or --replace to overwrite it\n");
}

#[test]
fn a_folder_without_results_is_refused() {
    let place = Place::empty();
    let refused = place.refused("report nowhere");
    assert!(
        refused.contains("nowhere/manifest.json: cannot be read") && refused.contains("packetscale run"),
        "{refused}"
    );
    place.write("matrix.json", "{}");
    assert_eq!(place.refused("report ."), ".: found a matrix; expected a folder that `packetscale run` wrote\n");
}
