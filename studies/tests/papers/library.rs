//! The papers that are compiled in.

use studies::papers::Library;

#[test]
fn compiled_papers_parse_in_both_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = Library::embedded().expect("papers");
    assert!(library.papers().len() >= 2);
    for paper in library.papers() {
        assert!(!paper.figures().is_empty(), "{} has no figure", paper.name);
        let paper = paper.clone().with_traces(folder.path()).expect("a folder to write to");
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
