//! Each mistake gives one message; the tests compare it word for word.

use crate::support::{read, refusal, spoilt};
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

refusals! { RIGHT,
    a_bare_number: r#"rate = "10 Gbit/s""# => "rate = 10",
        r#"6: path.rate: found 10, a bare number; expected a rate above zero like "10 Gbit/s""#;
    a_number_without_a_unit: r#"rate = "10 Gbit/s""# => r#"rate = "10""#,
        r#"6: path.rate: found "10" (no unit); expected a rate above zero like "10 Gbit/s""#;
    a_wrong_unit: r#"rate = "10 Gbit/s""# => r#"rate = "10 ms""#,
        r#"6: path.rate: found "10 ms" (an unknown unit); expected a rate above zero like "10 Gbit/s""#;
    a_negative_rate: r#"rate = "10 Gbit/s""# => r#"rate = "-10 Gbit/s""#,
        r#"6: path.rate: found "-10 Gbit/s" (negative); expected a rate above zero like "10 Gbit/s""#;
    a_rate_of_zero: r#"rate = "10 Gbit/s""# => r#"rate = "0 Gbit/s""#,
        r#"6: path.rate: found "0 Gbit/s"; expected a rate above zero like "10 Gbit/s""#;
    a_rate_that_does_not_fit: r#"rate = "10 Gbit/s""# => r#"rate = "99999999999 Gbit/s""#,
        r#"6: path.rate: found "99999999999 Gbit/s" (too large); expected a rate above zero like "10 Gbit/s""#;
    a_missing_rate: "rate = \"10 Gbit/s\"\n" => "",
        r#"5: path.rate: found nothing; expected a rate like "10 Gbit/s""#;
    a_duration_of_zero: r#"duration = "10 s""# => r#"duration = "0 s""#,
        r#"2: run.duration: found "0 s"; expected a time above zero like "30 ms""#;
    a_warmup_as_long_as_the_run: r#"warmup = "1 s""# => r#"warmup = "10 s""#,
        r#"3: run.warmup: found "10 s"; expected a time below the duration of 10 s"#;
    a_buffer_of_zero_packets: r#"buffer = "1 bdp""# => r#"buffer = "0 packets""#,
        r#"8: path.buffer: found "0 packets"; expected a number of packets above zero like "100 packets""#;
    a_buffer_smaller_than_a_packet: r#"buffer = "1 bdp""# => r#"buffer = "0.00001 bdp""#,
        r#"8: path.buffer: found "0.00001 bdp", which is 375 B; expected at least 1.5 kB, one packet"#;
    a_buffer_without_a_unit: r#"buffer = "1 bdp""# => "buffer = 100",
        r#"8: path.buffer: found 100, a bare number; expected a buffer like "1 bdp", "100 packets", "2 MB" or "unlimited""#;
    an_unknown_key: r#"buffer = "1 bdp""# => r#"bufer = "1 bdp""#,
        r#"8: path.bufer: found an unknown key, perhaps "buffer"; expected one of "access", "rate", "rate_steps", "rate_repeat", "rate_trace", "delay", "buffer", "queue", "loss", "reorder", "outages", "delay_steps", "aggregation", "policer", "shaper", "return""#;
    an_unknown_key_like_no_other: r#"buffer = "1 bdp""# => r#"colour = "red""#,
        r#"8: path.colour: found an unknown key; expected one of "access", "rate", "rate_steps", "rate_repeat", "rate_trace", "delay", "buffer", "queue", "loss", "reorder", "outages", "delay_steps", "aggregation", "policer", "shaper", "return""#;
    an_unknown_section: "[[traffic]]" => "[[trafic]]",
        r#"14: trafic: found an unknown key, perhaps "traffic"; expected one of "run", "path", "link", "receiver", "sender", "flow", "probe", "traffic", "compare", "sweep", "record", "expect""#;
    a_setting_of_another_controller: r#"controller = "rapid"
rtt"# => "controller = { kind = \"rapid\", tau = \"5 ms\" }\nrtt",
        r#"11: flow.0.controller.tau: found a setting of rapid-thesis, which rapid does not have; expected one of "margin", "range", "competitive", "shortest_round_trip", "label""#;
    the_preset_that_was: r#"controller = "rapid"
rtt"# => "controller = { kind = \"rapid\", preset = \"thesis\" }\nrtt",
        r#"11: flow.0.controller.preset: found a setting of earlier versions; expected kind = "rapid-thesis" for the law of the dissertation, kind = "rapid" for the default law"#;
    a_label_that_spreadsheets_compute: r#"controller = "rapid"
rtt"# => "controller = { kind = \"rapid\", label = \"=1+1\" }\nrtt",
        r#"11: flow.0.controller.label: found "=1+1"; expected a name in one line that begins with none of = + - @, which spreadsheets take for a formula"#;
    an_unknown_setting_of_a_controller: r#"controller = "rapid"
rtt"# => "controller = { kind = \"newreno\", betta = 4 }\nrtt",
        r#"11: flow.0.controller.betta: found an unknown setting of newreno, perhaps "beta"; expected one of "beta", "abe", "abc_limit", "label""#;
    a_setting_of_a_queue_out_of_range: r#"buffer = "1 bdp""# => r#"queue = { kind = "codel", target = "0 ms" }"#,
        r#"8: path.queue.target: found "0 ms"; expected a time above 0"#;
    a_setting_of_a_queue_that_has_none: r#"buffer = "1 bdp""# => r#"queue = { kind = "fifo", limit = 3 }"#,
        r#"8: path.queue.limit: found an unknown setting of fifo; expected no settings: fifo has none"#;
    an_application_that_is_a_file: r#"rtt = "30 ms""# => r#"application = { kind = "pcap" }"#,
        r#"12: flow.0.application.kind: found the unknown traffic "pcap"; expected one of "cbr", "poisson", "on-off", "exponential-on-off", "pareto-on-off""#;
    an_application_without_its_silences: r#"rtt = "30 ms""# => r#"application = { kind = "on-off", on = "1 s", rate = "1 Mbit/s" }"#,
        r#"12: flow.0.application.off: found nothing; expected a time like "30 ms""#;
    a_size_beside_an_application: r#"rtt = "30 ms""# => "size = \"1 MB\"\napplication = { kind = \"cbr\", rate = \"1 Mbit/s\" }",
        r#"12: flow.0.size: found a size; expected no size: the application decides how much is sent"#;
    an_unknown_traffic: r#"kind = "cbr""# => r#"kind = "poison""#,
        r#"15: traffic.0.kind: found the unknown traffic "poison", perhaps "poisson"; expected one of "cbr", "poisson", "on-off", "exponential-on-off", "pareto-on-off", "tmix", "sessions", "web", "trace", "pcap""#;
    connections_without_a_way_back: r#"kind = "cbr""# => r#"kind = "sessions""#,
        r#"14: traffic.0.back: found nothing; expected the names of the links that the acceptors' data cross, like ["back"]"#;
    sessions_of_a_tail_without_a_mean: r#"kind = "cbr""# => "kind = \"sessions\"\nshape = 1.0",
        r#"16: traffic.0.shape: found 1; expected a tail index above 1 and below 2, like 1.1"#;
    copies_of_connections: r#"kind = "cbr""# => "kind = \"sessions\"\nback = [\"bottleneck\"]\ncopies = 2",
        r#"17: traffic.0.copies: found 2; expected 1: connections have no copies, use another table"#;
    users_without_a_number: r#"kind = "cbr""# => r#"kind = "web""#,
        r#"14: traffic.0.users: found nothing; expected a whole number from 1 to 100000"#;
    round_trips_the_larger_first: r#"kind = "cbr""# => "kind = \"web\"\nusers = 5\nrtt = [\"10 ms\", \"1 ms\"]",
        r#"17: traffic.0.rtt: found ["10 ms", "1 ms"]; expected two times, the smaller first, like ["0 ms", "10 ms"]"#;
    a_tail_that_ends_before_it_begins: r#"kind = "cbr""# => "kind = \"web\"\nusers = 5\nsize = { most = \"100 kB\" }",
        r#"17: traffic.0.size.most: found "100 kB"; expected a size above tail_from, 133 kB"#;
    an_unknown_law_of_users: r#"kind = "cbr""# => "kind = \"web\"\nusers = 5\nthink = { leats = \"1 s\" }",
        r#"17: traffic.0.think.leats: found an unknown key, perhaps "least"; expected one of "least", "shape", "most""#;
    a_token_bucket_before_users_who_respond: r#"kind = "cbr""# => "kind = \"web\"\nusers = 5\nshaper = { rate = \"1 Mbit/s\", bucket = \"9 kB\" }",
        r#"17: traffic.0.shaper: found a token bucket; expected responsive = false: a token bucket needs traffic that does not respond"#;
    windows_that_do_not_divide: "[sweep]" => "[record]\nwindows = [\"2 ms\", \"5 ms\"]\n[sweep]",
        r#"19: record.windows: found "5 ms"; expected a whole multiple of the first window, 2 ms"#;
    a_recorded_link_that_is_not_there: "[sweep]" => "[record]\nlink = \"botleneck\"\n[sweep]",
        r#"19: record.link: found the unknown link "botleneck", perhaps "bottleneck"; expected one of "bottleneck""#;
    a_key_of_another_kind_of_traffic: r#"kind = "cbr""# => "kind = \"cbr\"\non = \"1 s\"",
        r#"16: traffic.0.on: found an unknown key; expected one of "kind", "rate", "packet", "route", "start", "stop", "copies", "shaper""#;
    a_missing_trace_file: r#"kind = "cbr""# => "kind = \"pcap\"\nfile = \"no-such.pcap\"",
        r#"16: traffic.0.file: found "no-such.pcap", but there is no file no-such.pcap; expected the path of a file, relative to the scenario's folder"#;
    a_tail_without_a_mean: "kind = \"cbr\"" => "kind = \"pareto-on-off\"\non = \"1 s\"\noff = \"1 s\"\nshape = 1.0",
        r#"18: traffic.0.shape: found 1; expected a tail index above 1 (below it there is no mean) and up to 100, like 1.5"#;
    a_source_that_stops_before_it_starts: "kind = \"cbr\"" => "kind = \"cbr\"\nstart = \"2 s\"\nstop = \"1 s\"",
        r#"17: traffic.0.stop: found "1 s"; expected a time after its start at 2 s"#;
    a_round_trip_shorter_than_the_path: r#"rtt = "30 ms""# => r#"rtt = "10 ms""#,
        r#"12: flow.0.rtt: found "10 ms"; expected at least 15 ms, the one-way delay of its route"#;
    a_list_of_another_length_than_the_count: r#"rtt = "30 ms""# => "count = 3\nrtt = [\"30 ms\", \"40 ms\"]",
        r#"13: flow.0.rtt: found 2 values for 3 flows; expected one value, or a list with one value for each flow"#;
    a_start_after_the_end: r#"rtt = "30 ms""# => r#"start = "10 s""#,
        r#"12: flow.0.start: found "10 s"; expected a time before the end of the run at 10 s"#;
    a_uniform_start_backwards: r#"rtt = "30 ms""# => r#"start = { uniform = ["5 s", "1 s"] }"#,
        r#"12: flow.0.start.uniform: found ["5 s", "1 s"]; expected { uniform = ["0 s", "10 s"] }, the earlier first"#;
    no_flows_at_all: r#"rtt = "30 ms""# => "count = 0",
        r#"12: flow.0.count: found 0; expected a whole number from 1 to 4294967295"#;
    too_many_flows: r#"rtt = "30 ms""# => "count = 1000001",
        r#"12: flow.0.count: found 1000001; expected at most 1000000 flows in all"#;
    a_packet_smaller_than_its_headers: r#"rtt = "30 ms""# => r#"packet = "20 B""#,
        r#"12: flow.0.packet: found "20 B"; expected a size from 40 B to 65535 B"#;
    a_size_of_zero: r#"rtt = "30 ms""# => r#"size = "0 B""#,
        r#"12: flow.0.size: found "0 B"; expected an amount of data above zero like "2 MB", or "unlimited""#;
    one_bracket_instead_of_two: "[[flow]]" => "[flow]",
        r#"10: flow: found a table; expected [[flow]] with two brackets"#;
    a_route_over_an_unknown_link: r#"rtt = "30 ms""# => r#"route = ["botleneck"]"#,
        r#"12: flow.0.route: found the unknown link "botleneck", perhaps "bottleneck"; expected one of "bottleneck""#;
    a_route_over_one_link_twice: r#"rtt = "30 ms""# => r#"route = ["bottleneck", "bottleneck"]"#,
        r#"12: flow.0.route: found "bottleneck" twice; expected each link at most once"#;
    certain_loss: "[0.0, 0.001]" => "[0.0, 1.0]",
        r#"19: path.loss: found a probability of 1; expected a probability below 1"#;
    loss_above_one: "[0.0, 0.001]" => "[0.0, 1.5]",
        r#"19: path.loss: found 1.5; expected a fraction from 0 to 1 like 0.01 or "1 %""#;
    reordering_of_every_packet: r#"buffer = "1 bdp""# => "reorder = { share = 1.0, packets = 3 }",
        r#"8: path.reorder.share: found every packet; expected a share below 1: other packets must overtake"#;
    reordering_by_nothing: r#"buffer = "1 bdp""# => "reorder = { share = 0.1 }",
        r#"8: path.reorder.packets: found nothing; expected a table like { share = 0.01, packets = 3 }"#;
    an_outage_that_ends_before_it_begins: r#"buffer = "1 bdp""# => r#"outages = [["3 s", "2 s"]]"#,
        r#"8: path.outages: found ["3 s", "2 s"]; expected a list of pairs in order of time, like [["10 s", "20 s"]]"#;
    steps_of_the_delay_out_of_order: r#"buffer = "1 bdp""# => r#"delay_steps = [["3 s", "2 ms"], ["1 s", "4 ms"]]"#,
        r#"8: path.delay_steps: found ["1 s", "4 ms"]; expected a list of pairs in order of time, like [["10 s", "150 ms"]]"#;
    a_step_of_the_delay_without_a_unit: r#"buffer = "1 bdp""# => r#"delay_steps = [["3 s", 2]]"#,
        r#"8: path.delay_steps: found 2, a bare number; expected a time like "30 ms""#;
    certain_loss_of_acknowledgments: "[sweep]" => "[receiver]\nack_loss = 1.0\n[sweep]",
        r#"19: receiver.ack_loss: found a probability of 1; expected a probability below 1"#;
    a_clock_that_hardly_runs: "[sweep]" => "[receiver]\nclock = \"4 %\"\n[sweep]",
        r#"19: receiver.clock: found "4 %"; expected a fraction from 0.5 to 1.5 like 0.96 or "96 %""#;
    an_empty_sweep: "[0.0, 0.001]" => "[]",
        r#"19: sweep."path.loss": found an empty list; expected at least one value"#;
    a_swept_value_twice: "[0.0, 0.001]" => "[0.0, 0.0]",
        r#"19: sweep."path.loss": found 0.0 twice; expected each value once"#;
    a_case_that_leaves_a_key_out: "\"path.loss\" = [0.0, 0.001]" =>
        "wire = [\n  { case = \"a\", \"path.loss\" = 0.0 },\n  { case = \"b\", \"path.delay\" = \"1 ms\" },\n]",
        r#"20: sweep."wire": found no "path.delay" in the case "a"; expected the same keys in every case"#;
    a_case_twice: "\"path.loss\" = [0.0, 0.001]" =>
        "wire = [\n  { case = \"a\", \"path.loss\" = 0.0 },\n  { case = \"a\", \"path.loss\" = 0.1 },\n]",
        r#"21: sweep."wire": found the case "a" twice; expected each value once"#;
    a_wrong_value_in_a_sweep: "[0.0, 0.001]" => "[0.0,\n  -0.5]",
        r#"20: path.loss: found -0.5; expected a fraction from 0 to 1 like 0.01 or "1 %""#;
    an_unknown_key_in_a_sweep: "\"path.loss\"" => "\"path.los\"",
        r#"19: path.los: found an unknown key, perhaps "loss"; expected one of "access", "rate", "rate_steps", "rate_repeat", "rate_trace", "delay", "buffer", "queue", "loss", "reorder", "outages", "delay_steps", "aggregation", "policer", "shaper", "return""#;
    a_sweep_over_a_flow_that_is_not_there: "\"path.loss\"" => "\"flow.3.rtt\"",
        r#"19: flow.3.rtt: found "flow.3"; expected "flow.0", the only one"#;
    a_sweep_over_the_replications: "\"path.loss\"" => "\"run.replications\"",
        r#"19: sweep."run.replications": found a key that applies to all runs; expected a key of one run, like "path.buffer""#;
    an_unknown_metric: r#"metric = "utilisation""# => r#"metric = "utilization""#,
        r#"22: expect.0.metric: found the unknown figure "utilization", perhaps "utilisation"; expected one of "throughput_bps", "utilisation", "available_share", "loss_ratio", "drop_ratio", "steady_loss_ratio", "queue_delay_mean_s", "queue_delay_p50_s", "queue_delay_p95_s", "queue_delay_p99_s", "queue_mean_packets", "mark_ratio", "burst_mark_ratio", "burstiness_eta", "queue_over_bound", "rtt_mean_s", "fairness_jain", "fairness_jain_after_entry", "convergence_s", "convergence_rtts", "rise_rtts", "fall_rtts", "settle_rtts", "rise_hold_share", "drain_rtts", "rate_variation", "variation_left", "hurst", "flows_arrived", "flows_completed", "completion_time_mean_s", "completion_time_p50_s", "completion_time_p99_s", "slowdown_mean", "slowdown_p50", "slowdown_p99", "packets_delivered", "packet_hops", "events", "cpu_s""#;
    a_condition_that_selects_nothing: r#"where = { controller = "rapid" }"# => r#"where = { controller = "cubic" }"#,
        r#"23: expect.0.where.controller: found "cubic", which selects no run; expected one of "rapid""#;
    a_condition_on_a_key_that_is_not_swept: r#"where = { controller = "rapid" }"# => r#"where = { "path.los" = 0.0 }"#,
        r#"23: expect.0.where.path.los: found a key that is not swept, perhaps "path.loss"; expected one of "path.loss", "controller""#;
    an_expectation_without_a_bound: "at_least = 0.9\n" => "",
        r#"22: expect.0.metric: found no bound; expected "at_least", "at_most" or both"#;
    a_seed_below_zero: r#"warmup = "1 s""# => "seed = -1",
        r#"3: run.seed: found -1; expected a whole number of at least 0"#;
    a_number_beyond_64_bits: r#"warmup = "1 s""# => "seed = 99999999999999999999",
        r#"3: found the number 99999999999999999999; expected a whole number that fits 64 bits"#;
    a_name_that_would_leave_the_output_folder: r#"warmup = "1 s""# => r#"name = "../else""#,
        r#"3: run.name: found "../else"; expected a name in letters, digits, "-", "_" and "." that starts with a letter or digit"#;
    a_key_twice: "warmup = \"1 s\"" => "duration = \"1 s\"",
        r#"3: duration: found the key twice, first on line 2; expected each key once"#;
    a_section_twice: "[[flow]]" => "[run]\n[[flow]]",
        r#"10: run: found the key twice, first on line 1; expected each key once"#;
    a_key_twice_in_a_line: "rate = \"10 Gbit/s\"" => "queue = { kind = \"red\", kind = \"pie\" }",
        r#"6: kind: found the key twice; expected each key once"#;
    a_unit_in_the_wrong_case: "10 Gbit/s" => "10 gbit/s",
        r#"6: path.rate: found "10 gbit/s" (an unknown unit, perhaps "Gbit/s"); expected a rate above zero like "10 Gbit/s""#;
    text_that_is_not_toml: "[run]" => "run: fast",
        r#"1: found key with no value, expected `=`; expected a TOML file"#;
    a_path_and_links: "[[flow]]" => "[[link]]\nname = \"a\"\n[[flow]]",
        r#"10: link: found both [path] and [[link]]; expected [path] for one link, [[link]] for a chain"#;
}

#[test]
fn a_change_of_the_command_line_is_named_in_the_message() {
    for (change, message) in [
        ("path.rate=10", r#"path.rate: found 10, a bare number; expected a rate above zero like "10 Gbit/s""#),
        (
            "path.rat=10 Gbit/s",
            r#"path.rat: found an unknown key, perhaps "rate"; expected one of "access", "rate", "rate_steps", "rate_repeat", "rate_trace", "delay", "buffer", "queue", "loss", "reorder", "outages", "delay_steps", "aggregation", "policer", "shaper", "return""#,
        ),
        ("path.rate", r#"found no "="; expected KEY=VALUE like path.rate="10 Gbit/s""#),
        (
            "path.loss=0.5",
            "path.loss: found one value for a key that is swept; expected a list of values in brackets, as in --set 'path.loss=[VALUE, VALUE]'",
        ),
        (
            "sweep.path.loss=0.5",
            "sweep.path.loss: found 0.5; expected a list of values in brackets, as in --set 'sweep.path.loss=[VALUE, VALUE]'",
        ),
    ] {
        assert_eq!(refusal(RIGHT, &[change]), format!(" --set {change}: {message}"));
    }
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
fn keys_that_change_together_keep_doing_so() {
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
