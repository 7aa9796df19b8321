//! Figures of a run.

mod links;
mod together;
