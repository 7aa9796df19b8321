//! Gaps of streams along the path: as made by the host, behind the bottleneck, at the receiver, and denoised. Nothing is
//! estimated here.

use crate::probing::point::SweepPoint;
use crate::probing::{ProbePacket, ProbeStream, Reader};
use experiment::results::{deviation, mean};
use packetscale_models::estimation::Stream;
use packetscale_models::units::Time;
use serde_json::{Map, Value, json};

/// A spike is a receive gap longer than the one before by this many mean send gaps: BASS's SPIKE_UP, 20 us of 7.2 us.
const SPIKE_UP: f64 = 25.0 / 9.0;

/// The most gaps of the stream that is shown.
const SHOWN_GAPS: usize = 2000;

/// The steps of a distribution.
const STEPS: usize = 200;

/// The gaps of one stream in microseconds. All its packets arrived.
struct Gaps {
    size_bits: f64,
    asked: Vec<f64>,
    sent: Vec<f64>,
    made: Vec<f64>,
    passed: Vec<f64>,
    seen: Vec<f64>,
}

impl Gaps {
    /// `None` of a stream that lost packets, or has fewer than two gaps.
    fn of(probe: &ProbeStream) -> Option<Gaps> {
        let between = |at: fn(&ProbePacket) -> Time| -> Vec<f64> {
            let gap = |pair: &[ProbePacket]| (at(&pair[1]).picos() as f64 - at(&pair[0]).picos() as f64) * 1e-6;
            probe.packets.windows(2).map(gap).collect()
        };
        (probe.lost == 0 && probe.packets.len() > 2).then(|| Gaps {
            size_bits: probe.size.get() as f64 * 8.0,
            asked: probe.packets[1..].iter().map(|packet| packet.asked.as_secs_f64() * 1e6).collect(),
            sent: between(|packet| packet.sent),
            made: between(|packet| packet.left),
            passed: between(|packet| packet.passed),
            seen: between(|packet| packet.seen),
        })
    }

    /// Places of the spikes, the first gap aside.
    fn spikes(&self) -> impl Iterator<Item = usize> {
        let up = SPIKE_UP * mean(&self.sent);
        (1..self.seen.len()).filter(move |at| self.seen[*at] > self.seen[at - 1] + up)
    }

    /// Means of the first gaps at the receiver: of one, of two, ...
    fn windows(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let mean = |(before, gap): (usize, &f64)| {
            sum += gap;
            sum / (before + 1) as f64
        };
        self.seen.iter().enumerate().map(mean).collect()
    }

    /// How far each of these is from the mean of all gaps behind the bottleneck, as a share of it.
    fn windows_off(&self) -> Vec<f64> {
        let true_gap = mean(&self.passed);
        self.windows().iter().map(|window| (window / true_gap - 1.0).abs()).collect()
    }

    /// The first gap of each level.
    fn levels(&self) -> Vec<usize> {
        let rises = |at: &usize| *at == 0 || self.asked[*at] * 1.001 < self.asked[at - 1];
        (0..self.asked.len()).filter(rises).collect()
    }
}

/// Figures that do not depend on the method.
pub(crate) fn on_their_way(point: &SweepPoint) -> Map<String, Value> {
    let mut figures = Map::new();
    made(&mut figures, point);
    let streams: Vec<Gaps> = point.runs.iter().flatten().filter_map(Gaps::of).collect();
    levels(&mut figures, &streams);
    spikes(&mut figures, &streams);
    windows(&mut figures, &streams);
    batches(&mut figures, point);
    figures
}

