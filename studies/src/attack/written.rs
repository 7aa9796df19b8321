//! A genome as a scenario file. The search itself uses this text: every score comes from a scenario that was parsed like any
//! other.

use crate::attack::genes::{Id, rounded};
use crate::attack::genome::Genome;
use Id::*;
use std::fmt::Write;

/// Wire size of packets.
const PACKET_BYTES: f64 = 1500.0;
/// The smallest buffer: fewer packets are no buffer for anybody.
const LEAST_BUFFER_PACKETS: f64 = 4.0;
/// The part of a run that steady figures leave out.
const WARMUP_SHARE: f64 = 1.0 / 3.0;
/// Flows begin within this time, so that other seeds see other phases of periodic events.
const START_SPREAD_S: f64 = 0.1;

/// Surroundings of the path.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The controllers that are compared, each by its name or as a table.
    pub controllers: &'a [String],
    /// Whether figures are those of whole runs, starts included.
    pub whole: bool,
    /// The seed of the scenario.
    pub seed: u64,
    /// Runs with other draws.
    pub replications: usize,
}

/// When figures are taken: from when to when.
fn counted(genome: &Genome, whole: bool) -> (f64, f64) {
    (if whole { 0.0 } else { genome.duration_s * WARMUP_SHARE }, genome.duration_s)
}

/// Mean bits per second that the path carries of flows and traffic together while figures are taken: an upper bound, since
/// frames are taken as full.
pub fn capacity_bps(genome: &Genome, whole: bool) -> f64 {
    let (from, to) = counted(genome, whole);
    let part = |until: &dyn Fn(f64) -> f64| (until(to) - until(from)) / (to - from);
    let rate = path_bps(genome);
    let varied = match (genome.get(RateLow), genome.get(RatePeriod), genome.get(RateDuty)) {
        (Some(low), Some(period), Some(duty)) => {
            let high = part(&|time| (time / period).floor() * duty * period + (time % period).min(duty * period));
            rate * (high + (1.0 - high) * low)
        }
        _ => rate,
    };
    let framed = match (genome.get(FramePackets), genome.get(FrameOverhead)) {
        (Some(packets), Some(overhead_ms)) => {
            let bits = packets * PACKET_BYTES * 8.0;
            bits / (bits / varied + overhead_ms / 1e3)
        }
        _ => varied,
    };
    let policed = genome.get(PolicerRate).map_or(framed, |share| framed.min(share * rate));
    // The first begins after one distance.
    let out = outage(genome).map_or(0.0, |(length, every)| {
        part(&|time| {
            ((time / every).floor() - 1.0).max(0.0) * length
                + if time < every { 0.0 } else { (time % every).min(length) }
        })
    });
    policed * (1.0 - out) * (1.0 - genome.get(LossShare).unwrap_or(0.0))
}

/// The least time of one transfer: its bits at the path's rate, and one way.
pub fn least_completion_s(genome: &Genome) -> f64 {
    let bits = genome.get(Transfer).unwrap_or(0.0) * 8e3;
    bits / path_bps(genome) + genome.get(RoundTrip).unwrap_or(0.0) / 2e3
}

/// The text of the scenario, without title and expectations.
pub fn scenario(genome: &Genome, frame: &Frame<'_>) -> String {
    let mut out = String::new();
    run(&mut out, genome, frame);
    path(&mut out, genome);
    receiver(&mut out, genome);
    flows(&mut out, genome, frame);
    traffic(&mut out, genome);
    if frame.controllers.len() > 1 {
        let names: Vec<String> = frame.controllers.iter().map(|word| quoted(word)).collect();
        line(&mut out, format_args!("\n[compare]\ncontrollers = [{}]", names.join(", ")));
    }
    line(&mut out, format_args!("\n[record]\nstreams = 0"));
    out
}

fn line(out: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to text does not fail.
    let _ = writeln!(out, "{words}");
}

fn run(out: &mut String, genome: &Genome, frame: &Frame<'_>) {
    let (warmup, duration) = counted(genome, frame.whole);
    let times = [seconds(duration), seconds(warmup)];
    line(out, format_args!("[run]\nduration = {}\nwarmup = {}\nseed = {}", times[0], times[1], frame.seed));
    if frame.replications > 1 {
        line(out, format_args!("replications = {}", frame.replications));
    }
}

