//! Figures that replay a recording can be reproduced from any folder.

use studies::papers::Library;

/// Cargo starts tests in the folder of their crate, where there is no folder `papers`.
#[test]
fn a_recording_that_a_figure_replays_is_compiled_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = Library::embedded().expect("papers");
    let (paper, _) = library.find("rapid-2017").expect("a paper");
    assert!(paper.figure("table-8.4", true).is_err(), "the recording was found without being put anywhere");
    let paper = paper.with_traces(folder.path()).expect("a folder to write to");
    paper.figure("table-8.4", true).expect("a figure");
    let traces = std::fs::read_dir(folder.path().join("scenarios/traces")).expect("a folder");
    let names: Vec<_> = traces.map(|entry| entry.expect("a file").file_name()).collect();
    assert_eq!(names, ["web-namespaces.pcap"]);
}

#[test]
fn a_paper_that_replays_nothing_writes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = Library::embedded().expect("papers");
    let (paper, _) = library.find("multiplexing-2007").expect("a paper");
    paper.with_traces(folder.path()).expect("a paper");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// Its path goes up from the scenario's own folder.
#[test]
fn a_scenario_that_figures_name_finds_its_recording_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = Library::embedded().expect("papers");
    let (paper, _) = library.find("rapid-2017").expect("a paper");
    let paper = paper.with_traces(folder.path()).expect("a folder to write to");
    paper.figure("table-8.7", true).expect("a figure");
}
