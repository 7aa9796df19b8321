//! What to run: the scenario file, parsed, checked, resolved.
//!
//! A scenario file is TOML (see `docs/scenarios.md`, and [`keys`] for every key). [`Scenario::read`] turns it into a [`Scenario`], or into one
//! message that names the file, the line, the key, what was found and what is expected. [`Scenario::plan`] unfolds
//! comparison, sweep and replications into [`Experiment`]s. A host runs each of them separately.

mod arrivals;
mod canonical;
mod choice;
mod connections;
mod controllers;
mod document;
mod error;
mod expect;
mod fields;
mod files;
mod flows;
mod graph;
mod hosts;
mod impairments;
mod jitter;
pub mod keys;
mod links;
mod model;
mod packet;
mod plan;
mod probe;
mod rate_trace;
mod record;
mod refuse;
mod resolve;
mod routes;
mod run;
mod search;
mod service;
mod sizes;
mod sweep;
mod text_file;
mod traffic;
mod visible;
mod web;

pub use controllers::names as controller_names;
pub use error::{Place, ScenarioError};
pub use links::KERNEL_QUEUES;
pub use model::{
    Aggregation, ArrivalProcess, Arrivals, Buffer, Coalescing, ConnectionSource, Connections, ControllerSpec,
    Expectation, Experiment, FileSizes, FlowSpec, GapModel, GilbertElliott, Impairments, Jitter, JitterLaw, LinkSpec,
    Moderation, Objects, Parse, ProbeSpec, QueueSpec, RateFormat, RateSource, ReceiverSpec, Record, Recorded,
    Reordering, Service, Sessions, Shaper, Shared, Size, SizeLaw, Start, Think, TraceSource, TrafficKind, TrafficSpec,
    Variation, Web,
};
pub use packet::HEADERS;
pub use plan::{Scenario, plain};
pub use search::{SearchSpec, SearchTool};
pub use traffic::TRAFFIC_KINDS;
pub use visible::{is_hidden, visible};
