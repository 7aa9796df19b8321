//! `packetscale estimate` as people use it.

use crate::support::{Place, Said};
use std::io::Write;
use std::process::Stdio;

const HEADER: &str = "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes\n";

/// Rows of one stream: four levels, 10 to 7 us; from packet `congested` on, received at 9.5 us.
fn rows(id: &str, congested: usize) -> String {
    let row = |pkt: usize| {
        let send = 10_000 - 1000 * (pkt / 16);
        let receive = if pkt < congested { send } else { 9500 };
        format!("{id},{pkt},{send},{receive},9000\n")
    };
    (0..64).map(row).collect()
}

/// What `estimate` with these arguments says of a recording.
fn estimate(recording: impl AsRef<[u8]>, arguments: &str) -> Said {
    let place = Place::empty();
    place.write("gaps.csv", recording);
    place.says(format!("estimate gaps.csv {arguments}").trim_end())
}

/// Estimates that must succeed, as lines.
#[track_caller]
fn lines(text: &str, arguments: &str) -> Vec<String> {
    let said = estimate(text, arguments);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    said.out.lines().map(str::to_string).collect()
}

/// The one message about a recording that is refused, without its file.
#[track_caller]
fn refusal(text: impl AsRef<[u8]>) -> String {
    let said = estimate(text, "");
    assert_eq!((said.code, said.out.as_str(), said.err.lines().count()), (Some(2), "", 1), "{said:?}");
    said.err.strip_prefix("gaps.csv:").unwrap_or_else(|| panic!("{said:?}")).trim_end().to_string()
}

#[test]
fn every_stream_gets_a_line_with_its_estimate_or_its_reason() {
    let text = format!("{HEADER}{}{}b,0,0,0,9000\nb,1,7200,7200,9000\n", rows("a", 32), rows("7", 64));
    let lines = lines(&text, "--method multi-rate(reading=below)");
    assert_eq!(lines[0], "stream_id,estimate_bps,low_bps,high_bps,abstain");
    // 72 kbit in 9, 8 and 7 us.
    let rate = |field: &str| (field.parse::<f64>().expect("a rate") / 1e6).round();
    let fields: Vec<&str> = lines[1].split(',').collect();
    assert_eq!((fields[0], rate(fields[1]), rate(fields[3]), fields[4]), ("a", 8000.0, 9000.0, ""));
    let fields: Vec<&str> = lines[2].split(',').collect();
    assert_eq!((fields[0], rate(fields[1]), fields[3], fields[4]), ("7", 10_286.0, "", ""));
    assert_eq!(lines[3], "b,,,,too few gaps: 1 of 4");
    assert_eq!(lines.len(), 4);
}

#[test]
fn json_is_one_object_and_an_identity_that_is_a_number_stays_one() {
    let text = format!("{HEADER}{}{}", rows("7", 32), "x \"1\",0,1,1,9000\n".replace("x \"1\"", "\"x \"\"1\"\"\""));
    let object = estimate(&text, "--json").json();
    assert_eq!(object.as_object().map(|object| object.len()), Some(1));
    let streams = object["streams"].as_array().expect("streams");
    assert_eq!((&streams[0]["stream_id"], &streams[1]["stream_id"]), (&7.into(), &"x \"1\"".into()));
    let keys: Vec<&String> = streams[0].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["stream_id", "estimate_bps", "low_bps", "high_bps", "abstain"]);
    assert!(streams[0]["estimate_bps"].is_u64() && streams[0]["abstain"].is_null());
    assert!(streams[1]["estimate_bps"].is_null());
    assert_eq!(streams[1]["abstain"], "too few gaps: 1 of 4");
}

#[test]
fn finds_columns_by_name_and_ignores_others() {
    let plain = lines(&format!("{HEADER}{}", rows("1", 32)), "");
    let turned: String = rows("1", 32)
        .lines()
        .map(|row| {
            let fields: Vec<&str> = row.split(',').collect();
            let [id, pkt, send, receive, size] = fields[..] else { panic!("{row}") };
            format!("{size}, true ,{receive}.0,free text,{pkt}, {send} ,{id}\r\n")
        })
        .collect();
    let text = format!("\u{feff}size_bytes,acked,recv_gap_ns,note,pkt,send_gap_ns,stream_id\r\n{turned}");
    assert_eq!(lines(&text, ""), plain);
}

