//! Controllers that somebody outside steers, interval by interval: what is learnt by reinforcement.
//!
//! ```text
//! events ──> Steered: counts an interval ──> observation, reward ──> an agent ──> action ──> Steered
//! ```
//!
//! A [`Scheme`] says what is observed, what an action means, and what is rewarded: [`aurora`] steers a rate, [`orca`] the
//! window of CUBIC. Who steers asks when the interval is due ([`Steered::due`]), ends it then ([`Steered::end_interval`])
//! and acts ([`Steered::act`]). Where nobody stands outside, [`Guided`] does this with a [`Policy`], at the first event
//! after an interval.
pub mod aurora;
mod controller;
mod guided;
mod interval;
pub mod orca;

pub use controller::{Outcome, Scheme, Steered};
pub use guided::{Guided, Policy};
pub use interval::Interval;
