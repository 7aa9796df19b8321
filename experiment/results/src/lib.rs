//! What came out: one schema for every host.
//!
//! A host fills a [`Run`] per (controller, sweep point, replication); the command collects them into [`Results`],
//! which the report draws and the writers store as JSON, CSV, Parquet and NDJSON. Every field name carries its unit.

pub mod dictionary;
mod schema;
mod statistics;

pub use schema::{
    Environment, ExpectationOutcome, FlowResult, Histogram, Host, Manifest, Results, Run, SCHEMA, Series, StreamGap,
    StreamRecord, Summary, TrafficResult,
};
pub use statistics::{Group, Interval, groups, student_t975};
