//! Defects of a capture that do not keep its packets from being read.

use packetscale_models::units::Span;
use std::path::Path;

/// Defects of a capture that do not prevent reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// The file ends within a packet: how many packets are before it, and the file's length in bytes.
    pub cut: Option<(u64, u64)>,
    /// What is wrong where the file is damaged, with packet and byte. Nothing after it is read.
    pub damage: Option<String>,
    /// Packets that cannot be read.
    pub left_out: u64,
    /// What is wrong with the first of them, with packet and byte.
    pub first_left_out: Option<String>,
    /// Packets with a time before the latest of the packets before them. Packets are sorted by time.
    pub back: u64,
    /// The largest such step back; [`Span::MAX`]: 213 days or more.
    pub furthest: Span,
}

impl Flaws {
    /// Returns a warning for each, for the file's user.
    pub fn warnings(&self, file: &Path) -> Vec<String> {
        let file = file.display();
        let cut = self.cut.map(|(packets, bytes)| {
            format!("{file}: byte {bytes}: the file ends within packet {}; {packets} packets are read", packets + 1)
        });
        let damage = self.damage.as_ref().map(|what| format!("{what}; the rest of the file is left out"));
        let left_out = self.first_left_out.as_ref().map(|what| format!("{what}; packets left out: {}", self.left_out));
        let back = (self.back > 0).then(|| {
            let furthest = if self.furthest == Span::MAX { "213 days".to_string() } else { self.furthest.to_string() };
            format!("{file}: the times of {} packets go back, by {furthest} at most; packets are sorted", self.back)
        });
        [cut, damage, left_out, back].into_iter().flatten().collect()
    }
}
