//! The path of a dumbbell, or the links of a chain or a graph.

use crate::scenario::choice::{Choice, Registry};
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{Place, ScenarioError};
use crate::scenario::fields::{Fields, Zero, quantity, text};
use crate::scenario::graph::{Graph, joins};
use crate::scenario::impairments::{impairments, loss};
use crate::scenario::model::{Buffer, FlowSpec, Impairments, LinkSpec, QueueSpec, TrafficSpec};
use crate::scenario::packet::HEADERS;
use crate::scenario::service::{BUCKETS, check_buckets, rate, service};
use packetscale_models::queueing::AnyQueue;
use packetscale_models::settings::Parameters;
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span};
use std::path::Path;

/// A link with a buffer that may be unknown until the flows are read.
#[derive(Clone)]
pub(crate) struct Draft {
    pub link: LinkSpec,
    /// Keys and values of the buffer and of the queue. A trial builds the queue once the buffer is known.
    buffer: (String, Node),
    queue: (String, Node),
    /// Keys of its token buckets, and where they are.
    buckets: [(String, Place); BUCKETS.len()],
    /// Keys of what lets packets overtake, and where they are.
    reorder: (String, Place),
    jitter: (String, Place),
}

/// The network of the scenario.
pub(crate) struct Network {
    pub links: Vec<Draft>,
    /// Rate of the senders' network cards.
    pub access: Option<Rate>,
    /// Whether the scenario has `[path]` rather than `[[link]]`.
    pub dumbbell: bool,
    /// The nodes that the links join, if they join nodes.
    pub graph: Option<Graph>,
    /// The links for data without a route; empty: the route is required.
    pub through: Vec<usize>,
    /// What their acknowledgments cross; none: they are only delayed.
    pub back: Vec<usize>,
}

/// Queues that only a kernel has, without settings: names and what they are.
pub const KERNEL_QUEUES: [(&str, &str); 3] = [
    ("cake", "on a kernel only: CAKE, a queue per flow and fairness between hosts, without its shaper (tc-cake)"),
    ("fq", "on a kernel only: a queue per flow, served in turns, drop-tail at 100 packets each (tc-fq)"),
    ("fq-pie", "on a kernel only: FQ-PIE, a queue per flow, served in turns, each under PIE (tc-fq_pie)"),
];

/// Names of the links of a dumbbell: of data, and on the way back.
const BOTTLENECK: &str = "bottleneck";
const RETURN: &str = "return";

pub(crate) fn network(document: &mut Table, folder: &Path) -> Result<Network, ScenarioError> {
    match (document.get("path"), document.get("link")) {
        (Some(_), Some(link)) => {
            let found = "both [path] and [[link]]";
            return Err(ScenarioError::at(&link.key_place, "link", found, "[path] for one link, [[link]] for a chain"));
        }
        (None, None) => {
            let expected = "a table [path], or a table [[link]] for each link of a chain";
            return Err(ScenarioError::at(&Place::Line(1), "path", "nothing", expected));
        }
        _ => {}
    }
    if let Some(node) = document.node_mut("path") {
        let mut fields = Fields::of(node, "path", "a table [path]")?;
        let access = fields.quantity_if("access", Zero::Refused)?;
        let mut links = vec![draft(&mut fields, BOTTLENECK.to_string(), folder, None)?];
        let delay = links[0].link.delay;
        if let Some(node) = fields.get("return") {
            let mut inner = Fields::of(node, "path.return", "a table [path.return]")?;
            links.push(draft(&mut inner, RETURN.to_string(), folder, Some(delay))?);
            inner.finish()?;
        }
        fields.finish()?;
        let back = (1..links.len()).collect();
        return Ok(Network { links, access, dumbbell: true, graph: None, through: vec![0], back });
    }
    let tables = tables(document, "link")?;
    let (mut links, mut graph) = (Vec::new(), joins(tables).then(Graph::default));
    for (index, node) in tables.iter_mut().enumerate() {
        let mut fields = Fields::of(node, &format!("link.{index}"), "a table [[link]]")?;
        match &mut graph {
            Some(graph) => joining(&mut fields, &mut links, graph, folder)?,
            None => {
                let example = Value::Text(format!("link-{index}"));
                let name = text(fields.expected("name", NAME, example), &format!("link.{index}.name"), NAME)?;
                add(&mut fields, &mut links, name, folder)?;
            }
        }
        fields.finish()?;
    }
    let through = if graph.is_some() { Vec::new() } else { (0..links.len()).collect() };
    Ok(Network { links, access: None, dumbbell: false, graph, through, back: Vec::new() })
}

