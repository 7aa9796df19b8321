//! The command as people use it: arguments, exit codes, files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

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

/// A folder with a scenario in it.
pub fn folder(scenario: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("small.toml"), scenario).expect("written");
    folder
}

pub fn packetscale(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Everything in the output folder that depends on scenario and seed only.
fn comparable(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let machine = ["manifest.json", "timing.csv", "timing.parquet", "report.html"];
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry"));
    let named = entries.map(|entry| (entry.file_name().into_string().expect("a name"), entry.path()));
    let mut files: Vec<_> = named
        .filter(|(name, _)| !machine.contains(&name.as_str()))
        .map(|(name, path)| (name, fs::read(path).expect("a file")))
        .collect();
    files.sort();
    files
}

#[test]
fn a_run_writes_its_files_beside_a_table_and_ends_with_zero() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    // The heads, four points, what two runs cannot say, an empty line, and where the files are.
    assert_eq!(stdout(&output).lines().count(), 1 + 4 + 1 + 2);
    for name in ["runs.csv", "manifest.json", "dictionary.csv", "report.html"] {
        assert!(folder.path().join("out/small").join(name).is_file(), "{name}");
    }
    assert!(!folder.path().join("out/small/unfinished.ndjson").exists());
}

#[test]
fn the_number_of_jobs_changes_no_byte() {
    let folder = folder(SCENARIO);
    for jobs in ["1", "7"] {
        let output = packetscale(folder.path(), &["run", "small.toml", "--jobs", jobs, "--out", jobs]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let files = comparable(&folder.path().join("1"));
    assert!(files.len() >= 6);
    assert_eq!(files, comparable(&folder.path().join("7")));
}

/// Starts a plan, presses Ctrl-C when some runs are finished, and returns what the command said.
fn interrupted(folder: &Path, arguments: &[&str]) -> Output {
    let unfinished = folder.join("out/small/unfinished.ndjson");
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    // Not a limit on speed: it ends a test that would wait for ever.
    let deadline = Instant::now() + Duration::from_secs(600);
    while fs::read_to_string(&unfinished).unwrap_or_default().lines().count() < 2 {
        assert!(Instant::now() < deadline, "no run was finished");
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().expect("sh starts");
    assert!(sent.success());
    child.wait_with_output().expect("the command ends")
}

/// The plan is long enough to be interrupted.
fn long() -> String {
    SCENARIO.replace("replications = 2", "replications = 100").replace("200 ms", "5 s")
}

fn cpu_times(folder: &Path) -> Vec<String> {
    let timing = fs::read_to_string(folder.join("timing.csv")).expect("timing.csv");
    timing.lines().skip(1).map(|line| line.split(',').nth(1).unwrap_or_default().to_string()).collect()
}

#[test]
fn after_ctrl_c_the_same_command_takes_up_the_finished_runs_and_writes_the_same_bytes() {
    let folder = folder(&long());
    let command = ["run", "small.toml", "--jobs", "1", "--no-page"];
    let stopped = interrupted(folder.path(), &command);
    assert_eq!(stopped.status.code(), Some(130));
    assert!(stderr(&stopped).contains("the same command resumes"), "{}", stderr(&stopped));
    let out = folder.path().join("out/small");
    assert!(!out.join("runs.csv").exists());
    let lines = fs::read_to_string(out.join("unfinished.ndjson")).expect("kept runs");
    let kept: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a run")).collect();
    assert!(stderr(&stopped).contains(&format!("{} of 400 runs", kept.len())), "{}", stderr(&stopped));

    let resumed = packetscale(folder.path(), &command);
    assert_eq!(resumed.status.code(), Some(0));
    let kept_words = format!("out/small: goes on; {} of 400 runs were kept\n", kept.len());
    assert!(stderr(&resumed).starts_with(&kept_words), "{}", stderr(&resumed));
    let resumed = cpu_times(&out);
    for (run, time) in kept.iter().zip(&resumed) {
        assert_eq!(&run["run"]["summary"]["cpu_s"].to_string(), time, "a finished run was made again");
    }
    let fresh = packetscale(folder.path(), &["run", "small.toml", "--no-page", "--out", "fresh"]);
    assert_eq!(fresh.status.code(), Some(0));
    assert_eq!(comparable(&out), comparable(&folder.path().join("fresh")));
}

/// A plan begun by one copy of the program is finished by another, which lies elsewhere and was written at another time.
/// The last line of the first is cut short, as by a crash.
#[test]
fn another_copy_of_the_program_finishes_what_one_began() {
    let folder = folder(&long());
    let command = ["run", "small.toml", "--jobs", "1", "--no-page"];
    assert_eq!(interrupted(folder.path(), &command).status.code(), Some(130));
    let out = folder.path().join("out/small");
    let unfinished = out.join("unfinished.ndjson");
    let lines = fs::read_to_string(&unfinished).expect("kept runs");
    let kept: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a run")).collect();
    fs::write(&unfinished, &lines[..lines.len() - 100]).expect("written");

    let copy = folder.path().join("copied/packetscale");
    fs::create_dir(folder.path().join("copied")).expect("a folder");
    fs::copy(env!("CARGO_BIN_EXE_packetscale"), &copy).expect("copied");
    let file = fs::File::options().append(true).open(&copy).expect("opened");
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("another time");
    drop(file);
    let finished = Command::new(&copy).args(command).current_dir(folder.path()).output().expect("the copy starts");
    assert_eq!(finished.status.code(), Some(0), "{}", stderr(&finished));
    let times = cpu_times(&out);
    assert_eq!(times.len(), 400);
    let untorn = &kept[..kept.len() - 1];
    assert!(!untorn.is_empty());
    for (run, time) in untorn.iter().zip(&times) {
        assert_eq!(&run["run"]["summary"]["cpu_s"].to_string(), time, "a finished run was made again");
    }
}

#[test]
fn after_ctrl_c_a_changed_scenario_is_refused_unless_what_was_kept_may_be_lost() {
    let folder = folder(&long());
    assert_eq!(interrupted(folder.path(), &["run", "small.toml", "--jobs", "1"]).status.code(), Some(130));
    let change = ["--set", "run.duration=100 ms", "--no-page"];
    let refused = packetscale(folder.path(), &[&["run", "small.toml"], &change[..]].concat());
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--out") && stderr(&refused).contains("--replace"), "{}", stderr(&refused));
    let replaced = packetscale(folder.path(), &[&["run", "small.toml", "--replace"], &change[..]].concat());
    assert_eq!(replaced.status.code(), Some(0), "{}", stderr(&replaced));
    let fresh = packetscale(folder.path(), &[&["run", "small.toml", "--out", "fresh"], &change[..]].concat());
    assert_eq!(fresh.status.code(), Some(0));
    assert_eq!(comparable(&folder.path().join("out/small")), comparable(&folder.path().join("fresh")));
}

#[test]
fn a_line_cut_short_by_a_crash_is_made_again() {
    let folder = folder(SCENARIO);
    let out = folder.path().join("out/small");
    fs::create_dir_all(&out).expect("a folder");
    fs::write(out.join("unfinished.ndjson"), "{\"id\":\"0123\",\"run\":{\"contr").expect("written");
    assert_eq!(packetscale(folder.path(), &["run", "small.toml"]).status.code(), Some(0));
    assert_eq!(cpu_times(&out).len(), 8);
}

#[test]
fn a_trace_that_is_not_one_ends_with_two_and_leaves_nothing() {
    let traffic = "\n[[traffic]]\nkind = \"pcap\"\nfile = \"small.toml\"\n";
    let folder = folder(&format!("{SCENARIO}{traffic}"));
    let output = packetscale(folder.path(), &["run", "small.toml"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(!folder.path().join("out/small").exists());
}

#[test]
fn json_is_one_object_on_standard_output_and_nothing_else() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml", "--json", "--no-page"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    assert_eq!(object["schema"], 1);
    assert_eq!(object["runs"].as_array().map(Vec::len), Some(8));
    assert_eq!(object["runs"][0]["params"]["path.buffer_packets"], 10.0);
    assert!(!folder.path().join("out/small/report.html").exists());
}

#[test]
fn print_shows_the_resolved_scenario_and_runs_nothing() {
    let folder = folder(SCENARIO);
    let printed = stdout(&packetscale(folder.path(), &["run", "small.toml", "--print", "--set", "run.seed=5"]));
    assert!(printed.contains("seed = 5\n") && printed.contains("queue = \"fifo\"\n"), "{printed}");
    assert!(!folder.path().join("out").exists());
    fs::write(folder.path().join("again.toml"), &printed).expect("written");
    assert_eq!(stdout(&packetscale(folder.path(), &["run", "again.toml", "--print"])), printed);
}

#[test]
fn a_missed_expectation_ends_with_one_and_is_named() {
    let folder = folder(&format!("{SCENARIO}\n[[expect]]\nmetric = \"utilisation\"\nat_least = 2\nwhy = \"a test\"\n"));
    let output = packetscale(folder.path(), &["run", "small.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("MISSED: utilisation at least 2"), "{}", stdout(&output));
}

#[test]
fn wrong_input_ends_with_two_and_one_message() {
    let folder = folder(&SCENARIO.replace("\"10 Mbit/s\"", "10"));
    let output = packetscale(folder.path(), &["run", "small.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "small.toml:6: path.rate: found 10, a bare number; expected a rate above zero like \"10 Gbit/s\"\n";
    assert_eq!((stderr(&output).as_str(), stdout(&output).as_str()), (message, ""));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn an_output_folder_that_cannot_be_written_ends_with_two_and_one_message() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml", "--out", "small.toml/inside"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "small.toml/inside: cannot be written: Not a directory (os error 20)\n";
    assert_eq!(stderr(&output), message);
}

// A build without the kernel host refuses everything.
#[cfg(feature = "kernel")]
#[test]
fn what_the_kernel_host_does_not_do_ends_with_two_and_names_the_key() {
    let folder = folder(SCENARIO);
    let paced = ["run", "small.toml", "--on", "linux", "--set", "sender.pacing=120 %"];
    let output = packetscale(folder.path(), &paced);
    assert_eq!(output.status.code(), Some(2));
    let begins =
        "small.toml: --set sender.pacing=120 %: sender.pacing: found \"120 %\" with --on linux; expected \"0 %\"";
    assert!(stderr(&output).starts_with(begins), "{output:?}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn two_runs_at_a_time_in_real_time_are_refused() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml", "--on", "linux", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "--jobs: found 2; expected 1, one run at a time, with --on linux\n");
}

#[test]
fn a_key_that_is_not_there_cannot_be_set() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml", "--set", "path.rat=1 Gbit/s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("small.toml: --set path.rat=1 Gbit/s: path.rat: found an unknown key"));
}

#[test]
fn every_list_names_what_scenarios_can_use() {
    let folder = folder(SCENARIO);
    let listed = |what| stdout(&packetscale(folder.path(), &["list", what]));
    assert!(listed("controllers").contains("rapid") && listed("controllers").contains("cubic"));
    assert!(listed("queues").starts_with("fifo "));
    assert!(listed("papers").contains("multiplexing-2007/figure-9"));
    assert!(listed("traffic").contains("pareto-on-off") && listed("traffic").contains("pcap"));
}

/// What a bug report needs: the version, the commit where it is known, what it was built for and with.
#[test]
fn the_version_names_commit_and_features() {
    let folder = folder(SCENARIO);
    let said = stdout(&packetscale(folder.path(), &["--version"]));
    assert!(said.starts_with(concat!("packetscale ", env!("CARGO_PKG_VERSION"), " (commit ")), "{said}");
    assert!(said.contains(if cfg!(feature = "kernel") { ", with kernel)" } else { ", without kernel)" }), "{said}");
    assert_eq!(stdout(&packetscale(folder.path(), &["-V"])), concat!("packetscale ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_manual_has_a_page_for_each_subcommand() {
    let folder = folder(SCENARIO);
    assert_eq!(packetscale(folder.path(), &["man", "--pages", "man"]).status.code(), Some(0));
    for page in [
        "packetscale",
        "packetscale-run",
        "packetscale-theory-tdqm",
        "packetscale-new-controller",
        "packetscale-live-serve",
    ] {
        let text = std::fs::read_to_string(folder.path().join("man").join(format!("{page}.1"))).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn completions_and_the_manual_know_every_subcommand() {
    let folder = folder(SCENARIO);
    let bash = stdout(&packetscale(folder.path(), &["completions", "bash"]));
    let man = stdout(&packetscale(folder.path(), &["man"]));
    for subcommand in ["run", "reproduce", "list", "doctor"] {
        assert!(bash.contains(&format!("packetscale__subcmd__{subcommand}")), "{subcommand}");
        assert!(man.contains(&format!(".SH PACKETSCALE {}", subcommand.to_uppercase())), "{subcommand}");
    }
    assert!(man.contains("no\\-page"));
    let places: Vec<Option<usize>> =
        ["DESCRIPTION", "PACKETSCALE RUN", "PACKETSCALE NEW", "PACKETSCALE DOCTOR", "EXTRA"]
            .map(|section| man.find(&format!(".SH {section}\n")))
            .to_vec();
    assert!(places[0].is_some() && places.is_sorted(), "{places:?}");
}

#[test]
fn init_writes_a_scenario_that_runs_and_overwrites_nothing() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["new", "scenario", "first"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let printed = packetscale(folder.path(), &["run", "first.toml", "--print"]);
    assert!(stdout(&printed).contains("[compare]"), "{}", stderr(&printed));
    fs::write(folder.path().join("first.toml"), "mine").expect("written");
    let refused = packetscale(folder.path(), &["new", "scenario", "first.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(stderr(&refused), "first.toml: found a file; expected none, or --replace to overwrite it\n");
    assert_eq!(fs::read_to_string(folder.path().join("first.toml")).expect("the file"), "mine");
    assert_eq!(packetscale(folder.path(), &["new", "scenario", "first", "--replace"]).status.code(), Some(0));
    assert_ne!(fs::read_to_string(folder.path().join("first.toml")).expect("the file"), "mine");
}

#[test]
fn a_list_in_json_has_names_and_settings() {
    let folder = folder(SCENARIO);
    let listed = |what| -> serde_json::Value {
        serde_json::from_slice(&packetscale(folder.path(), &["list", what, "--json"]).stdout).expect("JSON")
    };
    let cubic = listed("controllers").as_array().expect("a list").iter().find(|one| one["name"] == "cubic").cloned();
    assert_eq!(cubic.expect("cubic")["settings"][0]["name"].as_str().map(str::is_empty), Some(false));
    assert_eq!(listed("queues")[0]["name"], "fifo");
    assert!(listed("papers")[0]["figures"][0]["name"].as_str().is_some_and(|name| name.contains('/')));
    let scenarios = listed("scenarios");
    let has = |name: &str| scenarios.as_array().is_some_and(|all| all.iter().any(|one| one["name"] == name));
    assert!(has("scenarios/bursty-10g.toml") && has("scenarios/kernel/two-flows.toml"), "{scenarios}");
}

#[test]
fn files_of_somebody_else_are_not_overwritten_without_a_word() {
    let folder = folder(SCENARIO);
    std::fs::create_dir(folder.path().join("here")).unwrap();
    let mine = folder.path().join("here/runs.csv");
    std::fs::write(&mine, "mine").unwrap();
    let output = packetscale(folder.path(), &["run", "small.toml", "--out", "here"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("here: found a file runs.csv without manifest.json"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(mine).unwrap(), "mine");
}

#[test]
fn a_virtual_clock_needs_a_kernel() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml", "--clock", "virtual"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "--clock: found virtual with no --on; expected --on linux-6.12\n";
    assert_eq!(stderr(&output), message);
}

#[test]
fn results_of_another_scenario_are_not_overwritten_without_a_word() {
    let folder = folder(SCENARIO);
    fs::copy(folder.path().join("small.toml"), folder.path().join("other.toml")).expect("copied");
    let run = |file, more: &[&str]| packetscale(folder.path(), &[&["run", file, "--out", "here"], more].concat());
    assert_eq!(run("small.toml", &[]).status.code(), Some(0));
    let refused = run("other.toml", &[]);
    assert_eq!(refused.status.code(), Some(2));
    let message = "here: found results of small.toml; expected an empty folder, or one of this plan; name another \
        folder with --out, or replace what is there with --replace\n";
    assert_eq!(stderr(&refused), message);
    let replaced = run("other.toml", &["--replace"]);
    assert_eq!(
        (replaced.status.code(), stderr(&replaced).as_str()),
        (Some(0), "here: replaces results of small.toml\n")
    );
}

#[test]
fn a_page_or_table_of_somebody_else_is_not_replaced_without_a_word() {
    let folder = folder(SCENARIO);
    let of = |command: &[&str], file: &str| {
        let there = folder.path().join(file);
        std::fs::create_dir(there.parent().expect("a folder")).expect("made");
        std::fs::write(&there, "mine").expect("written");
        let refused = packetscale(folder.path(), command);
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        assert_eq!(std::fs::read_to_string(&there).expect("kept"), "mine");
        stderr(&refused)
    };
    let said = of(&["run", "small.toml", "--out", "run"], "run/report.html");
    assert!(said.starts_with("run: found a file report.html without manifest.json; expected"), "{said}");
    let said = of(&["judge", "evaluate", "veno", "--quick", "--out", "evaluate"], "evaluate/report.html");
    assert!(said.starts_with("evaluate: found a file report.html without evaluation.json; expected"), "{said}");
    let said = of(&["judge", "matrix", "veno", "--quick", "--out", "matrix"], "matrix/matrix.csv");
    assert!(said.starts_with("matrix: found a file matrix.csv without matrix.json; expected"), "{said}");
}

#[test]
fn a_trace_is_not_written_under_the_name_of_a_capture() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["run", "small.toml", "--trace", "x.pcap"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "--trace: found x.pcap, the name of a capture; expected a name like packets.csv: the file is CSV. \
                   --pcap writes a capture\n";
    assert_eq!(stderr(&output), message);
}

#[test]
fn what_a_run_reads_is_not_written_over() {
    let folder = folder(SCENARIO);
    for option in ["--trace", "--pcap", "--perfetto"] {
        let output = packetscale(folder.path(), &["run", "small.toml", option, "./small.toml", "--replace"]);
        let message = format!("{option}: found ./small.toml, which the run reads; expected a new name\n");
        assert_eq!((output.status.code(), stderr(&output)), (Some(2), message));
        assert_eq!(std::fs::read_to_string(folder.path().join("small.toml")).expect("kept"), SCENARIO);
    }
}

#[test]
fn a_file_beside_the_results_replaces_nothing_without_a_word() {
    let folder = folder(SCENARIO);
    std::fs::write(folder.path().join("mine"), "mine").expect("written");
    for option in ["--trace", "--pcap", "--perfetto"] {
        let refused = |file: &str, expected: &str| {
            let output = packetscale(folder.path(), &["run", "small.toml", option, file]);
            assert_eq!(
                (output.status.code(), stderr(&output)),
                (Some(2), format!("{option}: found {file}, {expected}\n"))
            );
        };
        refused("mine", "which is there; expected a new name, or --replace");
        refused("/dev/null", "which is something else; expected a new name");
        refused("out/small/runs.csv", "a file of the results; expected a name of its own");
        refused("none/there", "in a folder that is not there; expected a name in one that is");
        let slash = packetscale(folder.path(), &["run", "small.toml", option, "mine/", "--replace"]);
        assert_eq!(slash.status.code(), Some(2), "{}", stderr(&slash));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("mine")).expect("kept"), "mine");
    assert!(!folder.path().join("out").exists(), "refused before the run");
}

#[test]
fn doctor_says_yes_or_no_to_every_line() {
    let folder = folder(SCENARIO);
    let output = packetscale(folder.path(), &["doctor"]);
    assert_eq!(output.status.code(), Some(0));
    let said = stdout(&output);
    assert!(said.lines().all(|line| line.starts_with("yes  ") || line.starts_with("no   ")), "{said}");
    assert!(said.lines().filter(|line| line.starts_with("no")).all(|line| line.contains("skipped: ")), "{said}");
}
