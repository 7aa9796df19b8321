//! Reads figures, refuses wrong ones, and compares them with results.

use experiment::results::reproduction::{self, Origin, Verdict};
use experiment::results::{Histogram, Run, Series, StreamRecord, Summary, TrafficResult};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use studies::papers::{Answer, Figure, Findings, GridQuestion, Library, Paper, Task};
use tempfile::TempDir;

const PAPER: &str =
    "title = \"A paper\"\nauthors = [\"A. Author\"]\npublished = \"Here, 2026\"\nabout = \"Nothing.\"\n";

const HEAD: &str = "title = \"Figure 1\"\nplace = \"section 1\"\nsays = \"So it is.\"\n";

const SIMULATE: &str = r#"
[[simulate]]
name = "runs"
scenario = '''
[run]
replications = 3

[path]
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
packet = "1000 B"

[compare]
controllers = ["newreno", "cubic"]

[sweep]
"path.buffer" = ["5 packets", "20 packets"]
'''
quick = { set = { "run.replications" = 1 }, only = { "path.buffer" = ["20 packets"] } }
"#;

const COMPUTE: &str = r#"
[[compute]]
name = "law"
theory = "multiplexing"
with = { flows = 10 }
grid = { utilisation = [0.5, 0.9], arrivals = ["uniform", "exponential"] }
"#;

/// Makes a folder with one paper of one figure.
fn folder(figure: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("paper.toml"), PAPER).expect("written");
    fs::write(folder.path().join("figure-1.toml"), figure).expect("written");
    folder
}

pub fn read(figure: &str, quick: bool) -> Result<Figure, String> {
    let folder = folder(figure);
    let (paper, names) = Paper::read(folder.path()).expect("a paper");
    assert_eq!(names, ["figure-1"]);
    paper.figure("figure-1", quick).map_err(|error| error.to_string())
}

