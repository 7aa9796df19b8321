//! Traffic that does not respond to the network.

use crate::scenario::connections::connections;
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, Zero, file, instant, number, quantity, text};
use crate::scenario::hosts::Sender;
use crate::scenario::links::{Network, tables};
use crate::scenario::model::{TraceSource, TrafficKind, TrafficSpec};
use crate::scenario::packet::packet;
use crate::scenario::routes::route;
use crate::scenario::service::bucket;
use crate::scenario::web::web;
use packetscale_models::units::{Bytes, Rate, Span, Time};
use std::path::Path;

/// The kinds of traffic, with a line on each.
pub const TRAFFIC_KINDS: &[(&str, &str)] = &[
    ("cbr", "equal packets at equal gaps"),
    ("poisson", "equal packets, exponential gaps"),
    ("on-off", "periodic bursts at a constant rate"),
    ("exponential-on-off", "bursts and silences of exponential length"),
    ("pareto-on-off", "bursts and silences of Pareto length"),
    ("tmix", "TCP connections from a file of connection vectors"),
    ("sessions", "TCP connections of heavy-tailed length, drawn: self-similar"),
    ("web", "users who browse over TCP: pages, files, pauses (SURGE)"),
    ("trace", "packets from a CSV file with the columns time_ns,size_bytes"),
    ("pcap", "packets from a pcap or pcapng file"),
];

/// The most copies of one source.
const MOST_COPIES: u64 = 10_000;

/// The number of kinds of open-loop sources with equal packets. They come first.
const WITH_EQUAL_PACKETS: usize = 5;

pub(crate) fn traffic(
    document: &mut Table,
    network: &Network,
    sender: &Sender,
    duration: Span,
    folder: &Path,
) -> Result<Vec<TrafficSpec>, ScenarioError> {
    let mut sources = Vec::new();
    for (index, node) in tables(document, "traffic")?.iter_mut().enumerate() {
        let mut fields = Fields::of(node, &format!("traffic.{index}"), "a table [[traffic]]")?;
        let (kind, packet) = kind(&mut fields, network, sender, folder)?;
        let route = route(&mut fields, network, &network.through)?;
        let (start, stop) = lifetime(&mut fields, duration)?;
        let copies = fields.integer_or("copies", 1, 1..=MOST_COPIES)?;
        let copies = u32::try_from(copies).unwrap_or(u32::MAX);
        if copies > 1 && matches!(kind, TrafficKind::Connections(_)) {
            return Err(fields.refuse(
                "copies",
                copies.to_string(),
                "1: connections have no copies, use another table",
            ));
        }
        let shaper = bucket(&mut fields, "shaper")?;
        if shaper.is_some() && matches!(&kind, TrafficKind::Web(web) if web.responsive) {
            let expected = "responsive = false: a token bucket needs traffic that does not respond";
            return Err(fields.refuse("shaper", "a token bucket", expected));
        }
        sources.push(TrafficSpec { kind, packet, start, stop, route, copies, shaper });
        fields.finish()?;
    }
    Ok(sources)
}

fn kind(
    fields: &mut Fields<'_>,
    network: &Network,
    sender: &Sender,
    folder: &Path,
) -> Result<(TrafficKind, Bytes), ScenarioError> {
    let names = || TRAFFIC_KINDS.iter().map(|(name, _)| *name);
    let expected = format!("one of {}", listed(names()));
    let key = fields.key("kind");
    let kind = text(fields.required("kind", &expected)?, &key, &expected)?;
    let model = match kind.as_str() {
        "pcap" => return traced(fields, TraceSource::Pcap, folder),
        "tmix" | "sessions" => return connections(fields, &kind, network, sender, folder),
        "web" => return web(fields, sender, folder),
        "trace" => return traced(fields, TraceSource::Csv, folder),
        _ => model(fields, &kind, TRAFFIC_KINDS)?,
    };
    Ok((model, packet(fields)?))
}

