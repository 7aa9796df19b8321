//! The command as people use it: arguments, exit codes, files.

use crate::support::{PROGRAM, Place, Said, assert_same};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::Duration;

pub const SCENARIO: &str = r#"[run]
duration = "200 ms"
replications = 2

[path]
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
controller = "newreno"

[compare]
controllers = ["newreno", "cubic"]

[sweep]
"path.buffer" = ["10 packets", "20 packets"]

[record]
detail = false
"#;

#[test]
fn a_run_prints_a_table_writes_its_files_and_ends_with_0() {
    let place = Place::with(SCENARIO);
    let said = place.done("run small.toml");
    assert_eq!(said.err, "");
    // The heads, four points, what two runs cannot say, an empty line, where the files are, and the page.
    assert_eq!(said.out.lines().count(), 1 + 4 + 1 + 3);
    for name in ["runs.csv", "manifest.json", "dictionary.csv", "report.html"] {
        assert!(place.at("out/small").join(name).is_file(), "{name}");
    }
    assert!(!place.has("out/small/unfinished.ndjson"));
}

#[test]
fn the_number_of_jobs_changes_no_byte() {
    let place = Place::with(SCENARIO);
    for jobs in ["1", "7"] {
        place.done(&format!("run small.toml --jobs {jobs} --out {jobs}"));
    }
    assert_same(&place.at("1"), &place.at("7"));
}

/// A plan that is long enough to be interrupted, and ended by Ctrl-C when some of its 400 runs are finished.
fn stopped() -> (Place, Said) {
    let place = Place::with(&SCENARIO.replace("replications = 2", "replications = 100").replace("200 ms", "5 s"));
    let unfinished = place.at("out/small/unfinished.ndjson");
    let two_are_finished = || fs::read_to_string(&unfinished).unwrap_or_default().lines().count() >= 2;
    let said = place.interrupted(LONG, "INT", two_are_finished);
    assert_eq!(said.code, Some(130));
    (place, said)
}

const LONG: &str = "run small.toml --jobs 1 --no-page";

fn kept(place: &Place) -> Vec<Value> {
    let lines = place.read("out/small/unfinished.ndjson");
    lines.lines().map(|line| serde_json::from_str(line).expect("a run")).collect()
}

fn cpu_times(place: &Place) -> Vec<String> {
    let timing = place.read("out/small/timing.csv");
    timing.lines().skip(1).map(|line| line.split(',').nth(1).unwrap_or_default().to_string()).collect()
}

#[track_caller]
fn assert_not_made_again(kept: &[Value], place: &Place) {
    let times = cpu_times(place);
    assert_eq!((times.len(), kept.is_empty()), (400, false));
    for (run, time) in kept.iter().zip(&times) {
        assert_eq!(&run["run"]["summary"]["cpu_s"].to_string(), time, "a finished run was made again");
    }
}

#[test]
fn after_ctrl_c_the_same_command_resumes_and_writes_the_same_bytes() {
    let (place, stopped) = stopped();
    assert!(stopped.err.contains("the same command resumes"), "{}", stopped.err);
    assert!(!place.has("out/small/runs.csv"));
    let kept = kept(&place);
    assert!(stopped.err.contains(&format!("{} of 400 runs", kept.len())), "{}", stopped.err);
    let resumed = place.done(LONG);
    let goes_on = format!("out/small: resumes; {} of 400 runs are already done\n", kept.len());
    assert!(resumed.err.starts_with(&goes_on), "{}", resumed.err);
    assert_not_made_again(&kept, &place);
    place.done("run small.toml --no-page --out fresh");
    assert_same(&place.at("out/small"), &place.at("fresh"));
}

/// It lies elsewhere and was written at another time. The last line of the first is cut short, as by a crash.
#[test]
fn another_copy_resumes_and_repeats_torn_run() {
    let (place, _) = stopped();
    let kept = kept(&place);
    let lines = place.read("out/small/unfinished.ndjson");
    place.write("out/small/unfinished.ndjson", &lines[..lines.len() - 100]);

    let copy = place.at("copied/packetscale");
    fs::create_dir(place.at("copied")).expect("a folder");
    fs::copy(PROGRAM, &copy).expect("copied");
    let file = fs::File::options().append(true).open(&copy).expect("opened");
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("another time");
    drop(file);
    let finished = Said::of(Command::new(&copy).args(LONG.split(' ')).current_dir(place.path()));
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    assert_not_made_again(&kept[..kept.len() - 1], &place);
}

