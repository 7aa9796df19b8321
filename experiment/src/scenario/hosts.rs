//! The receiving and the sending hosts.

use crate::scenario::document::{KeyValue, Node, Table, Value};
use crate::scenario::error::{Place, ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, Zero, quantity, ratio, ratio_like, text};
use crate::scenario::model::{Coalescing, GapModel, Moderation, ReceiverSpec};
use packetscale_models::units::{Packets, Ratio, Span};
use std::ops::RangeInclusive;

/// The settings of all sending hosts.
#[derive(Clone, Copy)]
pub(crate) struct Sender {
    pub gaps: GapModel,
    pub pacing_percent: u32,
    pub initial_window: u32,
    pub handshake_waits: bool,
    pub min_rto: Span,
    pub slow_start_after_idle: bool,
    pub ecn: bool,
}

pub(crate) fn receiver(document: &mut Table) -> Result<ReceiverSpec, ScenarioError> {
    let node = document.node_or_table("receiver", &Place::Line(1));
    let mut fields = Fields::of(node, "receiver", "a table [receiver]")?;
    let coalescing = coalescing(fields.or("coalescing", Value::Table(Table::default())))?;
    let spec = ReceiverSpec {
        coalescing,
        delayed_ack: fields.count_or("delayed_ack", 2, 1)?,
        delayed_ack_timeout: fields.quantity_or("delayed_ack_timeout", "40 ms", Zero::Refused)?,
        window: window(&mut fields)?,
        stamps: fields.switch_or("stamps", true)?,
        stamp_granularity: fields.quantity_or("stamp_granularity", "1 ns", Zero::Refused)?,
        ack_loss: ack_loss(&mut fields)?,
        ack_bunching: fields.quantity_if("ack_bunching", Zero::Allowed)?.unwrap_or(Span::ZERO),
        stamp_delay: fields.quantity_or("stamp_delay", "0 s", Zero::Allowed)?,
        clock: clock(&mut fields)?,
    };
    fields.finish()?;
    Ok(spec)
}

/// The paces that a receiver's clock may have.
const PACES: RangeInclusive<f64> = 0.5..=1.5;
/// One of them: 4 % slow.
const PACE: &str = "0.96 or \"96 %\"";

fn clock(fields: &mut Fields<'_>) -> Result<Ratio, ScenarioError> {
    let key = fields.key("clock");
    fields.get("clock").map_or(Ok(Ratio::ONE), |node| ratio_like(node, &key, PACES, PACE))
}

fn ack_loss(fields: &mut Fields<'_>) -> Result<Ratio, ScenarioError> {
    let key = fields.key("ack_loss");
    let loss = fields.get("ack_loss").map_or(Ok(Ratio::ZERO), |node| ratio(node, &key, 0.0..=1.0))?;
    if loss == Ratio::ONE {
        return Err(fields.refuse("ack_loss", "a probability of 1", "a probability below 1"));
    }
    Ok(loss)
}

fn coalescing(node: &mut Node) -> Result<Coalescing, ScenarioError> {
    const KINDS: &[(&str, Moderation)] =
        &[("timer", Moderation::Timer), ("spacing", Moderation::Spacing), ("adaptive", Moderation::Adaptive)];
    let mut fields = Fields::of(node, "receiver.coalescing", "{ kind = \"timer\", time = \"120 us\", frames = 0 }")?;
    let names = || KINDS.iter().map(|(name, _)| *name);
    let expected = format!("one of {}", listed(names()));
    let name = text(fields.or("kind", Value::Text("timer".to_string())), "receiver.coalescing.kind", &expected)?;
    let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
        let found = format!("the unknown coalescence \"{name}\"{}", perhaps(&name, names()));
        return Err(fields.refuse("kind", found, expected));
    };
    let coalescing = Coalescing {
        kind: *kind,
        time: fields.quantity_or("time", "0 s", Zero::Allowed)?,
        frames: fields.count_or("frames", 0, 0)?,
        jitter: fields.quantity_or("jitter", "0 s", Zero::Allowed)?,
    };
    if coalescing.jitter > Span::ZERO && coalescing.jitter >= coalescing.time {
        let (found, expected) = (format!("\"{}\"", coalescing.jitter), format!("less than time, {}", coalescing.time));
        return Err(fields.refuse("jitter", found, expected));
    }
    if coalescing.frames > 0 && coalescing.time == Span::ZERO {
        let expected = "a time with the frame limit, or the last packets of a flow would wait forever";
        return Err(fields.refuse("frames", "frames without a time", expected));
    }
    if *kind == Moderation::Adaptive && coalescing.time > Coalescing::HONOURED && coalescing.frames == 0 {
        let expected = format!("frames too: an adaptive card counts them if the time exceeds {}", Coalescing::HONOURED);
        return Err(fields.refuse("time", format!("\"{}\" without frames", coalescing.time), expected));
    }
    fields.finish()?;
    Ok(coalescing)
}

