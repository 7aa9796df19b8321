//! Pages of probe streams: streams that were judged, and searches.

mod judged;
mod page;
mod searches;

use harness::probing::search::Search;
use harness::probing::{Reader, Scored, SweepPoint};

/// The page of judged streams: scores, streams before and after each denoiser, and how errors spread. `recipe` is the
/// resolved scenario.
pub fn streams_page(
    name: &str,
    recipe: String,
    points: &[SweepPoint],
    readers: &[Reader],
    scores: &[Scored],
) -> String {
    page::html(&judged::content(name, recipe, points, readers, scores))
}

/// The page of searches: what each one found, and which rates it sent. `recipe` is the resolved scenario.
pub fn searches_page(name: &str, recipe: String, searches: &[Search]) -> String {
    page::html(&searches::content(name, recipe, searches))
}
