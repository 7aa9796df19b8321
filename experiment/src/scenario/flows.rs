//! The responsive flows.

use crate::scenario::arrivals::process;
use crate::scenario::controllers::{Named, controller, setups};
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero, instant, quantity, text};
use crate::scenario::hosts::Sender;
use crate::scenario::links::{Network, tables};
use crate::scenario::model::{
    ArrivalProcess, Arrivals, ControllerSpec, FlowSpec, Shared, Size, SizeLaw, Start, TrafficKind,
};
use crate::scenario::packet::packet;
use crate::scenario::routes::{back_for_acknowledgments, delay, route};
use crate::scenario::sizes::law;
use crate::scenario::traffic::application;
use packetscale_models::units::{Rate, Span, Time};
use std::ops::Deref;
use std::path::Path;

/// The most flows one run may have.
const MOST_FLOWS: usize = 1_000_000;

/// All responsive flows.
pub(crate) struct Flows {
    /// Those that run from their start on, one entry each; without a controller where `[compare]` will put one.
    pub lasting: Vec<Shared<FlowSpec>>,
    /// What the controllers of these are called, one entry for each table.
    pub labels: Vec<Option<String>>,
    /// Those that arrive, one entry for each table, and what their controller is called.
    pub arriving: Vec<(Arrivals, Option<String>)>,
}