fn path(out: &mut String, genome: &Genome) {
    let trip_ms = genome.get(RoundTrip).unwrap_or(RoundTrip.gene().usual);
    let bdp = path_bps(genome) * trip_ms / 1e3 / 8.0 / PACKET_BYTES;
    let packets = (genome.get(Buffer).unwrap_or(Buffer.gene().usual) * bdp).round().max(LEAST_BUFFER_PACKETS);
    line(out, format_args!("\n[path]\nrate = {}\ndelay = {}", rate(path_bps(genome)), millis(trip_ms / 2.0)));
    line(out, format_args!("buffer = \"{packets} packets\""));
    if let (Some(low), Some(period), Some(duty)) = (genome.get(RateLow), genome.get(RatePeriod), genome.get(RateDuty)) {
        let low = rate(low * path_bps(genome));
        line(out, format_args!("rate_steps = [[{}, {low}]]", seconds(duty * period)));
        line(out, format_args!("rate_repeat = {}", seconds(period)));
    }
    if let (Some(packets), Some(overhead)) = (genome.get(FramePackets), genome.get(FrameOverhead)) {
        line(out, format_args!("aggregation = {{ packets = {packets}, overhead = {} }}", millis(overhead)));
    }
    if let (Some(share), Some(bucket)) = (genome.get(PolicerRate), genome.get(PolicerBucket)) {
        let (rate, bytes) = (rate(share * path_bps(genome)), bucket * PACKET_BYTES);
        line(out, format_args!("policer = {{ rate = {rate}, bucket = \"{bytes} B\" }}"));
    }
    if let Some(share) = genome.get(LossShare) {
        line(out, format_args!("loss = {share:?}"));
    }
    if let (Some(share), Some(packets)) = (genome.get(ReorderShare), genome.get(ReorderPackets)) {
        line(out, format_args!("reorder = {{ share = {share:?}, packets = {packets} }}"));
    }
    if let Some(outages) = outages(genome) {
        line(out, format_args!("outages = [{outages}]"));
    }
    if let Some(steps) = delay_steps(genome, trip_ms / 2.0) {
        line(out, format_args!("delay_steps = [{steps}]"));
    }
}

/// Length of a pulse, in ms: the mean is at most half of the rate, and a pulse ends before the next begins.
pub fn pulse_ms(genome: &Genome) -> Option<f64> {
    let (share, width_ms, period_s) = (genome.get(PulseRate)?, genome.get(PulseWidth)?, genome.get(PulsePeriod)?);
    Some(rounded(width_ms.min(period_s * 1e3 * 0.5 / share.max(1.0)), 3))
}

/// Length and distance of outages, in seconds: at most half of the time.
pub fn outage(genome: &Genome) -> Option<(f64, f64)> {
    let (length_ms, every_s) = (genome.get(OutageLength)?, genome.get(OutageEvery)?);
    Some((rounded((length_ms / 1e3).min(every_s / 2.0), 3), every_s))
}

fn outages(genome: &Genome) -> Option<String> {
    let (length_s, every_s) = outage(genome)?;
    let begins = (1..).map(|number| f64::from(number) * every_s).take_while(|begin| *begin < genome.duration_s);
    let each: Vec<String> =
        begins.map(|begin| format!("[{}, {}]", seconds(begin), seconds(begin + length_s))).collect();
    Some(each.join(", ")).filter(|text| !text.is_empty())
}

/// Up, and if the run lasts longer, down and up in turns.
fn delay_steps(genome: &Genome, delay_ms: f64) -> Option<String> {
    let (extra, at_s, hold_s) = (genome.get(DelayExtra)?, genome.get(DelayAt)?, genome.get(DelayHold)?);
    let times = (0..).map(|number| (number, at_s + f64::from(number) * hold_s));
    let steps = times.take_while(|(_, time)| *time < genome.duration_s).map(|(number, time)| {
        let delay = if number % 2 == 0 { delay_ms + extra } else { delay_ms };
        format!("[{}, {}]", seconds(time), millis(delay))
    });
    let each: Vec<String> = steps.collect();
    Some(each.join(", ")).filter(|text| !text.is_empty())
}

