//! `packetscale theory` as a user meets it: JSON on standard output, one message and exit code 2 on wrong input.

use crate::support::Place;
use serde_json::Value;

fn json(question: &str) -> Value {
    Place::empty().done(&format!("theory {question} --json")).json()
}

fn refusal(question: &str) -> String {
    let said = Place::empty().says(&format!("theory {question}"));
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{question}");
    said.err
}

/// The row of a printed answer that begins so.
fn printed_row(question: &str, row: &str) -> String {
    let text = Place::empty().done(&format!("theory {question}")).out;
    text.lines().find(|line| line.starts_with(row)).expect("a line").to_string()
}

#[track_caller]
fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key}: {answer}"))
}

const BURSTS: &str = "burstiness --capacity '1 Gbit/s' --on '100 ms' --off '350 ms'";
const ON_OFF: &str =
    "burstiness --capacity '1 Gbit/s' --on '100 ms' --off '350 ms' --increase '150 ms' --decrease '75 ms'";
const MANY: &str = "multiplexing --flows 100 --runs 20 --arrivals";

#[test]
fn burstiness_has_every_field_of_the_worst_phase() {
    let answer = json(&format!("{ON_OFF} --average '111 Mbit/s'"));
    assert_eq!((&answer["case"], &answer["stable"]), (&"L1".into(), &true.into()));
    // By hand: D = r T_on = 0.4995 * 0.1 s.
    assert!((number(&answer, "queue_delay_s") - 0.049_95).abs() < 1e-9);
    for key in ["queue_max_bits", "throughput_bps", "utilisation", "rate_high_bps", "rate_low_bps", "rtt_worst_s"] {
        number(&answer, key);
    }
}

#[test]
fn overloaded_phase_gets_warning_and_overloaded_link_no_answer() {
    let short = format!("theory {BURSTS} --average '111 Mbit/s' --json --increase '50 ms' --decrease '75 ms'");
    let said = Place::empty().done(&short);
    assert_eq!((&said.json()["stable"], said.err.lines().count()), (&false.into(), 1));
    let slow = format!("{BURSTS} --average '31 Mbit/s' --increase '1 ms' --decrease '900 ms'");
    assert!(refusal(&slow).starts_with("unstable"));
}

#[test]
fn multiplexing_has_every_field_with_its_error_and_the_same_for_the_same_seed() {
    let question = "multiplexing --flows 100 --arrivals exponential --runs 100";
    let answer = json(question);
    for sampled in ["mean_packets", "top1_packets", "top5_packets", "no_queue_fraction", "loss_ratio"] {
        number(&answer, sampled);
        number(&answer, &format!("{sampled}_se"));
    }
    for bound in ["bound_min_packets", "bound_max_packets", "bound_min_top5_packets", "bound_max_top5_packets"] {
        number(&answer, bound);
    }
    for law in ["law_mean_packets", "law_top1_packets", "law_top5_packets"] {
        number(&answer, law);
    }
    assert_eq!(answer, json(question));
}

#[test]
fn multiplexing_prints_both_percentile_bounds_of_its_json() {
    let question = format!("{MANY} exponential");
    let answer = json(&question);
    for (top, min, max) in [
        ("99th", "bound_min_packets", "bound_max_packets"),
        ("95th", "bound_min_top5_packets", "bound_max_top5_packets"),
    ] {
        let row = format!("bounds, {top} percentile ");
        let bounds = format!("  {:.2} to {:.2} packets", number(&answer, min), number(&answer, max));
        let line = printed_row(&question, &row);
        assert!(line.ends_with(&bounds), "{line}");
        let half = printed_row(&format!("{question} --utilisation 0.5"), &row);
        assert!(half.ends_with("none: only for a full link"), "{half}");
    }
}

#[test]
fn multiplexing_gives_reason_for_missing_bound_and_law() {
    let (bound, law) = ("bounds, 99th percentile", "scaling law, mean");
    for (arrivals, row, why) in [
        ("phases", bound, "none: not defined for phases or without a finite variance"),
        ("pareto:1.5", bound, "none: not defined for phases or without a finite variance"),
        ("pareto:1.5", law, "none: not defined below one packet or without a finite variance"),
    ] {
        let line = printed_row(&format!("{MANY} {arrivals}"), row);
        assert!(line.ends_with(why), "{arrivals}: {line}");
    }
}

#[test]
fn a_loss_target_finds_the_buffer_and_with_a_buffer_the_load() {
    let question = "multiplexing --flows 200 --runs 50 --target-loss 0.01";
    let answer = json(question);
    assert!(number(&answer, "buffer_packets") > 1.0 && number(&answer, "loss_ratio") <= 0.01);
    let load = json(&format!("{question} --buffer 5"));
    assert!(number(&load, "utilisation") < 1.0 && number(&load, "loss_ratio") <= 0.01);
}

#[test]
fn qlbp_and_tdqm_answer_in_json() {
    let pacer = json("qlbp --mu-min '2 Mbit/s' --mu-max '10 Mbit/s' --q-max '10 packets'");
    // Theorem 1: 10 packets of 8000 bits at 10 Mbit/s.
    assert!((number(&pacer, "bound_s") - 8e-3).abs() < 1e-12);
    assert_eq!(json("tdqm --load 0.5")["lengths"][1]["eta"], 0.75);
}

#[test]
fn rapid_reports_equilibrium_and_that_four_flows_cycle() {
    let (one, four) = (json("rapid"), json("rapid --flows 4"));
    assert!((number(&one, "utilisation") - 0.97).abs() < 1e-9);
    assert_eq!([&one["stable"], &one["rest_seen"]], [true, true]);
    assert_eq!([&four["stable"], &four["rest_seen"]], [true, false]);
    assert!(one["cycle"]["period_rtts"].is_null() && four["cycle"]["period_rtts"].is_f64());
}

#[test]
fn wrong_input_is_refused_with_one_message_that_names_it() {
    for (question, names) in [
        ("multiplexing --flows 0", "flows"),
        ("multiplexing --flows 10 --utilisation 1.2", "utilisation"),
        ("multiplexing --flows 10 --arrivals pareto:0.8", "pareto"),
        (&format!("{ON_OFF} --average '500 Mbit/s'"), "average"),
        ("qlbp --mu-min '20 Mbit/s' --mu-max '10 Mbit/s' --q-max '10 packets'", "mu_min"),
        ("rapid --margin 0", "margin"),
        ("tdqm --load 1", "load"),
    ] {
        let message = refusal(question);
        assert!(message.contains(names) && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn burstiness_draws_the_rate_over_two_periods_from_a_burst_on() {
    let answer = json(&format!("{ON_OFF} --average '111 Mbit/s' --rtt '125 ms' --curve '45 s'"));
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
    let question = "multiplexing --flows 50 --runs 20";
    let answer = json(&format!("{question} --curves"));
    let distribution = answer["distribution"].as_array().expect("pairs");
    assert_eq!(distribution.len(), 199);
    assert_eq!(distribution[197][0], 0.99);
    assert!((distribution[197][1].as_f64().unwrap() - number(&answer, "top1_packets")).abs() < 1e-9);
    assert_eq!(answer["period"].as_array().expect("pairs").len(), 50);
    assert!(json(question)["period"].is_null());
}
