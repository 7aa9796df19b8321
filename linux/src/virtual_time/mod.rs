//! Real Linux TCP in virtual time: the [`lab`]'s own paths, flows and taps, inside an emulated machine with an
//! instruction-driven clock ([`machine`]). So a run has the same bytes on every machine, however busy.
//!
//! A kernel comes from the cache ([`kernels`], [`fetch`]). It is booted once with our own file system ([`image`]),
//! whose first process is this program ([`guest`]); a snapshot of the booted machine is stored ([`base`]). Each run resumes a
//! copy of it, with the job in shared memory ([`board`], [`job`]), and returns raw records; the host makes the figures.

mod base;
mod bench;
mod board;
mod cpio;
mod disk_space;
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