#[test]
fn the_first_packet_of_a_stream_needs_no_gap() {
    let of = rows("1", 32);
    let others = of.split_once('\n').expect("rows").1;
    let with = |first: &str| lines(&format!("{HEADER}1,0,{first},9000\n{others}"), "");
    assert_eq!(with("0,0"), with(","));
}

#[test]
fn missing_numbers_are_lost_packets() {
    let text: String = rows("1", 32)
        .lines()
        .filter(|row| !row.starts_with("1,20,") && !row.starts_with("1,21,"))
        .map(|row| format!("{row}\n"))
        .collect();
    assert_eq!(lines(&format!("{HEADER}{text}"), "")[1], "1,,,,packets lost: 2");
}

#[test]
fn delayed_acknowledgments_are_read_from_the_acked_column() {
    let row = |pkt: usize| match pkt % 2 {
        0 => format!("1,{pkt},{},,9000,0\n", 10_000 - 1000 * (pkt / 16)),
        _ => format!("1,{pkt},{},{},9000,1\n", 10_000 - 1000 * (pkt / 16), 2 * (10_000 - 1000 * (pkt / 16))),
    };
    let text = format!("{},acked\n{}", HEADER.trim_end(), (0..64).map(row).collect::<String>());
    let line = &lines(&text, "")[1];
    let rate: f64 = line.split(',').nth(1).and_then(|rate| rate.parse().ok()).unwrap_or_else(|| panic!("{line}"));
    // Nothing congests: the highest rate, which a window over three eighths of the stream takes down a little at most.
    assert!(rate > 9.5e9 && rate < 10.29e9, "{line}");
    let refused = lines(&text, "--method bass+multi-rate");
    assert_eq!(refused[1], "1,,,,unacknowledged packets: normalise first");
}

const GAP: &str = "expected nanoseconds from 0 to 10000000000";
const COLUMNS: &str = "expected the columns stream_id, pkt, send_gap_ns, recv_gap_ns, size_bytes";

/// A row after the first of stream 1, and what is found in it: line, column, found, expected.
const WRONG_ROWS: [(&str, &str); 13] = [
    ("1,1,-5,7200,9000", "3: send_gap_ns: found \"-5\", GAP"),
    ("1,1,7200,NaN,9000", "3: recv_gap_ns: found \"NaN\", GAP"),
    ("1,1,inf,7200,9000", "3: send_gap_ns: found \"inf\", GAP"),
    ("1,1,7200,1e300,9000", "3: recv_gap_ns: found \"1e300\", GAP"),
    ("1,1,7200,,9000", "3: recv_gap_ns: found nothing, GAP"),
    ("1,1,,,9000", "3: send_gap_ns: found nothing, GAP"),
    ("1,1,7200,7200,0", "3: size_bytes: found \"0\", expected a size from 1 to 65535 bytes"),
    ("1,one,7200,7200,9000", "3: pkt: found \"one\", expected a whole number"),
    ("1,0,7200,7200,9000", "3: pkt: found 0, expected more than 0, the packet before"),
    ("1,1,7200", "3: size_bytes: found a row of 3 fields, expected at least 5"),
    (",1,7200,7200,9000", "3: stream_id: found nothing, expected the name or number of a stream"),
    (
        "2,0,7200,7200,9000\n1,1,7200,7200,9000",
        "4: stream_id: found \"1\" again, expected the rows of a stream together",
    ),
    ("\n\n1,1,x,7200,9000", "5: send_gap_ns: found \"x\", GAP"),
];

#[test]
fn a_wrong_row_is_refused_with_file_line_column_found_and_expected() {
    for (row, message) in WRONG_ROWS {
        let found = refusal(format!("{HEADER}1,0,7200,7200,9000\n{row}\n"));
        assert_eq!(found, message.replace("GAP", GAP), "{row}");
    }
}

#[test]
fn lines_are_counted_whatever_ends_them() {
    for (text, line) in [
        ("HEADER\n1,0,1,1,9\n1,1,x,1,9", 3),
        ("HEADER\r\n1,0,1,1,9\r\n1,1,x,1,9\r\n", 3),
        ("HEADER\r\n\r\n\r\n1,0,1,1,9\r\n\r\n1,1,x,1,9", 6),
        ("HEADER\n\n1,0,1,1,9\n\n\n1,1,x,1,9\n\n", 6),
        ("HEADER\n\"a\nb\",0,1,1,9\n\"a\nb\",1,x,1,9\n", 4),
    ] {
        let found = refusal(text.replace("HEADER", HEADER.trim_end()));
        assert_eq!(found, format!("{line}: send_gap_ns: found \"x\", {GAP}"), "{text:?}");
    }
}