fn receiver(out: &mut String, genome: &Genome) {
    let Some(every) = genome.get(AckEvery) else { return };
    let lines = [
        (AckLoss, genome.get(AckLoss).map(|share| format!("ack_loss = {share:?}"))),
        (AckBunching, genome.get(AckBunching).map(|time| format!("ack_bunching = {}", millis(time)))),
        (AckEvery, Some(format!("delayed_ack = {every}"))),
        (Interrupts, genome.get(Interrupts).map(|time| format!("coalescing = {{ time = {} }}", millis(time)))),
        (ClockPace, genome.get(ClockPace).map(|pace| format!("clock = \"{} %\"", rounded(pace * 100.0, 4)))),
    ];
    let parts = lines.into_iter().filter(|(id, _)| genome.get(*id) != Some(id.gene().usual));
    let parts: Vec<String> = parts.filter_map(|(_, text)| text).collect();
    if !parts.is_empty() {
        line(out, format_args!("\n[receiver]\n{}", parts.join("\n")));
    }
}

fn flows(out: &mut String, genome: &Genome, frame: &Frame<'_>) {
    let first = quoted(&frame.controllers[0]);
    let begins = |at: f64| format!("{{ uniform = [{}, {}] }}", seconds(at), seconds(at + START_SPREAD_S));
    let at = genome.get(StartBurst).map_or(0.0, |burst_ms| burst_ms / 1e3);
    line(out, format_args!("\n[[flow]]\ncontroller = {first}\nstart = {}", begins(at)));
    if let Some(size) = genome.get(Transfer) {
        line(out, format_args!("size = \"{size} kB\""));
    }
    if let (Some(start), Some(trips)) = (genome.get(SecondStart), genome.get(SecondTrips)) {
        // The run must last long enough for the two to share.
        let start = at + start.min(genome.duration_s / 2.0);
        line(out, format_args!("\n[[flow]]\ncontroller = {first}\nstart = {}", begins(start)));
        if trips > 1.0 {
            let trip = genome.get(RoundTrip).unwrap_or(RoundTrip.gene().usual);
            line(out, format_args!("rtt = {}", millis(trips * trip)));
        }
    }
}

fn traffic(out: &mut String, genome: &Genome) {
    let rate_of = |share: f64| rate(share * path_bps(genome));
    if let Some(burst_ms) = genome.get(StartBurst) {
        let words = (rate_of(2.0), millis(burst_ms));
        line(out, format_args!("\n[[traffic]]\nkind = \"cbr\"\nrate = {}\nstop = {}", words.0, words.1));
    }
    if let (Some(on), Some(share), Some(period)) = (pulse_ms(genome), genome.get(PulseRate), genome.get(PulsePeriod)) {
        let words = (millis(on), millis(period * 1e3 - on), rate_of(share));
        let (on, off, rate) = words;
        line(out, format_args!("\n[[traffic]]\nkind = \"on-off\"\non = {on}\noff = {off}\nrate = {rate}"));
    }
    if let (Some(load), Some(length), Some(peak)) =
        (genome.get(BurstLoad), genome.get(BurstLength), genome.get(BurstPeak))
    {
        let words = (millis(length), millis(length * (peak / load - 1.0)), rate_of(peak));
        let (on, off, rate) = words;
        line(out, format_args!("\n[[traffic]]\nkind = \"exponential-on-off\"\non = {on}\noff = {off}\nrate = {rate}"));
    }
}

fn path_bps(genome: &Genome) -> f64 {
    genome.get(PathRate).unwrap_or(PathRate.gene().usual) * 1e6
}

/// A controller's name in quotes; a table unchanged.
fn quoted(controller: &str) -> String {
    if controller.starts_with('{') { controller.to_string() } else { format!("{controller:?}") }
}

fn rate(bps: f64) -> String {
    let (value, unit) = if bps >= 1e6 { (bps / 1e6, "Mbit/s") } else { (bps / 1e3, "kbit/s") };
    format!("\"{} {unit}\"", rounded(value, 4))
}

fn millis(ms: f64) -> String {
    format!("\"{} ms\"", rounded(ms, 5))
}

