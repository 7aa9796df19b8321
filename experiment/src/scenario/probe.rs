//! Probe streams: sequences of packets with gaps that measure the path's available bandwidth.

use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero, quantity, ratio, text};
use crate::scenario::model::{Impairments, LinkSpec, ProbeSpec, Recorded, Service, TrafficKind, TrafficSpec};
use crate::scenario::packet::packet;
use crate::scenario::search::{SearchSpec, SearchTool, search};
use packetscale_models::units::{Rate, Span};

/// A stream of fewer packets has no trend; one of more is longer than any method reads.
const PACKETS: std::ops::RangeInclusive<u64> = 2..=65_536;

/// The most streams of one run.
const MOST_STREAMS: u64 = 1_000_000;

/// Reads `[probe]`, if it is present.
pub(crate) fn probe(
    document: &mut Table,
    time: Span,
    access: Option<Rate>,
) -> Result<Option<ProbeSpec>, ScenarioError> {
    let Some(node) = document.node_mut("probe") else { return Ok(None) };
    let mut fields = Fields::of(node, "probe", "a table [probe]")?;
    let packet = packet(&mut fields)?;
    let (slowest, fastest) = rates(&mut fields)?;
    let search = fields.get("search").map(|node| search(node, fastest)).transpose()?;
    let Shape { packets, levels, train, streams } = match &search {
        Some(search) => searching(&mut fields, search, slowest == fastest)?,
        None => Shape::of(&mut fields)?,
    };
    let range_key = fields.key("range");
    let range = ratio(fields.or("range", Value::Text("50 %".to_string())), &range_key, 0.0..=100.0)?;
    let pause = fields.quantity_or("pause", "5 ms", Zero::Allowed)?;
    let acknowledge = fields.integer_or("acknowledge", 1, 1..=64)? as u32;
    let recorded = recorded(&mut fields)?;
    let spec = ProbeSpec {
        streams,
        packets,
        levels,
        range,
        slowest,
        fastest,
        packet,
        access,
        train,
        pause,
        acknowledge,
        recorded,
        search,
    };
    let longest = longest(&spec);
    if longest > time {
        let fit = u64::from(streams) * (time.picos() / 1_000_000) / (longest.picos() / 1_000_000).max(1);
        let found = format!("{streams} streams, which may take {longest}");
        return Err(fields.refuse("streams", found, format!("at most about {fit} in the {time} after the warm-up")));
    }
    fields.finish()?;
    Ok(Some(spec))
}

/// The number of streams, and their shape.
struct Shape {
    packets: u32,
    levels: u32,
    train: u32,
    streams: u32,
}

impl Shape {
    fn of(fields: &mut Fields<'_>) -> Result<Shape, ScenarioError> {
        let packets = fields.integer_or("packets", 64, PACKETS)? as u32;
        let levels = fields.integer_or("levels", 4, 1..=u64::from(packets) - 1)? as u32;
        let train = fields.integer_or("train", 1, 1..=1000)? as u32;
        let streams = fields.integer_or("streams", 500, 1..=MOST_STREAMS)? as u32;
        Ok(Shape { packets, levels, train, streams })
    }
}

/// Returns the shape of a search's streams. The search itself decides their number, and perhaps their length.
fn searching(fields: &mut Fields<'_>, search: &SearchSpec, one_rate: bool) -> Result<Shape, ScenarioError> {
    if one_rate {
        return Err(fields.refuse("rate", "one rate with a search", "two rates to search between"));
    }
    none(fields, "streams", "no number: the search ends by itself, or with the run")?;
    let packets = match search.tool {
        SearchTool::Pathload { .. } => fields.integer_or("packets", 100, PACKETS)? as u32,
        SearchTool::PrcMt { longest, .. } => {
            none(fields, "packets", "probe.search.shortest and longest: the search finds the number between them")?;
            longest
        }
    };
    // One rate in each stream, one stream at a time.
    let levels = fields.integer_or("levels", 1, 1..=1)? as u32;
    let train = fields.integer_or("train", 1, 1..=1)? as u32;
    Ok(Shape { packets, levels, train, streams: 0 })
}

fn none(fields: &mut Fields<'_>, key: &'static str, expected: &str) -> Result<(), ScenarioError> {
    match fields.get(key) {
        Some(_) => Err(fields.refuse(key, "a number with a search", expected)),
        None => Ok(()),
    }
}

