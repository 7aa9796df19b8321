//! Controllers that users bring: a shared object with the interface of `algorithms/controller`, named by a scenario.
//!
//! ```text
//! file ──> open ──> Object: name, parameters ──> build, once per flow ──> AnyController::Brought
//! ```
//!
//! [`open`] reads the file and loads what it has read: what runs is what the digest of a run names, whatever is put in the
//! file's place later. The same content is loaded once, and is never unloaded: flows keep pointers to its functions.
//! All that it says of itself is checked, and all that it decides is bounded. What it does to memory is not: it is code
//! and has the rights of the user.

mod events;
mod flaw;
mod object;
mod open;
mod parameters;
mod running;
mod state;

pub use flaw::Flaw;
pub use object::Object;
pub use open::{OpenError, open};

/// What a scenario calls them: `controller = { kind = "c", file = "mine.so" }`.
pub const KIND: &str = "c";
/// Longest time after an event until which a controller may hold a packet back.
pub const LONGEST_WAIT: units::Span = units::Span::from_secs(60);
/// Largest window in packets: the next power of two above TCP's largest window of 2^30 bytes (RFC 7323, section 2.2) in
/// packets of 1500 bytes, 715 828. The simulator remembers each packet in flight, so a mistaken number costs memory.
pub const LARGEST_WINDOW: u32 = 1 << 20;
/// Most memory of the states of a run's flows: a mistaken number is refused before the machine has no memory left.
pub const MOST_STATES_BYTES: u64 = 1 << 30;
