//! Controllers of users (plugins): a shared object with the interface of `controller`, named by a scenario.
//!
//! ```text
//! file ──> open ──> Object: name, parameters ──> build, once per flow ──> AnyController::External
//! ```
//!
//! [`open`] reads the file and loads what it has read: what runs is what the digest of a run names, whatever is put in the
//! file's place later. The same content is loaded once, and is never unloaded: flows keep pointers to its functions.
//! All that it says of itself is checked, and all that it decides is bounded. What it does to memory is not: it is code
//! and has the rights of the user. A command that it ends says so: see `guard`.
#![allow(unsafe_code, reason = "calls of code of users")]

mod bounds;
mod events;
mod flaw;
mod guard;
mod memory;
mod object;
mod open;
mod own;
mod parameters;
mod running;
mod state;

pub use bounds::{LARGEST_WINDOW, LONGEST_WAIT, MOST_STATES_BYTES, departure, window};
pub use flaw::Flaw;
pub use guard::{end, guarded};
pub use object::Object;
pub use open::{OpenError, open};
pub use own::{Maker, NameError, Own, by_source, register, registered};

/// What a scenario calls them: `controller = { kind = "c", file = "mine.so" }`.
pub const KIND: &str = "c";
