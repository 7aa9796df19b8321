//! Expectations: checked against the plan before the runs, and against the results afterwards.

use crate::results::{ExpectationOutcome, Group, Run, Summary};
use crate::scenario::Experiment;
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::{ScenarioError, listed, perhaps};
use crate::scenario::fields::{Fields, number, text};
use crate::scenario::links::tables;
use crate::scenario::model::Expectation;
use crate::scenario::sweep::Axis;
use std::collections::BTreeMap;

/// Reads every `[[expect]]`. Errors: conditions that cannot select any run.
pub(crate) fn expectations(
    document: &mut Table,
    axes: &[Axis],
    controllers: &[String],
) -> Result<Vec<Expectation>, ScenarioError> {
    let mut expectations = Vec::new();
    for (index, node) in tables(document, "expect")?.iter_mut().enumerate() {
        let name = format!("expect.{index}");
        let mut fields = Fields::of(node, &name, "a table [[expect]]")?;
        let metric = metric(&mut fields)?;
        let conditions = match fields.get("where") {
            Some(selection) => conditions(selection, &format!("{name}.where"), axes, controllers)?,
            None => BTreeMap::new(),
        };
        let (at_least, at_most) = (bound(&mut fields, "at_least")?, bound(&mut fields, "at_most")?);
        let refused = unusable(&fields, at_least, at_most);
        let why_key = fields.key("why");
        let why =
            fields.get("why").map(|words| text(words, &why_key, "the source of the bound, as text")).transpose()?;
        // A mistyped bound is an unknown key first.
        fields.finish()?;
        refused.map_or(Ok(()), Err)?;
        expectations.push(Expectation { metric, conditions, at_least, at_most, why: why.unwrap_or_default() });
    }
    Ok(expectations)
}

/// Bounds that are missing or exclude each other.
fn unusable(fields: &Fields<'_>, at_least: Option<f64>, at_most: Option<f64>) -> Option<ScenarioError> {
    match (at_least, at_most) {
        (None, None) => Some(fields.refuse("metric", "no bound", "\"at_least\", \"at_most\" or both")),
        (Some(least), Some(most)) if least > most => {
            let found = format!("{least} above at_most = {most}");
            Some(fields.refuse("at_least", found, "no more than \"at_most\""))
        }
        _ => None,
    }
}

fn metric(fields: &mut Fields<'_>) -> Result<String, ScenarioError> {
    const EXPECTED: &str = "a figure of the summary like \"utilisation\"";
    let key = fields.key("metric");
    let example = Value::Text("utilisation".to_string());
    let metric = text(fields.expected("metric", EXPECTED, example), &key, EXPECTED)?;
    let names = Summary::metrics;
    if !names().any(|name| name == metric) {
        let found = format!("the unknown figure \"{metric}\"{}", perhaps(&metric, names()));
        return Err(fields.refuse("metric", found, format!("one of {}", listed(names()))));
    }
    Ok(metric)
}

fn bound(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<f64>, ScenarioError> {
    let name = fields.key(key);
    fields.get(key).map(|node| number(node, &name, "a number in the unit of the metric")).transpose()
}

fn conditions(
    node: &Node,
    key: &str,
    axes: &[Axis],
    controllers: &[String],
) -> Result<BTreeMap<String, String>, ScenarioError> {
    const EXPECTED: &str = "a table like { controller = \"rapid\" }";
    let Value::Table(table) = &node.value else {
        return Err(ScenarioError::at(&node.place, key, node.value.described(), EXPECTED));
    };
    let mut conditions = BTreeMap::new();
    for entry in &table.entries {
        let name = format!("{key}.{}", entry.key);
        let known: Vec<String> = if entry.key == "controller" {
            controllers.to_vec()
        } else if let Some(axis) = axes.iter().find(|axis| axis.key == entry.key) {
            axis.values.iter().map(|choice| choice.shown.clone()).collect()
        } else {
            let keys = || axes.iter().map(|axis| axis.key.as_str()).chain(["controller"]);
            let found = format!("a key that is not swept{}", perhaps(&entry.key, keys()));
            return Err(ScenarioError::at(&entry.key_place, name, found, format!("one of {}", listed(keys()))));
        };
        let value = entry.node.value.plain();
        if !known.contains(&value) {
            let names = || known.iter().map(String::as_str);
            let found = format!("{}, which selects no run{}", entry.node.value.described(), perhaps(&value, names()));
            return Err(ScenarioError::at(&entry.node.place, name, found, format!("one of {}", listed(names()))));
        }
        conditions.insert(entry.key.clone(), value);
    }
    Ok(conditions)
}

impl Expectation {
    /// Checks the mean over the replications of every selected group of runs, and reports the worst group. The
    /// expectation is missed if a group lacks the figure.
    pub fn check(&self, runs: &[Run]) -> ExpectationOutcome {
        let groups = crate::results::groups(runs);
        let selected: Vec<&Group<'_>> =
            groups.iter().filter(|group| self.selects(group.controller, group.params)).collect();
        let means: Vec<Option<f64>> = selected.iter().map(|group| group.mean(&self.metric)).collect();
        let worst = (0..means.len()).min_by(|a, b| self.margin(means[*a]).total_cmp(&self.margin(means[*b])));
        let found = worst.and_then(|at| means[at]);
        ExpectationOutcome {
            metric: self.metric.clone(),
            selected: match worst {
                Some(_) if selected.len() > 1 && means.iter().all(|mean| *mean == found) => {
                    format!("all {}", selected.len())
                }
                Some(at) => format!("{}{}", selected[at].name(), among(selected.len())),
                None => "no run".to_string(),
            },
            bound: self.bound(),
            found,
            met: found.is_some_and(|found| self.margin(Some(found)) >= 0.0),
            why: self.why.clone(),
        }
    }

    /// Whether it is about this run.
    pub fn is_about(&self, run: &Experiment) -> bool {
        self.selects(&run.controller, &run.params)
    }

    fn selects(&self, controller: &str, params: &BTreeMap<String, String>) -> bool {
        self.conditions.iter().all(|(key, value)| match key.as_str() {
            "controller" => controller == value,
            _ => params.get(key) == Some(value),
        })
    }

    /// Returns the distance of `found` from the nearest bound; negative outside.
    fn margin(&self, found: Option<f64>) -> f64 {
        let Some(found) = found else {
            return f64::NEG_INFINITY;
        };
        let above = self.at_least.map_or(f64::INFINITY, |bound| found - bound);
        let below = self.at_most.map_or(f64::INFINITY, |bound| bound - found);
        above.min(below)
    }

    fn bound(&self) -> String {
        let at_least = self.at_least.map(|bound| format!("at least {bound}"));
        let at_most = self.at_most.map(|bound| format!("at most {bound}"));
        at_least.into_iter().chain(at_most).collect::<Vec<_>>().join(" and ")
    }
}

fn among(groups: usize) -> String {
    if groups > 1 { format!(", the worst of {groups}") } else { String::new() }
}