/// Returns the longest time that the streams may take, pauses included.
fn longest(spec: &ProbeSpec) -> Span {
    let streams = u64::from(spec.streams);
    let stream = spec.slowest.time_for(spec.packet).saturating_mul(u64::from(spec.packets));
    let pauses = (spec.pause + spec.pause / 2).saturating_mul(streams.div_ceil(u64::from(spec.train)) + 1);
    Span::from_picos(stream.saturating_mul(streams).picos().saturating_add(pauses.picos()))
}

/// Reads one mean rate for all streams, or two rates between which the streams' rates are spread evenly.
fn rates(fields: &mut Fields<'_>) -> Result<(Rate, Rate), ScenarioError> {
    const EXPECTED: &str = "a rate like \"7 Gbit/s\", or two as in { from = \"5 Gbit/s\", to = \"9 Gbit/s\" }";
    let key = fields.key("rate");
    let node = fields.required("rate", EXPECTED)?;
    if !matches!(node.value, Value::Table(_)) {
        let rate = quantity(node, &key, Zero::Refused).map_err(|error| expecting(error, EXPECTED))?;
        return Ok((rate, rate));
    }
    let mut inner = Fields::of(node, &key, EXPECTED)?;
    let (from, to) = (inner.quantity("from", Zero::Refused)?, inner.quantity("to", Zero::Refused)?);
    if from > to {
        return Err(inner.refuse("to", format!("\"{to}\""), format!("a rate of at least \"{from}\"")));
    }
    inner.finish()?;
    Ok((from, to))
}

fn expecting(error: ScenarioError, expected: &str) -> ScenarioError {
    ScenarioError { expected: expected.to_string(), ..error }
}

fn recorded(fields: &mut Fields<'_>) -> Result<Recorded, ScenarioError> {
    const EXPECTED: &str = "\"sent\", the gaps that left the host, or \"intended\", the gaps asked for";
    let key = fields.key("recorded");
    let node: &Node = fields.or("recorded", Value::Text("sent".to_string()));
    match text(node, &key, EXPECTED)?.as_str() {
        "sent" => Ok(Recorded::Sent),
        "intended" => Ok(Recorded::Intended),
        other => Err(ScenarioError::at(&node.place, key, format!("\"{other}\""), EXPECTED)),
    }
}

/// Refuses whatever probe streams cannot share a scenario with.
pub(crate) fn alone(
    document: &Table,
    links: &[LinkSpec],
    flows: usize,
    traffic: &[TrafficSpec],
) -> Result<(), ScenarioError> {
    let Some(probe) = document.get("probe") else { return Ok(()) };
    let no = |key: &str, found: &str, expected: &str| Err(ScenarioError::at(&probe.key_place, key, found, expected));
    if flows > 0 || document.get("compare").is_some() {
        return no("probe", "probe streams with flows", "traffic that does not respond: [[traffic]] without [[flow]]");
    }
    if links.len() > 1 {
        return no("probe", "probe streams over several links", "one link: [path] instead of [[link]]");
    }
    if links[0].service != Service::default() {
        let found = "a changing rate, bursts or token buckets under probe streams";
        return no("path", found, "a constant rate");
    }
    if links[0].impairments != Impairments::default() {
        let found = "reordering, jitter, outages, a changing delay or losses in bursts under probe streams";
        return no("path", found, "a constant delay and independent losses");
    }
    if links[0].queue.kind != "fifo" {
        return no("path.queue", &format!("\"{}\" under probe streams", links[0].queue.kind), "\"fifo\"");
    }
    if traffic.iter().any(|source| matches!(source.kind, TrafficKind::Connections(_))) {
        return no(
            "traffic",
            "connections with probe streams",
            "kinds that do not respond, like \"pcap\" or \"poisson\"",
        );
    }
    Ok(())
}

impl ProbeSpec {
    /// Returns the ratio of a stream's highest rate to its lowest.
    pub fn spread(&self) -> f64 {
        if self.levels > 1 { 1.0 + self.range.as_f64() } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::Ratio;

    #[test]
    fn one_level_has_no_spread() {
        let spec = ProbeSpec {
            streams: 1,
            packets: 64,
            levels: 1,
            range: Ratio::of(1, 2),
            slowest: Rate::from_gbps(7),
            fastest: Rate::from_gbps(7),
            packet: packetscale_models::units::Bytes::new(9000),
            access: None,
            train: 1,
            pause: Span::ZERO,
            acknowledge: 1,
            recorded: Recorded::Sent,
            search: None,
        };
        assert!((spec.spread() - 1.0).abs() < 1e-12);
        assert!((ProbeSpec { levels: 4, ..spec }.spread() - 1.5).abs() < 1e-9);
        // 64 packets of 72 000 bit at 7 Gbit/s: 658 us.
        assert_eq!(longest(&spec).picos() / 1_000_000, 658);
    }
}
