//! Real Linux TCP in virtual time: the [`lab`]'s own paths, flows and taps, inside an emulated machine whose clock only
//! its own instructions move ([`machine`]). So a run is the same on every machine, however busy, to the byte.
//!
//! A kernel comes from the cache ([`kernels`], [`fetch`]). It is booted once with a file system of our own ([`image`]),
//! whose first process is this program ([`guest`]); the booted machine is kept ([`base`]). For each run a copy of it
//! goes on, with the job in a part of its memory ([`board`], [`job`]). Raw records come back; figures are made outside.

mod base;
mod bench;
mod board;
mod cpio;
mod error;
mod fetch;
mod guest;
mod host;
mod image;
mod job;
mod kernels;
mod machine;
mod modules;
mod ports;
mod processor;
mod room;
mod stock;

pub use bench::Bench;
pub use error::VirtualError;
pub use fetch::fetch;
pub use guest::guest;
pub use host::{Find, Virtual};
pub use image::{Program, find};
pub use job::{Ended, Errand};
pub use kernels::{Kernel, cache, versions};
pub use stock::{KeptKernel, KeptMachine, kernels, machines};