/// Gaps made by the host, and their distance from the requested ones, in microseconds.
fn made(figures: &mut Map<String, Value>, point: &SweepPoint) {
    let streams = || point.runs.iter().flatten();
    let mut errors: Vec<f64> = streams().flat_map(ProbeStream::gap_errors_ns).map(|error| error * 1e-3).collect();
    errors.sort_by(f64::total_cmp);
    let largest = errors.iter().map(|error| error.abs()).reduce(f64::max);
    figures.insert("gap_error_mean_us".into(), json!(mean(&errors)));
    figures.insert("gap_error_sd_us".into(), json!(deviation(&errors)));
    figures.insert("gap_error_largest_us".into(), json!(largest));
    let at = |step: usize| errors.get(step * errors.len().saturating_sub(1) / STEPS).copied();
    let cdf: Vec<_> = (0..=STEPS).filter_map(|step| Some([at(step)?, step as f64 / STEPS as f64])).collect();
    figures.insert("gap_error_cdf".into(), json!(cdf));
    let gaps: Vec<f64> = streams().filter_map(Gaps::of).flat_map(|gaps| gaps.made).collect();
    figures.insert("gap_least_us".into(), json!(gaps.iter().copied().reduce(f64::min)));
    figures.insert("gap_most_us".into(), json!(gaps.iter().copied().reduce(f64::max)));
}

/// For each level, the requested rate and the mean growth of its gaps along the path.
fn levels(figures: &mut Map<String, Value>, streams: &[Gaps]) {
    let (mut asked, mut growth) = (Vec::<Vec<f64>>::new(), Vec::<Vec<f64>>::new());
    for gaps in streams {
        let from = gaps.levels();
        asked.resize_with(asked.len().max(from.len()), Vec::new);
        growth.resize_with(asked.len(), Vec::new);
        for (level, begin) in from.iter().enumerate() {
            let part = *begin..from.get(level + 1).copied().unwrap_or(gaps.seen.len());
            asked[level].push(gaps.size_bits * 1e6 / gaps.asked[*begin]);
            growth[level].push(mean(&gaps.seen[part.clone()]) / mean(&gaps.sent[part]));
        }
    }
    let means = |levels: &[Vec<f64>]| -> Vec<f64> { levels.iter().map(|level| mean(level)).collect() };
    figures.insert("level_bps".into(), json!(means(&asked)));
    figures.insert("level_growth".into(), json!(means(&growth)));
}

/// Spikes in a stream as the receiver saw it, and how long they are.
fn spikes(figures: &mut Map<String, Value>, streams: &[Gaps]) {
    let heights: Vec<f64> = streams.iter().flat_map(|gaps| gaps.spikes().map(|at| gaps.seen[at])).collect();
    figures.insert("spikes".into(), json!(heights.len() as f64 / streams.len() as f64));
    figures.insert("spike_us".into(), json!(mean(&heights)));
}

/// How far the mean of a stream's first gaps is off: of 1, 2, 4, ... gaps, of any up to a tenth of the stream, and of those
/// of them that end before a spike.
fn windows(figures: &mut Map<String, Value>, streams: &[Gaps]) {
    let off: Vec<Vec<f64>> = streams.iter().map(Gaps::windows_off).collect();
    let shortest = off.iter().map(Vec::len).min().unwrap_or_default();
    let lengths = std::iter::successors(Some(1), |length| Some(2 * length)).take_while(|length| *length <= shortest);
    let of = |length: usize| mean(&off.iter().map(|windows| windows[length - 1]).collect::<Vec<_>>());
    figures.insert("window_off".into(), json!(lengths.map(of).collect::<Vec<_>>()));
    let short = |windows: &[f64]| windows.len() / 10;
    let all: Vec<f64> = off.iter().flat_map(|windows| windows[..short(windows)].iter().copied()).collect();
    figures.insert("short_window_off".into(), json!(mean(&all)));
    let ends = |(gaps, windows): (&Gaps, &Vec<f64>)| -> Vec<f64> {
        gaps.spikes().filter(|spike| *spike <= short(windows)).map(|spike| windows[spike - 1]).collect()
    };
    let events: Vec<f64> = streams.iter().zip(&off).flat_map(ends).collect();
    figures.insert("event_off".into(), json!(mean(&events)));
}

