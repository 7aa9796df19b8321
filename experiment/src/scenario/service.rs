//! How a link serves packets: a rate that changes, service in bursts, token buckets.

use crate::scenario::document::{Node, Value};
use crate::scenario::error::{Place, ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, Zero, file, quantity, text};
use crate::scenario::model::{Aggregation, RateFormat, RateSource, Service, Shaper, Variation};
use crate::scenario::rate_trace;
use crate::scenario::text_file::Fault;
use packetscale_models::units::{Bytes, Rate, Span, Time};
use std::path::Path;
use std::sync::Arc;

/// The shortest time after which rates or bursts repeat: below it a run would be mostly beginnings.
const SHORTEST_PERIOD: Span = Span::from_micros(1);

/// The most packets of a frame.
const MOST_IN_FRAME: u64 = 100_000;

const FORMATS: &[(&str, RateFormat)] = &[("mahimahi", RateFormat::Mahimahi), ("csv", RateFormat::Csv)];

/// Reads the rate of a link, and how it changes.
pub(crate) fn rate(fields: &mut Fields<'_>, folder: &Path) -> Result<(Rate, Option<Variation>), ScenarioError> {
    let stated: Option<Rate> = fields.quantity_if("rate", Zero::Refused)?;
    let steps = steps(fields, stated)?;
    let (rate, variation) = match (trace(fields, folder)?, stated) {
        (Some(_), _) if steps.is_some() => {
            return Err(fields.refuse("rate_steps", "both rate_steps and rate_trace", "one of them"));
        }
        // The rate that a buffer in bdp and a queue discipline count with.
        (Some((trace, mean)), stated) => (stated.unwrap_or(mean), Some(trace)),
        (None, Some(rate)) => (rate, steps),
        (None, None) => (fields.quantity("rate", Zero::Refused)?, steps),
    };
    Ok((rate, variation))
}

/// Reads a link's service, apart from its rate.
pub(crate) fn service(
    fields: &mut Fields<'_>,
    rate: Rate,
    variation: Option<Variation>,
) -> Result<Service, ScenarioError> {
    let service = Service {
        aggregation: aggregation(fields, rate)?,
        policer: bucket(fields, BUCKETS[0])?,
        shaper: bucket(fields, BUCKETS[1])?,
        variation,
    };
    if service.aggregation.is_some() && service.shaper.is_some() {
        return Err(fields.refuse("aggregation", "service in bursts beside a shaper", "no shaper"));
    }
    let opportunities = service.variation.as_ref().is_some_and(Variation::has_opportunities);
    if opportunities && matches!(service.aggregation, Some(Aggregation::Frames { .. })) {
        let expected = "rates, or no frames: each opportunity is a separate burst";
        return Err(fields.refuse("aggregation", "frames beside opportunities", expected));
    }
    Ok(service)
}

fn steps(fields: &mut Fields<'_>, rate: Option<Rate>) -> Result<Option<Variation>, ScenarioError> {
    const EXPECTED: &str = "a list of pairs in order of time, like [[\"10 s\", \"5 Mbit/s\"]]";
    let steps = step_list(fields, EXPECTED)?;
    let repeat: Option<Span> = fields.quantity_if("rate_repeat", Zero::Refused)?;
    let Some((last, _)) = steps.last() else {
        let alone = || fields.refuse("rate_repeat", "a time without rate_steps", "rate_steps that repeat after it");
        return repeat.map_or(Ok(None), |_| Err(alone()));
    };
    if let Some(repeat) = repeat.filter(|repeat| Time::ZERO + *repeat <= *last || *repeat < SHORTEST_PERIOD) {
        let expected = format!("a time after the last step, {SHORTEST_PERIOD} at least");
        return Err(fields.refuse("rate_repeat", format!("\"{repeat}\""), expected));
    }
    let rate = rate.ok_or_else(|| fields.refuse("rate", "nothing", "a rate before the first of rate_steps"))?;
    // A link with a rate before the first step carries something.
    Ok(Variation::steps(rate, steps, repeat))
}

/// Reads the steps; none without a list of them.
fn step_list(fields: &mut Fields<'_>, expected: &str) -> Result<Vec<(Time, Rate)>, ScenarioError> {
    let key = fields.key("rate_steps");
    let Some(node) = fields.get("rate_steps") else { return Ok(Vec::new()) };
    let refuse = |node: &Node| ScenarioError::at(&node.place, &key, node.value.to_string(), expected);
    let Value::List(items) = &node.value else { return Err(refuse(node)) };
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    for item in items {
        let Value::List(pair) = &item.value else { return Err(refuse(item)) };
        let [at, rate] = &pair[..] else { return Err(refuse(item)) };
        let at = Time::ZERO + quantity::<Span>(at, &key, Zero::Refused)?;
        if steps.last().is_some_and(|(before, _)| *before >= at) {
            return Err(refuse(item));
        }
        steps.push((at, quantity(rate, &key, Zero::Allowed)?));
    }
    if steps.is_empty() { Err(refuse(node)) } else { Ok(steps) }
}