#[test]
fn a_wrong_header_is_refused() {
    let missing = "stream_id,pkt,send_gap_ns,size_bytes";
    for (text, message) in [
        (String::new(), format!("1: stream_id: found an empty file, {COLUMNS}")),
        ("\n\n".to_string(), format!("1: stream_id: found an empty file, {COLUMNS}")),
        (
            format!("{missing}\n1,0,1,9000\n"),
            format!("1: recv_gap_ns: found no such column in \"{missing}\", {COLUMNS}"),
        ),
        (
            "1,0,7200,7200,9000\n".to_string(),
            format!("1: stream_id: found no such column in \"1,0,7200,7200,9000\", {COLUMNS}"),
        ),
        (HEADER.to_string(), "2: stream_id: found the end of the file, expected a row for every packet".to_string()),
        (HEADER.replace("pkt,", "pkt,pkt,"), "1: pkt: found two columns of this name, expected one".to_string()),
    ] {
        assert_eq!(refusal(&text), message, "{text:?}");
    }
}

/// The second as of a device, which has no end.
#[test]
fn refuses_files_other_than_csv() {
    let bytes = [HEADER.as_bytes(), b"\xff\xfe,0,1,1,9000\n"].concat();
    assert_eq!(refusal(bytes), "2: stream_id: found invalid bytes, expected UTF-8");
    let endless = "cannot be read: found 65536 bytes without the end of a row; expected a recording in CSV";
    assert_eq!(refusal("0".repeat(200_000)).trim_start(), endless);
}

#[test]
fn a_mistake_in_the_last_line_prints_nothing_but_its_message() {
    let text = format!("{HEADER}{}2,0,-1,1,9000\n", rows("1", 32));
    for arguments in ["", "--json"] {
        let said = estimate(&text, arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
        assert!(said.err.starts_with("gaps.csv:66: send_gap_ns: found \"-1\""), "{}", said.err);
    }
}

#[test]
fn corrupted_recording_is_read_or_refused_with_one_message() {
    let good = format!("{HEADER}{}{}", rows("1", 32), rows("2", 48));
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let spoil: [&[u8]; 12] =
        [b",", b"\n", b"\"", b"-", b"e9", b"\xff", b"\0", b"NaN", b" ", b"99999999999999999999", b"\r", b"."];
    for _ in 0..120 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..1 + draw(3) {
            let at = draw(bytes.len());
            bytes.splice(at..(at + draw(4)).min(bytes.len()), spoil[draw(spoil.len())].iter().copied());
        }
        let said = estimate(&bytes, "--json");
        let one_message = said.out.is_empty() && said.err.starts_with("gaps.csv:") && said.err.lines().count() == 1;
        match said.code {
            Some(0) => assert!(said.json().is_object() && said.err.is_empty(), "{said:?}"),
            Some(2) => assert!(one_message, "{said:?}"),
            _ => panic!("{said:?}\n{}", String::from_utf8_lossy(&bytes)),
        }
    }
}

#[test]
fn a_missing_file_and_an_unknown_method_are_refused() {
    let missing = Place::empty().refused("estimate nothing.csv");
    assert_eq!(missing, "nothing.csv: cannot be read: No such file or directory (os error 2)\n");
    let unknown = estimate(HEADER, "--method bas+multi-rate");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.starts_with("--method: found \"bas\", expected a denoiser"), "{}", unknown.err);
}

#[test]
fn standard_input_is_read_too() {
    let mut command = Place::empty().command("estimate - --json");
    let mut child = command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let text = format!("{HEADER}{}", rows("1", 32));
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let said = Said::from(child.wait_with_output().expect("the command ends"));
    assert!(said.out.starts_with("{\"streams\":[{\"stream_id\":1,\"estimate_bps\":"), "{}", said.out);
}

#[test]
fn a_stream_of_any_length_takes_bounded_memory_and_is_refused_as_too_long() {
    let rows: String = (0..100_000).map(|pkt| format!("1,{pkt},7200,7200,9000\n")).collect();
    let text = format!("{HEADER}{rows}");
    assert_eq!(lines(&text, "--method receive-rate")[1], "1,,,,too long: more than 65536 gaps");
}

