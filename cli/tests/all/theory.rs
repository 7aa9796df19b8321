//! `packetscale theory` as a user meets it: JSON on standard output, one message and exit code 2 on wrong input.

use serde_json::Value;
use std::process::{Command, Output};

fn theory(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_packetscale")).arg("theory").args(arguments).output().expect("the command starts")
}

fn json(arguments: &[&str]) -> Value {
    let output = theory(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

fn refusal(arguments: &[&str]) -> String {
    let output = theory(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

const ON_OFF: [&str; 11] = [
    "burstiness",
    "--capacity",
    "1 Gbit/s",
    "--on",
    "100 ms",
    "--off",
    "350 ms",
    "--increase",
    "150 ms",
    "--decrease",
    "75 ms",
];

fn on_off<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ON_OFF.iter().chain(more).copied().collect()
}

#[test]
fn burstiness_says_every_field_of_the_worst_phase() {
    let answer = json(&on_off(&["--average", "111 Mbit/s", "--json"]));
    assert_eq!(answer["case"], "L1");
    // By hand: D = r T_on = 0.4995 * 0.1 s.
    assert!((answer["queue_delay_s"].as_f64().unwrap() - 0.049_95).abs() < 1e-9);
    for key in ["queue_max_bits", "throughput_bps", "utilisation", "rate_high_bps", "rate_low_bps", "rtt_worst_s"] {
        assert!(answer[key].is_f64(), "{key}: {answer}");
    }
    assert_eq!(answer["stable"], true);
}

#[test]
fn an_overloaded_phase_is_answered_with_a_warning_and_an_overloaded_link_refused_as_unstable() {
    let short = ["--average", "111 Mbit/s", "--json", "--increase", "50 ms", "--decrease", "75 ms"];
    let arguments: Vec<&str> = ON_OFF[..7].iter().chain(&short).copied().collect();
    let output = theory(&arguments);
    assert!(output.status.success());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["stable"], false);
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
    let slow = ["--average", "31 Mbit/s", "--increase", "1 ms", "--decrease", "900 ms"];
    assert!(refusal(&ON_OFF[..7].iter().chain(&slow).copied().collect::<Vec<_>>()).starts_with("unstable"));
}

#[test]
fn multiplexing_says_every_field_with_its_error_and_the_same_for_the_same_seed() {
    let question = ["multiplexing", "--flows", "100", "--arrivals", "exponential", "--runs", "100", "--json"];
    let answer = json(&question);
    let sampled = ["mean_packets", "top1_packets", "top5_packets", "no_queue_fraction", "loss_ratio"];
    let bounds = ["bound_min_packets", "bound_max_packets", "bound_min_top5_packets", "bound_max_top5_packets"];
    let laws = ["law_mean_packets", "law_top1_packets", "law_top5_packets"];
    for key in sampled.iter().chain(&bounds).chain(&laws) {
        assert!(answer[key].is_f64(), "{key}: {answer}");
    }
    sampled.iter().for_each(|key| assert!(answer[format!("{key}_se")].is_f64(), "{key}: {answer}"));
    assert_eq!(answer, json(&question));
}

/// The row of a printed answer that begins so.
fn printed_row(question: &[&str], row: &str) -> String {
    let text = String::from_utf8(theory(question).stdout).expect("text");
    text.lines().find(|line| line.starts_with(row)).expect("a line").to_string()
}

#[test]
fn multiplexing_prints_the_bounds_of_both_tops_as_its_json_has_them() {
    let printed = |more: &[&str], top: &str| {
        let question = ["multiplexing", "--flows", "100", "--arrivals", "exponential", "--runs", "20"];
        let answer = json(&[&question[..], more, &["--json"]].concat());
        (answer, printed_row(&[&question[..], more].concat(), &format!("bounds of the top {top} ")))
    };
    for (top, min, max) in
        [("1 %", "bound_min_packets", "bound_max_packets"), ("5 %", "bound_min_top5_packets", "bound_max_top5_packets")]
    {
        let (answer, line) = printed(&[], top);
        let bound = |key: &str| answer[key].as_f64().expect("a bound");
        assert!(line.ends_with(&format!("  {:.2} to {:.2} packets", bound(min), bound(max))), "{line}");
        // They are those of a full link.
        assert!(printed(&["--utilisation", "0.5"], top).1.ends_with("none: they are those of a full link"));
    }
}

#[test]
fn multiplexing_says_why_there_is_no_bound_and_no_law() {
    let printed =
        |arrivals, row| printed_row(&["multiplexing", "--flows", "100", "--runs", "20", "--arrivals", arrivals], row);
    for arrivals in ["phases", "pareto:1.5"] {
        let line = printed(arrivals, "bounds of the top 1 %");
        assert!(line.ends_with("none: not for phases, nor for arrivals without a variance"), "{line}");
    }
    let line = printed("pareto:1.5", "law of the mean");
    assert!(line.ends_with("none: not for queues below one packet, nor for arrivals without a variance"), "{line}");
}

#[test]
fn a_loss_target_finds_the_buffer_and_with_a_buffer_the_load() {
    let question = ["multiplexing", "--flows", "200", "--runs", "50", "--target-loss", "0.01", "--json"];
    let answer = json(&question);
    assert!(answer["buffer_packets"].as_u64().unwrap() > 1 && answer["loss_ratio"].as_f64().unwrap() <= 0.01);
    let with_buffer: Vec<&str> = question.iter().chain(&["--buffer", "5"]).copied().collect();
    let load = json(&with_buffer);
    assert!(load["utilisation"].as_f64().unwrap() < 1.0 && load["loss_ratio"].as_f64().unwrap() <= 0.01);
}

#[test]
fn qlbp_and_tdqm_answer_in_json() {
    let pacer = ["qlbp", "--mu-min", "2 Mbit/s", "--mu-max", "10 Mbit/s", "--q-max", "10 packets", "--json"];
    // Theorem 1: 10 packets of 8000 bits at 10 Mbit/s.
    assert!((json(&pacer)["bound_s"].as_f64().unwrap() - 8e-3).abs() < 1e-12);
    assert_eq!(json(&["tdqm", "--load", "0.5", "--json"])["lengths"][1]["eta"], 0.75);
}

#[test]
fn rapid_says_where_flows_rest_and_that_four_cycle() {
    let one = json(&["rapid", "--json"]);
    assert!((one["utilisation"].as_f64().unwrap() - 0.97).abs() < 1e-9);
    assert_eq!((&one["stable"], &one["rest_seen"]), (&Value::Bool(true), &Value::Bool(true)));
    assert!(one["cycle"]["period_rtts"].is_null());
    let four = json(&["rapid", "--flows", "4", "--json"]);
    assert_eq!((&four["stable"], &four["rest_seen"]), (&Value::Bool(true), &Value::Bool(false)));
    assert!(four["cycle"]["period_rtts"].is_f64());
}

#[test]
fn wrong_input_is_refused_with_one_message_that_names_it() {
    for (arguments, names) in [
        (vec!["multiplexing", "--flows", "0"], "flows"),
        (vec!["multiplexing", "--flows", "10", "--utilisation", "1.2"], "utilisation"),
        (vec!["multiplexing", "--flows", "10", "--arrivals", "pareto:0.8"], "pareto"),
        (on_off(&["--average", "500 Mbit/s"]), "average"),
        (vec!["qlbp", "--mu-min", "20 Mbit/s", "--mu-max", "10 Mbit/s", "--q-max", "10 packets"], "mu_min"),
        (vec!["rapid", "--margin", "0"], "margin"),
        (vec!["tdqm", "--load", "1"], "load"),
    ] {
        let message = refusal(&arguments);
        assert!(message.contains(names) && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn burstiness_draws_the_rate_over_two_periods_from_a_burst_on() {
    let answer = json(&on_off(&["--average", "111 Mbit/s", "--rtt", "125 ms", "--curve", "45 s", "--json"]));
    let curve = answer["rate_curve"].as_array().expect("pairs");
    let at = |seconds: f64| {
        let found = curve.iter().find(|pair| pair[0].as_f64().unwrap() >= seconds - 1e-9).expect("a point");
        found[1].as_f64().unwrap()
    };
    // A decrease acts one round trip after the burst began: full before it, 500.5 Mbit/s once 75 ms have passed.
    assert!((at(45.12) / 1e9 - 1.0).abs() < 1e-6, "{}", at(45.12));
    assert!((at(45.21) - 500.5e6).abs() < 1e3, "{}", at(45.21));
    assert!((curve.last().unwrap()[0].as_f64().unwrap() - 45.9).abs() < 1e-9);
}

#[test]
fn multiplexing_gives_its_distribution_and_one_period() {
    let question = ["multiplexing", "--flows", "50", "--runs", "20", "--curves", "--json"];
    let answer = json(&question);
    let distribution = answer["distribution"].as_array().expect("pairs");
    assert_eq!(distribution.len(), 199);
    assert_eq!(distribution[197][0], 0.99);
    assert!((distribution[197][1].as_f64().unwrap() - answer["top1_packets"].as_f64().unwrap()).abs() < 1e-9);
    assert_eq!(answer["period"].as_array().expect("pairs").len(), 50);
    assert!(json(&question[..5].iter().chain(&["--json"]).copied().collect::<Vec<_>>())["period"].is_null());
}
