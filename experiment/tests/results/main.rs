//! Files and figures of results.

mod files;
mod statistics;