#[test]
fn after_ctrl_c_a_changed_scenario_is_refused_without_replace() {
    let (place, _) = stopped();
    let changed = "run small.toml --set 'run.duration=100 ms' --no-page --out out/small";
    let refused = place.refused(changed);
    assert!(refused.contains("--out") && refused.contains("--replace"), "{refused}");
    place.done(&format!("{changed} --replace"));
    place.done("run small.toml --set 'run.duration=100 ms' --no-page --out fresh");
    assert_same(&place.at("out/small"), &place.at("fresh"));
}

#[test]
fn rerun_replaces_single_torn_line() {
    let place = Place::with(SCENARIO);
    place.write("out/small/unfinished.ndjson", "{\"id\":\"0123\",\"run\":{\"contr");
    place.done("run small.toml");
    assert_eq!(cpu_times(&place).len(), 8);
}

#[test]
fn json_is_one_object_on_standard_output_and_nothing_else() {
    let place = Place::with(SCENARIO);
    let object = place.done("run small.toml --json --no-page").json();
    assert_eq!(object["schema"], 1);
    assert_eq!(object["runs"].as_array().map(Vec::len), Some(8));
    assert_eq!(object["runs"][0]["params"]["path.buffer_packets"], 10.0);
    assert!(!place.has("out/small/report.html"));
}

#[test]
fn print_shows_the_resolved_scenario_and_runs_nothing() {
    let place = Place::with(SCENARIO);
    let printed = place.done("run small.toml --print --set run.seed=5").out;
    assert!(printed.contains("seed = 5\n") && printed.contains("queue = \"fifo\"\n"), "{printed}");
    assert!(!place.has("out"));
    place.write("again.toml", &printed);
    assert_eq!(place.done("run again.toml --print").out, printed);
}

#[test]
fn a_missed_expectation_ends_with_1_and_is_named() {
    let place =
        Place::with(&format!("{SCENARIO}\n[[expect]]\nmetric = \"utilisation\"\nat_least = 2\nwhy = \"a test\"\n"));
    let said = place.says("run small.toml");
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("MISSED: utilisation at least 2"), "{}", said.out);
}

/// Arguments after `run`, and how the message begins.
const REFUSED: &[(&str, &str)] = &[
    ("bare.toml", "bare.toml:6: path.rate: found 10, a bare number; expected a rate above zero like \"10 Gbit/s\"\n"),
    ("small.toml --out small.toml/inside", "small.toml/inside: cannot be written: Not a directory (os error 20)\n"),
    ("small.toml --set 'path.rat=1 Gbit/s'", "small.toml: --set path.rat=1 Gbit/s: path.rat: found an unknown key"),
    ("small.toml --on linux --jobs 2", "--jobs: found 2; expected 1, one run at a time, with --on linux\n"),
    ("small.toml --clock virtual", "--clock: found virtual with no --on; expected --on linux-6.12\n"),
    (
        "small.toml --trace x.pcap",
        "--trace: found x.pcap, the name of a capture; expected a name like packets.csv: the file is CSV. --pcap writes \
         a capture\n",
    ),
    (
        "small.toml --on linux --pcap x.pcapng",
        "--pcap: found --on linux; expected --on simulator, which records single packets\n",
    ),
    // A build without the kernel host refuses everything.
    #[cfg(feature = "kernel")]
    (
        "small.toml --on linux --set 'sender.pacing=120 %'",
        "small.toml: --set sender.pacing=120 %: sender.pacing: found \"120 %\" with --on linux; expected \"0 %\"",
    ),
];

#[test]
fn a_mistake_ends_with_2_and_one_message_and_leaves_nothing() {
    let place = Place::with(SCENARIO);
    place.write("bare.toml", SCENARIO.replace("\"10 Mbit/s\"", "10"));
    for (arguments, message) in REFUSED {
        let said = place.says(&format!("run {arguments}"));
        assert_eq!((said.code, said.out.as_str(), said.err.lines().count()), (Some(2), "", 1), "{said:?}");
        assert!(said.err.starts_with(message), "{arguments}: {}", said.err);
        assert!(!place.has("out"), "{arguments}");
    }
}