fn window(fields: &mut Fields<'_>) -> Result<Packets, ScenarioError> {
    let key = fields.key("window");
    let node = fields.or("window", Value::Text("unlimited".to_string()));
    match &node.value {
        Value::Text(text) if text == "unlimited" => Ok(Packets::MAX),
        _ => quantity(node, &key, Zero::Refused).map_err(|error| ScenarioError {
            expected: "a number of packets like \"1000 packets\", or \"unlimited\"".to_string(),
            ..error
        }),
    }
}

pub(crate) fn sender(document: &mut Table) -> Result<Sender, ScenarioError> {
    let node = document.node_or_table("sender", &Place::Line(1));
    let mut fields = Fields::of(node, "sender", "a table [sender]")?;
    let sender = Sender {
        gaps: gaps(fields.or("gaps", Value::Text("perfect".to_string())))?,
        pacing_percent: pacing(fields.or("pacing", Value::Text("0 %".to_string())))?,
        initial_window: fields.count_or("initial_window", 10, 1)?,
        handshake_waits: fields.switch_or("handshake_waits", false)?,
        min_rto: fields.quantity_or("min_rto", "200 ms", Zero::Refused)?,
        slow_start_after_idle: fields.switch_or("slow_start_after_idle", true)?,
        ecn: fields.switch_or("ecn", false)?,
    };
    fields.finish()?;
    Ok(sender)
}

const GAPS: &[&str] = &["perfect", "busy-wait", "hrtimer", "dummy-packets", "late", "noise", "timer", "batch"];

fn gaps(node: &mut Node) -> Result<GapModel, ScenarioError> {
    const KEY: &str = "sender.gaps";
    const EXPECTED: &str = "\"perfect\", { kind = \"noise\", up_to = \"0.4 us\" }, \
        { kind = \"timer\", granularity = \"1 us\" } or { kind = \"batch\", packets = 4 }";
    if node.value == Value::Text("perfect".to_string()) {
        return Ok(GapModel::Perfect);
    }
    if let Value::Text(_) = &node.value {
        let kind = node.value.plain();
        if !GAPS.contains(&kind.as_str()) {
            let found = format!("the unknown gap model \"{kind}\"{}", perhaps(&kind, GAPS.iter().copied()));
            return Err(ScenarioError::at(&node.place, KEY, found, format!("one of {}", listed(GAPS.iter().copied()))));
        }
        // A name alone means a table with only that name.
        let named = Node { value: node.value.clone(), place: node.place.clone() };
        let place = node.place.clone();
        let entry = KeyValue { key: "kind".to_string(), key_place: place, node: named };
        node.value = Value::Table(Table { entries: vec![entry] });
    }
    let mut fields = Fields::of(node, KEY, EXPECTED)?;
    let kind = text(fields.required("kind", EXPECTED)?, "sender.gaps.kind", EXPECTED)?;
    let model = match kind.as_str() {
        "perfect" => GapModel::Perfect,
        "busy-wait" => GapModel::BusyWait(fields.quantity_or("resolution", "1 us", Zero::Refused)?),
        "hrtimer" => GapModel::Hrtimer {
            deferral: fields.quantity_or("deferral", "100 us", Zero::Refused)?,
            often: ratio(fields.or("often", Value::Float("0.05".to_string())), "sender.gaps.often", 0.0..=1.0)?,
        },
        "dummy-packets" => GapModel::Noise(fields.quantity_or("up_to", "0.4 us", Zero::Allowed)?),
        "late" => late(&mut fields)?,
        "noise" => GapModel::Noise(fields.quantity("up_to", Zero::Allowed)?),
        "timer" => GapModel::Timer(fields.quantity("granularity", Zero::Refused)?),
        "batch" => GapModel::Batch(fields.count_or("packets", 1, 1)?),
        _ => {
            let found = format!("the unknown gap model \"{kind}\"{}", perhaps(&kind, GAPS.iter().copied()));
            return Err(fields.refuse("kind", found, format!("one of {}", listed(GAPS.iter().copied()))));
        }
    };
    fields.finish()?;
    Ok(model)
}

fn late(fields: &mut Fields<'_>) -> Result<GapModel, ScenarioError> {
    let [p50, p99, p999]: [Span; 3] = [
        fields.quantity("p50", Zero::Allowed)?,
        fields.quantity("p99", Zero::Allowed)?,
        fields.quantity("p999", Zero::Allowed)?,
    ];
    if p50 > p99 || p99 > p999 {
        let found = format!("\"{p50}\", \"{p99}\", \"{p999}\"");
        return Err(fields.refuse("p50", found, "p50 <= p99 <= p999"));
    }
    Ok(GapModel::Late { p50, p99, p999 })
}

/// Reads the pacing: whole percents of a window per smoothed round trip.
fn pacing(node: &Node) -> Result<u32, ScenarioError> {
    const EXPECTED: &str = "a whole percentage of a window per round trip, up to \"10000 %\", like \"120 %\"";
    let percent = match &node.value {
        Value::Text(text) => text.trim().strip_suffix('%').and_then(|number| number.trim_end().parse().ok()),
        _ => None,
    };
    let percent = percent.filter(|percent| *percent <= 10_000);
    percent.ok_or_else(|| ScenarioError::at(&node.place, "sender.pacing", node.value.described(), EXPECTED))
}
