//! What a TDQM queue in the simulator measures for Poisson traffic, compared with the closed forms.

mod path;

use experiment::scenario::{Buffer, Experiment, QueueSpec, TrafficKind};
use packetscale_models::settings::{Setting, Settings};
use packetscale_models::theory::tdqm::{eta_accumulated, eta_per_period};
use packetscale_models::units::{Rate, Ratio, Span};
use path::{dumbbell, link, mean, replicate, traffic};

/// A packet takes 200 us on the link.
const PACKET: u64 = 1000;
const ON_THE_WIRE: Span = Span::from_micros(200);
const CAPACITY: Rate = Rate::from_mbps(40);

/// Poisson traffic at this load through a queue that marks nothing; busy periods up to `together` are joined.
fn poisson(load_percent: u64, together: Span) -> Experiment {
    let one = || Setting::Ratio(Ratio::ONE);
    let window = if together == Span::ZERO { Span::from_secs(1) } else { together };
    let shortest = if together == Span::ZERO { Ratio::ZERO } else { Ratio::ONE };
    let settings = [
        ("rho_min", one()),
        ("rho_max", one()),
        ("eta_min", one()),
        ("eta_max", one()),
        ("delay", Setting::Word("unfinished".to_string())),
        ("window", Setting::Span(window)),
        ("shortest", Setting::Ratio(shortest)),
    ];
    let settings: Settings = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    let mut wire = link(CAPACITY, Span::ZERO, Buffer::Unlimited);
    wire.queue = QueueSpec { kind: "tdqm".to_string(), settings };
    let mut experiment = dumbbell(wire, Span::from_secs(100));
    let rate = Rate::from_bps(CAPACITY.bps() * load_percent / 100);
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate }, PACKET)];
    experiment
}

/// Returns the mean of the runs' means, and its standard error.
fn eta(experiment: &Experiment) -> (f64, f64) {
    let runs = replicate(experiment, 10);
    mean(&runs.iter().map(|run| run.summary.burstiness_eta.expect("measured")).collect::<Vec<_>>())
}

#[test]
fn eta_of_poisson_traffic_is_the_closed_form_at_every_load() {
    for load in [20, 50, 80, 95] {
        let (found, error) = eta(&poisson(load, Span::ZERO));
        let expected = eta_per_period(load as f64 / 100.0).unwrap();
        assert!((found - expected).abs() < 4.0 * error, "load {load} %: {found} +- {error}, closed form {expected}");
        assert!(error < 0.01 * expected, "load {load} %: {error} is too uncertain");
    }
}

/// 2000 packet times joined: eta is 1 / ((1 - load) 2000). The last busy period exceeds them by half a mean square over
/// a mean, 1 / (2 (1 - load)^2) packets: less than 1 % at these loads.
#[test]
fn eta_of_joined_busy_periods_is_that_of_the_mean_work() {
    for load in [20, 50, 80] {
        let (found, error) = eta(&poisson(load, ON_THE_WIRE * 2000));
        let expected = eta_accumulated(load as f64 / 100.0, 2000.0).unwrap().expect("periods enough");
        let bound = 4.0 * error + 0.01 * expected;
        assert!((found - expected).abs() < bound, "load {load} %: {found} +- {error}, expected {expected}");
    }
}
