use super::*;
use crate::example;

#[test]
fn a_band_ends_where_values_do() {
    let of = |mean, half, is_part| band(Interval { mean, half_width: Some(half) }, is_part);
    assert_eq!(of(0.02, 0.05, false).map(|band| band.0), Some(0.0));
    assert_eq!(of(0.75, 0.5, true), Some((0.25, 1.0)));
    assert_eq!(of(0.25, 0.5, true), Some((0.0, 0.75)));
    assert_eq!(of(1.5, 0.25, true), Some((1.25, 1.75)), "above 100 %, which the text explains");
    assert_eq!(of(2.0, 0.5, false), Some((1.5, 2.5)));
    let parts = |name: &str| SUMMARY.iter().find(|figure| figure.name == name).is_some_and(is_part);
    assert!(parts("fairness_jain") && parts("utilisation") && !parts("slowdown_mean"));
}

#[test]
fn draws_available_once_if_equal_to_capacity() {
    let mut results = example::sweep();
    let labels = |results: &Results| sweep(results).unwrap().charts.iter().map(|c| c.label).collect::<Vec<_>>();
    for run in &mut results.runs {
        (run.summary.available_share, run.summary.utilisation) = (Some(0.5), Some(0.5));
    }
    assert!(!labels(&results).contains(&"Share of available") && labels(&results).contains(&"Utilisation"));
    results.runs[0].summary.available_share = Some(0.75);
    assert!(labels(&results).contains(&"Share of available"));
}

#[test]
fn swept_number_gives_line_per_controller() {
    let sweep = sweep(&example::sweep()).unwrap();
    assert_eq!((sweep.key.as_str(), sweep.unit.as_str()), ("path.buffer", "packets"));
    let panels = &sweep.charts[0].panels;
    assert_eq!((panels.len(), panels[0].title.as_str()), (1, ""));
    let line = &panels[0].lines[0];
    assert_eq!(line.points.iter().map(|p| p.0).collect::<Vec<_>>(), [5.0, 10.0, 20.0, 40.0]);
    assert!(line.points.iter().all(|p| p.2.is_some()));
}

#[test]
fn a_second_key_gives_small_multiples() {
    let mut results = example::sweep();
    let slow = results.runs.clone();
    let with = |rate: &'static str| {
        move |run: &mut experiment::results::Run| {
            run.params.insert("path.rate".to_string(), rate.to_string());
        }
    };
    results.runs.iter_mut().for_each(with("10 Gbit/s"));
    results.runs.extend(slow);
    results.runs.iter_mut().filter(|run| run.params.len() == 1).for_each(with("1 Gbit/s"));
    let sweep = sweep(&results).unwrap();
    assert_eq!(sweep.key, "path.buffer", "it has more values");
    let titles: Vec<&str> = sweep.charts[0].panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["10 Gbit/s", "1 Gbit/s"]);
    assert_eq!(sweep.charts[0].panels[1].lines[1].points.len(), 4);
}

/// Two ways: data go there and back, and both queues were recorded.
#[test]
fn separate_links_have_separate_queue_panels() {
    let mut results = example::sweep();
    assert_eq!(at_links(&results), None, "no links");
    for run in &mut results.runs {
        let link = |name: &str, wait| experiment::results::LinkResult {
            name: name.to_string(),
            queue_delay_p95_s: Some(wait),
            ..experiment::results::LinkResult::default()
        };
        run.links = [("there", 0.25), ("back", 0.5), ("answers", 0.125), ("unused", 0.0)]
            .map(|(name, wait)| link(name, wait))
            .to_vec();
        run.measured = "there".to_string();
        run.flows = ["there", "back"].map(flow_over).to_vec();
    }
    let panels = &at_links(&results).unwrap().charts[0].panels;
    assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["there", "back", "answers"]);
    assert!(links::left_out_note(&results.runs).ends_with("waited there: unused."));
    assert_eq!(panels[1].lines[0].points.iter().map(|p| p.0).collect::<Vec<_>>(), [5.0, 10.0, 20.0, 40.0]);
    assert!(panels[1].lines[0].points.iter().all(|point| point.1 == 0.5));
    results.runs.iter_mut().for_each(|run| run.flows = ["there", "there, back"].map(flow_over).to_vec());
    assert_eq!(at_links(&results), None, "all share the measured link");
}

