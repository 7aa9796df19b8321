//! The responsive flows.

use crate::controllers::{Named, controller, setups};
use crate::document::{Node, Table, Value};
use crate::error::ScenarioError;
use crate::fields::{Fields, Zero, instant, quantity};
use crate::hosts::Sender;
use crate::links::{Network, delay, route, tables};
use crate::model::{ControllerSpec, FlowSpec, Size, Start, TrafficKind};
use crate::packet::packet;
use crate::traffic::application;
use units::{Rate, Span, Time};

/// The most flows one run may have.
const MOST_FLOWS: usize = 100_000;

/// A flow and what its controller is called; without a controller where `[compare]` will put one.
pub(crate) struct Flow {
    pub spec: FlowSpec,
    pub label: Option<String>,
}

/// Reads every `[[flow]]` and unfolds its count.
pub(crate) fn flows(
    document: &mut Table,
    network: &Network,
    sender: &Sender,
    duration: Span,
) -> Result<Vec<Flow>, ScenarioError> {
    let compared = document.get("compare").is_some();
    let mut flows = Vec::new();
    for (index, node) in tables(document, "flow")?.iter_mut().enumerate() {
        let mut fields = Fields::of(node, &format!("flow.{index}"), "a table [[flow]]")?;
        let table = Reader { network, sender, duration, compared, room: MOST_FLOWS - flows.len() };
        flows.extend(table.read(&mut fields)?);
        fields.finish()?;
    }
    Ok(flows)
}

struct Reader<'a> {
    network: &'a Network,
    sender: &'a Sender,
    duration: Span,
    compared: bool,
    room: usize,
}

impl Reader<'_> {
    fn read(&self, fields: &mut Fields<'_>) -> Result<Vec<Flow>, ScenarioError> {
        let count = fields.count_or("count", 1, 1)? as usize;
        if count > self.room {
            return Err(fields.refuse("count", format!("{count}"), format!("at most {MOST_FLOWS} flows in all")));
        }
        let packet = packet(fields)?;
        let route = route(fields, self.network)?;
        let rtts = self.rtts(fields, &route, count)?;
        let starts = self.starts(fields, count)?;
        let size = size(fields)?;
        let application = self.application(fields, size)?;
        let access = fields.quantity_if::<Rate>("access", Zero::Refused)?.or(self.network.access);
        let blank = FlowSpec {
            controller: ControllerSpec::default(),
            packet,
            start: Start::At(Time::ZERO),
            size,
            application,
            rtt: Span::ZERO,
            route,
            access,
            initial_window: self.sender.initial_window,
            pacing_percent: self.sender.pacing_percent,
            min_rto: self.sender.min_rto,
            ecn: fields.switch_if("ecn")?.unwrap_or(self.sender.ecn),
        };
        let mut specs: Vec<FlowSpec> =
            rtts.into_iter().zip(starts).map(|(rtt, start)| FlowSpec { rtt, start, ..blank.clone() }).collect();
        let named = self.controller(fields, &specs)?;
        if let Some(named) = &named {
            specs.iter_mut().for_each(|spec| spec.controller = named.spec.clone());
        }
        let label = named.map(|named| named.label);
        Ok(specs.into_iter().map(|spec| Flow { spec, label: label.clone() }).collect())
    }

    fn application(&self, fields: &mut Fields<'_>, size: Size) -> Result<Option<TrafficKind>, ScenarioError> {
        let key = fields.key("application");
        let application = fields.get("application").map(|node| application(node, &key)).transpose()?;
        if application.is_some() && size != Size::Unlimited {
            let expected = "no size: the application decides how much is sent";
            return Err(fields.refuse("size", "a size", expected));
        }
        Ok(application)
    }

    fn controller(&self, fields: &mut Fields<'_>, specs: &[FlowSpec]) -> Result<Option<Named>, ScenarioError> {
        let key = fields.key("controller");
        if self.compared {
            return fields.get("controller").map(|node| controller(node, &key, &setups(specs))).transpose();
        }
        let rapid = Value::Text("rapid".to_string());
        let node = fields.expected("controller", "a controller like \"rapid\"", rapid);
        controller(node, &key, &setups(specs)).map(Some)
    }

    /// Returns the base round-trip times, one per flow: the given ones, or twice the delay of the route.
    fn rtts(&self, fields: &mut Fields<'_>, route: &[usize], count: usize) -> Result<Vec<Span>, ScenarioError> {
        let one_way = delay(route, self.network).filter(|delay| delay.picos() <= u64::MAX / 2);
        let one_way = one_way.ok_or_else(|| fields.refuse("route", "delays beyond 100 days", "shorter links"))?;
        let key = fields.key("rtt");
        let Some(node) = fields.get("rtt") else {
            return Ok(vec![one_way * 2; count]);
        };
        let rtts = each(node, &key, count, |node| {
            let rtt: Span = quantity(node, &key, Zero::Allowed)?;
            if rtt < one_way {
                let expected = format!("at least {one_way}, the one-way delay of its route");
                return Err(ScenarioError::at(&node.place, &key, node.value.to_string(), expected));
            }
            Ok(rtt)
        })?;
        Ok(rtts)
    }

    fn starts(&self, fields: &mut Fields<'_>, count: usize) -> Result<Vec<Start>, ScenarioError> {
        let key = fields.key("start");
        let node = fields.or("start", Value::Text("0 s".to_string()));
        if let Value::Table(_) = &node.value {
            return Ok(vec![self.uniform(node, &key)?; count]);
        }
        each(node, &key, count, |node| Ok(Start::At(instant(node, &key, self.duration)?)))
    }

    fn uniform(&self, node: &mut Node, key: &str) -> Result<Start, ScenarioError> {
        const EXPECTED: &str = "{ uniform = [\"0 s\", \"10 s\"] }, the earlier first";
        let mut fields = Fields::of(node, key, EXPECTED)?;
        let bounds = fields.required("uniform", EXPECTED)?;
        let start = match &bounds.value {
            Value::List(bounds) if bounds.len() == 2 => {
                let from = instant(&bounds[0], key, self.duration)?;
                let to = instant(&bounds[1], key, self.duration)?;
                (from <= to).then_some(Start::Uniform(from, to))
            }
            _ => None,
        };
        let found = bounds.value.to_string();
        let start = start.ok_or_else(|| fields.refuse("uniform", found, EXPECTED))?;
        fields.finish()?;
        Ok(start)
    }
}

/// Reads one value for all flows, or a list with one for each.
fn each<T: Clone>(
    node: &Node,
    key: &str,
    count: usize,
    read: impl Fn(&Node) -> Result<T, ScenarioError>,
) -> Result<Vec<T>, ScenarioError> {
    match &node.value {
        Value::List(items) if items.len() == count => items.iter().map(read).collect(),
        Value::List(items) => {
            let found = format!("{} values for {count} flows", items.len());
            Err(ScenarioError::at(&node.place, key, found, "one value, or a list with one value for each flow"))
        }
        _ => Ok(vec![read(node)?; count]),
    }
}

fn size(fields: &mut Fields<'_>) -> Result<Size, ScenarioError> {
    let key = fields.key("size");
    let node = fields.or("size", Value::Text("unlimited".to_string()));
    match &node.value {
        Value::Text(text) if text == "unlimited" => Ok(Size::Unlimited),
        _ => {
            let bytes = quantity(node, &key, Zero::Refused);
            let expected = "an amount of data above zero like \"2 MB\", or \"unlimited\"".to_string();
            bytes.map(Size::Bytes).map_err(|error| ScenarioError { expected, ..error })
        }
    }
}