/// Reads the application of a flow. It may be of the kinds with equal packets.
pub(crate) fn application(node: &mut Node, key: &str) -> Result<TrafficKind, ScenarioError> {
    const EXPECTED: &str = "{ kind = \"on-off\", on = \"10 ms\", off = \"1 s\", rate = \"10 Mbit/s\" }";
    let kinds = &TRAFFIC_KINDS[..WITH_EQUAL_PACKETS];
    let mut fields = Fields::of(node, key, EXPECTED)?;
    let kind = fields.kind(EXPECTED)?;
    let application = model(&mut fields, &kind, kinds)?;
    fields.finish()?;
    Ok(application)
}

/// Reads a kind with equal packets, one of `kinds`.
fn model(fields: &mut Fields<'_>, kind: &str, kinds: &[(&str, &str)]) -> Result<TrafficKind, ScenarioError> {
    Ok(match kind {
        "cbr" => TrafficKind::Cbr { rate: rate(fields)? },
        "poisson" => TrafficKind::Poisson { rate: rate(fields)? },
        "on-off" => TrafficKind::OnOff { on: on(fields)?, off: off(fields)?, rate: rate(fields)? },
        "exponential-on-off" => {
            TrafficKind::ExponentialOnOff { on: on(fields)?, off: off(fields)?, rate: rate(fields)? }
        }
        "pareto-on-off" => {
            let (on, off, rate) = (on(fields)?, off(fields)?, rate(fields)?);
            TrafficKind::ParetoOnOff { on, off, rate, shape: shape(fields)? }
        }
        _ => {
            let names = || kinds.iter().map(|(name, _)| *name);
            let found = format!("the unknown traffic \"{kind}\"{}", perhaps(kind, names()));
            return Err(fields.refuse("kind", found, format!("one of {}", listed(names()))));
        }
    })
}

/// Reads a kind that takes its packets, and their sizes, from a file.
fn traced(fields: &mut Fields<'_>, source: TraceSource, folder: &Path) -> Result<(TrafficKind, Bytes), ScenarioError> {
    let file = file(fields, folder)?;
    let rate = fields.quantity_if("rate", Zero::Refused)?;
    Ok((TrafficKind::Trace { file, source, rate }, Bytes::new(1500)))
}

fn rate(fields: &mut Fields<'_>) -> Result<Rate, ScenarioError> {
    fields.quantity("rate", Zero::Refused)
}

fn on(fields: &mut Fields<'_>) -> Result<Span, ScenarioError> {
    fields.quantity("on", Zero::Refused)
}

fn off(fields: &mut Fields<'_>) -> Result<Span, ScenarioError> {
    fields.quantity("off", Zero::Refused)
}

fn shape(fields: &mut Fields<'_>) -> Result<f64, ScenarioError> {
    const EXPECTED: &str = "a tail index above 1 (below it there is no mean) and up to 100, like 1.5";
    let key = fields.key("shape");
    let shape = number(fields.or("shape", Value::Float("1.5".to_string())), &key, EXPECTED)?;
    if !(shape > 1.0 && shape <= 100.0) {
        return Err(fields.refuse("shape", shape.to_string(), EXPECTED));
    }
    Ok(shape)
}

fn lifetime(fields: &mut Fields<'_>, duration: Span) -> Result<(Time, Time), ScenarioError> {
    let (start_key, stop_key) = (fields.key("start"), fields.key("stop"));
    let start = instant(fields.or("start", Value::Text("0 s".to_string())), &start_key, duration)?;
    let Some(node) = fields.get("stop") else {
        return Ok((start, Time::ZERO + duration));
    };
    let stop = Time::ZERO + quantity::<Span>(node, &stop_key, Zero::Refused)?;
    if stop <= start {
        let expected = format!("a time after its start at {}", start.since(Time::ZERO));
        return Err(ScenarioError::at(&node.place, stop_key, node.value.to_string(), expected));
    }
    Ok((start, stop))
}
