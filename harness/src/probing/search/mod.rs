//! Whole searches over a host's path: each method steers the streams of a separate search, run by run.

mod table;

pub use table::{search_table, summary_table, write};

use crate::probing::judge::put;
use crate::probing::{ProbeHost, Prober, ProbingError, Reader, Scored};
use experiment::results::Interval;
use experiment::scenario::{Experiment, ProbeSpec, SearchTool};
use packetscale_models::estimation::{Ended, Found, Method, Sender, Stream, Tool, Tuning, find};
use packetscale_models::units::{Rate, Span};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One search, and what was available while it was under way.
pub struct Search {
    /// Swept keys and their values, and the method.
    pub key: BTreeMap<String, String>,
    /// Replication.
    pub run: u32,
    /// The result, and why the search ended.
    pub found: Found,
    /// The available rate from its first packet to its last.
    pub available: Rate,
    /// How long that took.
    pub time: Span,
    /// The streams it sent.
    pub sent: Vec<Sent>,
}

/// One stream of a search.
pub struct Sent {
    /// Its mean rate.
    pub rate: Rate,
    /// How many packets it had.
    pub packets: u32,
    /// Available while it was under way.
    pub available: Rate,
    /// The method's estimate, in words.
    pub said: String,
}

/// Makes the searches of a plan: all runs of a point with one method, then the next method; without any, the search's own.
///
/// # Errors
/// A method that does not exist, a plan without a search, or a host that cannot send.
pub fn all(host: &dyn ProbeHost, plan: &[Experiment], methods: &[String]) -> Result<Vec<Search>, ProbingError> {
    let mut asked: Vec<(&Experiment, Option<&String>, u32)> = Vec::new();
    for point in plan.chunk_by(|a, b| a.params == b.params) {
        let own = methods.is_empty().then_some(None);
        for method in own.into_iter().chain(methods.iter().map(Some)) {
            asked.extend(point.iter().zip(0..).map(|(experiment, run)| (experiment, method, run)));
        }
    }
    asked.into_par_iter().map(|(experiment, method, run)| one(host, experiment, method, run)).collect()
}

/// The search's tool, and the method that reads its streams unless the user names another.
fn tool(spec: &ProbeSpec) -> Result<(Tool, Rate, &'static str), ProbingError> {
    let none = || ProbingError::Sending("probe.search: found nothing, expected a search".into());
    let search = spec.search.ok_or_else(none)?;
    let (tool, own) = match search.tool {
        SearchTool::Pathload { fleet, agree } => (Tool::Pathload { fleet, packets: spec.packets, agree }, "pathload"),
        SearchTool::PrcMt { shortest, longest, agree, step } => {
            (Tool::PrcMt(Tuning { shortest, longest, agreement: agree, resolution: step }), "prc-mt")
        }
    };
    Ok((tool, search.resolution, own))
}

fn one(
    host: &dyn ProbeHost,
    experiment: &Experiment,
    method: Option<&String>,
    run: u32,
) -> Result<Search, ProbingError> {
    let none = || ProbingError::Sending("probe: found nothing, expected probe streams".into());
    let spec = experiment.probe.as_ref().ok_or_else(none)?;
    let (tool, resolution, own) = tool(spec)?;
    let reader = Reader::named(method.map_or(own, String::as_str))?;
    let Some(method) = reader.reading() else {
        let found = &reader.name;
        return Err(ProbingError::Method(format!("found \"{found}\", expected a method that reads streams")));
    };
    let mut sender = Recorder { prober: host.prober(experiment)?, method, sent: Vec::new() };
    let found = find(&tool, method, (spec.slowest, spec.fastest), resolution, &mut sender);
    let (time, available) = sender.prober.available();
    sender.prober.check()?;
    let mut key = experiment.params.clone();
    key.insert("method".to_string(), reader.name.clone());
    Ok(Search { key, run, found, available, time, sent: sender.sent })
}

/// Sends, and writes down what was sent.
struct Recorder<'a> {
    prober: Box<dyn Prober>,
    method: &'a Method,
    sent: Vec<Sent>,
}

