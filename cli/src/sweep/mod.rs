//! A plan divided among commands: what it consists of, its shards, a batch system that makes them, and their merging.

mod division;
pub mod merge;
pub mod plan;
pub mod submit;
