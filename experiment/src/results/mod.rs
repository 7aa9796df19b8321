//! Results: one schema for every host.
//!
//! A host fills a [`Run`] per (controller, sweep point, replication). The command collects them into [`Results`]. The
//! report draws these, and the writers store them as JSON, CSV, Parquet and NDJSON. Every field name carries its unit.

mod above;
#[cfg(feature = "arrow")]
mod arrow;
mod columns;
mod completions;
mod distribution;
pub mod evaluation;
mod expectation;
pub mod figures;
mod held;
mod json;
pub mod matrix;
pub mod numbers;
mod oversenders;
#[cfg(feature = "parquet")]
mod parquet;
mod phases;
mod read;
mod remarks;
pub mod reproduction;
mod rows;
mod schema;
mod series;
mod statistics;
mod swept;
mod table;
mod ways;
mod write;

#[cfg(feature = "arrow")]
pub use crate::results::arrow::{Batches, schema};
pub use above::{CHANGES_LET_THROUGH, why_above_all};
pub use columns::to_lines;
pub use completions::{Completions, completions};
pub use distribution::Histogram;
pub use figures::{
    CompletionResult, ControllerShare, FlowResult, LinkResult, PhaseResult, SequenceRecord, StreamGap, StreamRecord,
    Summary, TrafficResult, TransferResult, WindowResult,
};
pub use json::to_json;
pub use oversenders::oversenders;
pub use phases::{Got, Phase, time as phase_time};
pub use read::{Described, ReadError, read};
pub use remarks::{remark, remarks};
pub use rows::{Table, tables};
pub use schema::{Environment, ExpectationOutcome, HostLabel, Manifest, Results, Run, SCHEMA};
pub use series::Series;
pub use statistics::{Group, Interval, NO_INTERVAL, deviation, groups, mean, nothing_drawn, point_name, student_t975};
pub use swept::{SweptKey, rate_or_time, swept};
pub use table::{Comparison, Print, WIDTH, colours_wanted, to_expectations, to_table};
pub use ways::{Way, link_names};
pub use write::{MANIFEST, PAGE, SHOWN, cell, csv, files, is_of_results, remove_partial, write, write_file};
