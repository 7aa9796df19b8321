//! Merges several sources into one.

use super::{CrossPacket, Source};

/// The packets of several sources, merged in order of time; at the same instant, in order of the sources.
#[derive(Debug)]
pub struct Superposition<S> {
    sources: Vec<S>,
    heads: Vec<Option<CrossPacket>>,
}

impl<S: Source> Superposition<S> {
    /// Merges `sources`.
    pub fn new(mut sources: Vec<S>) -> Superposition<S> {
        let heads = sources.iter_mut().map(Source::next).collect();
        Superposition { sources, heads }
    }

    /// Returns the sources, for example to read why they stopped.
    pub fn sources(&self) -> &[S] {
        &self.sources
    }
}

impl<S: Source> Source for Superposition<S> {
    fn next(&mut self) -> Option<CrossPacket> {
        let heads = self.heads.iter().enumerate();
        let (_, first) = heads.filter_map(|(i, head)| head.map(|packet| (packet.at, i))).min()?;
        std::mem::replace(&mut self.heads[first], self.sources[first].next())
    }
}
