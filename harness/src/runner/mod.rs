//! Makes runs, on any host.
//!
//! A [`Host`] is a crate that implements one trait. A [`Job`] is one run, identified by its experiment, program and
//! host and nothing else, so that any machine can do a part of a plan and another copy of the
//! program can finish it. A [`Runner`] makes the jobs that are not done yet, in parallel, and keeps each in the folder of
//! the results as soon as it is done ([`Checkpoint`]). Where several commands make one plan, each makes a [`Shard`].

mod checkpoint;
mod digest;
mod execute;
mod files;
mod head;
mod host;
mod job;
mod line;
mod machine;
mod made;
mod program;
#[cfg(test)]
mod resumed;
mod shard;
mod sweep;

pub use checkpoint::{Checkpoint, Sealed, alone_in};
pub use digest::{Hash, of_file};
pub use execute::{Error, Existing, Finished, Progress, Runner, Silent, threads};
pub use files::Files;
pub use head::Head;
pub use host::{Clock, Host, Refusal, Unfit};
pub use job::{Job, Keep};
pub use machine::system;
pub use made::Made;
pub use program::Program;
pub use shard::{Shard, divide, shards_of};
pub use sweep::{ShardDone, Shards, Swept, file as shard_file};