#[test]
fn a_wrong_trace_ends_with_2_and_leaves_no_results() {
    let place = Place::with(&format!("{SCENARIO}\n[[traffic]]\nkind = \"pcap\"\nfile = \"small.toml\"\n"));
    let refused = place.refused("run small.toml");
    assert!(refused.starts_with("small.toml: packet 1, byte 0: found ") && refused.lines().count() == 1, "{refused}");
    assert!(!place.has("out/small"));
}

#[test]
fn every_list_names_what_scenarios_can_use() {
    let place = Place::empty();
    for (list, name) in [
        ("controllers", "\nrapid "),
        ("controllers", "\ncubic "),
        ("queues", "\nfifo "),
        ("papers", "multiplexing-2007/figure-9"),
        ("traffic", "\npareto-on-off "),
        ("traffic", "\npcap "),
    ] {
        let listed = format!("\n{}", place.done(&format!("list {list}")).out);
        assert!(listed.contains(name), "{name}: {listed}");
    }
}

#[test]
fn a_list_in_json_has_names_and_settings() {
    let place = Place::empty();
    let listed = |what| place.done(&format!("list {what} --json")).json();
    let cubic = listed("controllers").as_array().expect("a list").iter().find(|one| one["name"] == "cubic").cloned();
    assert_eq!(cubic.expect("cubic")["settings"][0]["name"].as_str().map(str::is_empty), Some(false));
    assert_eq!(listed("queues")[0]["name"], "fifo");
    assert!(listed("papers")[0]["figures"][0]["name"].as_str().is_some_and(|name| name.contains('/')));
    let scenarios = listed("scenarios");
    let has = |name: &str| scenarios.as_array().is_some_and(|all| all.iter().any(|one| one["name"] == name));
    assert!(has("scenarios/bursty-10g.toml") && has("scenarios/kernel/two-flows.toml"), "{scenarios}");
}

