//! What a controller may decide. What is outside becomes the nearest that is inside.

use units::{Span, Time};

/// Longest time after an event until which a controller may hold a packet back.
pub const LONGEST_WAIT: Span = Span::from_secs(60);
/// Largest window in packets: TCP's largest window (RFC 7323, section 2.2) in one-byte packets.
pub const LARGEST_WINDOW: u32 = 1 << 30;

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
