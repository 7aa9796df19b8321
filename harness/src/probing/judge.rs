//! All streams of a plan, sent and judged by what was available: scores as named figures.

use crate::probing::point::SweepPoint;
use crate::probing::{ProbeHost, ProbeStream, ProbingError, Reader, Scored, gaps};
use experiment::results::Interval;
use experiment::scenario::Experiment;
use packetscale_models::estimation::{Decisions, Reading, Score};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

/// Sends all streams of a plan.
///
/// # Errors
/// A host that cannot send.
pub fn observe(host: &dyn ProbeHost, plan: &[Experiment]) -> Result<Vec<SweepPoint>, ProbingError> {
    let sent: Vec<Vec<ProbeStream>> =
        plan.par_iter().map(|experiment| host.send(experiment)).collect::<Result<_, ProbingError>>()?;
    let mut points: Vec<SweepPoint> = Vec::new();
    for (experiment, probes) in plan.iter().zip(sent) {
        match points.last_mut().filter(|point| point.params == experiment.params) {
            Some(point) => point.runs.push(probes),
            None => points.push(SweepPoint {
                params: experiment.params.clone(),
                levels: experiment.probe.map_or(1, |probe| probe.levels),
                runs: vec![probes],
            }),
        }
    }
    Ok(points)
}

/// The score of every reader at every point, with the point's keys and the reader's name.
pub fn scores(points: &[SweepPoint], readers: &[Reader]) -> Vec<Scored> {
    let each = |point: &SweepPoint, seen: &Map<String, Value>, reader: &Reader| {
        let mut key = point.params.clone();
        key.insert("method".to_string(), reader.name.clone());
        (key, score(point, seen.clone(), reader))
    };
    let at = |point| {
        let seen = gaps::on_their_way(point);
        readers.iter().map(move |reader| each(point, &seen, reader))
    };
    points.iter().flat_map(at).collect()
}

/// All figures of a method at a point, in addition to those that depend on no method. `_half_width` marks half of the 95 %
/// interval over the runs.
fn score(point: &SweepPoint, mut figures: Map<String, Value>, method: &Reader) -> Value {
    gaps::denoised(&mut figures, point, method);
    let runs: Vec<&[ProbeStream]> = point.runs.iter().map(Vec::as_slice).collect();
    if point.levels == 1 {
        decided(&mut figures, method, &runs);
        return Value::Object(figures);
    }
    let readings: Vec<Vec<Reading>> = runs.iter().map(|run| method.readings(run)).collect();
    let score = method.score(&readings.concat());
    let each: Vec<Score> = readings.iter().map(|readings| method.score(readings)).collect();
    let mut put = |name: &str, figure: &dyn Fn(&Score) -> f64| {
        put(&mut figures, name, figure(&score), &each.iter().map(figure).collect::<Vec<_>>());
    };
    put("within_10", &|score| score.within_10);
    put("within_15", &|score| score.within_15);
    put("all_within_10", &|score| score.all_within_10);
    put("bias", &|score| score.bias);
    put("median", &|score| score.quantile(0.5));
    put("r2", &|score| score.r2);
    for (name, part) in [("p05", 0.05), ("p10", 0.1), ("p90", 0.9), ("p95", 0.95)] {
        put(name, &|score| score.quantile(part));
    }
    put("clamped", &|score| score.clamped);
    put("mean_truth_bps", &|score| score.mean_truth);
    let refused = 1.0 - score.read as f64 / score.covering as f64;
    figures.insert("scored".into(), json!(score.covering));
    figures.insert("outside".into(), json!(score.outside));
    figures.insert("refused".into(), json!(refused));
    figures.insert("cdf".into(), json!(cdf(&score)));
    surest(&mut figures, method, &runs);
    levels(&mut figures, method, &runs);
    Value::Object(figures)
}

/// Share of intervals that contain the truth; and share of estimates within 10 % among the half of the streams with the
/// narrowest intervals: whether a method knows how sure it is.
fn surest(figures: &mut Map<String, Value>, method: &Reader, runs: &[&[ProbeStream]]) {
    let read = |probe: &ProbeStream| {
        let estimate = method.read(probe)?.ok()?;
        let value = estimate.value.bps() as f64;
        let high = estimate.high.unwrap_or(probe.highest).max(estimate.value).bps() as f64;
        let low = estimate.low.max(probe.lowest).min(estimate.value).bps() as f64;
        let holds = estimate.low <= probe.truth && estimate.high.is_none_or(|high| probe.truth <= high);
        Some(((high - low) / value, (value / probe.truth.bps() as f64 - 1.0).abs(), holds))
    };
    let covering = runs.iter().copied().flatten().filter(|probe| probe.covers_truth());
    let mut readings: Vec<(f64, f64, bool)> = covering.filter_map(read).collect();
    let holding = readings.iter().filter(|(_, _, holds)| *holds).count() as f64 / readings.len() as f64;
    figures.insert("interval_holds".into(), json!(holding));
    readings.sort_by(|a, b| a.0.total_cmp(&b.0));
    readings.truncate(readings.len().div_ceil(2));
    let near = readings.iter().filter(|(_, error, _)| *error <= 0.1).count();
    figures.insert("surest_half_within_10".into(), json!(near as f64 / readings.len() as f64));
}