fn refusal(more: &str) -> String {
    let text = [HEAD, SIMULATE, COMPUTE, more].concat();
    let message = read(&text, false).expect_err("it is wrong");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// Throughput 1, 2 or 1.5 Mbit/s by replication for newreno, 4, 6 or 5 for cubic, ten times that with the larger buffer.
fn findings(figure: &Figure) -> Vec<Findings> {
    let task = |task: &Task| match task {
        Task::Simulate { plan, .. } => Findings::Runs(plan.iter().map(run).collect()),
        Task::Compute { questions, .. } => Findings::Answers(questions.iter().map(answer).collect()),
        Task::Probe { plan, methods, .. } => Findings::Answers(scored(plan, methods)),
        Task::Recorded { answers, .. } => Findings::Answers(answers.clone()),
    };
    figure.tasks.iter().map(task).collect()
}

/// Within 10 %: 80 % and 90 % by method, a tenth of that over the wider range.
fn scored(plan: &[experiment::scenario::Experiment], methods: &[String]) -> Vec<Answer> {
    let score = |(at, method): (usize, &String), params: &BTreeMap<String, String>| {
        let mut point = params.clone();
        point.insert("method".into(), method.split(": ").next().unwrap_or_default().into());
        let factor = if params["probe.range"] == "50 %" { 0.1 } else { 1.0 };
        (point, Ok(serde_json::json!({ "within_10": (0.8 + 0.1 * at as f64) * factor })))
    };
    plan.iter().flat_map(|run| methods.iter().enumerate().map(|method| score(method, &run.params))).collect()
}

fn run(experiment: &experiment::scenario::Experiment) -> Run {
    let base = if experiment.controller == "cubic" { [4e6, 6e6, 5e6] } else { [1e6, 2e6, 1.5e6] };
    let factor = if experiment.params["path.buffer"] == "20 packets" { 10.0 } else { 1.0 };
    let throughput_bps = base[experiment.replication as usize] * factor;
    let values = vec![Some(1.0), None, Some(3.0)];
    let file_duration = Histogram { upper_s: vec![0.1, 0.2, 0.5, 1.0], count: vec![0, 0, 3, 1] };
    let rate = Series { metric: "rate".into(), flow: Some(0), start_s: 0.5, step_s: 1.0, values, ..Series::default() };
    Run {
        controller: experiment.controller.clone(),
        colour: "#112233".to_string(),
        seed: experiment.seed,
        replication: experiment.replication,
        params: experiment.params.clone(),
        summary: Summary { throughput_bps: Some(throughput_bps), ..Summary::default() },
        flows: vec![experiment::results::FlowResult {
            timeouts: Some(7),
            ..experiment::results::FlowResult::default()
        }],
        traffic: vec![TrafficResult { file_duration, ..TrafficResult::default() }],
        series: vec![rate],
        streams: [Some(4e6), None, Some(2e6), Some(1e6), Some(3e6)].map(traced).into(),
        ..Run::default()
    }
}

fn traced(estimate_bps: Option<f64>) -> StreamRecord {
    StreamRecord { estimate_bps, ..StreamRecord::default() }
}

/// Invented, so that reading the answers does not depend on the theory.
fn answer(asked: &GridQuestion) -> Answer {
    let load: f64 = asked.point["utilisation"].parse().expect("a number");
    let answer = if asked.point["arrivals"] == "exponential" && load > 0.8 {
        Err("unstable".to_string())
    } else {
        Ok(
            json!({ "queue": 10.0 * load, "queue_se": 1.0, "none": 0.0, "wait": 3.0, "wait_half_width": 0.5, "curve": [[0.0, 1.0], [1.0, load]], "list": [1.0, 2.0] }),
        )
    };
    (asked.point.clone(), answer)
}

fn outcome(more: &str) -> reproduction::Figure {
    let figure = read(&[HEAD, SIMULATE, COMPUTE, more].concat(), false).expect("a figure");
    let findings = findings(&figure);
    figure.outcome(&findings)
}

fn value(more: &str) -> reproduction::Value {
    let head = "[[value]]\nwhat = \"It\"\npublished = 2.0\nplace = \"here\"\n";
    outcome(&format!("{head}{more}")).values.remove(0)
}

fn claim(more: &str) -> reproduction::Claim {
    outcome(&format!("[[claim]]\nwords = \"It is so.\"\nplace = \"here\"\n{more}")).claims.remove(0)
}

/// A reading of the runs of a controller with a buffer, and one of the law.
fn of_runs(controller: &str, packets: u32, more: &str) -> String {
    let point = format!("controller = \"{controller}\", \"path.buffer\" = \"{packets} packets\"");
    format!("from = \"runs\"\nwhere = {{ {point} }}\n{more}\n")
}

fn of_law(metric: &str) -> String {
    format!("from = \"law\"\nmetric = \"{metric}\"\nwhere = {{ utilisation = 0.5, arrivals = \"uniform\" }}\n")
}

const MBPS: &str = "metric = \"throughput_bps\"\ntimes = 1e-6";

/// Estimates of 1, 2, 3 and 4 Mbit/s: half do not exceed 2, and three quarters 3; 51 per cent do not exceed 3 either.
#[test]
fn our_value_matches_file() {
    let estimates = |part: &str| of_runs("cubic", 5, &format!("metric = \"estimates.{part}\"\ntimes = 1e-6"));
    let newreno = "{ where = { controller = \"newreno\" } }";
    let ratio = format!("metric = \"throughput_bps\"\ndivided_by = {newreno}");
    for (why, reading, ours) in [
        ("the mean over replications", of_runs("newreno", 5, MBPS), 1.5),
        ("a field of a flow", of_runs("cubic", 5, "metric = \"flows.0.timeouts\""), 7.0),
        ("a place in a list", of_law("list.1"), 2.0),
        // 50 and 15 Mbit/s.
        ("over the point that agrees in all other keys", of_runs("cubic", 20, &ratio), 50.0 / 15.0),
        (
            "less the point that agrees in all other keys",
            of_runs("cubic", 20, &format!("{MBPS}\nless = {newreno}")),
            35.0,
        ),
        ("the least", estimates("p00"), 1.0),
        ("the median", estimates("p50"), 2.0),
        ("a quantile between two", estimates("p51"), 3.0),
        ("a quantile", estimates("p75"), 3.0),
        ("the most", estimates("p100"), 4.0),
    ] {
        let found = value(&reading).ours.unwrap_or_else(|| panic!("{why}: no value"));
        assert!((found - ours).abs() < 1e-12, "{why}: {found}, expected {ours}");
    }
    let unknown = "[[claim]]\nwords = \"It is so.\"\nplace = \"here\"\nfrom = \"runs\"\nmetric = \"estimates.p101\"\nat_most = 1\n";
    assert!(refusal(unknown).contains("estimates.pNN"));
}

#[test]
fn value_has_interval_of_replications_or_answer() {
    // 1, 2 and 1.5: deviation 0.5, t(2) = 4.303, so 4.303 * 0.5 / sqrt(3); with 4, 6 and 5 it is twice that.
    let (newreno, cubic) = (1.24217, 2.48434);
    let less = format!("{MBPS}\nless = {{ where = {{ controller = \"newreno\" }} }}");
    for (why, reading, half_width, origin) in [
        ("three replications", of_runs("newreno", 5, MBPS), newreno, Origin::Simulated),
        ("a difference", of_runs("cubic", 5, &less), f64::hypot(newreno, cubic), Origin::Simulated),
        ("a standard error", of_law("queue"), 1.96, Origin::Computed),
        ("an interval that the answer gives itself", of_law("wait"), 0.5, Origin::Computed),
    ] {
        let found = value(&reading);
        assert!((found.half_width.expect(why) - half_width).abs() < 1e-3 && found.origin == origin, "{why}: {found:?}");
    }
    assert_eq!(value(&of_runs("newreno", 5, MBPS)).ratio, Some(0.75));
}

/// Two values give no interval, as everywhere.
#[test]
fn two_replications_have_no_interval() {
    let wanted =
        format!("[[value]]\nwhat = \"It\"\npublished = 2.0\nplace = \"here\"\n{}", of_runs("newreno", 5, MBPS));
    let two = SIMULATE.replace("replications = 3", "replications = 2");
    let figure = read(&[HEAD, &two, &wanted].concat(), false).expect("a figure");
    let value = figure.outcome(&findings(&figure)).values.remove(0);
    assert_eq!((value.ours, value.half_width), (Some(1.5), None));
}

#[test]
fn missing_answer_is_miss() {
    let value = value(&of_law("queue").replace("0.5", "0.9").replace("uniform", "exponential"));
    assert_eq!((value.ours, value.verdict), (None, Verdict::Unexpected));
    assert_eq!(outcome("").sources[1].unanswered, ["unstable"]);
}

/// The other three points are within the bound.
#[test]
fn single_missing_point_is_miss() {
    let claim = claim("from = \"law\"\nmetric = \"queue\"\nat_most = 100\n");
    assert_eq!((claim.found, claim.verdict), (None, Verdict::Unexpected));
    assert!(claim.selected.ends_with("utilisation = 0.9, without a value of 4"), "{claim:?}");
}

/// There was no loss, so the ratio to it is undefined.
#[test]
fn zero_divisor_is_miss() {
    let claim = claim(
        "from = \"law\"\nmetric = \"queue\"\nwhere = { utilisation = 0.5 }\nat_least = 0\n\
         divided_by = { metric = \"none\" }\n",
    );
    assert_eq!((claim.found, claim.verdict), (None, Verdict::Unexpected));
}

#[test]
fn value_is_judged_by_rule_alone() {
    // 2.2 and 2.4 of 2.0.
    for (more, verdict) in [
        ("times = 0.44\n", Verdict::Kept),
        ("times = 0.48\n", Verdict::Unexpected),
        ("times = 0.48\ndiffers = \"known\"\n", Verdict::Differs),
        ("times = 0.44\ndiffers = \"known\"\n", Verdict::Unexpected),
    ] {
        assert_eq!(value(&(of_law("queue") + more)).verdict, verdict, "{more}");
    }
}

/// Newreno has 1.5 and 15 Mbit/s, cubic 5 and 50; 2.0 is published, so 0.2 of 15, by another buffer, is no miss of 3.
#[test]
fn explanation_must_meet_same_bound() {
    for (by, shown_by) in [
        (r#"{ from = "runs", where = { controller = "cubic", "path.buffer" = "5 packets" } }"#, "runs"),
        (r#"{ from = "runs", where = { "path.buffer" = "5 packets" } }"#, ""),
        (r#""runs""#, ""),
    ] {
        let more = format!("metric = \"throughput_bps\"\ntimes = 4e-7\ndiffers = \"the buffer\"\nshown_by = {by}");
        assert_eq!(value(&of_runs("newreno", 20, &more)).shown_by, shown_by, "{by}");
    }
}

/// Written as 2, a value of 2.4 prints as it; written as 2.0, it does not.
#[test]
fn number_of_printed_digits_matters() {
    for (published, verdict) in [("2", Verdict::Kept), ("2.0", Verdict::Unexpected)] {
        let head = format!("[[value]]\nwhat = \"It\"\nplace = \"here\"\npublished = {published}\ntimes = 0.48\n");
        assert_eq!(outcome(&(head + &of_law("queue"))).values[0].verdict, verdict, "{published}");
    }
}

#[test]
fn claim_holds_at_worst_point() {
    let all = "from = \"law\"\nmetric = \"queue\"\nwhere = { arrivals = \"uniform\" }\n";
    let kept = claim(&format!("{all}at_least = 5\nat_most = 9\n"));
    assert_eq!((kept.verdict, kept.bound.as_str()), (Verdict::Kept, "queue at least 5 and at most 9"));
    let broken = claim(&format!("{all}at_most = 8.5\n"));
    assert_eq!((broken.verdict, broken.found), (Verdict::Unexpected, Some(9.0)));
    assert!(broken.selected.contains("utilisation = 0.9") && broken.selected.contains("the worst of 2"), "{broken:?}");
}

#[test]
fn claim_has_unit_with_bounds() {
    let of = "from = \"law\"\nmetric = \"queue\"\nwhere = { arrivals = \"uniform\" }\nat_least = 5\nafter_run = true\n";
    let claim = claim(&format!("{of}unit = \"packets\"\n"));
    assert_eq!(
        (claim.unit.as_str(), claim.bound.as_str()),
        ("packets", "queue at least 5 packets (bound set after the run)")
    );
}

#[test]
fn lines_come_from_keys_and_curves() {
    let figure = outcome(
        "[[picture]]\ntitle = \"P\"\nx = { label = \"Buffer\" }\ny = { label = \"Rate\", unit = \"bit/s\" }\n\
         [[picture.line]]\nfrom = \"runs\"\nx = \"path.buffer\"\ny = \"throughput_bps\"\nby = [\"controller\"]\n\
         [[picture.line]]\nfrom = \"runs\"\ncurve = \"rate\"\nwhere = { controller = \"cubic\", \"path.buffer\" = \"5 packets\" }\n\
         [[picture.line]]\nfrom = \"law\"\ncurve = \"curve\"\nby = [\"utilisation\"]\nwhere = { arrivals = \"uniform\" }\n\
         [[picture.line]]\npublished = [[1, 2], [3, 4]]\n",
    );
    let lines = &figure.pictures[0].lines;
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["newreno", "cubic", "runs", "utilisation 0.5", "utilisation 0.9", "published"]);
    let xs: Vec<f64> = lines[0].points.iter().map(|point| point.0).collect();
    assert_eq!((xs, lines[0].points[1].1), (vec![5.0, 20.0], Some(15e6)));
    assert_eq!(lines[2].points, [(0.5, Some(1.0), None), (1.5, None, None), (2.5, Some(3.0), None)]);
    assert_eq!(lines[4].points[1], (1.0, Some(0.9), None));
    assert_eq!((lines[5].origin, lines[5].points[0]), (Origin::Published, (1.0, Some(2.0), None)));
}

#[test]
fn file_durations_are_drawn_as_distribution() {
    let figure = outcome(
        "[[picture]]\ntitle = \"P\"\nx = { label = \"Duration\", unit = \"s\" }\ny = { label = \"Share of files\" }\n\
         [[picture.line]]\nfrom = \"runs\"\ncurve = \"file_duration\"\nby = [\"controller\", \"path.buffer\"]\n",
    );
    let points = &figure.pictures[0].lines[0].points;
    assert_eq!(points, &[(0.2, Some(0.0), None), (0.5, Some(0.75), None), (1.0, Some(1.0), None)]);
}

#[test]
fn short_form_runs_less_and_judges_less() {
    let claim = "[[claim]]\nwords = \"W\"\nplace = \"p\"\nfrom = \"runs\"\nmetric = \"throughput_bps\"\n\
                 where = { \"path.buffer\" = \"5 packets\" }\nat_least = 1\n";
    let figure = read(&[HEAD, SIMULATE, COMPUTE, claim].concat(), true).expect("a figure");
    let Task::Simulate { plan, .. } = &figure.tasks[0] else { panic!("the first task is a simulation") };
    assert_eq!(plan.len(), 2);
    let outcome = figure.outcome(&findings(&figure));
    assert_eq!(outcome.claims[0].verdict, Verdict::NotJudged);
}

#[test]
fn mistake_has_line_number() {
    let line = [HEAD, SIMULATE, COMPUTE].concat().lines().count() + 1;
    let claim = |more: &str| format!("[[claim]]\nwords = \"W\"\nplace = \"p\"\n{more}\n");
    let of_law = |more: &str| claim(&format!("from = \"law\"\nmetric = \"queue\"\n{more}"));
    let value = "[[value]]\nwhat = \"W\"\n";
    for (more, named) in [
        (value.to_string(), "missing field"),
        (
            format!("{value}published = 1\nplace = \"p\"\nfrom = \"law\"\nmetric = \"queue\"\n"),
            "found 4 points, expected one",
        ),
        ("[[valu]]\n".to_string(), "unknown field `valu`"),
        (of_law(""), "found no bound"),
        (claim("from = \"lawn\"\nmetric = \"queue\"\nat_least = 1"), "found \"lawn\", expected one of runs, law"),
        (claim("from = \"runs\"\nmetric = \"throughput\"\nat_least = 1"), "metric: found \"throughput\""),
        (of_law("where = { utilisation = 0.7 }\nat_least = 1"), "utilisation: found \"0.7\", expected one of 0.5, 0.9"),
        (of_law("at_least = 1\nshown_by = \"x\""), "shown_by, from: found \"x\", expected one of runs, law"),
        (
            of_law("at_least = 1\nless = {}\nshown_by = { from = \"law\", against = \"x\" }"),
            "shown_by, from: found \"x\", expected one of runs, law",
        ),
    ] {
        let message = refusal(&more);
        assert!(message.contains(named), "{message}");
        assert!(message.contains(&format!("figure-1.toml:{line}: ")), "{message}");
    }
}

/// The head's three lines, and an empty one before the source; eight before the rate of a scenario.
#[test]
fn mistakes_are_reported_before_running() {
    for (source, right, wrong, named) in [
        (
            COMPUTE,
            "flows = 10",
            "flows = 10, runs-of = 3",
            "5: compute \"law\": runs-of: unknown field `runs-of`, expected",
        ),
        (COMPUTE, "\"exponential\"", "\"gaussian\"", "5: compute \"law\": arrivals: found \"gaussian\", expected"),
        (COMPUTE, "flows = 10", "runs = 10", "5: compute \"law\": missing field `flows`"),
        (
            COMPUTE,
            "\"multiplexing\"",
            "\"multiplex\"",
            "5: compute \"law\": theory: found \"multiplex\", expected burstiness, multiplexing",
        ),
        (SIMULATE, "rate = \"10 Mbit/s\"", "rate = 10", "12: path.rate: found 10, a bare number"),
    ] {
        let message = read(&[HEAD, &source.replace(right, wrong)].concat(), false).expect_err("it is wrong");
        assert!(message.contains(&format!("figure-1.toml:{named}")), "{message}");
    }
}

#[test]
fn unknown_name_lists_known_ones() {
    let library = Library::embedded().expect("papers");
    let said = |name: &str| library.find(name).expect_err("no such name").to_string();
    assert!(said("nothing").contains("multiplexing-2007"), "{}", said("nothing"));
    assert!(said("multiplexing-2007/figure-99").contains("figure-9"), "{}", said("multiplexing-2007/figure-99"));
}

const PROBE: &str = r#"
[[probe]]
name = "streams"
scenario = '''
[path]
rate = "1 Gbit/s"
delay = "1 ms"

[probe]
rate = "700 Mbit/s"
streams = 10

[sweep]
"probe.range" = ["30 %", "50 %"]
'''
methods = ["BASS: bass+multi-rate", "combined"]
"#;

#[test]
fn method_name_is_key_of_streams() {
    let claim = "[[claim]]\nwords = \"w\"\nplace = \"p\"\nfrom = \"streams\"\nmetric = \"within_10\"\n\
        where = { method = \"BASS\", \"probe.range\" = \"30 %\" }\nat_least = 0.75\n\
        divided_by = { where = { method = \"combined\" } }\nat_most = 0.9\n";
    let figure = read(&[HEAD, PROBE, claim].concat(), false).unwrap_or_else(|error| panic!("{error}"));
    let outcome = figure.outcome(&findings(&figure));
    // 0.8 / 0.9.
    assert!((outcome.claims[0].found.expect("a value") - 0.8 / 0.9).abs() < 1e-9, "{:?}", outcome.claims[0]);
    assert_eq!(outcome.claims[0].verdict, Verdict::Kept);
}

#[test]
fn probe_streams_need_scenario_with_streams() {
    let text = [HEAD, &PROBE.replace("[probe]\nrate = \"700 Mbit/s\"\nstreams = 10\n", SENDING)].concat();
    let text = text.replace("\"probe.range\"", "\"path.delay\"").replace("\"30 %\", \"50 %\"", "\"1 ms\"");
    let message = read(&text, false).expect_err("it is wrong");
    assert!(message.contains("scenario: found no table [probe], expected one"), "{message}");
}

const SENDING: &str = "[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n";

const RECORDED: &str = r#"
[[recorded]]
name = "kept"
data = "recorded/kept.toml"

[[claim]]
words = "Most are within 10 %."
place = "section 1"
from = "kept"
metric = "within_10"
where = { trained = "on A" }
at_least = 0.5
"#;

/// Reads the figure with this file of recorded results in its folder.
fn with_recorded(data: &str) -> Result<reproduction::Figure, String> {
    let folder = folder(&[HEAD, RECORDED].concat());
    fs::create_dir(folder.path().join("recorded")).expect("a folder");
    fs::write(folder.path().join("recorded/kept.toml"), data).expect("written");
    let (paper, names) = Paper::read(folder.path()).expect("a paper");
    assert_eq!(names, ["figure-1"]);
    let figure = paper.figure("figure-1", false).map_err(|error| error.to_string())?;
    Ok(figure.outcome(&findings(&figure)))
}

#[test]
fn recorded_figures_include_command() {
    let point = |trained: &str, within: f64| format!("[[point]]\ntrained = \"{trained}\"\nwithin_10 = {within}\n");
    let data = ["recipe = \"make them\"\n".to_string(), point("on A", 0.75), point("on B", 0.25)].concat();
    let outcome = with_recorded(&data).expect("a figure");
    let claim = &outcome.claims[0];
    assert_eq!((claim.found, claim.origin, claim.verdict), (Some(0.75), Origin::Recorded, Verdict::Kept));
    assert_eq!((outcome.sources[0].recipe.as_str(), outcome.sources[0].count), ("make them", 2));
}

#[test]
fn refuses_recordings_without_recipe_or_with_duplicates() {
    let point = "[[point]]\ntrained = \"on A\"\nwithin_10 = 1.0\n";
    let refusal = |data: &str| with_recorded(data).expect_err("it is wrong");
    assert!(refusal(point).contains("recorded/kept.toml: missing field `recipe`"), "{}", refusal(point));
    let twice = format!("recipe = \"make them\"\n{point}{point}");
    assert!(refusal(&twice).contains("twice"), "{}", refusal(&twice));
}