#[test]
fn estimators_and_denoisers_are_listed_with_their_settings() {
    let list = |what: &str| format!("\n{}", Place::empty().done(&format!("list {what}")).out);
    let (estimators, denoisers) = (list("estimators"), list("denoisers"));
    for entry in packetscale_models::estimation::estimators() {
        assert!(estimators.contains(&format!("\n{} ", entry.name)), "{}", entry.name);
    }
    for entry in packetscale_models::estimation::denoisers() {
        assert!(denoisers.contains(&format!("\n{} ", entry.name)), "{}", entry.name);
    }
    assert!(estimators.contains("    epsilon = 100 ns"));
}

/// Sixty streams through even traffic.
const PROBES: &str = r#"
[run]
duration = "1 s"

[path]
rate = "10 Gbit/s"
delay = "1 ms"

[probe]
packet = "9000 B"
rate = { from = "6 Gbit/s", to = "8 Gbit/s" }
streams = 60

[[traffic]]
kind = "cbr"
rate = "3 Gbit/s"
packet = "500 B"
"#;

/// What is found with the streams of a scenario, and where.
fn from_simulator(scenario: &str) -> (Place, serde_json::Value) {
    let place = Place::with(scenario);
    let found = place.done("estimate --from-simulator small.toml --out out --json").json();
    (place, found)
}

#[test]
fn streams_of_the_simulator_are_judged_and_written_as_a_recording() {
    let (place, judged) = from_simulator(PROBES);
    let methods = judged["methods"].as_array().expect("a list");
    let named: Vec<_> = methods.iter().filter_map(|row| row["point"]["method"].as_str()).collect();
    assert_eq!(named, ["combined", "constant guess", "R_avg, no measurement"]);
    // 7 Gbit/s are available, within one packet of cross traffic.
    assert!((methods[0]["score"]["mean_truth_bps"].as_f64().expect("a number") - 7e9).abs() < 1e7);
    assert!((methods[0]["score"]["within_10"].as_f64().expect("a number") - 1.0).abs() < 1e-12);
    let read = place.done("estimate out/streams.csv --json").json();
    let streams = read["streams"].as_array().expect("a list");
    assert_eq!(streams.len(), 60);
    let errors = streams.iter().filter_map(|row| row["estimate_bps"].as_f64()).map(|bps| (bps / 7e9 - 1.0).abs());
    assert!(errors.fold(0.0, f64::max) < 0.1);
    assert!(place.read("out/report.html").contains("Distribution of errors"));
}

#[test]
fn search_interval_contains_available_bandwidth_of_constant_traffic() {
    let rates = ["{ from = \"6 Gbit/s\", to = \"8 Gbit/s\" }", "{ from = \"1 Gbit/s\", to = \"10 Gbit/s\" }"];
    let text = PROBES.replace(rates[0], rates[1]);
    let text = text.replace("streams = 60", "search = { kind = \"pathload\", fleet = 4 }");
    let (place, found) = from_simulator(&text);
    assert_eq!(found["methods"][0]["point"]["method"], "pathload");
    let search = &found["searches"][0];
    let figure = |name: &str| search[name].as_f64().unwrap_or_else(|| panic!("{name}: {search}"));
    // 7 Gbit/s are available, within one packet of cross traffic.
    assert!((figure("available_bps") - 7e9).abs() < 1e7 && search["holds"] == true && search["ended"] == "found");
    assert!(figure("low_bps") <= 7e9 && 7e9 <= figure("high_bps"), "{search}");
    // Streams of four to a fleet, each of 100 packets.
    assert!(figure("streams") % 4.0 == 0.0 && (figure("packets") - 100.0 * figure("streams")).abs() < 0.5, "{search}");
    assert_eq!(place.read("out/searches.csv").lines().count() as f64, figure("streams") + 1.0);
    assert!(place.read("out/report.html").contains("Rates sent"));
}

#[test]
fn run_and_estimate_refuse_each_others_scenarios() {
    let place = Place::with(PROBES);
    let without = PROBES.replace("[probe]", "[[flow]]\ncontroller = \"rapid\"\n#").replace("rate = { from", "# ");
    place.write("without.toml", without.replace("streams = 60", ""));
    for (line, message) in [
        ("run small.toml", "probe: found probe streams, which `packetscale estimate --from-simulator"),
        ("estimate --from-simulator without.toml", "expected a table [probe] that says which streams to send"),
        ("estimate --from-simulator small.toml --method bas", "--method: found \"bas\""),
    ] {
        let said = place.refused(line);
        assert!(said.contains(message) && said.lines().count() == 1, "{said}");
    }
}