/// Adds the link of a table that joins two nodes, and with `duplex` the same in the other direction.
fn joining(
    fields: &mut Fields<'_>,
    links: &mut Vec<Draft>,
    graph: &mut Graph,
    folder: &Path,
) -> Result<(), ScenarioError> {
    let key = fields.key("name");
    let given = fields.get("name").map(|node| text(node, &key, NAME)).transpose()?;
    let (from, to) = Graph::ends_of(fields)?;
    let (name, other_way) = crate::results::link_names(given.as_deref(), &from, &to);
    add(fields, links, name, folder)?;
    graph.join(&from, &to);
    if fields.switch_if("duplex")? == Some(true) {
        distinct(fields, links, &other_way)?;
        let mut same = links[links.len() - 1].clone();
        same.link.name = other_way;
        links.push(same);
        graph.join(&to, &from);
    }
    Ok(())
}

const NAME: &str = "a name like \"access\"";

/// Adds a link of this name.
fn add(fields: &mut Fields<'_>, links: &mut Vec<Draft>, name: String, folder: &Path) -> Result<(), ScenarioError> {
    distinct(fields, links, &name)?;
    links.push(draft(fields, name, folder, None)?);
    Ok(())
}

/// Refuses a name that another link has.
fn distinct(fields: &Fields<'_>, links: &[Draft], name: &str) -> Result<(), ScenarioError> {
    if links.iter().any(|other| other.link.name == name) {
        return Err(fields.refuse("name", format!("\"{name}\" twice"), "a different name for every link"));
    }
    Ok(())
}

/// Returns the tables of an array of tables; none if it is absent.
pub(crate) fn tables<'a>(document: &'a mut Table, section: &str) -> Result<&'a mut [Node], ScenarioError> {
    match document.node_mut(section) {
        None => Ok(&mut []),
        Some(Node { value: Value::List(items), .. }) => Ok(items),
        Some(node) => {
            let expected = format!("[[{section}]] with two brackets");
            Err(ScenarioError::at(&node.place, section, node.value.described(), expected))
        }
    }
}

/// `delay`: the default one; `None`: it has to be given.
fn draft(fields: &mut Fields<'_>, name: String, folder: &Path, delay: Option<Span>) -> Result<Draft, ScenarioError> {
    let (rate, variation) = rate(fields, folder)?;
    let delay = match delay {
        Some(delay) => fields.quantity_or("delay", &delay.to_string(), Zero::Allowed)?,
        None => fields.quantity("delay", Zero::Allowed)?,
    };
    let buffer = fields.or("buffer", Value::Text("1 bdp".to_string())).clone();
    let queue_key = fields.key("queue");
    let queue_node = fields.or("queue", Value::Text("fifo".to_string())).clone();
    let queue = queue(&queue_node, &queue_key)?;
    let (loss, bursts) = loss(fields)?;
    let impairments = Impairments { bursts, ..impairments(fields, folder)? };
    let service = service(fields, rate, variation)?;
    let link = LinkSpec { name, rate, delay, buffer: Buffer::Unlimited, queue, loss, impairments, service };
    let place = |key| (fields.key(key), fields.place(key));
    let (buckets, reorder, jitter) = (BUCKETS.map(place), place("reorder"), place("jitter"));
    Ok(Draft { link, buffer: (fields.key("buffer"), buffer), queue: (queue_key, queue_node), buckets, reorder, jitter })
}

impl Draft {
    /// The key that lets packets overtake, and where it is.
    fn overtaking(&self) -> Option<&(String, Place)> {
        let impairments = &self.link.impairments;
        let by_jitter = impairments.jitter.as_ref().is_some_and(|jitter| jitter.reorder);
        let reorder = impairments.reorder.is_some().then_some(&self.reorder);
        reorder.or(by_jitter.then_some(&self.jitter))
    }
}

fn queue(node: &Node, key: &str) -> Result<QueueSpec, ScenarioError> {
    let Choice { kind, settings, .. } = queues(&entries()).choose(node, key)?;
    Ok(QueueSpec { kind, settings })
}

fn entries() -> Vec<(&'static str, Parameters)> {
    let none: Parameters = &[];
    let registry = packetscale_models::queueing::registry().iter().map(|entry| (entry.name, entry.parameters));
    registry.chain(KERNEL_QUEUES.map(|(name, _)| (name, none))).collect()
}

