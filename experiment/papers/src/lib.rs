//! Papers as data: what was published, what is run or computed for it, and how ours is read off.
//!
//! `papers/<paper>/<figure>.toml` is read and checked by [`Library`] (see `docs/adding-a-figure.md`); a [`Figure`] says
//! what must be run ([`Task`]); whoever has a host runs it and hands the [`Findings`] back, and [`Figure::outcome`] holds
//! them against what was published. This crate knows no host: `packetscale reproduce` brings both together.

mod abscissa;
mod check;
mod error;
mod figure;
mod file;
mod library;
mod outcome;
mod picture;
mod point;
mod reading;
mod recorded;
mod source;
mod table;

pub use error::PaperError;
pub use figure::Figure;
pub use library::{Library, Paper};
pub use source::{Answer, Findings, GridQuestion, Task};
