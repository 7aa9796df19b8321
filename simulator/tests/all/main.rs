//! Whole runs on the simulator. One program has all tests: each program would link all that is tested.

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