fn queues<'a>(entries: &'a [(&'static str, Parameters)]) -> Registry<'a> {
    Registry {
        noun: "queue",
        expected: "a queue like \"fifo\" or { kind = \"fifo\", ... }",
        entries,
        others: &[],
        former: &[],
    }
}

/// Builds the discipline of a link as a trial, where it is one of the registry, so that a setting which it does not accept is refused with its line.
fn check_queue(draft: &Draft, buffer: Buffer, packet: Bytes) -> Result<(), ScenarioError> {
    let QueueSpec { kind, settings } = &draft.link.queue;
    let setup = packetscale_models::queueing::Setup { rate: draft.link.rate, limit: buffer.limit(), packet, seed: 0 };
    let (key, node) = &draft.queue;
    match AnyQueue::<()>::build(kind, &setup, settings) {
        Some(Err(error)) => Err(queues(&entries()).refused(node, key, &error)),
        // Built, or a kernel's.
        _ => Ok(()),
    }
}

/// Resolves the buffers, now that the flows are known: `"1 bdp"` is the rate times twice the delay of the path, or
/// times the largest base round-trip time of the flows that cross the link of a chain.
pub(crate) fn links(
    network: Network,
    flows: &[&FlowSpec],
    traffic: &[TrafficSpec],
) -> Result<Vec<LinkSpec>, ScenarioError> {
    let dumbbell = network.dumbbell;
    let resolved = network.links.into_iter().enumerate().map(|(index, draft)| {
        let crossing = flows.iter().filter(|flow| flow.route.contains(&index));
        let own = draft.link.delay.saturating_mul(2);
        let rtt = crossing.clone().map(|flow| flow.rtt).max().filter(|_| !dumbbell).unwrap_or(own);
        let others = traffic.iter().filter(|source| source.crosses(index)).map(|source| source.packet);
        let returning = flows.iter().filter(|flow| flow.back.contains(&index));
        let all = crossing.map(|flow| flow.packet).chain(returning.clone().map(|_| HEADERS)).chain(others);
        let largest = all.max().unwrap_or(Bytes::ZERO);
        if let Some((key, place)) = draft.overtaking().filter(|_| returning.count() > 0) {
            let found = "acknowledgments that overtake each other";
            return Err(ScenarioError::at(place, key, found, "no reordering on a way back"));
        }
        let buffer = buffer(&draft.buffer, draft.link.rate.amount_in(rtt), largest)?;
        check_queue(&draft, buffer, largest)?;
        check_buckets(&draft.link.service, largest, &draft.buckets)?;
        Ok(LinkSpec { buffer, ..draft.link })
    });
    resolved.collect()
}

fn buffer((key, node): &(String, Node), bdp: Bytes, largest: Bytes) -> Result<Buffer, ScenarioError> {
    const EXPECTED: &str = "a buffer like \"1 bdp\", \"100 packets\", \"2 MB\" or \"unlimited\"";
    let written = match &node.value {
        Value::Text(text) => text.trim(),
        Value::Integer(n) => {
            return Err(ScenarioError::at(&node.place, key, format!("{n}, a bare number"), EXPECTED));
        }
        other => return Err(ScenarioError::at(&node.place, key, other.described(), EXPECTED)),
    };
    if written == "unlimited" {
        return Ok(Buffer::Unlimited);
    }
    let bytes = if let Some(factor) = written.strip_suffix("bdp") {
        let factor = factor.trim_end().parse().ok().filter(|x: &f64| (0.0..=1e6).contains(x));
        let factor = factor.ok_or_else(|| ScenarioError::at(&node.place, key, node.value.to_string(), EXPECTED))?;
        bdp.scale(Ratio::from_f64(factor))
    } else if written.contains("packet") {
        return Ok(Buffer::Packets(quantity::<Packets>(node, key, Zero::Refused)?));
    } else {
        quantity::<Bytes>(node, key, Zero::Refused)
            .map_err(|error| ScenarioError { expected: EXPECTED.into(), ..error })?
    };
    if bytes == Bytes::ZERO || bytes < largest {
        let found = format!("{}, which is {bytes}", node.value);
        return Err(ScenarioError::at(&node.place, key, found, format!("at least {largest}, one packet")));
    }
    Ok(Buffer::Bytes(bytes))
}

impl Network {
    /// The candidates for the bottleneck: of the default links (in a graph, of all), those
    /// that data of flows cross, or of traffic without flows; all of them where nothing crosses any.
    pub fn crossed(&self, flows: &[&FlowSpec], traffic: &[TrafficSpec]) -> Vec<usize> {
        let crosses = |link: &usize| match flows {
            [] => traffic.iter().any(|source| source.crosses(*link)),
            flows => flows.iter().any(|flow| flow.route.contains(link)),
        };
        match self.graph {
            None if self.through.iter().any(crosses) => self.through.iter().copied().filter(crosses).collect(),
            None => self.through.clone(),
            Some(_) => (0..self.links.len()).filter(crosses).collect(),
        }
    }
}

/// Returns the slowest of these links; the first of several equal ones.
pub(crate) fn bottleneck(links: &[LinkSpec], among: &[usize]) -> usize {
    among.iter().copied().min_by_key(|index| links[*index].within_buckets(links[*index].rate)).unwrap_or(0)
}
