//! What hosts remark of flows beside the names of their controllers, in brackets: `rapid (fell back to cubic: ...)`.

use super::{FlowResult, Run};
use std::collections::BTreeMap;

/// What the host remarks of a flow, without the brackets.
pub fn remark(flow: &FlowResult) -> Option<&str> {
    flow.kind.strip_suffix(')')?.split_once(" (").map(|(_, remark)| remark)
}

/// One sentence for each remark, with how many of the flows of that controller it holds for.
pub fn remarks(runs: &[Run]) -> Vec<String> {
    let (mut all, mut remarked) = (BTreeMap::<&str, usize>::new(), BTreeMap::<(&str, &str), usize>::new());
    for flow in runs.iter().flat_map(|run| &run.flows) {
        *all.entry(&flow.controller).or_default() += 1;
        if let Some(remark) = remark(flow) {
            *remarked.entry((&flow.controller, remark)).or_default() += 1;
        }
    }
    let said = |((controller, remark), count)| format!("{controller}, {count} of {} flows: {remark}", all[controller]);
    remarked.into_iter().map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kinds: &[&str]) -> Run {
        let flow = |kind: &&str| FlowResult {
            controller: kind.split(' ').next().unwrap_or_default().to_string(),
            kind: kind.to_string(),
            ..FlowResult::default()
        };
        Run { flows: kinds.iter().map(flow).collect(), ..Run::default() }
    }

    #[test]
    fn remark_is_printed_once_with_its_flows() {
        let runs = [run(&["cubic", "rapid (fell back to cubic: no stamps)"]), run(&["cubic", "rapid"])];
        assert_eq!(remarks(&runs), ["rapid, 1 of 2 flows: fell back to cubic: no stamps"]);
    }

    #[test]
    fn flows_without_remark_print_nothing() {
        assert!(remarks(&[run(&["cubic", "rapid"])]).is_empty());
    }
}
