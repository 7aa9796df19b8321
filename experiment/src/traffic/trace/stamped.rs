//! A packet as a trace's format gives it.

use packetscale_models::units::Bytes;

/// A packet of a file, before its time is counted from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamped {
    /// Offset of its record in the file.
    pub(super) offset: u64,
    /// Picoseconds since the format's epoch.
    pub(super) at_ps: i128,
    /// Size on the wire.
    pub(super) size: Bytes,
}
