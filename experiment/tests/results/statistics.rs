//! Compares means and intervals with printed tables and worked examples.

use experiment::results::{CompletionResult, Interval, Summary, deviation, mean, student_t975};

#[test]
fn quantiles_of_student_are_those_of_the_printed_table() {
    // Upper 2.5 % points as printed in the NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
    let printed = [
        (1, 12.706),
        (2, 4.303),
        (5, 2.571),
        (10, 2.228),
        (20, 2.086),
        (30, 2.042),
        (31, 2.040),
        (40, 2.021),
        (50, 2.009),
        (60, 2.000),
        (80, 1.990),
        (100, 1.984),
    ];
    for (degrees, t) in printed {
        assert!((student_t975(degrees) - t).abs() <= 0.0005, "{degrees}: {}", student_t975(degrees));
    }
}

#[test]
fn quantiles_fall_towards_that_of_the_normal_distribution() {
    assert!((1..2000).all(|degrees| student_t975(degrees + 1) < student_t975(degrees)));
    assert!((student_t975(1_000_000) - 1.95996).abs() < 1e-5);
}

#[test]
fn an_interval_is_that_of_a_worked_example() {
    // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squares 32, s = sqrt(32 / 7) = 2.13809, t(7) = 2.365,
    // half-width 2.365 * 2.13809 / sqrt(8) = 1.78777.
    let interval = Interval::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("values");
    assert_eq!(interval.mean, 5.0);
    assert!((interval.half_width.expect("several values") - 1.78777).abs() < 1e-5);
}

#[test]
fn one_value_has_a_mean_and_no_interval_and_none_has_nothing() {
    assert_eq!(Interval::of(&[3.0]), Some(Interval { mean: 3.0, half_width: None }));
    assert_eq!(Interval::of(&[]), None);
}

/// 1 and 2: t(1) = 12.706, s / sqrt 2 = 0.5. Of 1, 2 and 3: t(2) = 4.303, s = 1, 4.303 / sqrt 3 = 2.484.
#[test]
fn replications_have_an_interval_from_three_on() {
    assert!((Interval::of(&[1.0, 2.0]).expect("values").half_width.expect("two values") - 6.353).abs() < 1e-3);
    assert_eq!(Interval::of_runs(&[1.0, 2.0]), Some(Interval { mean: 1.5, half_width: None }));
    assert!((Interval::of_runs(&[1.0, 2.0, 3.0]).expect("values").half_width.expect("three") - 2.484).abs() < 1e-3);
    assert_eq!(Interval::of_runs(&[]), None);
}

#[test]
fn a_figure_that_is_read_by_name_is_the_one_that_is_written() {
    let summary = Summary {
        throughput_bps: Some(1.25e9),
        utilisation: Some(f64::NAN),
        flows_arrived: Some(7),
        packets_delivered: 9,
        ..Summary::default()
    };
    let written = serde_json::to_value(&summary).expect("an object");
    for name in Summary::metrics() {
        assert_eq!(summary.metric(name), written.get(name).and_then(serde_json::Value::as_f64), "{name}");
    }
    assert_eq!((summary.metric("flows_arrived"), summary.metric("packets_delivered")), (Some(7.0), Some(9.0)));
    assert_eq!((summary.metric("utilisation"), summary.metric("no such figure")), (None, None));
    let row =
        CompletionResult { controller: "cubic".to_string(), slowdown_percentiles: vec![1.0], ..Default::default() };
    assert_eq!(
        (row.metric("controller"), row.metric("slowdown_percentiles"), row.metric("arrived")),
        (None, None, Some(0.0))
    );
}

/// Of 2, 4, 4, 4, 5, 5, 7 and 9, the mean is 5 and the squares of the differences sum up to 32: a deviation of 2.
#[test]
fn the_deviation_is_that_of_all_values_and_of_no_sample() {
    let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    assert_eq!((mean(&values), deviation(&values)), (5.0, 2.0));
    assert!(mean(&[]).is_nan() && deviation(&[]).is_nan());
}
