//! Jobs and shards.

mod counting;
mod jobs;
mod shards;
