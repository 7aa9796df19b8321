//! Probe streams: judged, looked at.

mod judging;
mod looks;
