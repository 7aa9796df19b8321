//! Whole runs on the simulator. One program has all tests: each program would link all that is tested.

mod applications;
mod arrivals;
mod caught_up;
mod connections;
mod fused_is_stepped;
mod graph;
mod handshakes;
mod hosts;
mod marks;
mod packets;
mod paused;
mod plugins;
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

use experiment::results::Run;
use experiment::scenario::{
    Aggregation, Buffer, Coalescing, Experiment, FlowSpec, GapModel, QueueSpec, ReceiverSpec, Shaper, Size, Start,
    TrafficKind, TrafficSpec, Variation,
};
use packetscale_models::estimation::Method;
use packetscale_models::settings::Setting;
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use proptest::test_runner::RngSeed;
use simulator::{Mode, Served};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::{
    dumbbell, flow, link, log, ms, opportunities, packets, planned, probing, queue, run, same_in_both_modes, traffic,
    was_dropped,
};
