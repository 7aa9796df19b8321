//! What to run: the scenario file, parsed, checked, resolved.
//!
//! A scenario file is TOML (see `docs/scenarios.md`). [`Scenario::read`] turns it into a [`Scenario`], or into one
//! message that names the file, the line, the key, what was found and what is expected. [`Scenario::plan`] unfolds
//! comparison, sweep and replications into [`Experiment`]s, each of which a host runs by itself.

mod model;

pub use model::{
    Buffer, Coalescing, ControllerSpec, Expectation, Experiment, FlowSpec, GapModel, LinkSpec, QueueSpec, ReceiverSpec,
    Record, Size, Start, TraceSource, TrafficKind, TrafficSpec,
};
