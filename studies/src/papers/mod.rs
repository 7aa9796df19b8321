//! Papers as data: published values, the runs or computations for them, and how our values are read from the results.
//!
//! [`Library`] reads and checks `papers/<paper>/<figure>.toml` (see `docs/adding-a-figure.md`). A [`Figure`] lists what
//! must be run ([`Task`]). A caller with a host runs it and returns the [`Findings`]. [`Figure::outcome`] compares them
//! with what was published. This crate knows no host: `packetscale reproduce` brings both together.

mod abscissa;
mod check;
mod curve;
mod during;
mod error;
mod figure;
mod file;
mod include;
mod library;
mod outcome;
mod picture;
mod point;
mod reading;
mod recorded;
mod rule;
mod source;
mod store;
mod table;

pub use error::PaperError;
pub use figure::Figure;
pub use file::{Conclusion, Evidence, Shows};
pub use library::{Library, Paper};
pub use rule::is_kept;
pub(crate) use rule::{NEAR, tolerance};
pub use source::{Answer, Findings, GridQuestion, Task};
pub use store::{Bound, FoundBy, Judged, Outcome, REPEATED, STORE, Store, Stores};
pub use table::NamedCell;
