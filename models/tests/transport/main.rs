//! The sender and receiver over a path computed by hand.

mod bbr;
mod completion;
mod laws;
mod marks;
mod path;
mod receiver;
mod recovery;
mod sending;
