//! The experiment that a network is built from: lent for a run, or shared with a run that outlives its caller.

use experiment::scenario::Experiment;
use std::ops::Deref;
use std::sync::Arc;

/// An experiment.
#[derive(Clone, Debug)]
pub(crate) enum Held<'e> {
    /// For as long as the caller waits for the run.
    Lent(&'e Experiment),
    /// For the lifetime of the run.
    Shared(Arc<Experiment>),
}

impl Deref for Held<'_> {
    type Target = Experiment;

    fn deref(&self) -> &Experiment {
        match self {
            Held::Lent(experiment) => experiment,
            Held::Shared(experiment) => experiment,
        }
    }
}
