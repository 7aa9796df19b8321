//! The law: its formulas, its goals, and what tries to mislead it.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod anew;
mod bottleneck;
mod clocks;
mod contest;
mod crowd;
mod formulas;
mod frame;
mod frames;
mod goals;
mod hostile;
mod kept;
mod policer;
mod reading;
mod thesis;
mod told;
mod window;
