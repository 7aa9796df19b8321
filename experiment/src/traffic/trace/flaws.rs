//! Defects of a capture that do not keep its packets from being read.

use packetscale_models::units::Span;
use std::path::Path;

/// Defects of a capture that do not prevent reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// The file ends within a packet: how many packets are before it, and the file's length in bytes.
    pub cut: Option<(u64, u64)>,
    /// Packets with a time before that of the packet before. Each takes that packet's time.
    pub back: u64,
    /// The largest such step back.
    pub furthest: Span,
}

impl Flaws {
    /// Returns a warning for each, for the file's user.
    pub fn warnings(&self, file: &Path) -> Vec<String> {
        let file = file.display();
        let cut = self.cut.map(|(packets, bytes)| {
            format!("{file}: byte {bytes}: the file ends within packet {}; {packets} packets are read", packets + 1)
        });
        let back = (self.back > 0).then(|| {
            let (packets, furthest) = (self.back, self.furthest);
            let back = format!("{file}: the times of {packets} packets go back, by {furthest} at most");
            format!("{back}; each takes the time of the packet before")
        });
        cut.into_iter().chain(back).collect()
    }
}
