//! The papers that are compiled in.

use studies::papers::Library;

#[test]
fn every_paper_that_is_compiled_in_can_be_read_in_both_forms() {
    // Recorded traces are not compiled in: figures that replay one are made from the root of the source tree.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the root");
    let library = Library::embedded().expect("papers");
    assert!(library.papers().len() >= 2);
    for paper in library.papers() {
        assert!(!paper.figures().is_empty(), "{} has no figure", paper.name);
        for figure in paper.figures() {
            for quick in [false, true] {
                paper.figure(&figure, quick).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
    let order = library.find("multiplexing-2007").expect("a paper").1;
    let place = |name: &str| order.iter().position(|figure| figure == name);
    assert!(place("figure-9") < place("figure-10"), "{order:?}");
}
