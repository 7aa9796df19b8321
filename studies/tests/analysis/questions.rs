//! Questions as figures write them: read with their defaults, refused with the key, and answered.

use packetscale_models::theory::multiplexing::Arrivals;
use packetscale_models::units::{Rate, Span};
use studies::analysis::Question;
use studies::analysis::burstiness::{Burstiness, FilterShape};
use studies::analysis::multiplexing::{ArrivalLaw, Buffer, LossTarget, Multiplexing};

fn read(theory: &str, parameters: &str) -> Result<Question, String> {
    Question::read(theory, &parameters.parse().expect("TOML"))
}

#[track_caller]
fn refusal(theory: &str, parameters: &str) -> String {
    let message = read(theory, parameters).expect_err("it is wrong");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

const ON_OFF: &str = "capacity = \"1 Gbit/s\"\naverage = \"111 Mbit/s\"\non = \"100 ms\"\noff = \"350 ms\"\n\
                      increase = \"150 ms\"\ndecrease = \"75 ms\"\n";

#[test]
fn quantities_parse_with_units() {
    let Ok(Question::Burstiness(question)) = read("burstiness", &format!("{ON_OFF}filter = \"exponential\"\n")) else {
        panic!("a question");
    };
    let expected = Burstiness {
        capacity: Rate::from_gbps(1),
        average: Rate::from_mbps(111),
        on: Span::from_millis(100),
        off: Span::from_millis(350),
        increase: Span::from_millis(150),
        decrease: Span::from_millis(75),
        rtt: None,
        filter: FilterShape::Exponential,
        curve: None,
    };
    assert_eq!(question, expected);
}

#[test]
fn omitted_parameters_have_command_defaults() {
    let Ok(Question::Multiplexing(question)) = read("multiplexing", "flows = 10\n") else { panic!("a question") };
    let expected = Multiplexing {
        flows: 10,
        utilisation: 1.0,
        arrivals: ArrivalLaw(Arrivals::Phases),
        buffer: Buffer(None),
        target_loss: None,
        runs: 1000,
        seed: 1,
        curves: false,
    };
    assert_eq!(question, expected);
}

#[test]
fn numbers_and_text_parse_alike() {
    let of = |parameters: &str| read("multiplexing", &format!("flows = 10\n{parameters}")).expect("a question");
    assert_eq!(of("buffer = 20\ntarget-loss = 0.01\n"), of("buffer = \"20 packets\"\ntarget-loss = \"0.01\"\n"));
    let Question::Multiplexing(question) = of("buffer = 20\ntarget-loss = 0.01\n") else { panic!("a question") };
    assert_eq!((question.buffer, question.target_loss), (Buffer(Some(20)), Some(LossTarget(0.01))));
}

#[test]
fn mistake_names_key_found_and_expected() {
    for (theory, parameters, named) in [
        ("burstiness", ON_OFF.replace("\"100 ms\"", "100"), "on: found \"100\" (no unit); expected a time like"),
        ("burstiness", format!("{ON_OFF}filter = \"cubic\"\n"), "filter: unknown variant `cubic`, expected"),
        ("burstiness", ON_OFF.replace("off", "of"), "of: unknown field `of`, expected one of `capacity`"),
        ("burstiness", String::new(), "missing field `capacity`"),
        ("multiplexing", "flows = 10\nruns = 0\n".into(), "runs: found 0, expected a whole number from 1 to 10000000"),
        ("multiplexing", "flows = 10\nbuffer = \"much\"\n".into(), "buffer: found \"much\", expected packets"),
        ("multiplexing", "flows = 10\ntarget-loss = 1.5\n".into(), "target-loss: found \"1.5\", expected a ratio"),
        ("tdqm", "load = \"half\"\n".into(), "load: invalid type: string \"half\", expected f64"),
        ("newton", String::new(), "theory: found \"newton\", expected burstiness, multiplexing, qlbp, rapid or tdqm"),
    ] {
        let message = refusal(theory, &parameters);
        assert!(message.starts_with(named), "{message}");
    }
}

#[test]
fn answers_have_named_figures() {
    let pacer = "mu-min = \"2 Mbit/s\"\nmu-max = \"10 Mbit/s\"\nq-max = \"10 packets\"\n";
    let answer = read("qlbp", pacer).expect("a question").answer().expect("an answer");
    // Theorem 1: 10 packets of 8000 bits, the size that is left out, at 10 Mbit/s.
    assert!((answer["bound_s"].as_f64().expect("a number") - 8e-3).abs() < 1e-12, "{answer}");
}

#[test]
fn top_5_percent_have_own_bounds() {
    let question = "flows = 10000\nruns = 1\narrivals = \"exponential\"\n";
    let answer = read("multiplexing", question).expect("a question").answer().expect("an answer");
    let bound = |name: &str| answer[name].as_f64().expect("a number");
    // erf(0.732869) = 1 - 6 * 0.05 and erf(1.163087) = 1 - 2 * 0.05, each times sqrt(2 * 10 000); the first over sqrt(3/2).
    assert!((bound("bound_min_top5_packets") - 84.624).abs() < 1e-3, "{answer}");
    assert!((bound("bound_max_top5_packets") - 164.485).abs() < 1e-3, "{answer}");
}

#[test]
fn question_outside_theory_has_no_answer() {
    let why = |theory: &str, parameters: &str| {
        read(theory, parameters).expect("a question").answer().expect_err("no answer").to_string()
    };
    assert!(why("tdqm", "load = 1\n").starts_with("load: found 1, expected"), "{}", why("tdqm", "load = 1\n"));
    let none = "load = 0.5\naccumulate = 0\n";
    assert_eq!(why("tdqm", none), "accumulate: found 0, expected packet times above 0");
}
