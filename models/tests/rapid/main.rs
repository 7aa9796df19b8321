//! The law: its formulas, its goals, and what tries to mislead it.

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
