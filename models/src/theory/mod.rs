//! Predictions of papers without simulation: closed forms and exact methods, one module per paper.
//!
//! * [`burstiness`]: one Rapid flow against periodic on-off cross traffic.
//! * [`multiplexing`]: many flows of constant rate on one link.
//! * [`qlbp`]: a queue-length based pacer.
//! * [`rapid`]: flows of Rapid's default law, as a fluid.
//! * [`tdqm`]: the burstiness of busy periods.
//!
//! Inputs are typed quantities, checked once. An input outside the domain of validity gives an [`Error`] with the reason.
//! Results are real numbers whose names carry their units (`queue_delay_s`). Random numbers come from the caller.
pub mod burstiness;
mod error;
pub mod multiplexing;
pub mod qlbp;
pub mod rapid;
mod search;
pub mod tdqm;

pub use error::Error;
