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
mod scripted;
mod thesis;
mod window;

use bottleneck::{Bottleneck, Cross, Path, ms};
use packetscale_models::rapid::{Law, LawParams, Params, ThesisParams};
use packetscale_models::units::{Bytes, Rate, Ratio, Span, Time};
use scripted::{PACKET, ScriptedFlow};
use std::collections::VecDeque;
