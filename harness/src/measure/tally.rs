//! Totals of each owner of packets.

/// Totals of one owner of packets, after the warm-up unless noted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Bytes that reached the flow's receiver.
    pub(crate) received_bytes: u64,
    /// Bytes that reached it in the warm-up.
    pub(crate) early_bytes: u64,
    /// Bytes that reached it while all flows were active: had started, and none had all that it has to send delivered.
    pub(crate) shared_bytes: u64,
    /// Dropped at queues, whole run.
    pub(crate) dropped: u64,
    /// Lost on wires, whole run.
    pub(crate) lost: u64,
    /// Dropped or lost after the warm-up.
    pub(crate) lost_warm: u64,
}
