//! The mean number of packets at a link, by hand.

use super::*;
use simulator::run_in;

const MODES: [Mode; 2] = [Mode::Fused, Mode::Stepped];

/// At the measured link, and at the same link among all.
fn means(experiment: &Experiment, mode: Mode) -> [f64; 2] {
    let run = run_in(experiment, mode).expect("a run");
    [run.summary.queue_mean_packets, run.links[0].queue_mean_packets].map(|mean| mean.expect("measured"))
}

/// Packets of 1500 bytes arrive every 1 ms, and each takes 1.2 ms: packet k is at the link from k to 1.2 (k + 1) ms. In 2000 ms the
/// first 1666 leave, which spend 0.2 k + 1.2 ms each: 279 388.2 ms in all. The other 334 wait from k on: 334 * 335 / 2 = 55 945 ms.
fn overload() -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(10), Span::from_millis(5), Buffer::Unlimited, Span::from_secs(2));
    experiment.traffic = vec![traffic(TrafficKind::Cbr { rate: Rate::from_mbps(12) }, 1500, 1)];
    experiment.record.links = true;
    experiment
}

/// With a warm-up, packets that came before count from its end on: at 1000 ms, 1001 have come and 833 have left. Without
/// the first 1000 ms (833 that left by 999.6 ms and spent 0.2 k + 1.2 ms, 70 305.2 in all; 167 that had waited from k to
/// 1000 ms, 167 * 168 / 2 = 14 028 ms) 251 000 ms are left.
#[test]
fn the_mean_counts_waiting_packets_and_ignores_the_warm_up() {
    for (warmup_s, expected) in [(0, 335_333.2 / 2000.0), (1, (335_333.2 - 70_305.2 - 14_028.0) / 1000.0)] {
        let experiment = Experiment { warmup: Span::from_secs(warmup_s), ..overload() };
        for mode in MODES {
            for mean in means(&experiment, mode) {
                assert!((mean - expected).abs() < 1e-6, "{mode:?}, warm-up of {warmup_s} s: {mean}");
            }
        }
    }
}

/// CoDel drops from the head: a packet that it drops was there until the next one that is served begins, 1.2 ms before that
/// one departs. Packets neither served nor dropped are there at the end.
#[test]
fn packets_that_are_dropped_late_count_until_then() {
    let (end_ms, service_ms) = (2000.0, 1.2);
    let mut experiment = overload();
    experiment.links[0].queue = QueueSpec::named("codel");
    let log = log(&experiment, Mode::Stepped);
    let ms = |at: Time| at.picos() as f64 * 1e-9;
    let mut known: Vec<(f64, Option<f64>)> =
        (log.iter()).map(|one| (ms(one.arrival), Some(one.departure).filter(|at| *at < Time::MAX).map(ms))).collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0));
    let dropped = known.iter().filter(|(_, departs)| departs.is_none()).count();
    let last = known.iter().filter_map(|(_, departs)| *departs).fold(0.0, f64::max);
    let mut begins = last;
    let mut spent_ms: f64 = (known.len()..2000).map(|packet| end_ms - packet as f64).sum();
    for (arrival, departs) in known.iter().rev() {
        spent_ms += departs.unwrap_or(begins) - arrival;
        begins = departs.map_or(begins, |departs| departs - service_ms);
    }
    assert!(dropped > 10, "{dropped} dropped");
    for mean in means(&experiment, Mode::Stepped) {
        assert!((mean - spent_ms / end_ms).abs() < 1e-6, "{mean} {}", spent_ms / end_ms);
    }
}

/// Little's law, where all that comes leaves: the mean is the rate of packets times the mean time there.
#[test]
fn a_queue_empty_at_both_ends_obeys_littles_law() {
    let mut experiment = dumbbell(Rate::from_mbps(20), Span::from_millis(20), packets(600), Span::from_secs(30));
    let size = Size::Bytes(Bytes::new(5_000_000));
    experiment.flows = vec![FlowSpec { size, ..flow("newreno", 1000, Span::from_millis(40)) }.into(); 2];
    experiment.record.links = true;
    for mode in MODES {
        let run = run_in(&experiment, mode).expect("a run");
        let link = &run.links[0];
        let per_s = link.throughput_bps.expect("measured") / 8000.0;
        let stay_s = link.queue_delay_mean_s.expect("measured") + 8000.0 / 20e6;
        assert!((link.queue_mean_packets.expect("measured") / (per_s * stay_s) - 1.0).abs() < 1e-9, "{mode:?}");
        assert!(link.queue_mean_packets > Some(10.0));
    }
}