/// Inserts a figure, and half of its 95 % interval with several runs.
pub(crate) fn put(figures: &mut Map<String, Value>, name: &str, figure: impl Into<Option<f64>>, each: &[f64]) {
    figures.insert(name.to_string(), json!(figure.into()));
    let known: Vec<f64> = each.iter().copied().filter(|x| x.is_finite()).collect();
    if let Some(half) = Interval::of(&known).and_then(|interval| interval.half_width) {
        figures.insert(format!("{name}_half_width"), json!(half));
    }
}

/// Distribution of errors: share of the streams with an error of at most each value.
fn cdf(score: &Score) -> Vec<[f64; 2]> {
    if score.errors.is_empty() {
        return Vec::new();
    }
    (0..=200).map(|step| f64::from(step) / 200.0).map(|part| [score.quantile(part), part]).collect()
}

/// Wrong, ambiguous and refused streams of one rate.
fn decided(figures: &mut Map<String, Value>, method: &Reader, runs: &[&[ProbeStream]]) {
    let of = |run: &&[ProbeStream]| -> Vec<_> {
        let stream =
            |probe: &ProbeStream| Some((probe.mean_rate.bps() as f64, probe.truth.bps() as f64, method.read(probe)?));
        run.iter().filter_map(stream).collect()
    };
    let each: Vec<Vec<_>> = runs.iter().map(of).collect();
    let (all, runs) = (Decisions::of(&each.concat()), each.iter().map(|run| Decisions::of(run)).collect::<Vec<_>>());
    let mut put_share = |name: &str, share: fn(&Decisions) -> f64| {
        put(figures, name, share(&all), &runs.iter().map(share).collect::<Vec<_>>());
    };
    put_share("wrong", |found| found.wrong);
    put_share("ambiguous", |found| found.ambiguous);
    put_share("refused", |found| found.refused);
    put_share("above", |found| found.above);
    figures.insert("scored".into(), json!(all.streams));
}

/// Shares of the scored streams whose estimate is nearest to each of their rates, and whether that is the highest rate not
/// above the truth.
fn levels(figures: &mut Map<String, Value>, method: &Reader, runs: &[&[ProbeStream]]) {
    let (mut at, mut right, mut over, mut all) = (Vec::<f64>::new(), 0.0, 0.0, 0.0f64);
    for probe in runs.iter().copied().flatten().filter(|probe| probe.covers_truth()) {
        let Some(Ok(estimate)) = method.read(probe) else { continue };
        let (rates, value) = (rates(probe), estimate.value.bps() as f64);
        let far = |rate: &f64| (rate / value).ln().abs();
        let Some(nearest) = (0..rates.len()).min_by(|a, b| far(&rates[*a]).total_cmp(&far(&rates[*b]))) else {
            continue;
        };
        let fits = rates.iter().filter(|rate| **rate <= probe.truth.bps() as f64).count().saturating_sub(1);
        at.resize(at.len().max(rates.len()), 0.0);
        at[nearest] += 1.0;
        all += 1.0;
        right += f64::from(u8::from(nearest == fits));
        over += f64::from(u8::from(nearest > fits));
    }
    let all = all.max(1.0);
    figures.insert("at_level".into(), json!(at.iter().map(|count| count / all).collect::<Vec<_>>()));
    figures.insert("right_level".into(), json!(right / all));
    figures.insert("over_level".into(), json!(over / all));
}

/// The different rates of a stream as intended, bit/s, rising.
fn rates(probe: &ProbeStream) -> Vec<f64> {
    let size = probe.stream().gaps.first().map_or(0.0, |gap| gap.size.get() as f64);
    let mut rates: Vec<f64> = Vec::new();
    for packet in &probe.packets[1..] {
        let rate = size * 8.0 / packet.asked.as_secs_f64();
        if rates.last().is_none_or(|last| rate > last * 1.001) {
            rates.push(rate);
        }
    }
    rates
}
