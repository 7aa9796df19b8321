//! Figures that replay a recording can be reproduced from any folder.

use studies::papers::{Library, Paper};

/// A paper, and the folder with the recordings that it wrote.
fn with_traces(name: &str) -> (Paper, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let (paper, _) = Library::embedded().expect("papers").find(name).expect("a paper");
    (paper.with_traces(folder.path()).expect("a folder to write to"), folder)
}

/// Cargo starts tests in their crate's folder, which has no folder `papers`. The scenario of table 8.7 is in a separate
/// file, whose path goes up from its folder.
#[test]
fn replayed_recordings_are_compiled_in() {
    let (paper, _) = Library::embedded().expect("papers").find("rapid-2017").expect("a paper");
    assert!(paper.figure("table-8.4", true).is_err(), "the recording was found without being put anywhere");
    let (paper, folder) = with_traces("rapid-2017");
    for figure in ["table-8.4", "table-8.7"] {
        paper.figure(figure, true).unwrap_or_else(|error| panic!("{error}"));
    }
    let traces = std::fs::read_dir(folder.path().join("scenarios/traces")).expect("a folder");
    let names: Vec<_> = traces.map(|entry| entry.expect("a file").file_name()).collect();
    assert_eq!(names, ["web-namespaces.pcap"]);
}

#[test]
fn paper_without_replays_writes_no_files() {
    let (_, folder) = with_traces("multiplexing-2007");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
