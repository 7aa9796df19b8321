//! Files and figures of results.

mod documented;
mod files;
mod statistics;
