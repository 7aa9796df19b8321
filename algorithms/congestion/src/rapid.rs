//! Stand-in until the real file lands: a fixed window of ten packets.

use crate::contract::{AckSample, Controller, Decision, Loss, Setup, Timeout};
use crate::registry::{Parameter, SettingError, Settings, check_names};
use units::Time;

/// What a scenario can set.
pub const PARAMETERS: &[Parameter] = &[];

/// State.
#[derive(Clone, Debug)]
pub struct Rapid {}

impl Rapid {
    /// Builds it.
    pub fn build(_setup: &Setup, settings: &Settings) -> Result<Rapid, SettingError> {
        check_names(settings, PARAMETERS)?;
        Ok(Rapid {})
    }
}

impl Controller for Rapid {
    fn on_ack(&mut self, _ack: &AckSample<'_>) {}
    fn on_loss(&mut self, _loss: &Loss<'_>) {}
    fn on_timeout(&mut self, _timeout: &Timeout) {}
    fn decision(&self) -> Decision {
        Decision { window: 10, departure: Time::ZERO }
    }
}
