//! Known weaknesses, in the simulator: the search must find them unaided, with a fixed number of paths and one seed. They
//! take minutes, so a plain run ignores them: `cargo test -p studies --test attack -- --ignored known`.

use harness::runner::Program;
use simulator::Simulator;
use studies::attack::{Against, Asked, Attack, Effort, Figure, Finding, Means, Watch};

static PROGRAM: Program = Program::new("1.2.3", Some("abc"));

/// Bits of a packet.
const PACKET: f64 = 12_000.0;

struct Patient;

impl Watch for Patient {
    fn judged(&self, _: u64, _: Option<(&'static str, f64)>) {}
    fn shrinks(&self, _: usize, _: usize) {}
    fn ends(&self) -> bool {
        false
    }
}

fn attacked(controller: &str, against: Against, paths: u64) -> Attack {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (figure, effort) = (Figure::Share, Effort::Evaluations(paths));
    let asked = Asked { controller, against: &against, figure, effort, seed: 1, on: None };
    let means = Means { host: &Simulator, program: &PROGRAM, jobs: None, watch: &Patient };
    asked.answer(&means, folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

fn with_cause<'a>(attack: &'a Attack, cause: &str) -> &'a Finding {
    let found = attack.findings.iter().find(|finding| finding.causes == [cause]);
    let all: Vec<&str> = attack.findings.iter().map(|finding| finding.title.as_str()).collect();
    found.unwrap_or_else(|| panic!("no finding whose only cause is {cause}; found: {all:#?}"))
}

/// A. Kuzmanovic, E. W. Knightly, *Low-rate TCP-targeted denial of service attacks*, SIGCOMM 2003: pulses that come once in a
/// retransmission timeout, or twice, with half of the rate on average here, take nearly all from a flow that waits for
/// that timeout. Here it is one round trip and 200 ms; the round trip is that of the path, with or without a full queue.
fn is_shrew(attack: &Attack) {
    let finding = with_cause(attack, "pulses");
    let gene = |name: &str| finding.genes[name];
    let trip_s = gene("round_trip_ms") / 1e3;
    let (shortest, longest) = (0.2 + trip_s, 0.2 + trip_s * (1.0 + gene("buffer_bdp").max(0.1)));
    let period_s = gene("pulse_period_s");
    assert!(period_s > shortest / 2.0 / 1.25 && period_s < longest * 1.25, "{}", finding.scenario);
    // Nearly all: at most a fifth of what the pulses leave.
    assert!(finding.subject < 0.2 * finding.reference, "{}", finding.scenario);
}

#[test]
#[ignore = "takes minutes"]
fn pulses_at_the_timeout_stop_newreno() {
    is_shrew(&attacked("newreno", Against::Bound, 4800));
}

#[test]
#[ignore = "takes minutes"]
fn pulses_at_the_timeout_stop_cubic() {
    is_shrew(&attacked("cubic", Against::Bound, 1920));
}

/// Throughput of a flow that targets this number of packets in the queue, and mistakes a longer path for a queue: that many packets
/// per added delay. The path stays longer, so the measurement is not a mean of before and after.
fn is_starved_by_delay(attack: &Attack, packets: std::ops::RangeInclusive<f64>) {
    let finding = with_cause(attack, "delay");
    let grown_s = finding.genes["delay_extra_ms"] / 1e3;
    let held = finding.subject * grown_s / PACKET;
    assert!(packets.contains(&held), "{held} packets\n{}", finding.scenario);
    assert!(finding.times_worse > 2.0, "{}", finding.scenario);
}

/// L. S. Brakmo, L. L. Peterson, *TCP Vegas*, JSAC 13, 1995: between alpha = 2 and beta = 4 packets.
#[test]
#[ignore = "takes minutes"]
fn vegas_mistakes_longer_path_for_queue() {
    is_starved_by_delay(&attacked("vegas", Against::Controller("cubic".to_string()), 1440), 1.0..=8.0);
}
