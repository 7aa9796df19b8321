//! Properties of every controller, independent of its goal.

use super::contenders;
use super::path::{dumbbell, link, run, traffic};
use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, Size, TrafficKind};
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use simulator::Mode;

const PACKET: u64 = 1000;

/// An idle path of this rate, round trip and buffer, for this many seconds.
fn idle(rate: Rate, rtt: Span, buffer: u64, seconds: u64) -> Experiment {
    dumbbell(link(rate, rtt / 2, Buffer::Packets(Packets::new(buffer))), Span::from_secs(seconds))
}

/// A flow alone on a path with a buffer of one BDP, from 10 Mbit/s and 10 ms to 200 Mbit/s and 60 ms. It has as much
/// time as additive increase, one packet per round trip, takes from zero to the whole BDP.
#[test]
fn no_controller_starves_itself_on_an_idle_path() {
    let mut starved = Vec::new();
    for (mbps, rtt_ms) in [(10, 10), (10, 100), (100, 10), (100, 40), (200, 60)] {
        let rtt = Span::from_millis(rtt_ms);
        for (name, flow) in contenders(PACKET, rtt) {
            let bdp = mbps * rtt_ms * 1000 / 8 / PACKET;
            let grown = (rtt * bdp).max(Span::from_secs(30));
            let path = idle(Rate::from_mbps(mbps), rtt, bdp.max(10), 0);
            let experiment =
                Experiment { flows: vec![flow.into()], warmup: grown, duration: grown + Span::from_secs(30), ..path };
            let used = run(&experiment).summary.utilisation.unwrap();
            if used < 0.8 {
                starved.push(format!("{name} at {mbps} Mbit/s, {rtt_ms} ms: {used:.3}"));
            }
        }
    }
    assert!(starved.is_empty(), "{}", starved.join("; "));
}

/// Returns the mean throughput of the flow between two times, from the curve.
fn throughput(run: &Run, from_s: f64, to_s: f64) -> f64 {
    let curve = run.series.iter().find(|series| series.metric == "throughput").expect("a curve of throughput");
    let index = |s: f64| ((s - curve.start_s) / curve.step_s).round() as usize;
    let values: Vec<f64> = curve.values[index(from_s)..index(to_s)].iter().flatten().map(|v| f64::from(*v)).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// For two seconds fifty times the capacity arrives, and almost every packet is dropped. The round trip is not a
/// multiple of a packet's time on the link. Otherwise packets clocked by acknowledgments would arrive at the instant a
/// place becomes free, and keep it against any storm.
#[test]
fn every_controller_recovers_from_an_outage() {
    let rtt = Span::from_micros(20_130);
    for (name, flow) in contenders(PACKET, rtt) {
        let mut experiment = Experiment { flows: vec![flow.into()], ..idle(Rate::from_mbps(20), rtt, 20, 60) };
        let mut storm = traffic(TrafficKind::Poisson { rate: Rate::from_mbps(1000) }, PACKET);
        (storm.start, storm.stop) = (Time::ZERO + Span::from_secs(20), Time::ZERO + Span::from_secs(22));
        experiment.traffic = vec![storm];
        experiment.record.detail = true;
        let run = run(&experiment);
        let [before, within, after] = [(10.0, 20.0), (20.5, 22.0), (32.0, 60.0)].map(|(a, b)| throughput(&run, a, b));
        assert!(within < 0.1 * before, "{name}: there was no outage, {within} of {before}");
        assert!(after > 0.8 * before, "{name}: {after} after, {before} before");
    }
}

/// A transfer completes even on a path that loses three packets of ten.
#[test]
fn every_controller_gets_through_heavy_loss() {
    let rtt = Span::from_millis(20);
    for (name, mut flow) in contenders(PACKET, rtt) {
        flow.size = Size::Bytes(Bytes::new(200 * PACKET));
        let mut experiment = Experiment { flows: vec![flow.into()], ..idle(Rate::from_mbps(20), rtt, 50, 600) };
        experiment.links[0].loss = Ratio::of(3, 10);
        let run = run(&experiment);
        let lost = run.flows[0].lost_packets as f64 / run.flows[0].sent_packets as f64;
        assert!((lost - 0.3).abs() < 0.1, "{name}: {lost} lost");
        assert!(run.flows[0].completion_s.is_some(), "{name}: not done after 600 s: {:?}", run.flows[0]);
    }
}

/// On a path without drops, exactly the requested bytes cross it, the short last packet included.
#[test]
fn a_transfer_moves_exactly_the_requested_bytes() {
    let rtt = Span::from_millis(20);
    for (name, mut flow) in contenders(PACKET, rtt) {
        for bytes in [1, PACKET - 1, PACKET, PACKET + 1, 500_123] {
            flow.size = Size::Bytes(Bytes::new(bytes));
            let mut experiment =
                Experiment { flows: vec![flow.clone().into()], ..idle(Rate::from_mbps(20), rtt, 10, 20) };
            experiment.links[0].buffer = Buffer::Unlimited;
            let run = run(&experiment);
            let flow = &run.flows[0];
            let done = flow.completion_s.unwrap_or_else(|| panic!("{name}: {bytes} B are not done"));
            let moved = flow.throughput_bps.unwrap() * (done - flow.start_s) / 8.0;
            assert!((moved - bytes as f64).abs() < 0.5, "{name}: {moved} of {bytes} B");
            assert_eq!(flow.sent_packets, bytes.div_ceil(PACKET), "{name}");
            assert_eq!(run.summary.packets_delivered, flow.sent_packets, "{name}");
        }
    }
}

/// Without loss, packet `i + w` leaves no earlier than a round trip after packet `i`.
#[test]
fn the_receive_window_is_respected() {
    let (rtt, window) = (Span::from_millis(20), 12);
    for (name, flow) in contenders(PACKET, rtt) {
        let mut experiment = Experiment { flows: vec![flow.into()], ..idle(Rate::from_mbps(100), rtt, 1000, 5) };
        let gaps = |experiment: &Experiment| {
            let log = simulator::log(experiment, Mode::Fused).unwrap();
            assert!(log.len() > 1000, "{name}: only {} packets", log.len());
            log.windows(window + 1).map(|w| w[window].departure.since(w[0].departure)).min().unwrap()
        };
        assert!(gaps(&experiment) < rtt, "{name}: it would not have used more than {window} packets anyway");
        experiment.receiver.window = Packets::new(window as u64);
        assert!(gaps(&experiment) >= rtt, "{name}: {:?}", gaps(&experiment));
    }
}
