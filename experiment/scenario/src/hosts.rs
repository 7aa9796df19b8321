//! The receiving and the sending hosts.

use crate::document::{Node, Table, Value};
use crate::error::{Place, ScenarioError, listed, perhaps};
use crate::fields::{Fields, Zero, quantity, ratio, text};
use crate::model::{Coalescing, GapModel, ReceiverSpec};
use units::{Packets, Ratio, Span};

/// What the scenario says of all sending hosts.
#[derive(Clone, Copy)]
pub(crate) struct Sender {
    pub gaps: GapModel,
    pub pacing_percent: u32,
    pub initial_window: u32,
    pub min_rto: Span,
    pub ecn: bool,
}

pub(crate) fn receiver(document: &mut Table) -> Result<ReceiverSpec, ScenarioError> {
    let node = document.node_or_table("receiver", &Place::Line(1));
    let mut fields = Fields::of(node, "receiver", "a table [receiver]")?;
    let coalescing = {
        let table = fields.or("coalescing", Value::Table(Table::default()));
        let mut inner = Fields::of(table, "receiver.coalescing", "{ time = \"120 us\", frames = 0 }")?;
        let coalescing = Coalescing {
            time: inner.quantity_or("time", "0 s", Zero::Allowed)?,
            frames: inner.count_or("frames", 0, 0)?,
        };
        inner.finish()?;
        coalescing
    };
    if coalescing.frames > 0 && coalescing.time == Span::ZERO {
        let expected = "a time beside a frame limit, or the last packets of a flow would wait for ever";
        return Err(fields.refuse("coalescing", "frames without a time", expected));
    }
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
    };
    fields.finish()?;
    Ok(spec)
}

fn ack_loss(fields: &mut Fields<'_>) -> Result<Ratio, ScenarioError> {
    let key = fields.key("ack_loss");
    let loss = fields.get("ack_loss").map_or(Ok(Ratio::ZERO), |node| ratio(node, &key, 0.0..=1.0))?;
    if loss == Ratio::ONE {
        return Err(fields.refuse("ack_loss", "certain loss", "a probability below 1"));
    }
    Ok(loss)
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
        min_rto: fields.quantity_or("min_rto", "200 ms", Zero::Refused)?,
        ecn: fields.switch_or("ecn", false)?,
    };
    fields.finish()?;
    Ok(sender)
}

const GAPS: &[&str] = &["perfect", "noise", "timer", "batch"];

fn gaps(node: &mut Node) -> Result<GapModel, ScenarioError> {
    const KEY: &str = "sender.gaps";
    const EXPECTED: &str = "\"perfect\", { kind = \"noise\", up_to = \"0.4 us\" }, \
        { kind = \"timer\", granularity = \"1 us\" } or { kind = \"batch\", packets = 4 }";
    if node.value == Value::Text("perfect".to_string()) {
        return Ok(GapModel::Perfect);
    }
    let mut fields = Fields::of(node, KEY, EXPECTED)?;
    let kind = text(fields.required("kind", EXPECTED)?, "sender.gaps.kind", EXPECTED)?;
    let model = match kind.as_str() {
        "perfect" => GapModel::Perfect,
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

/// Whole percents of a window per smoothed round trip.
fn pacing(node: &Node) -> Result<u32, ScenarioError> {
    const EXPECTED: &str = "a whole percentage of a window per round trip, up to \"10000 %\", like \"120 %\"";
    let percent = match &node.value {
        Value::Text(text) => text.trim().strip_suffix('%').and_then(|number| number.trim_end().parse().ok()),
        _ => None,
    };
    let percent = percent.filter(|percent| *percent <= 10_000);
    percent.ok_or_else(|| ScenarioError::at(&node.place, "sender.pacing", node.value.described(), EXPECTED))
}
