//! Each mistake gives one message; the tests compare it word for word.

use crate::support::{assert_refused, read, refusal, spoilt, try_refusal, try_spoilt};
use experiment::scenario::{KERNEL_QUEUES, Scenario};
use std::path::Path;

/// A valid scenario; each test makes one mistake in it.
const RIGHT: &str = r#"[run]
duration = "10 s"
warmup = "1 s"

[path]
rate = "10 Gbit/s"
delay = "15 ms"
buffer = "1 bdp"

[[flow]]
controller = "rapid"
rtt = "30 ms"

[[traffic]]
kind = "cbr"
rate = "1 Gbit/s"

[sweep]
"path.loss" = [0.0, 0.001]

[[expect]]
metric = "utilisation"
where = { controller = "rapid" }
at_least = 0.9
"#;

/// The names are those of the registries, in their order.
#[test]
fn an_unknown_controller_or_queue_is_refused_with_those_that_there_are() {
    let list = |names: Vec<&str>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let controllers = list(packetscale_models::congestion::registry().iter().map(|entry| entry.name).collect());
    let queues = packetscale_models::queueing::registry().iter().map(|entry| entry.name);
    let queues = list(queues.chain(KERNEL_QUEUES.map(|(name, _)| name)).collect());
    let found = "11: flow.0.controller: found the unknown controller \"rapit\", perhaps \"rapid\"; expected one of ";
    let controller = spoilt(RIGHT, "controller = \"rapid\"\nrtt", "controller = \"rapit\"\nrtt");
    assert_eq!(controller, format!("{found}{controllers}"));
    let found = "8: path.queue: found the unknown queue \"fofo\", perhaps \"fifo\"; expected one of ";
    assert_eq!(spoilt(RIGHT, "buffer = \"1 bdp\"", "queue = \"fofo\""), format!("{found}{queues}"));
}

#[test]
fn each_mistake_gives_its_message() {
    assert_refused("one_link", |row| try_spoilt(RIGHT, &row["right"], &row["wrong"]));
}

#[test]
fn a_change_of_the_command_line_is_named_in_the_message() {
    assert_refused("change", |row| try_refusal(RIGHT, &[&row["change"]]));
}

#[test]
fn the_values_of_one_swept_key_can_be_changed() {
    let points = |changes: &[&str]| {
        let scenario = read(RIGHT, changes).expect("a plan");
        scenario.plan().iter().map(|run| run.params.clone()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(points(&[]), 2);
    for list in ["path.loss=[0.1, 0.2, 0.3]", "sweep.path.loss=[0.1, 0.2, 0.3]", "sweep.\"path.loss\"=[0.1, 0.2, 0.3]"]
    {
        assert_eq!(points(&[list]), 3, "{list}");
    }
    assert_eq!(points(&["path.loss=[0.1]"]), 1);
    assert_eq!(points(&["sweep.path.delay=[\"1 ms\", \"2 ms\", \"3 ms\"]"]), 6, "a key more");
}

/// By hand: two keys that take each value together, and a key that cases set.
#[test]
fn override_keeps_keys_swept_together() {
    let cases = "path.q = [{ case = \"a\", \"path.buffer\" = \"5 packets\" }, { case = \"b\", \"path.buffer\" = \"6 packets\" }]";
    let text = RIGHT
        .replace("\"path.loss\" = [0.0, 0.001]", &format!("\"path.loss, path.reorder.share\" = [0.0, 0.001]\n{cases}"));
    let refused = refusal(&text, &["path.buffer=[\"7 packets\"]"]);
    assert!(refused.contains("found a key that the cases of \"path.q\" set; expected other cases"), "{refused}");
}

#[test]
fn a_sweep_of_a_million_points_is_refused_with_the_count() {
    let values: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    let sweep = format!("\"path.loss\" = [0.0]\n\"flow.0.count\" = [{0}]\n\"run.seed_\" = [{0}]", values.join(","));
    let text = RIGHT.replace("\"path.loss\" = [0.0, 0.001]", &sweep);
    let message = "18: sweep: found a grid of 1000000 points; expected at most 10000 points";
    assert_eq!(refusal(&text, &[]), message);
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let error = Scenario::read(Path::new("no/such.toml"), &[]).expect_err("it is not there");
    let message = "no/such.toml: found No such file or directory (os error 2); expected a scenario file in TOML";
    assert_eq!(error.to_string(), message);
}

#[test]
fn two_links_of_one_name_are_refused() {
    let link = "[[link]]\nname = \"a\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
    let text = format!("{link}{link}[[flow]]\ncontroller = \"cubic\"\n");
    let message = r#"6: link.1.name: found "a" twice; expected a different name for every link"#;
    assert_eq!(refusal(&text, &[]), message);
}

#[test]
fn a_controller_compared_with_itself_is_refused() {
    let text = format!("{RIGHT}\n[compare]\ncontrollers = [\"rapid\",\n\"rapid\"]\n");
    let message = "28: compare.controllers: found \"rapid\" twice; \
        expected each controller once, or a different \"label\" for each";
    assert_eq!(refusal(&text, &[]), message);
}

/// Where a key is misspelt that has to be there, the misspelling is the news.
#[test]
fn an_unknown_key_is_named_before_one_that_is_missing() {
    for (right, wrong, message) in [
        ("delay = \"15 ms\"", "rtt = \"15 ms\"", "7: path.rtt: found an unknown key"),
        ("at_least = 0.9", "at_leest = 0.9", "24: expect.0.at_leest: found an unknown key"),
        ("at_least = 0.9", "", "22: expect.0.metric: found no bound"),
        ("delay = \"15 ms\"", "", "5: path.delay: found nothing; expected a time like \"30 ms\""),
        (
            "controller = \"rapid\"\nrtt",
            "contrller = \"rapid\"\nrtt",
            "11: flow.0.contrller: found an unknown key, perhaps",
        ),
    ] {
        let found = spoilt(RIGHT, right, wrong);
        assert!(found.starts_with(message), "{found}");
    }
}

#[test]
fn a_sweep_over_controllers_is_refused_with_a_comparison() {
    let compared = RIGHT.replace("[sweep]", "[compare]\ncontrollers = [\"rapid\", \"cubic\"]\n\n[sweep]");
    for (sweep, name) in [
        ("\"flow.0.controller\" = [\"rapid\", \"bbr\"]", "flow.0.controller"),
        ("how = [{ case = \"a\", \"flow.0.controller\" = \"bbr\" }]", "how"),
    ] {
        let expected = format!(
            "22: sweep.\"{name}\": found flow.0.controller, which [compare] replaces in every run; expected either [compare] \
             or a sweep over the controllers"
        );
        assert_eq!(spoilt(&compared, "\"path.loss\" = [0.0, 0.001]", sweep), expected);
    }
}
