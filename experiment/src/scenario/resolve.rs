//! Resolves one point of the sweep: turns the tree into everything a run needs except its controller and its seed.

use crate::scenario::controllers::{Named, controller, setups};
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{Place, ScenarioError};
use crate::scenario::fields::Fields;
use crate::scenario::flows::{Flows, all, flows};
use crate::scenario::hosts::{receiver, sender};
use crate::scenario::links::{links, network};
use crate::scenario::model::{Experiment, GapModel};
use crate::scenario::probe::{alone, probe};
use crate::scenario::record::record;
use crate::scenario::run::{RunSection, run};
use crate::scenario::traffic::traffic;
use packetscale_models::congestion::Setup;
use std::collections::BTreeMap;
use std::path::Path;

/// A point of the sweep, resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SweepPoint {
    pub run: RunSection,
    /// A run without `controller`, `params`, `replication` and `seed`, and without the flows' controllers where
    /// `compared` will put them.
    pub template: Experiment,
    /// The label of the flows' own controllers together.
    pub label: String,
    /// The controllers of `[compare]`; empty: the flows keep their own.
    pub compared: Vec<Named>,
}

/// Resolves a document, and completes it with the defaults. `name` is the scenario's name unless it sets
/// one; `folder` is where the files it names are.
pub(crate) fn resolve(document: &mut Table, name: &str, folder: &Path) -> Result<SweepPoint, ScenarioError> {
    document.check_sections()?;
    let run = run(document, name)?;
    let network = network(document, folder)?;
    let receiver = receiver(document)?;
    let sender = sender(document)?;
    let Flows { lasting: flows, labels, arriving } = flows(document, &network, &sender, run.duration, folder)?;
    let traffic = traffic(document, &network, &sender, run.duration, folder)?;
    let probe = probe(document, run.duration - run.warmup, network.access)?;
    if flows.is_empty() && arriving.is_empty() && traffic.is_empty() && probe.is_none() {
        let expected = "a table [[flow]], [[traffic]] or [probe]: something to send";
        return Err(ScenarioError::at(&Place::Line(1), "flow", "nothing", expected));
    }
    let clocked = all(&flows).any(|flow| flow.application.is_none()) || !arriving.is_empty();
    if matches!(sender.gaps, GapModel::BusyWait(_)) && clocked {
        let expected = "another model, or an application for every flow: this host sends before their \
                        controller allows it";
        return Err(ScenarioError::at(&Place::Line(1), "sender.gaps", "\"busy-wait\" with flows", expected));
    }
    let label = label(labels.iter().chain(arriving.iter().map(|(_, label)| label)));
    let arrivals: Vec<_> = arriving.into_iter().map(|(arrivals, _)| arrivals).collect();
    let all: Vec<_> = all(&flows).chain(arrivals.iter().map(|arrivals| &arrivals.flow)).collect();
    let compared = compared(document, &setups(all.iter().copied()), folder)?;
    let crossed = network.crossed(&all, &traffic);
    let links = links(network, &all, &traffic)?;
    alone(document, &links, all.len(), &traffic)?;
    let (record, measured) = record(document, &run, &links, &crossed)?;
    let template = Experiment {
        controller: String::new(),
        params: BTreeMap::new(),
        replication: 0,
        seed: 0,
        duration: run.duration,
        warmup: run.warmup,
        bottleneck: measured,
        links,
        receiver,
        gaps: sender.gaps,
        flows,
        arrivals,
        traffic,
        probe,
        record,
    };
    Ok(SweepPoint { run, template, label, compared })
}

/// Returns `rapid`, or `rapid + cubic` where the flows differ.
fn label<'a>(of: impl Iterator<Item = &'a Option<String>>) -> String {
    let mut labels: Vec<&str> = Vec::new();
    for label in of.filter_map(Option::as_deref) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    if labels.is_empty() { "none".to_string() } else { labels.join(" + ") }
}

fn compared(document: &mut Table, setups: &[Setup], folder: &Path) -> Result<Vec<Named>, ScenarioError> {
    const KEY: &str = "compare.controllers";
    const EXPECTED: &str = "a list of controllers like [\"rapid\", \"cubic\"]";
    let Some(node) = document.node_mut("compare") else {
        return Ok(Vec::new());
    };
    let mut fields = Fields::of(node, "compare", "a table [compare]")?;
    let example = Node { value: Value::Text("rapid".to_string()), place: Place::Line(1) };
    let list = fields.expected("controllers", EXPECTED, Value::List(vec![example]));
    let nodes = match &list.value {
        Value::List(nodes) if !nodes.is_empty() => nodes,
        Value::List(_) => return Err(ScenarioError::at(&list.place, KEY, "an empty list", EXPECTED)),
        other => return Err(ScenarioError::at(&list.place, KEY, other.described(), EXPECTED)),
    };
    let compared = distinct(nodes, KEY, setups, folder)?;
    fields.finish()?;
    Ok(compared)
}

fn distinct(nodes: &[Node], key: &str, setups: &[Setup], folder: &Path) -> Result<Vec<Named>, ScenarioError> {
    let mut compared: Vec<Named> = Vec::new();
    for node in nodes {
        let named = controller(node, key, setups, folder)?;
        if compared.iter().any(|other| other.label == named.label) {
            let found = format!("\"{}\" twice", named.label);
            return Err(ScenarioError::at(
                &node.place,
                key,
                found,
                "each controller once, or a different \"label\" for each",
            ));
        }
        compared.push(named);
    }
    Ok(compared)
}
