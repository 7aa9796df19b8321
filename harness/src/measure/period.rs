//! Which part of a run counts.

use experiment::scenario::Experiment;
use packetscale_models::units::Time;

/// The time that figures count: after `warm`, up to `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) warm: Time,
    pub(crate) end: Time,
}

impl Period {
    pub(crate) fn of(experiment: &Experiment) -> Period {
        Period { warm: Time::ZERO + experiment.warmup, end: Time::ZERO + experiment.duration }
    }
}
