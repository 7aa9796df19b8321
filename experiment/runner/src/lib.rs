//! Makes runs, on whatever host.
//!
//! A [`Host`] is a crate that implements one trait. A [`Job`] is one run with an identity of its own: what is asked, by
//! which program, on which host, and nothing else, so that any machine can do a part of a plan and another copy of the
//! program can finish it. A [`Runner`] makes the jobs that are not done yet, in parallel, and keeps each in the folder of
//! the results as soon as it is done ([`Checkpoint`]).

mod checkpoint;
mod digest;
mod execute;
mod files;
mod host;
mod job;
mod machine;
mod program;

pub use checkpoint::{Checkpoint, Sealed};
pub use digest::{Hash, of_file};
pub use execute::{Error, Finished, Made, Progress, Runner, Silent, threads};
pub use files::Files;
pub use host::{Clock, Host, Refusal, Unfit};
pub use job::{Job, Keep};
pub use machine::system;
pub use program::Program;