/// What a bug report needs: the version, the commit where it is known, what it was built for and with.
#[test]
fn the_version_names_commit_and_features() {
    let place = Place::empty();
    let said = place.done("--version").out;
    assert!(said.starts_with(concat!("packetscale ", env!("CARGO_PKG_VERSION"), " (commit ")), "{said}");
    assert!(said.contains(if cfg!(feature = "kernel") { ", with kernel)" } else { ", without kernel)" }), "{said}");
    assert_eq!(place.done("-V").out, concat!("packetscale ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_manual_has_a_page_for_each_subcommand() {
    let place = Place::empty();
    place.done("man --pages man");
    for page in ["", "-run", "-theory-tdqm", "-new-controller", "-live-serve"] {
        assert!(place.read(&format!("man/packetscale{page}.1")).contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn completions_and_the_manual_know_every_subcommand() {
    let place = Place::empty();
    let (bash, man) = (place.done("completions bash").out, place.done("man").out);
    for subcommand in ["run", "reproduce", "list", "doctor"] {
        assert!(bash.contains(&format!("packetscale__subcmd__{subcommand}")), "{subcommand}");
        assert!(man.contains(&format!(".SH PACKETSCALE {}", subcommand.to_uppercase())), "{subcommand}");
    }
    assert!(man.contains("no\\-page"));
    let sections = ["DESCRIPTION", "PACKETSCALE RUN", "PACKETSCALE NEW", "PACKETSCALE DOCTOR", "EXTRA"];
    let places = sections.map(|section| man.find(&format!(".SH {section}\n")));
    assert!(places[0].is_some() && places.is_sorted(), "{places:?}");
}

#[test]
fn a_new_scenario_runs_and_overwrites_nothing() {
    let place = Place::empty();
    assert_eq!(place.done("new scenario first").err, "");
    let printed = place.done("run first.toml --print").out;
    assert!(printed.contains("[compare]"), "{printed}");
    place.write("first.toml", "mine");
    let refused = place.refused("new scenario first.toml");
    assert_eq!(refused, "first.toml: found a file; expected none, or --replace to overwrite it\n");
    assert_eq!(place.read("first.toml"), "mine");
    place.done("new scenario first --replace");
    assert_ne!(place.read("first.toml"), "mine");
}

#[test]
fn results_of_another_scenario_are_not_overwritten_without_replace() {
    let place = Place::with(SCENARIO);
    place.write("other.toml", SCENARIO);
    place.done("run small.toml --out here");
    let message = "here: found results of small.toml; expected an empty folder, or one of this plan; name another \
        folder with --out, or replace what is there with --replace\n";
    assert_eq!(place.refused("run other.toml --out here"), message);
    assert_eq!(place.done("run other.toml --out here --replace").err, "here: replaces results of small.toml\n");
}

#[test]
fn changed_settings_have_a_folder_of_their_own_and_overwrite_no_results() {
    let place = Place::with(SCENARIO);
    place.done("run small.toml --no-page");
    let before = place.read("out/small/runs.csv");
    let changed = "run small.toml --no-page --set run.seed=5";
    assert!(place.done(changed).out.contains("Written to out/small-run.seed-5\n"));
    let refused = place.refused(&format!("{changed} --out out/small"));
    assert!(refused.starts_with("out/small: found results of small.toml with other settings; "), "{refused}");
    assert_eq!(place.read("out/small/runs.csv"), before);
    place.done(&format!("{changed} --out out/small --replace"));
    assert_ne!(place.read("out/small/runs.csv"), before);
}

#[test]
fn results_that_cannot_all_be_written_leave_those_that_are_there() {
    let place = Place::with(SCENARIO);
    place.done("run small.toml --no-page --out here");
    let before = ["runs.csv", "runs.ndjson", "manifest.json"].map(|file| place.read(&format!("here/{file}")));
    // A folder under a temporary name: that file cannot be written.
    place.write("here/.windows.csv.partial/in", "the way");
    place.refused("run small.toml --no-page --out here --replace --set run.seed=9");
    let after = ["runs.csv", "runs.ndjson", "manifest.json"].map(|file| place.read(&format!("here/{file}")));
    assert_eq!(before, after);
}

#[test]
fn a_link_under_a_temporary_name_is_not_followed() {
    let place = Place::with(SCENARIO);
    place.write("mine", "mine");
    fs::create_dir(place.at("here")).expect("made");
    std::os::unix::fs::symlink(place.at("mine"), place.at("here/.runs.csv.partial")).expect("a link");
    place.done("run small.toml --no-page --out here");
    assert_eq!(place.read("mine"), "mine");
}

#[test]
fn foreign_files_are_not_overwritten() {
    let place = Place::with(SCENARIO);
    for (command, file, without) in [
        ("run small.toml --out table", "table/runs.csv", "manifest.json"),
        ("run small.toml --out run", "run/report.html", "manifest.json"),
        ("run small.toml --out curves", "curves/series.parquet", "manifest.json"),
        ("judge evaluate veno --quick --out evaluate", "evaluate/report.html", "evaluation.json"),
        ("judge matrix veno --quick --out matrix", "matrix/matrix.csv", "matrix.json"),
    ] {
        place.write(file, "mine");
        let refused = place.refused(command);
        let (folder, name) = file.split_once('/').expect("a folder");
        assert!(
            refused.starts_with(&format!("{folder}: found a file {name} without {without}; expected")),
            "{refused}"
        );
        assert_eq!(place.read(file), "mine", "{command}");
    }
}

#[test]
fn recording_overwrites_no_file() {
    let place = Place::with(SCENARIO);
    place.write("mine", "mine");
    for option in ["--trace", "--pcap", "--perfetto"] {
        for (file, expected) in [
            ("mine", "which exists; expected a new name, or --replace"),
            ("/dev/null", "which holds other content; expected a new name"),
            ("out/small/runs.csv", "a results file of the run; expected another name"),
            ("none/there", "in a missing folder; expected an existing folder"),
        ] {
            let refused = place.refused(&format!("run small.toml {option} {file}"));
            assert_eq!(refused, format!("{option}: found {file}, {expected}\n"));
        }
        let read = place.refused(&format!("run small.toml {option} ./small.toml --replace"));
        assert_eq!(read, format!("{option}: found ./small.toml, an input of the run; expected a new name\n"));
        place.refused(&format!("run small.toml {option} mine/ --replace"));
    }
    assert_eq!((place.read("mine"), place.read("small.toml")), ("mine".to_string(), SCENARIO.to_string()));
    assert!(!place.has("out"), "refused before the run");
}

#[test]
fn doctor_says_yes_or_no_on_every_line() {
    let said = Place::empty().done("doctor").out;
    assert!(said.lines().all(|line| line.starts_with("yes  ") || line.starts_with("no   ")), "{said}");
    assert!(said.lines().filter(|line| line.starts_with("no")).all(|line| line.contains("skipped: ")), "{said}");
}
