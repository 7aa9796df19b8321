//! The CSV file of recorded probe streams: one row per packet that arrived.
//!
//! | Column | Meaning |
//! |---|---|
//! | `stream_id` | name or number of the stream; its rows are contiguous |
//! | `pkt` | number of the packet in its stream, rising; a number that is missing is a lost packet |
//! | `send_gap_ns` | time since the packet before it was sent; empty for a stream's first packet |
//! | `recv_gap_ns` | the same as received |
//! | `size_bytes` | size of the packet |
//! | `acked` | optional: whether the receiver reported the time of this packet |
//!
//! [`write()`] adds columns with the truth, which [`Recording`] passes over.

mod read;
mod write;

pub use read::{Recorded, Recording, Refusal};
pub use write::write;

/// Columns of a recording; all but the last must be there.
const COLUMNS: [&str; 6] = ["stream_id", "pkt", "send_gap_ns", "recv_gap_ns", "size_bytes", "acked"];
/// How many of them must be there.
const REQUIRED: usize = 5;
