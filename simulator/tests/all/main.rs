//! Whole runs on the simulator: its laws, its hosts, and what they must not depend on.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod applications;
mod arrivals;
mod brought;
mod caught_up;
mod connections;
mod fused_is_stepped;
mod graph;
mod handshakes;
mod hosts;
mod marks;
mod packets;
mod paused;
mod probes;
mod processor_sharing;
mod queue_mean;
mod queueing_theory;
mod rcp;
mod residual_queue;
mod round_trips;
mod searches;
mod service;
mod support;
mod way_back;
mod web;
