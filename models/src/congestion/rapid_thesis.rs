//! TCP RAPID as in its dissertation: the baseline, and the controller of the reproduced experiments.
//!
//! A stream of `levels` rates is read gap by gap: buffered packets are smoothed out (BASS), the first rate at which gaps
//! grow is the available bandwidth, and the mean rate moves towards it: with time constant `tau` upwards, within `eta`
//! streams downwards. A loss recovery cuts it by a quarter.
//!
//! The law itself is the C body of crate `rapid` (`thesis.h`, which has the formulas, the source and the deviations); the
//! [`Rapid`] around it passes events to it.

use crate::congestion::contract::Setup;
use crate::congestion::rapid::{Rapid, Steers};
use crate::rapid::{Estimator, Law, ThesisParams};
use crate::settings::{OneOf, Parameter, Parameters, SettingError, Settings, any, check_names};
use crate::units::{Bytes, Rate, Ratio, Span};

/// The defaults, which do not depend on the packet size.
const DEFAULTS: ThesisParams = ThesisParams::new(Bytes::new(1500));

/// The most packets of a stream.
const MOST_PACKETS: u32 = 512;

const MARGIN: Parameter<Ratio> = Parameter::new(
    "margin",
    DEFAULTS.margin,
    Ratio::ZERO..=Ratio::of(1, 2),
    "fraction of the available bandwidth to leave unused",
);
const RANGE: Parameter<Ratio> = Parameter::new(
    "range",
    DEFAULTS.range,
    Ratio::of(5, 100)..=Ratio::of(3, 1),
    "spread of a stream's rates: highest over lowest, less 1",
);
const TAU: Parameter<Span> = Parameter::new("tau", DEFAULTS.tau, any(), "time constant of rate increases");
const ETA: Parameter<u32> = Parameter::new(
    "eta",
    DEFAULTS.eta,
    1..=1000,
    "time constant of rate decreases, in streams (the dissertation's tables print 1/eta)",
);
const ETA_TIME: Parameter<Span> = Parameter::new(
    "eta_time",
    DEFAULTS.eta_time,
    any(),
    "time constant of rate decreases, in place of eta; zero: unused",
);
const GAMMA: Parameter<u32> = Parameter::new("gamma", DEFAULTS.gamma, 1..=1000, "estimates averaged per rate update");
const LEVELS: Parameter<u32> = Parameter::new("levels", DEFAULTS.levels, 2..=16, "rates per stream");
const PACKETS_PER_LEVEL: Parameter<u32> = Parameter::new(
    "packets_per_level",
    DEFAULTS.packets_per_level,
    2..=MOST_PACKETS / 2,
    "packets per rate; at most 512 per stream",
);
const EPSILON: Parameter<Span> =
    Parameter::new("epsilon", DEFAULTS.epsilon, any(), "smallest growth of a gap that indicates congestion");
const SMOOTHING: Parameter<u32> =
    Parameter::new("smoothing", DEFAULTS.smoothing, 1..=512, "window of the final smoothing, in packets");
const LOSS_CUT: Parameter<Ratio> = Parameter::new(
    "loss_cut",
    DEFAULTS.loss_cut,
    Ratio::ZERO..=Ratio::ONE,
    "fraction of the rate to cut per loss recovery",
);
const ESTIMATOR: OneOf =
    OneOf::new("estimator", &["streams", "ideal", "raw", "learnt"], "source of the available bandwidth");
const INITIAL_RATE: Parameter<Rate> = Parameter::new(
    "initial_rate",
    DEFAULTS.initial_rate,
    any(),
    "initial rate, without start-up; zero: 10 packets per round trip, with start-up",
);

/// The settings.
pub const PARAMETERS: Parameters = &[
    &MARGIN,
    &RANGE,
    &TAU,
    &ETA,
    &ETA_TIME,
    &GAMMA,
    &LEVELS,
    &PACKETS_PER_LEVEL,
    &EPSILON,
    &SMOOTHING,
    &LOSS_CUT,
    &ESTIMATOR,
    &INITIAL_RATE,
];

/// A flow under the dissertation's law.
pub type RapidThesis = Rapid<ThesisParams>;

impl Steers for ThesisParams {
    const RESUMES: bool = false;

    fn needs_available(&self) -> bool {
        self.estimator == Estimator::Ideal
    }

    fn set_available(law: &mut Law<ThesisParams>, available: Rate) {
        law.set_available(available);
    }
}

/// Builds a flow under the dissertation's law.
///
/// Errors: a setting that is unknown, of another kind, or out of range.
pub fn build(setup: &Setup, settings: &Settings) -> Result<RapidThesis, SettingError> {
    Ok(Rapid::new(setup, &read(setup.packet, settings)?))
}

fn read(packet: Bytes, settings: &Settings) -> Result<ThesisParams, SettingError> {
    check_names(settings, PARAMETERS)?;
    let params = ThesisParams {
        margin: MARGIN.read(settings)?,
        range: RANGE.read(settings)?,
        tau: TAU.read(settings)?,
        eta: ETA.read(settings)?,
        eta_time: ETA_TIME.read(settings)?,
        gamma: GAMMA.read(settings)?,
        levels: LEVELS.read(settings)?,
        packets_per_level: PACKETS_PER_LEVEL.read(settings)?,
        epsilon: EPSILON.read(settings)?,
        smoothing: SMOOTHING.read(settings)?,
        loss_cut: LOSS_CUT.read(settings)?,
        estimator: match ESTIMATOR.read(settings)? {
            "ideal" => Estimator::Ideal,
            "raw" => Estimator::Raw,
            "learnt" => Estimator::Learnt,
            _ => Estimator::Streams,
        },
        initial_rate: INITIAL_RATE.read(settings)?,
        ..ThesisParams::new(packet)
    };
    if params.levels * params.packets_per_level > MOST_PACKETS {
        return Err(PACKETS_PER_LEVEL.refuse("a whole number from 2, with at most 512 packets in a stream"));
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Setting;
    use alloc::string::ToString;

    fn with(name: &str, setting: Setting) -> Result<ThesisParams, SettingError> {
        read(Bytes::new(9000), &Settings::from([(name.to_string(), setting)]))
    }

    #[test]
    fn without_settings_it_is_the_dissertations_law() {
        assert_eq!(read(Bytes::new(9000), &Settings::new()), Ok(ThesisParams::new(Bytes::new(9000))));
    }

    #[test]
    fn settings_out_of_range_are_refused_by_name() {
        for (name, setting) in [
            ("margin", Setting::Ratio(Ratio::of(6, 10))),
            ("levels", Setting::Integer(1)),
            ("packets_per_level", Setting::Integer(200)),
            ("tau", Setting::Integer(5)),
            ("estimator", Setting::Word("guess".to_string())),
        ] {
            match with(name, setting) {
                Err(SettingError::Invalid { name: refused, .. }) => assert_eq!(refused, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_settings_of_the_other_law_are_unknown() {
        let refused = with("competitive", Setting::Switch(true));
        assert_eq!(refused, Err(SettingError::Unknown { name: "competitive".to_string() }));
    }

    #[test]
    fn every_way_to_estimate_has_its_word() {
        for (word, estimator) in [
            ("streams", Estimator::Streams),
            ("ideal", Estimator::Ideal),
            ("raw", Estimator::Raw),
            ("learnt", Estimator::Learnt),
        ] {
            let params = with("estimator", Setting::Word(word.to_string())).expect("a word");
            assert_eq!(params.estimator, estimator, "{word}");
        }
    }
}