/// Packets that the receiver saw together. The first and the last batch of a stream may be cut.
fn batches(figures: &mut Map<String, Value>, point: &SweepPoint) {
    let mut sizes: Vec<f64> = Vec::new();
    for probe in point.runs.iter().flatten() {
        let batches: Vec<_> = probe.packets.chunk_by(|a, b| a.seen == b.seen).map(|batch| batch.len() as f64).collect();
        sizes.extend(batches.get(1..batches.len().saturating_sub(1)).unwrap_or_default());
    }
    sizes.sort_by(f64::total_cmp);
    figures.insert("batch_packets".into(), json!(mean(&sizes)));
    figures.insert("batch_deviation".into(), json!(deviation(&sizes)));
    let upto = |size: f64| sizes.partition_point(|other| *other <= size) as f64 / sizes.len() as f64;
    let most = sizes.last().map_or(0, |size| *size as u32);
    let cdf: Vec<[f64; 2]> = (0..=most).map(|size| [f64::from(size), upto(f64::from(size))]).collect();
    figures.insert("batch_cdf".into(), json!(cdf));
}

/// What a reader's denoisers make of the streams that they do not give up: how far gaps are from those behind the bottleneck
/// before and after, in mean send gaps (gap by gap, which is meaningless for a coarser stream), the share of falling steps of
/// the delay, and the curves of one stream: of those to show, the first that lost nothing.
pub(crate) fn denoised(figures: &mut Map<String, Value>, point: &SweepPoint, reader: &Reader) {
    let (mut seen_off, mut off, mut falls) = (Vec::new(), Vec::new(), Vec::new());
    for probe in point.runs.iter().flatten() {
        let Some((gaps, stream)) = Gaps::of(probe).zip(reader.denoised(&probe.stream())) else { continue };
        let distance = |gaps: &[f64], other: &[f64]| gaps.iter().zip(other).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let receive: Vec<f64> = receive_us(&stream);
        let unit = mean(&gaps.sent);
        seen_off.push(distance(&gaps.seen, &gaps.passed) / gaps.seen.len() as f64 / unit);
        if !receive.is_empty() {
            off.push(distance(&receive, &gaps.passed) / receive.len() as f64 / unit);
        }
        let delays = stream.delays();
        let down = delays.windows(2).filter(|pair| pair[1] < pair[0]).count();
        if delays.len() > 1 {
            falls.push(down as f64 / (delays.len() - 1) as f64);
        }
    }
    figures.insert("seen_off".into(), json!(mean(&seen_off)));
    figures.insert("denoised_off".into(), json!(mean(&off)));
    figures.insert("denoised_falls".into(), json!(mean(&falls)));
    if let Some(curves) = point.shown().find_map(|probe| curves(probe, reader)) {
        figures.insert("stream".into(), curves);
    }
}

/// The curves of one stream: pairs of a gap's number, from 1, and microseconds. `None` as of [`Gaps::of`].
fn curves(probe: &ProbeStream, reader: &Reader) -> Option<Value> {
    let gaps = Gaps::of(probe)?;
    let numbered = |values: &[f64]| -> Vec<[f64; 2]> {
        values.iter().take(SHOWN_GAPS).enumerate().map(|(at, value)| [(at + 1) as f64, *value]).collect()
    };
    let mut curves = json!({
        "asked": numbered(&gaps.asked),
        "made": numbered(&gaps.made),
        "passed": numbered(&gaps.passed),
        "seen": numbered(&gaps.seen),
        "windows": numbered(&gaps.windows()),
        "passed_mean": numbered(&vec![mean(&gaps.passed); gaps.passed.len()]),
        "delays": delays(&probe.stream(), probe),
    });
    if let Some(stream) = reader.denoised(&probe.stream()) {
        curves["denoised"] = json!(numbered(&receive_us(&stream)));
        curves["denoised_delays"] = json!(delays(&stream, probe));
    }
    Some(curves)
}

/// One-way delays after each packet, less the first, against packets: a coarser stream has several in a gap.
fn delays(stream: &Stream, probe: &ProbeStream) -> Vec<[f64; 2]> {
    let mut packets = 0.0;
    let at = std::iter::once(0.0).chain(stream.gaps.iter().map(|gap| {
        packets += gap.size.get() as f64 / probe.size.get() as f64;
        packets
    }));
    at.zip(stream.delays()).take(SHOWN_GAPS).map(|(at, delay)| [at, delay as f64 * 1e-6]).collect()
}

fn receive_us(stream: &Stream) -> Vec<f64> {
    stream.gaps.iter().map(|gap| gap.receive.as_secs_f64() * 1e6).collect()
}
