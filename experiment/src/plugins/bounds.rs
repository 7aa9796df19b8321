//! What a controller may decide. What is outside becomes the nearest that is inside.

use packetscale_models::units::{Span, Time};

/// Longest time after an event until which a controller may hold a packet back.
pub const LONGEST_WAIT: Span = Span::from_secs(60);
/// Largest window in packets: the next power of two above TCP's largest window of 2^30 bytes (RFC 7323, section 2.2) in
/// packets of 1500 bytes, 715 828. The simulator remembers each packet in flight, so a mistaken number costs memory.
pub const LARGEST_WINDOW: u32 = 1 << 20;
/// Most memory of the states of a run's flows: a mistaken number is refused before the machine has no memory left.
pub const MOST_STATES_BYTES: u64 = 1 << 30;

/// A window that was decided, in packets.
#[inline]
pub fn window(decided: u32) -> u32 {
    decided.clamp(1, LARGEST_WINDOW)
}

/// A departure that was decided `now`.
#[inline]
pub fn departure(decided: Time, now: Time) -> Time {
    decided.min(now.saturating_add(LONGEST_WAIT))
}
