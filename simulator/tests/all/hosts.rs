//! How sending and receiving hosts shape what is on the wire.

use super::*;

/// A Rapid flow on an idle path.
fn rapid(gbps: u64, packet: u64) -> Experiment {
    let mut experiment = dumbbell(Rate::from_gbps(gbps), Span::from_millis(5), Buffer::Unlimited, Span::from_secs(1));
    experiment.flows = vec![flow("rapid", packet, Span::from_millis(10)).into()];
    experiment
}

/// One Rapid flow on an idle 1 Gbit/s path without delay between sender and link: arrivals at the link are departures.
fn departures(gaps: GapModel) -> Vec<Served> {
    log(&Experiment { gaps, ..rapid(1, 1500) }, Mode::Fused)
}

fn per_instant(log: &[Served]) -> Vec<usize> {
    let mut groups: BTreeMap<Time, usize> = BTreeMap::new();
    log.iter().for_each(|served| *groups.entry(served.arrival).or_default() += 1);
    groups.into_values().collect()
}

#[test]
fn a_perfect_host_sends_packets_one_by_one() {
    let log = departures(GapModel::Perfect);
    assert!(log.len() > 50_000, "{}", log.len());
    assert!(per_instant(&log).iter().all(|packets| *packets == 1));
}

#[test]
fn a_batching_host_sends_batches() {
    let groups = per_instant(&departures(GapModel::Batch(4)));
    // A batch that waits for its last packet longer than 100 us leaves short: only during start-up.
    let whole = groups.iter().filter(|packets| **packets == 4).count();
    assert!(whole > 10_000 && whole as f64 > 0.98 * groups.len() as f64, "{whole} of {}", groups.len());
    assert!(groups.iter().all(|packets| *packets <= 4));
}

#[test]
fn a_coarse_timer_sends_at_ticks_or_on_acknowledgments() {
    let tick = 50_000_000;
    let log = departures(GapModel::Timer(Span::from_picos(tick)));
    let at_ticks = log.iter().filter(|served| served.arrival.picos() % tick == 0).count();
    assert!(log.len() > 10_000 && at_ticks * 2 > log.len(), "{at_ticks} of {}", log.len());
}

/// 120 us of coalescence hold an acknowledgment back by at most that, and by something on average.
#[test]
fn coalescing_adds_up_to_its_timer_to_the_rtt() {
    let mean_s = |experiment: &Experiment| run(experiment).summary.rtt_mean_s.unwrap();
    let mut experiment = rapid(10, 9000);
    let without = mean_s(&experiment);
    experiment.receiver.coalescing = Coalescing { time: Span::from_micros(120), ..Coalescing::NONE };
    let added = mean_s(&experiment) - without;
    assert!((20e-6..=130e-6).contains(&added), "{added}");
}