/// Reads a trace of rates. Returns it with its mean rate.
fn trace(fields: &mut Fields<'_>, folder: &Path) -> Result<Option<(Variation, Rate)>, ScenarioError> {
    const EXPECTED: &str = "{ file = \"cell.mahi\", format = \"mahimahi\", repeat = true }";
    let key = fields.key("rate_trace");
    let Some(node) = fields.get("rate_trace") else { return Ok(None) };
    let mut inner = Fields::of(node, &key, EXPECTED)?;
    let file = file(&mut inner, folder)?;
    let format = format(&mut inner)?;
    let repeat = inner.switch_or("repeat", true)?;
    let refuse = |fault: Fault| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        inner.refuse("file", format!("{name}, {}", fault.found), fault.expected)
    };
    // The total of a trace is that of one round through it, whether or not it repeats.
    let once = rate_trace::read(&file, format, true).map_err(refuse)?;
    let capacity = if repeat { once.clone() } else { rate_trace::read(&file, format, false).map_err(refuse)? };
    let mean = once.mean_of_period().filter(|mean| *mean > Rate::ZERO);
    let mean = mean.ok_or_else(|| inner.refuse("file", "a mean rate below 1 bit/s", "a trace that carries more"))?;
    inner.finish()?;
    let source = RateSource::Trace { file, format, repeat };
    Ok(Some((Variation { source, capacity: Arc::new(capacity) }, mean)))
}

fn format(fields: &mut Fields<'_>) -> Result<RateFormat, ScenarioError> {
    let names = || FORMATS.iter().map(|(name, _)| *name);
    let (key, expected) = (fields.key("format"), format!("one of {}", listed(names())));
    let name = text(fields.or("format", Value::Text("mahimahi".to_string())), &key, &expected)?;
    let known = FORMATS.iter().find(|(known, _)| *known == name);
    known.map(|(_, format)| *format).ok_or_else(|| {
        fields.refuse("format", format!("the unknown format \"{name}\"{}", perhaps(&name, names())), expected)
    })
}

fn aggregation(fields: &mut Fields<'_>, rate: Rate) -> Result<Option<Aggregation>, ScenarioError> {
    const EXPECTED: &str = "{ period = \"2 ms\" } or { packets = 32, overhead = \"200 us\" }";
    let key = fields.key("aggregation");
    let Some(node) = fields.get("aggregation") else { return Ok(None) };
    let mut inner = Fields::of(node, &key, EXPECTED)?;
    let period: Option<Span> = inner.quantity_if("period", Zero::Refused)?;
    if let Some(period) = period {
        inner.finish()?;
        if period < SHORTEST_PERIOD || rate.amount_in(period) == Bytes::ZERO {
            let expected = format!("a period of {SHORTEST_PERIOD} at least, in which the link carries a byte");
            return Err(fields.refuse("aggregation", format!("a period of {period} at {rate}"), expected));
        }
        return Ok(Some(Aggregation::Period(period)));
    }
    inner.required("packets", EXPECTED)?;
    let packets = inner.integer_or("packets", 1, 1..=MOST_IN_FRAME)?;
    let overhead = inner.quantity("overhead", Zero::Allowed)?;
    inner.finish()?;
    Ok(Some(Aggregation::Frames { packets: u32::try_from(packets).unwrap_or(u32::MAX), overhead }))
}

/// Reads a token bucket.
pub(crate) fn bucket(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Shaper>, ScenarioError> {
    let name = fields.key(key);
    let Some(node) = fields.get(key) else { return Ok(None) };
    let mut fields = Fields::of(node, &name, "{ rate = \"300 Mbit/s\", bucket = \"300 kB\" }")?;
    let rate = fields.quantity("rate", Zero::Refused)?;
    let bucket = Shaper { rate, bucket: fields.quantity("bucket", Zero::Refused)? };
    fields.finish()?;
    Ok(Some(bucket))
}

/// Keys of the token buckets of a link.
pub(crate) const BUCKETS: [&str; 2] = ["policer", "shaper"];

/// Refuses token buckets into which the largest packet does not fit. `keys` has the names and places of [`BUCKETS`].
pub(crate) fn check_buckets(
    service: &Service,
    largest: Bytes,
    keys: &[(String, Place); BUCKETS.len()],
) -> Result<(), ScenarioError> {
    for (bucket, (key, place)) in [service.policer, service.shaper].into_iter().zip(keys) {
        if let Some(bucket) = bucket.filter(|bucket| bucket.bucket < largest) {
            let found = format!("a bucket of {}", bucket.bucket);
            return Err(ScenarioError::at(place, key, found, format!("at least one packet of {largest}")));
        }
    }
    Ok(())
}
