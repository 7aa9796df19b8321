//! Where the command meets the hosts and the report.

use results::{Results, Run};
use scenario::Experiment;

/// Makes one run in virtual time. STAND-IN: returns invented figures drawn from the seed until the simulator is here.
pub fn simulate(experiment: &Experiment) -> Result<Run, String> {
    let draw = experiment.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let share = 0.9 + draw as f64 / 16_777_216.0 / 100.0;
    let kind = experiment.flows.first().map_or("", |flow| flow.controller.kind.as_str());
    let rate = experiment.links[experiment.bottleneck].rate.bps() as f64;
    Ok(Run {
        controller: experiment.controller.clone(),
        colour: congestion::find(kind).map_or("#000000", |entry| entry.colour).to_string(),
        seed: experiment.seed,
        replication: experiment.replication,
        params: experiment.params.clone(),
        summary: results::Summary { throughput_bps: rate * share, utilisation: share, ..Default::default() },
        flows: Vec::new(),
        traffic: Vec::new(),
        series: Vec::new(),
        queue_delay: Default::default(),
        streams: Vec::new(),
    })
}

/// The page. STAND-IN until the report is here.
pub fn page(_results: &Results) -> String {
    String::from("<!doctype html><title>packetscale</title>")
}
