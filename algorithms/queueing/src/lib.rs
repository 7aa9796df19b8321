//! Queue disciplines: the contract every one keeps, the registry, and one file per discipline.
//!
//! A discipline decides what happens to packets that wait for one link. It has no clock: the host says what time it
//! is, asks for the next packet when the link is free, and asks when to look again.
#![no_std]

extern crate alloc;

mod contract;
mod fifo;
mod registry;

pub use contract::{DropReason, Mark, Packet, Queue, Verdict};
pub use fifo::{Fifo, Limit};
pub use registry::{AnyQueue, Entry, find, registry};
