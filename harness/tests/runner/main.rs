//! Jobs and shards.

mod jobs;
mod shards;
