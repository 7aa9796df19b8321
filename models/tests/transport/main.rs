//! The sender and receiver over a path computed by hand.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod bbr;
mod completion;
mod laws;
mod marks;
mod path;
mod receiver;
mod recovery;
mod sending;
