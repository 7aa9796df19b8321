//! Where the command meets the hosts and the report.

use results::{Results, Run};
use scenario::Experiment;

/// Makes one run in virtual time.
pub fn simulate(experiment: &Experiment) -> Result<Run, String> {
    simulator::run(experiment).map_err(|error| error.to_string())
}

/// The page.
pub fn page(results: &Results) -> String {
    report::page(results)
}
