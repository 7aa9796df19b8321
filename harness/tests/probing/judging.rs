//! Streams of a made-up host: scores worked out by hand, and refusals.

use experiment::scenario::{Experiment, Scenario};
use harness::probing::recording::{Recording, write};
use harness::probing::{ProbeHost, ProbePacket, ProbeStream, Prober, ProbingError, judge, observe, scores};
use harness::probing::{Reader, SweepPoint};
use packetscale_models::estimation::Gap;
use packetscale_models::units::{Bytes, Rate, Span, Time};
use std::path::Path;

const ONE_RATE: &str = "rate = \"7 Gbit/s\"\nstreams = 1\n";
const SEARCH: &str = "rate = { from = \"1 Gbit/s\", to = \"9 Gbit/s\" }\nsearch = \"pathload\"\n";
const BASELINE: &str = "R_avg, no measurement";

/// Sends streams of these mean rates, in Mbit/s, while 7 Gbit/s are available; or cannot send.
struct MadeUp(Result<&'static [u64], &'static str>);

impl ProbeHost for MadeUp {
    fn send(&self, _: &Experiment) -> Result<Vec<ProbeStream>, ProbingError> {
        let rates = self.0.map_err(|why| ProbingError::Sending(why.to_string()))?;
        Ok(rates.iter().zip(0..).map(|(mbps, number)| stream(number, Rate::from_mbps(*mbps))).collect())
    }

    fn prober(&self, _: &Experiment) -> Result<Box<dyn Prober>, ProbingError> {
        Err(ProbingError::Sending("no prober".to_string()))
    }
}

/// Three packets of 9000 B, sent 10 us apart, seen 12 us apart; the second was lost.
fn stream(number: u32, mean_rate: Rate) -> ProbeStream {
    let packet = |number: u32| {
        let sent = Time::ZERO + Span::from_micros(10 * u64::from(number));
        let seen = Time::ZERO + Span::from_micros(100 + 12 * u64::from(number));
        ProbePacket { number, asked: Span::from_micros(10), sent, left: sent, passed: seen, seen }
    };
    let rates = [Rate::from_gbps(6), mean_rate, Rate::from_gbps(9)];
    let stream = crate::stream(vec![packet(0), packet(2), packet(3)], rates, Rate::from_gbps(7));
    ProbeStream { number, train: number, lost: 1, ..stream }
}

fn plan(probe: &str) -> Vec<Experiment> {
    let text = format!("[run]\nreplications = 2\n[path]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[probe]\n{probe}");
    Scenario::parse(&text, Path::new("probes.toml"), &[]).unwrap_or_else(|error| panic!("{error}")).plan()
}

#[test]
fn a_reading_is_scored_by_its_distance_from_the_truth() {
    // 7.0, 7.5 and 8.5 of 7 Gbit/s: errors of 0, 7.14 % and 21.4 %.
    let host = MadeUp(Ok(&[7000, 7500, 8500]));
    let scored =
        judge(&host, &plan("rate = \"7 Gbit/s\"\nstreams = 3\n"), &[format!("mean: {BASELINE}")]).expect("scores");
    let [(point, score)] = scored.as_slice() else { panic!("one method at one point: {scored:?}") };
    assert_eq!(point["method"], "mean");
    let figure = |name: &str| score[name].as_f64().unwrap_or_else(|| panic!("{name}: {score}"));
    // Two replications.
    assert_eq!(figure("scored"), 6.0);
    assert!((figure("within_10") - 2.0 / 3.0).abs() < 1e-12);
    assert!((figure("bias") - (0.5 + 1.5) / 7.0 / 3.0).abs() < 1e-12);
    // Both runs are the same: no interval.
    assert_eq!(figure("within_10_half_width"), 0.0);
}

#[test]
fn gap_errors_need_both_neighbours_to_arrive() {
    let host = MadeUp(Ok(&[7000]));
    let points = observe(&host, &plan(ONE_RATE)).expect("streams");
    let (_, score) = &scores(&points, &[Reader::named(BASELINE).expect("a baseline")])[0];
    // Packets 2 and 3 left 10 us apart, as scheduled; between 0 and 2 one is missing.
    assert_eq!(score["gap_error_largest_us"], 0.0);
}

#[test]
fn a_written_recording_reads_back_as_the_same_gaps() {
    let runs = vec![vec![stream(0, Rate::from_gbps(7)), stream(1, Rate::from_gbps(8))]];
    let points = [SweepPoint { params: [("probe.range".to_string(), "50 %".to_string())].into(), levels: 4, runs }];
    let mut file = Vec::new();
    write(&mut file, &points).expect("written");
    let mut recording = Recording::open(file.as_slice()).expect("a recording");
    let mut ids = Vec::new();
    while let Some(recorded) = recording.next_stream().expect("a stream") {
        let read = recorded.stream.expect("it is short");
        let gap = |send: u64, receive: u64| Gap {
            send: Span::from_micros(send),
            receive: Span::from_micros(receive),
            size: Bytes::new(9000),
            acked: true,
        };
        assert_eq!((read.gaps, read.lost), (vec![gap(20, 24), gap(10, 12)], 1));
        ids.push(recorded.id);
    }
    assert_eq!(ids, ["0", "1"]);
}

#[test]
fn refuses_streams_that_cannot_be_sent_or_read() {
    let refused = |host: &MadeUp, probe: &str, method: &str| {
        judge(host, &plan(probe), &[method.to_string()]).expect_err("it is refused")
    };
    let sends = MadeUp(Ok(&[7000]));
    let silent = MadeUp(Err("the trace is gone"));
    assert_eq!(refused(&silent, ONE_RATE, BASELINE), ProbingError::Sending("the trace is gone".to_string()));
    assert!(matches!(refused(&sends, ONE_RATE, "no-such-method"), ProbingError::Method(_)));
    let ProbingError::Method(what) = refused(&sends, SEARCH, BASELINE) else { panic!("of the method") };
    assert_eq!(what, format!("found \"{BASELINE}\", expected a method that reads streams"));
}
