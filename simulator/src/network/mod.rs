//! An experiment, built: topology, endpoints, traffic, and the agenda that moves them.

mod course;
mod departures;
mod engine;
mod finish;
mod notes;
mod observed;
mod sampler;

pub(crate) use departures::{alone, departures};
pub(crate) use engine::Network;
pub(crate) use finish::finish;
pub(crate) use observed::observe;