fn flow_over(route: &str) -> experiment::results::FlowResult {
    experiment::results::FlowResult { route: route.to_string(), ..experiment::results::FlowResult::default() }
}

#[test]
fn flow_throughput_has_panel_per_route() {
    let mut results = example::sweep();
    let got = |(route, bps)| experiment::results::FlowResult { throughput_bps: Some(bps), ..flow_over(route) };
    results.runs.iter_mut().for_each(|run| run.flows = [("there", 1e6), ("back", 4e6)].map(got).to_vec());
    let found = by_way(&results, &Network::default()).unwrap();
    let panels = &found.charts[0].panels;
    assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["there", "back"]);
    let points: Vec<(f64, f64)> = panels[1].lines[0].points.iter().map(|point| (point.0, point.1)).collect();
    assert_eq!(points, [(5.0, 4e6), (10.0, 4e6), (20.0, 4e6), (40.0, 4e6)]);
    results.runs.iter_mut().for_each(|run| run.params.clear());
    let found = by_way(&results, &Network::default()).unwrap();
    assert_eq!(
        (found.key.as_str(), found.names, found.charts[0].panels.len()),
        ("way", vec!["there".to_string(), "back".to_string()], 1)
    );
    let points: Vec<(f64, f64)> =
        found.charts[0].panels[0].lines[0].points.iter().map(|point| (point.0, point.1)).collect();
    assert_eq!(points, [(0.0, 1e6), (1.0, 4e6)]);
    results.runs.iter_mut().for_each(|run| run.flows.truncate(1));
    assert_eq!(by_way(&results, &Network::default()), None, "one way");
}

#[test]
fn competing_controllers_show_shares_first() {
    let mut results = example::sweep();
    let share = |(controller, share): (&str, f64)| experiment::results::ControllerShare {
        controller: controller.to_string(),
        share: Some(share),
        ..experiment::results::ControllerShare::default()
    };
    results.runs.iter_mut().for_each(|run| run.shares = [("rapid", 0.25), ("cubic", 0.75)].map(share).to_vec());
    let chart = &sweep(&results).unwrap().charts[0];
    assert_eq!((chart.label, chart.panels.len()), ("Share of each controller", 1));
    let lines: Vec<(&str, f64)> =
        chart.panels[0].lines.iter().map(|line| (line.controller.as_str(), line.points[0].1)).collect();
    assert_eq!(lines, [("rapid", 0.25), ("cubic", 0.75)]);
}

#[test]
fn single_value_is_no_sweep() {
    let mut results = example::sweep();
    for (run, queue) in results.runs.iter_mut().zip(["fifo", "red", "pie"].into_iter().cycle()) {
        run.params = BTreeMap::from([("path.queue".to_string(), queue.to_string())]);
    }
    let found = sweep(&results).unwrap();
    assert_eq!(found.names, ["fifo", "red", "pie"]);
    let xs: Vec<f64> = found.charts[0].panels[0].lines[0].points.iter().map(|point| point.0).collect();
    assert_eq!(xs, [0.0, 1.0, 2.0]);
    results
        .runs
        .iter_mut()
        .for_each(|run| run.params = BTreeMap::from([("path.queue".to_string(), "red".to_string())]));
    assert_eq!(sweep(&results), None);
    assert_eq!(sweep(&example::demo()), None);
}

#[test]
fn omits_empty_panels() {
    let mut results = example::sweep();
    let of = |key: &str, value: &str| BTreeMap::from([(key.to_string(), value.to_string())]);
    // As if two results were on one page: one has swept numbers, the other words.
    let rates = ["1 Mbit/s", "2 Mbit/s"].map(|rate| of("path.rate", rate));
    let queues = ["fifo", "red"].map(|queue| of("path.queue", queue));
    let params: Vec<_> = rates.into_iter().chain(queues).collect();
    results.runs.iter_mut().zip(params.into_iter().cycle()).for_each(|(run, params)| run.params = params);
    let found = sweep(&results).expect("rates are swept");
    let panels: Vec<&Panel> = found.charts.iter().flat_map(|chart| &chart.panels).collect();
    assert!(!panels.is_empty() && panels.iter().all(|panel| panel.lines.iter().any(|line| !line.points.is_empty())));
    results.runs.iter_mut().for_each(|run| run.summary = Default::default());
    assert_eq!(sweep(&results), None);
}