impl Sender for Recorder<'_> {
    fn send(&mut self, packets: u32, rate: Rate) -> Option<Stream> {
        let probe = self.prober.send(packets, rate)?;
        let said = match self.method.estimate(probe.stream()) {
            Ok(estimate) if estimate.high.is_some() => "too high".to_string(),
            Ok(_) => "not too high".to_string(),
            Err(reason) => reason.to_string(),
        };
        self.sent.push(Sent { rate, packets, available: probe.truth, said });
        Some(probe.stream())
    }
}

impl Search {
    /// Why it ended, in a few words.
    pub fn ended(&self) -> String {
        match self.found.ended {
            Ended::Found => "found".to_string(),
            Ended::Stopped => "out of time".to_string(),
            Ended::Unread(reason) => format!("unread: {reason}"),
            Ended::NoLength(error) => error.to_string(),
        }
    }

    /// Its figures, with its point and run.
    pub fn figures(&self) -> Value {
        let found = &self.found;
        let grey = found.grey.map(|(low, high)| [low.bps(), high.bps()]);
        json!({
            "point": self.key, "run": self.run, "low_bps": found.low.bps(), "high_bps": found.high.bps(),
            "grey_bps": grey, "available_bps": self.available.bps(), "holds": self.holds(),
            "streams": self.sent.len(), "packets": self.packets(), "stream_packets": found.packets,
            "adr_bps": found.adr.map(Rate::bps), "time_s": self.time.as_secs_f64(), "ended": self.ended(),
        })
    }

    /// Packets of all its streams.
    pub fn packets(&self) -> u64 {
        self.sent.iter().map(|sent| u64::from(sent.packets)).sum()
    }

    /// Whether the available rate is between low and high.
    pub fn holds(&self) -> bool {
        (self.found.low..=self.found.high).contains(&self.available)
    }

    /// The middle of the interval, beyond what was available, as a part of that.
    fn error(&self) -> f64 {
        let middle = (self.found.low.bps() as f64 + self.found.high.bps() as f64) / 2.0;
        middle / self.available.bps().max(1) as f64 - 1.0
    }

    fn width(&self) -> f64 {
        (self.found.high - self.found.low).bps() as f64 / self.available.bps().max(1) as f64
    }
}

/// Figures of all runs of each point and method. Those with `_half_width` are half of the 95 % interval over the runs.
pub fn scores(searches: &[Search]) -> Vec<Scored> {
    searches.chunk_by(|a, b| a.key == b.key).map(|runs| (runs[0].key.clone(), score(runs))).collect()
}

fn score(runs: &[Search]) -> Value {
    let found: Vec<&Search> = runs.iter().filter(|search| search.found.ended == Ended::Found).collect();
    let mut figures = Map::new();
    figures.insert("searches".into(), json!(runs.len()));
    figures.insert("found".into(), json!(found.len() as f64 / runs.len() as f64));
    let mut mean_of_some = |name: &str, figure: &dyn Fn(&Search) -> Option<f64>| {
        let each: Vec<f64> = found.iter().filter_map(|search| figure(search)).filter(|x| x.is_finite()).collect();
        put(&mut figures, name, Interval::of(&each).map(|interval| interval.mean), &each);
    };
    let share = |is: bool| f64::from(u8::from(is));
    let adr = |search: &Search| search.found.adr.map(|adr| adr.bps() as f64);
    let mut mean = |name: &str, figure: &dyn Fn(&Search) -> f64| mean_of_some(name, &|search| Some(figure(search)));
    mean("low_bps", &|search| search.found.low.bps() as f64);
    mean("high_bps", &|search| search.found.high.bps() as f64);
    mean("available_bps", &|search| search.available.bps() as f64);
    mean("width", &Search::width);
    mean("error", &Search::error);
    mean("absolute_error", &|search| search.error().abs());
    mean("within_10", &|search| share(search.error().abs() <= 0.1));
    mean("holds", &|search| share(search.holds()));
    mean("grey", &|search| share(search.found.grey.is_some()));
    mean("streams", &|search| search.sent.len() as f64);
    mean("packets", &|search| search.packets() as f64);
    mean("stream_packets", &|search| f64::from(search.found.packets));
    mean("time_s", &|search| search.time.as_secs_f64());
    mean_of_some("adr_bps", &adr);
    mean_of_some("adr_over_available", &|search| Some(adr(search)? / search.available.bps() as f64));
    Value::Object(figures)
}
