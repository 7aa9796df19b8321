//! What to run, and what came out.
//!
//! | module | what it holds |
//! |---|---|
//! | [`scenario`] | the scenario file: parsed, checked, resolved |
//! | [`traffic`] | cross traffic, starts, applications; a run's random draws |
//! | [`plugins`] | controllers of users: shared objects, opened and checked |
//! | [`results`] | one schema for every host; CSV, Parquet, NDJSON |

pub mod plugins;
pub mod results;
pub mod scenario;
pub mod traffic;