/// Reads every `[[flow]]` and unfolds its count.
pub(crate) fn flows(
    document: &mut Table,
    network: &Network,
    sender: &Sender,
    duration: Span,
    folder: &Path,
) -> Result<Flows, ScenarioError> {
    let compared = document.get("compare").is_some();
    let mut flows = Flows { lasting: Vec::new(), labels: Vec::new(), arriving: Vec::new() };
    for (index, node) in tables(document, "flow")?.iter_mut().enumerate() {
        let mut fields = Fields::of(node, &format!("flow.{index}"), "a table [[flow]]")?;
        let table = Reader { network, sender, duration, compared, room: MOST_FLOWS - flows.lasting.len(), folder };
        table.read(&mut fields, index as u32, &mut flows)?;
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
    folder: &'a Path,
}

impl Reader<'_> {
    fn read(&self, fields: &mut Fields<'_>, table: u32, flows: &mut Flows) -> Result<(), ScenarioError> {
        let process = process(fields, self.duration, self.folder)?;
        let count = fields.count_or("count", 1, 1)? as usize;
        if count > self.room {
            return Err(fields.refuse("count", format!("{count}"), format!("at most {MOST_FLOWS} flows in all")));
        }
        if process.is_some() && count > 1 {
            return Err(fields.refuse("count", format!("{count}"), "no count: arrivals say how many flows there are"));
        }
        let packet = packet(fields)?;
        let (route, back) = self.ways(fields)?;
        let rtts = self.rtts(fields, &route, &back, count)?;
        let starts = self.starts(fields, count)?;
        let stop = self.stop(fields, &starts)?;
        let law = law(fields, self.folder)?;
        let application = self.application(fields, process.is_some(), law.is_some())?;
        let access = fields.quantity_if::<Rate>("access", Zero::Refused)?.or(self.network.access);
        let blank = FlowSpec {
            controller: ControllerSpec::default(),
            packet,
            start: Start::At(Time::ZERO),
            stop: stop.filter(|_| process.is_none()),
            size: Size::Unlimited,
            application,
            rtt: Span::ZERO,
            route,
            back,
            access,
            initial_window: self.sender.initial_window,
            pacing_percent: self.sender.pacing_percent,
            handshake_waits: self.sender.handshake_waits,
            min_rto: self.sender.min_rto,
            slow_start_after_idle: self.sender.slow_start_after_idle,
            ecn: fields.switch_if("ecn")?.unwrap_or(self.sender.ecn),
        };
        let size = match &law {
            _ if process.is_some() => Size::Unlimited,
            None => Size::Unlimited,
            Some(SizeLaw::Fixed(bytes)) => Size::Bytes(*bytes),
            Some(_) => return Err(fields.refuse("size", "a law", "a size: only flows with \"arrivals\" draw theirs")),
        };
        let mut specs = described(&FlowSpec { size, ..blank }, &rtts, &starts);
        let named = self.controller(fields, &specs)?;
        if let Some(named) = &named {
            controlled(specs.iter_mut(), &named.spec);
        }
        let label = named.map(|named| named.label);
        match process {
            Some(process) => {
                let arrivals = self.arrivals(fields, table, specs[0].deref().clone(), process, law, stop)?;
                flows.arriving.push((arrivals, label));
            }
            None => {
                flows.lasting.append(&mut specs);
                flows.labels.push(label);
            }
        }
        Ok(())
    }

    /// Puts together flows that arrive: all but a file of flows needs a size.
    fn arrivals(
        &self,
        fields: &Fields<'_>,
        table: u32,
        flow: FlowSpec,
        process: ArrivalProcess,
        law: Option<SizeLaw>,
        stop: Option<Time>,
    ) -> Result<Arrivals, ScenarioError> {
        let Start::At(start) = flow.start else {
            return Err(fields.refuse("start", "a drawn start", "a time: no flow arrives before it"));
        };
        let size = match (&process, law) {
            (ArrivalProcess::Listed { .. }, None) => SizeLaw::Listed,
            (ArrivalProcess::Listed { .. }, Some(_)) => {
                return Err(fields.refuse("size", "a size", "no size: the file of the arrivals has them"));
            }
            (_, Some(law)) => law,
            (_, None) => {
                return Err(fields.refuse("size", "\"unlimited\"", "a size: flows that arrive have to end"));
            }
        };
        Ok(Arrivals { table, flow, process, size, start, stop: stop.unwrap_or(Time::ZERO + self.duration) })
    }

    fn stop(&self, fields: &mut Fields<'_>, starts: &[Start]) -> Result<Option<Time>, ScenarioError> {
        let key = fields.key("stop");
        let latest = |start: &Start| match start {
            Start::At(time) | Start::Uniform(_, time) => *time,
        };
        let after = starts.iter().map(latest).max().unwrap_or(Time::ZERO);
        let Some(node) = fields.get("stop") else { return Ok(None) };
        let stop = Time::ZERO + quantity::<Span>(node, &key, Zero::Refused)?;
        if stop <= after {
            let expected = format!("a time after its start at {}", after.since(Time::ZERO));
            return Err(ScenarioError::at(&node.place, key, node.value.to_string(), expected));
        }
        Ok(Some(stop))
    }

    fn application(
        &self,
        fields: &mut Fields<'_>,
        arrives: bool,
        ends: bool,
    ) -> Result<Option<TrafficKind>, ScenarioError> {
        let key = fields.key("application");
        let application = fields.get("application").map(|node| application(node, &key)).transpose()?;
        if application.is_some() && arrives {
            let expected = "no application: flows that arrive send all they have at once";
            return Err(fields.refuse("application", "an application", expected));
        }
        if application.is_some() && ends {
            let expected = "no size: the application decides how much is sent";
            return Err(fields.refuse("size", "a size", expected));
        }
        Ok(application)
    }

    fn controller(&self, fields: &mut Fields<'_>, specs: &[Shared<FlowSpec>]) -> Result<Option<Named>, ScenarioError> {
        let key = fields.key("controller");
        if self.compared {
            return fields
                .get("controller")
                .map(|node| controller(node, &key, &setups(all(specs)), self.folder))
                .transpose();
        }
        let rapid = Value::Text("rapid".to_string());
        let node = fields.expected("controller", "a controller like \"rapid\"", rapid);
        controller(node, &key, &setups(all(specs)), self.folder).map(Some)
    }

    /// Returns the links that data cross, and those that their acknowledgments cross.
    fn ways(&self, fields: &mut Fields<'_>) -> Result<(Vec<usize>, Vec<usize>), ScenarioError> {
        const EXPECTED: &str = "\"forward\", or \"back\" where [path.return] is there";
        let key = fields.key("direction");
        let direction = fields.get("direction").map(|node| text(node, &key, EXPECTED)).transpose()?;
        let Network { through: there, back: returning, .. } = self.network;
        let (there, returning) = match direction.as_deref() {
            None | Some("forward") => (there, returning),
            Some("back") if !returning.is_empty() => (returning, there),
            Some(other) => return Err(fields.refuse("direction", format!("\"{other}\""), EXPECTED)),
        };
        let route = route(fields, self.network, there)?;
        let back = back_for_acknowledgments(fields, self.network, &route, returning)?;
        Ok((route, back))
    }

    /// Returns the base round-trip times, one per flow: the given ones, or the delays there and back.
    fn rtts(
        &self,
        fields: &mut Fields<'_>,
        route: &[usize],
        back: &[usize],
        count: usize,
    ) -> Result<Vec<Span>, ScenarioError> {
        let one_way = delay(route, self.network).filter(|delay| delay.picos() <= u64::MAX / 2);
        let one_way = one_way.ok_or_else(|| fields.refuse("route", "delays beyond 100 days", "shorter links"))?;
        let returns = if back.is_empty() { None } else { delay(back, self.network) };
        let least = one_way + returns.unwrap_or(Span::ZERO);
        let key = fields.key("rtt");
        let Some(node) = fields.get("rtt") else {
            return Ok(vec![one_way + returns.unwrap_or(one_way); count]);
        };
        let rtts = each(node, &key, count, |node| {
            let rtt: Span = quantity(node, &key, Zero::Allowed)?;
            if rtt < least {
                let way = if back.is_empty() { "the one-way delay of its route" } else { "the delays there and back" };
                let expected = format!("at least {least}, {way}");
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

/// Flows like this one, with a round-trip time and a start for each; neighbours that are alike share a description.
fn described(like: &FlowSpec, rtts: &[Span], starts: &[Start]) -> Vec<Shared<FlowSpec>> {
    let mut flows: Vec<Shared<FlowSpec>> = Vec::with_capacity(starts.len());
    for (rtt, start) in rtts.iter().zip(starts) {
        let flow = match flows.last() {
            Some(last) if last.rtt == *rtt && last.start == *start => last.clone(),
            _ => FlowSpec { rtt: *rtt, start: *start, ..like.clone() }.into(),
        };
        flows.push(flow);
    }
    flows
}

/// Puts a controller into flows. Neighbours that share a description go on sharing.
pub(crate) fn controlled<'a>(flows: impl Iterator<Item = &'a mut Shared<FlowSpec>>, controller: &ControllerSpec) {
    let mut last: Option<(Shared<FlowSpec>, Shared<FlowSpec>)> = None;
    for flow in flows {
        let with = match &last {
            Some((without, with)) if without.is(flow) => with.clone(),
            _ => FlowSpec { controller: controller.clone(), ..(**flow).clone() }.into(),
        };
        last = Some((std::mem::replace(flow, with.clone()), with));
    }
}

/// The descriptions of flows, each once that neighbours share.
pub(crate) fn all(flows: &[Shared<FlowSpec>]) -> impl Iterator<Item = &FlowSpec> {
    flows.chunk_by(Shared::is).map(|alike| alike[0].deref())
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
