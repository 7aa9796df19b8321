//! `packetscale estimate` as people use it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

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

fn recorded(text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("gaps.csv"), text).expect("written");
    folder
}

fn estimate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(["estimate", "gaps.csv"]).args(arguments).current_dir(folder).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Estimates that must succeed, as lines.
fn lines(text: &str, arguments: &[&str]) -> Vec<String> {
    let output = estimate(recorded(text).path(), arguments);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    stdout(&output).lines().map(str::to_string).collect()
}

/// The one message about a recording that is refused.
fn refusal(text: &str) -> String {
    let output = estimate(recorded(text).path(), &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{text}");
    let message = stderr(&output);
    assert_eq!(message.lines().count(), 1, "{message}");
    message.trim_end().to_string()
}

#[test]
fn every_stream_gets_a_line_with_its_estimate_or_its_reason() {
    let text = format!("{HEADER}{}{}b,0,0,0,9000\nb,1,7200,7200,9000\n", rows("a", 32), rows("7", 64));
    let lines = lines(&text, &["--method", "multi-rate(reading=below)"]);
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
    let output = estimate(recorded(&text).path(), &["--json"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
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
fn columns_are_found_by_name_and_others_are_left_alone() {
    let plain = lines(&format!("{HEADER}{}", rows("1", 32)), &[]);
    let turned: String = rows("1", 32)
        .lines()
        .map(|row| {
            let fields: Vec<&str> = row.split(',').collect();
            let [id, pkt, send, receive, size] = fields[..] else { panic!("{row}") };
            format!("{size}, true ,{receive}.0,free text,{pkt}, {send} ,{id}\r\n")
        })
        .collect();
    let text = format!("\u{feff}size_bytes,acked,recv_gap_ns,note,pkt,send_gap_ns,stream_id\r\n{turned}");
    assert_eq!(lines(&text, &[]), plain);
}

/// As of a device, which has no end.
#[test]
fn a_row_without_an_end_is_refused() {
    let expected = "cannot be read: found 65536 bytes without the end of a row; expected a recording in CSV";
    assert_eq!(refusal(&"0".repeat(200_000)), format!("gaps.csv: {expected}"));
}

#[test]
fn the_first_packet_of_a_stream_needs_no_gap() {
    let with = |first: &str| {
        lines(
            &format!("{HEADER}1,0,{first},9000\n{}", &rows("1", 32)[rows("1", 32).find('\n').expect("rows") + 1..]),
            &[],
        )
    };
    assert_eq!(with("0,0"), with(","));
    let message = refusal(&format!("{HEADER}1,0,,,9000\n1,1,,,9000\n"));
    assert_eq!(message, "gaps.csv:3: send_gap_ns: found nothing, expected nanoseconds from 0 to 10000000000");
}

#[test]
fn numbers_that_are_missing_are_packets_that_were_lost() {
    let text: String = rows("1", 32)
        .lines()
        .filter(|row| !row.starts_with("1,20,") && !row.starts_with("1,21,"))
        .map(|row| format!("{row}\n"))
        .collect();
    assert_eq!(lines(&format!("{HEADER}{text}"), &[])[1], "1,,,,packets lost: 2");
}

#[test]
fn delayed_acknowledgments_are_read_from_the_acked_column() {
    let row = |pkt: usize| match pkt % 2 {
        0 => format!("1,{pkt},{},,9000,0\n", 10_000 - 1000 * (pkt / 16)),
        _ => format!("1,{pkt},{},{},9000,1\n", 10_000 - 1000 * (pkt / 16), 2 * (10_000 - 1000 * (pkt / 16))),
    };
    let text = format!("{},acked\n{}", HEADER.trim_end(), (0..64).map(row).collect::<String>());
    let line = &lines(&text, &[])[1];
    let rate: f64 = line.split(',').nth(1).and_then(|rate| rate.parse().ok()).unwrap_or_else(|| panic!("{line}"));
    // Nothing congests: the highest rate, which a window over three eighths of the stream takes down a little at most.
    assert!(rate > 9.5e9 && rate < 10.29e9, "{line}");
    let refused = lines(&text, &["--method", "bass+multi-rate"]);
    assert_eq!(refused[1], "1,,,,unacknowledged packets: normalise first");
}

#[test]
fn garbage_is_refused_with_file_line_column_found_and_expected() {
    let row = |row: &str| refusal(&format!("{HEADER}1,0,7200,7200,9000\n{row}\n"));
    let gap = "expected nanoseconds from 0 to 10000000000";
    assert_eq!(row("1,1,-5,7200,9000"), format!("gaps.csv:3: send_gap_ns: found \"-5\", {gap}"));
    assert_eq!(row("1,1,7200,NaN,9000"), format!("gaps.csv:3: recv_gap_ns: found \"NaN\", {gap}"));
    assert_eq!(row("1,1,inf,7200,9000"), format!("gaps.csv:3: send_gap_ns: found \"inf\", {gap}"));
    assert_eq!(row("1,1,7200,1e300,9000"), format!("gaps.csv:3: recv_gap_ns: found \"1e300\", {gap}"));
    assert_eq!(row("1,1,7200,,9000"), format!("gaps.csv:3: recv_gap_ns: found nothing, {gap}"));
    assert_eq!(row("1,1,7200,7200,0"), "gaps.csv:3: size_bytes: found \"0\", expected a size from 1 to 65535 bytes");
    assert_eq!(row("1,one,7200,7200,9000"), "gaps.csv:3: pkt: found \"one\", expected a whole number");
    assert_eq!(row("1,0,7200,7200,9000"), "gaps.csv:3: pkt: found 0, expected more than 0, the packet before");
    assert_eq!(row("1,1,7200"), "gaps.csv:3: size_bytes: found a row of 3 fields, expected at least 5");
    assert_eq!(
        row(",1,7200,7200,9000"),
        "gaps.csv:3: stream_id: found nothing, expected the name or number of a stream"
    );
    let back = row("2,0,7200,7200,9000\n1,1,7200,7200,9000");
    assert_eq!(back, "gaps.csv:4: stream_id: found \"1\" again, expected the rows of a stream together");
    assert_eq!(row("\n\n1,1,x,7200,9000"), format!("gaps.csv:5: send_gap_ns: found \"x\", {gap}"));
}

#[test]
fn lines_are_counted_whatever_ends_them() {
    let refused = |text: &str| refusal(&text.replace("HEADER", HEADER.trim_end()));
    let line =
        |line: u64| format!("gaps.csv:{line}: send_gap_ns: found \"x\", expected nanoseconds from 0 to 10000000000");
    assert_eq!(refused("HEADER\n1,0,1,1,9\n1,1,x,1,9"), line(3));
    assert_eq!(refused("HEADER\r\n1,0,1,1,9\r\n1,1,x,1,9\r\n"), line(3));
    assert_eq!(refused("HEADER\r\n\r\n\r\n1,0,1,1,9\r\n\r\n1,1,x,1,9"), line(6));
    assert_eq!(refused("HEADER\n\n1,0,1,1,9\n\n\n1,1,x,1,9\n\n"), line(6));
    assert_eq!(refused("HEADER\n\"a\nb\",0,1,1,9\n\"a\nb\",1,x,1,9\n"), line(4));
}

#[test]
fn a_header_that_is_not_one_is_refused() {
    let columns = "expected the columns stream_id, pkt, send_gap_ns, recv_gap_ns, size_bytes";
    assert_eq!(refusal(""), format!("gaps.csv:1: stream_id: found an empty file, {columns}"));
    assert_eq!(refusal("\n\n"), format!("gaps.csv:1: stream_id: found an empty file, {columns}"));
    let missing = "stream_id,pkt,send_gap_ns,size_bytes\n1,0,1,9000\n";
    let found = "no such column in \"stream_id,pkt,send_gap_ns,size_bytes\"";
    assert_eq!(refusal(missing), format!("gaps.csv:1: recv_gap_ns: found {found}, {columns}"));
    assert_eq!(refusal(HEADER), "gaps.csv:2: stream_id: found the end of the file, expected a row for every packet");
    let twice = HEADER.replace("pkt,", "pkt,pkt,");
    assert_eq!(refusal(&twice), "gaps.csv:1: pkt: found two columns of this name, expected one");
    assert!(refusal("1,0,7200,7200,9000\n").starts_with("gaps.csv:1: stream_id: found no such column"));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = recorded("");
    let mut bytes = HEADER.as_bytes().to_vec();
    bytes.extend(b"\xff\xfe,0,1,1,9000\n");
    fs::write(folder.path().join("gaps.csv"), bytes).expect("written");
    let output = estimate(folder.path(), &[]);
    assert_eq!(stderr(&output), "gaps.csv:2: stream_id: found bytes that are no text, expected UTF-8\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_mistake_in_the_last_line_prints_nothing_but_its_message() {
    let text = format!("{HEADER}{}2,0,-1,1,9000\n", rows("1", 32));
    for arguments in [&[][..], &["--json"]] {
        let output = estimate(recorded(&text).path(), arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        assert!(stderr(&output).starts_with("gaps.csv:66: send_gap_ns: found \"-1\""), "{}", stderr(&output));
    }
}

#[test]
fn a_recording_spoilt_anywhere_is_read_or_refused_with_one_message() {
    let good = format!("{HEADER}{}{}", rows("1", 32), rows("2", 48));
    let folder = recorded("");
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
        fs::write(folder.path().join("gaps.csv"), &bytes).expect("written");
        let output = estimate(folder.path(), &["--json"]);
        let said = (stdout(&output), stderr(&output));
        match output.status.code() {
            Some(0) => {
                assert!(serde_json::from_str::<serde_json::Value>(&said.0).is_ok() && said.1.is_empty(), "{said:?}")
            }
            Some(2) => {
                assert!(said.0.is_empty() && said.1.starts_with("gaps.csv:") && said.1.lines().count() == 1, "{said:?}")
            }
            code => panic!("{code:?}: {said:?}\n{}", String::from_utf8_lossy(&bytes)),
        }
    }
}

#[test]
fn a_file_that_is_not_there_and_a_method_that_does_not_exist_end_with_two() {
    let folder = recorded(HEADER);
    let missing = Command::new(env!("CARGO_BIN_EXE_packetscale"))
        .args(["estimate", "nothing.csv"])
        .current_dir(folder.path())
        .output()
        .expect("the command starts");
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(stderr(&missing), "nothing.csv: cannot be read: No such file or directory (os error 2)\n");
    let output = estimate(folder.path(), &["--method", "bas+multi-rate"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("--method: found \"bas\", expected a denoiser"), "{}", stderr(&output));
}

#[test]
fn standard_input_is_read_too() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(["estimate", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let text = format!("{HEADER}{}", rows("1", 32));
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("the command ends");
    assert!(stdout(&output).starts_with("{\"streams\":[{\"stream_id\":1,\"estimate_bps\":"), "{}", stdout(&output));
}

#[test]
fn a_stream_of_any_length_takes_bounded_memory_and_is_refused_as_too_long() {
    let rows: String = (0..100_000).map(|pkt| format!("1,{pkt},7200,7200,9000\n")).collect();
    let text = format!("{HEADER}{rows}");
    assert_eq!(lines(&text, &["--method", "receive-rate"])[1], "1,,,,too long: more than 65536 gaps");
}

#[test]
fn estimators_and_denoisers_are_listed_with_their_settings() {
    let folder = recorded("");
    let list = |what| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
        stdout(&command.args(["list", what]).current_dir(folder.path()).output().expect("the command starts"))
    };
    for entry in packetscale_models::estimation::estimators() {
        assert!(
            list("estimators").contains(&format!("\n{} ", entry.name)) || list("estimators").starts_with(entry.name)
        );
    }
    assert!(list("estimators").contains("    epsilon = 100 ns"));
    for entry in packetscale_models::estimation::denoisers() {
        assert!(list("denoisers").contains(&format!("\n{} ", entry.name)) || list("denoisers").starts_with(entry.name));
    }
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

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_packetscale")).args(arguments).output().expect("the command starts")
}

#[test]
fn streams_of_the_simulator_are_judged_and_written_as_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("probes.toml");
    std::fs::write(&scenario, PROBES).expect("the scenario is written");
    let (scenario, out) = (scenario.display().to_string(), folder.path().join("out").display().to_string());
    let judged = command(&["estimate", "--from-simulator", &scenario, "--out", &out, "--json"]);
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    let judged: serde_json::Value = serde_json::from_slice(&judged.stdout).expect("one JSON object");
    let methods = judged["methods"].as_array().expect("a list");
    let named: Vec<_> = methods.iter().filter_map(|row| row["point"]["method"].as_str()).collect();
    assert_eq!(named, ["combined", "constant guess", "R_avg, no measurement"]);
    // 7 Gbit/s are available, within one packet of cross traffic.
    assert!((methods[0]["score"]["mean_truth_bps"].as_f64().expect("a number") - 7e9).abs() < 1e7);
    assert!((methods[0]["score"]["within_10"].as_f64().expect("a number") - 1.0).abs() < 1e-12);
    let recording = format!("{out}/streams.csv");
    let read = command(&["estimate", &recording, "--json"]);
    let read: serde_json::Value = serde_json::from_slice(&read.stdout).expect("one JSON object");
    let streams = read["streams"].as_array().expect("a list");
    assert_eq!(streams.len(), 60);
    let errors = streams.iter().filter_map(|row| row["estimate_bps"].as_f64()).map(|bps| (bps / 7e9 - 1.0).abs());
    assert!(errors.fold(0.0, f64::max) < 0.1);
    assert!(std::fs::read_to_string(format!("{out}/report.html")).expect("a page").contains("How errors spread"));
}

#[test]
fn a_search_ends_with_an_interval_that_holds_what_even_traffic_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("search.toml");
    let text = PROBES
        .replace(
            "rate = { from = \"6 Gbit/s\", to = \"8 Gbit/s\" }",
            "rate = { from = \"1 Gbit/s\", to = \"10 Gbit/s\" }",
        )
        .replace("streams = 60", "search = { kind = \"pathload\", fleet = 4 }");
    std::fs::write(&scenario, text).expect("the scenario is written");
    let (scenario, out) = (scenario.display().to_string(), folder.path().join("out").display().to_string());
    let found = command(&["estimate", "--from-simulator", &scenario, "--out", &out, "--json"]);
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).expect("one JSON object");
    assert_eq!(found["methods"][0]["point"]["method"], "pathload");
    let search = &found["searches"][0];
    let figure = |name: &str| search[name].as_f64().unwrap_or_else(|| panic!("{name}: {search}"));
    // 7 Gbit/s are available, within one packet of cross traffic.
    assert!((figure("available_bps") - 7e9).abs() < 1e7 && search["holds"] == true && search["ended"] == "found");
    assert!(figure("low_bps") <= 7e9 && 7e9 <= figure("high_bps"), "{search}");
    // Streams of four to a fleet, each of 100 packets.
    assert!(figure("streams") % 4.0 == 0.0 && (figure("packets") - 100.0 * figure("streams")).abs() < 0.5, "{search}");
    let streams = std::fs::read_to_string(format!("{out}/searches.csv")).expect("the streams");
    assert_eq!(streams.lines().count() as f64, figure("streams") + 1.0);
    assert!(std::fs::read_to_string(format!("{out}/report.html")).expect("a page").contains("Which rates were sent"));
}

#[test]
fn scenarios_are_sent_to_the_command_that_runs_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the scenario is written");
        path.display().to_string()
    };
    let probes = write("probes.toml", PROBES);
    let without = write(
        "without.toml",
        &PROBES
            .replace("[probe]", "[[flow]]\ncontroller = \"rapid\"\n#")
            .replace("rate = { from", "# ")
            .replace("streams = 60", ""),
    );
    for (arguments, message) in [
        (vec!["run", &probes], "probe: found probe streams, which `packetscale estimate --from-simulator"),
        (vec!["estimate", "--from-simulator", &without], "expected a table [probe] that says which streams to send"),
        (vec!["estimate", "--from-simulator", &probes, "--method", "bas"], "--method: found \"bas\""),
    ] {
        let output = command(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(message) && said.lines().count() == 1, "{said}");
    }
}
