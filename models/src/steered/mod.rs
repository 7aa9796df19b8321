//! Controllers that an agent steers, interval by interval, for reinforcement learning.
//!
//! ```text
//! events ──> Steered: counts an interval ──> observation, reward ──> an agent ──> action ──> Steered
//! ```
//!
//! A [`Scheme`] defines observation, action and reward: [`aurora`] steers a rate, [`orca`] the
//! window of CUBIC. An agent waits until the interval is due ([`Steered::due`]), ends it then ([`Steered::end_interval`])
//! and acts ([`Steered::act`]). Without an agent outside, [`Guided`] does this with a [`Policy`], at the first event
//! after an interval.
pub mod aurora;
mod controller;
mod guided;
mod interval;
pub mod orca;

pub use controller::{Outcome, Scheme, Steered};
pub use guided::{Guided, Policy};
pub use interval::Interval;
