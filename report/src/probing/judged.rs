//! The page of judged streams: scores, one stream through each denoiser, and the distribution of errors.

use super::page::ProbePage;
use experiment::results::reproduction::{Axis, Line, Origin, Picture};
use harness::probing::{ProbeStream, Reader, Scored, SweepPoint, score_table};
use packetscale_models::estimation::Stream;
use serde_json::Value;

/// A point of a line, and half of its interval.
type Dot = (f64, Option<f64>, Option<f64>);

/// Number of streams drawn.
const SHOWN: usize = 2;

pub fn content(name: &str, recipe: String, points: &[SweepPoint], readers: &[Reader], scores: &[Scored]) -> ProbePage {
    let lines = score_table(scores);
    let keys = scores.first().map_or(0, |(point, _)| point.len());
    let mut pictures = Vec::new();
    let (streams, runs) = (
        points.iter().flat_map(|point| &point.runs).map(Vec::len).sum::<usize>(),
        points.iter().map(|p| p.runs.len()).sum::<usize>(),
    );
    if let Some(point) = points.first() {
        for probe in point.shown().take(SHOWN) {
            pictures.extend(stages(probe, readers).into_iter().map(|picture| (heading(probe), picture)));
        }
    }
    pictures.extend(errors(scores).map(|picture| ("Distribution of errors".to_string(), picture)));
    ProbePage {
        name: name.to_string(),
        about: format!("{streams} probe streams in {runs} runs of cross traffic."),
        head: lines[0].clone(),
        keys,
        rows: lines[1..].to_vec(),
        pictures,
        notes: vec![
            "Scored are streams whose rates include the available bandwidth. R2 is the part of its variance that a method explains: \
             a constant guess, in hindsight the best, explains none, and one below 0 is worse than any constant. Intervals are \
             of 95 %, over runs of traffic."
                .to_string(),
        ],
        recipe,
    }
}

fn heading(probe: &ProbeStream) -> String {
    format!("Stream {}: {} available", probe.number, gbps(probe.truth.bps() as f64))
}

fn gbps(bps: f64) -> String {
    if bps >= 1e9 { format!("{:.2} Gbit/s", bps * 1e-9) } else { format!("{:.1} Mbit/s", bps * 1e-6) }
}

/// The stream as received, then after each denoiser of each method, once.
fn stages(probe: &ProbeStream, readers: &[Reader]) -> Vec<Picture> {
    let raw = probe.stream();
    let fits = fitting(probe);
    let seen = picture(
        "Observed gaps",
        "Each packet's gap as it was sent, behind the bottleneck, and as the receiver saw it.",
        &raw,
        fits,
    )
    .with("behind the bottleneck", &receive(&probe.behind_bottleneck()));
    let mut pictures = vec![seen.0];
    for reader in readers {
        let Ok(stages) = reader.stages(&raw) else { continue };
        let mut so_far = Vec::new();
        for (name, stream) in stages {
            so_far.push(name);
            let title = format!("After {}", so_far.join(", "));
            if pictures.iter().any(|picture| picture.title == title) {
                continue;
            }
            let caption = match reader.read(probe) {
                Some(Ok(estimate)) => format!("{} reads {}.", reader.name, gbps(estimate.value.bps() as f64)),
                Some(Err(reason)) => format!("{} abstains: {reason}.", reader.name),
                None => String::new(),
            };
            pictures.push(picture(&title, &caption, &stream, fits).0);
        }
    }
    pictures
}

/// The gap of packets at the available bandwidth, in seconds.
fn fitting(probe: &ProbeStream) -> f64 {
    let size = probe.stream().gaps.first().map_or(0.0, |gap| gap.size.get() as f64 * 8.0);
    size / probe.truth.bps().max(1) as f64
}

struct Drawn(Picture);

impl Drawn {
    fn with(mut self, name: &str, gaps: &[f64]) -> Drawn {
        self.0.lines.push(line(name, gaps));
        self
    }
}

fn receive(stream: &Stream) -> Vec<f64> {
    stream.gaps.iter().filter(|gap| gap.acked).map(|gap| gap.receive.as_secs_f64()).collect()
}

fn picture(title: &str, caption: &str, stream: &Stream, fits: f64) -> Drawn {
    let axis = |label: &str, unit: &str| Axis { label: label.into(), unit: unit.into(), ..Axis::default() };
    let sent: Vec<f64> = stream.gaps.iter().map(|gap| gap.send.as_secs_f64()).collect();
    let picture = Picture {
        title: title.into(),
        caption: caption.into(),
        x: axis("Gap of the stream", ""),
        y: Axis { from: Some(0.0), ..axis("Gap", "s") },
        lines: Vec::new(),
    };
    let level = vec![fits; sent.len()];
    Drawn(picture).with("sent", &sent).with("seen", &receive(stream)).with("at the available bandwidth", &level)
}

fn line(name: &str, gaps: &[f64]) -> Line {
    let points = gaps.iter().enumerate().map(|(at, gap)| ((at + 1) as f64, Some(*gap), None)).collect();
    Line { name: name.into(), origin: Origin::Simulated, dense: true, points, ..Line::default() }
}

/// One picture per point: the share of streams with at most a given error, a line per method.
fn errors(scores: &[Scored]) -> impl Iterator<Item = Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    for (point, score) in scores {
        let Some(points) = curve(score) else { continue };
        let others = point.iter().filter(|(key, _)| *key != "method");
        let named: Vec<String> = others.map(|(key, value)| format!("{key} = {value}")).collect();
        let title = if named.is_empty() { "All streams".to_string() } else { named.join(", ") };
        let line = Line { name: point["method"].clone(), dense: true, points, ..Line::default() };
        match pictures.iter_mut().find(|picture| picture.title == title) {
            Some(picture) => picture.lines.push(line),
            None => pictures.push(Picture {
                title,
                caption: "Share of the scored streams with at most this relative error.".into(),
                x: Axis {
                    label: "Relative error".into(),
                    unit: "%".into(),
                    from: Some(-40.0),
                    to: Some(40.0),
                    ..Axis::default()
                },
                y: Axis { label: "Share of streams".into(), from: Some(0.0), to: Some(1.0), ..Axis::default() },
                lines: vec![line],
            }),
        }
    }
    pictures.into_iter()
}

/// Errors in percent, and the share that does not exceed them.
fn curve(score: &Value) -> Option<Vec<Dot>> {
    let pairs = score.get("cdf")?.as_array()?;
    let point = |pair: &Value| Some((pair.get(0)?.as_f64()? * 100.0, pair.get(1)?.as_f64(), None));
    Some(pairs.iter().filter_map(point).collect())
}