fn seconds(s: f64) -> String {
    format!("\"{} s\"", rounded(s, 6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::genes::Kind;
    use crate::attack::genome::Island;
    use experiment::scenario::Scenario;
    use proptest::prelude::*;
    use std::path::Path;

    fn parsed(text: &str) -> Result<Scenario, String> {
        Scenario::parse(text, Path::new("found.toml"), &[]).map_err(|error| format!("{error}\n{text}"))
    }

    fn frame(controllers: &[String]) -> Frame<'_> {
        Frame { controllers, whole: false, seed: 1, replications: 2 }
    }

    proptest! {
        /// Whatever is searched can be run, and leaves something to run with.
        #[test]
        fn island_points_are_valid_scenarios(
            places in prop::collection::vec(0.0..=1.0, 64),
            island in 0..=Kind::CAUSES.len(),
            always in 0..3usize,
            duration in prop::sample::select(vec![12.0, 15.0, 21.0, 30.0]),
        ) {
            let always: &[Kind] = [&[Kind::Path][..], &[Kind::Path, Kind::Size], &[Kind::Path, Kind::Second]][always];
            let genome = Island::all(always)[island].genome(&places).lasting(duration);
            let controllers = ["newreno".to_string(), "{ kind = \"cubic\", full_reno = false }".to_string()];
            let scenario = parsed(&scenario(&genome, &frame(&controllers)));
            prop_assert!(scenario.is_ok(), "{}", scenario.unwrap_err());
            let plan = scenario.map(|scenario| scenario.plan()).unwrap_or_default();
            prop_assert_eq!(plan.len(), 4);
            let capacity = capacity_bps(&genome, false);
            prop_assert!(capacity > 0.0 && capacity <= path_bps(&genome), "{}", capacity);
            let offered: f64 = plan[0].traffic.iter().skip(usize::from(genome.get(StartBurst).is_some())).map(|source| {
                match &source.kind {
                    experiment::scenario::TrafficKind::OnOff { on, off, rate } | experiment::scenario::TrafficKind::ExponentialOnOff { on, off, rate } =>
                        rate.bps() as f64 * on.as_secs_f64() / (*on + *off).as_secs_f64(),
                    other => panic!("{other:?}"),
                }
            }).sum();
            // Pulses and bursts: each at most half of the rate. Rates and times have four digits.
            prop_assert!(offered <= path_bps(&genome) * 1.002, "{} of {}", offered, path_bps(&genome));
        }
    }

    #[test]
    fn a_usual_path_is_short() {
        let controllers = ["vegas".to_string()];
        let text = scenario(&Genome::usual(&[Kind::Path, Kind::Delay]), &frame(&controllers));
        let expected = "[run]\nduration = \"30 s\"\nwarmup = \"10 s\"\nseed = 1\nreplications = 2\n\n[path]\nrate = \"10 Mbit/s\"\n\
            delay = \"20 ms\"\nbuffer = \"33 packets\"\ndelay_steps = [[\"10 s\", \"120 ms\"]]\n\n[[flow]]\ncontroller = \"vegas\"\n\
            start = { uniform = [\"0 s\", \"0.1 s\"] }\n\n[record]\nstreams = 0\n";
        assert_eq!(text, expected);
        assert_eq!(parsed(&text).map(|scenario| scenario.plan().len()), Ok(2));
    }

    #[test]
    fn capacity_excludes_competing_traffic() {
        let at = |kinds: &[Kind]| capacity_bps(&Genome::usual(kinds), true);
        let path = at(&[Kind::Path]);
        assert_eq!(path, 10e6);
        assert_eq!(at(&[Kind::Path, Kind::Rate]), 7.5e6);
        // From 10 to 30 s: twice five seconds of each.
        assert_eq!(capacity_bps(&Genome::usual(&[Kind::Path, Kind::Rate]), false), 7.5e6);
        assert_eq!(at(&[Kind::Path, Kind::Policer]), 5e6);
        // Outages of half a second at 10 and 20 s, of 30 s.
        assert!((at(&[Kind::Path, Kind::Outages]) - 10e6 * 29.0 / 30.0).abs() < 1.0);
        // 16 packets of 1.2 ms and 1 ms: 16 * 12000 bits in 20.2 ms.
        assert!((at(&[Kind::Path, Kind::Frames]) - 192_000.0 / 0.0202).abs() < 1.0);
    }
}
