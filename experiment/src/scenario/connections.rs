//! Traffic made of TCP connections: recorded ones (`tmix`), or drawn ones (`sessions`).

use crate::scenario::controllers::{controller, setups};
use crate::scenario::document::Value;
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero, file, number};
use crate::scenario::hosts::Sender;
use crate::scenario::links::Network;
use crate::scenario::model::{
    ConnectionSource, Connections, ControllerSpec, FlowSpec, Sessions, Size, Start, TrafficKind,
};
use crate::scenario::packet::{HEADERS, packet};
use crate::scenario::routes;
use packetscale_models::units::{Bytes, Rate, Span, Time};
use std::path::Path;

pub(crate) fn connections(
    fields: &mut Fields<'_>,
    kind: &str,
    network: &Network,
    sender: &Sender,
    folder: &Path,
) -> Result<(TrafficKind, Bytes), ScenarioError> {
    let source = match kind {
        "tmix" => ConnectionSource::Vectors(file(fields, folder)?),
        _ => ConnectionSource::Drawn(sessions(fields)?),
    };
    let packet = packet(fields)?;
    if packet <= HEADERS {
        return Err(fields.refuse(
            "packet",
            format!("\"{packet}\""),
            format!("more than {HEADERS}, the size of its headers"),
        ));
    }
    let back = acceptors(fields, network)?;
    let flow = senders(fields, sender, packet, "newreno", folder)?;
    Ok((TrafficKind::Connections(Box::new(Connections { source, flow, back })), packet))
}

/// Reads which links the acceptors' data cross.
fn acceptors(fields: &mut Fields<'_>, network: &Network) -> Result<Vec<usize>, ScenarioError> {
    const EXPECTED: &str = "the names of the links that the acceptors' data cross, like [\"back\"]";
    if network.graph.is_none() {
        fields.required("back", EXPECTED)?;
    }
    let route = routes::route(fields, network, &network.through)?;
    let back = routes::back(fields, network, &route, &[])?;
    if back.is_empty() {
        return Err(fields.refuse("back", "no links", EXPECTED));
    }
    Ok(back)
}

/// Reads the settings that the senders of all connections share.
pub(crate) fn senders(
    fields: &mut Fields<'_>,
    sender: &Sender,
    packet: Bytes,
    usual: &str,
    folder: &Path,
) -> Result<FlowSpec, ScenarioError> {
    let mut flow = FlowSpec {
        controller: ControllerSpec::default(),
        packet,
        start: Start::At(Time::ZERO),
        stop: None,
        size: Size::Unlimited,
        rtt: Span::from_millis(100),
        route: Vec::new(),
        back: Vec::new(),
        access: None,
        initial_window: sender.initial_window,
        pacing_percent: sender.pacing_percent,
        handshake_waits: sender.handshake_waits,
        min_rto: sender.min_rto,
        slow_start_after_idle: sender.slow_start_after_idle,
        application: None,
        ecn: sender.ecn,
    };
    let key = fields.key("controller");
    let node = fields.or("controller", Value::Text(usual.to_string()));
    flow.controller = controller(node, &key, &setups(std::iter::once(&flow)), folder)?.spec;
    Ok(flow)
}

fn sessions(fields: &mut Fields<'_>) -> Result<Sessions, ScenarioError> {
    let rate: Rate = fields.quantity("rate", Zero::Refused)?;
    let peak: Rate = fields.quantity_or("peak", "1 Mbit/s", Zero::Refused)?;
    let rtt = fields.quantity_or("rtt", "100 ms", Zero::Refused)?;
    let (shortest, longest) = (
        fields.quantity_or("shortest", "200 ms", Zero::Refused)?,
        fields.quantity_or("longest", "1 h", Zero::Refused)?,
    );
    if longest <= shortest {
        return Err(fields.refuse(
            "longest",
            format!("\"{longest}\""),
            format!("a time above the shortest, {shortest}"),
        ));
    }
    const EXPECTED: &str = "a tail index above 1 and below 2, like 1.1";
    let key = fields.key("shape");
    let shape = number(fields.or("shape", Value::Float("1.1".to_string())), &key, EXPECTED)?;
    if !(shape > 1.0 && shape < 2.0) {
        return Err(fields.refuse("shape", shape.to_string(), EXPECTED));
    }
    Ok(Sessions { rate, peak, rtt, shortest, longest, shape })
}
