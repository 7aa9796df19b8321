//! A sweep by several commands, as people use them: shards, a kill, a merge, a batch system.

#[path = "engines/mod.rs"]
mod engines;

use crate::support::{Place, assert_same, blocks};
use std::fs;

/// Runs of some tens of milliseconds, 6 to 9 in each of seven shards.
const SCENARIO: &str = r#"
run = { duration = "10 s", replications = 2 }
path = { rate = "100 Mbit/s", delay = "5 ms" }
flow = [{ controller = "cubic", start = { uniform = ["0 s", "1 s"] } }]
compare = { controllers = ["cubic", "newreno", "rapid"] }
sweep = { "path.buffer" = ["10 packets", "20 packets", "40 packets", "80 packets"], "path.delay" = ["1 ms", "2 ms"] }
record = { detail = false }
"#;

/// With one replication of each point, by this shard, into this folder.
fn shard(place: &Place, shard: &str, out: &str) {
    place.done(&format!("run small.toml --set run.replications=1 --shard {shard} --out {out}"));
}

/// The shard as another program would have written it.
fn by_another_program(text: &str) -> String {
    let program = text.split("\"program\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a program");
    text.replacen(program, "0.0.9 abcdef", 1)
}

#[test]
fn shards_merge_to_bytes_of_one_command_after_kill() {
    let place = Place::with(SCENARIO);
    place.done("run small.toml --out one");
    let planned = place.done("sweep plan small.toml --shards 7").out;
    let of_four = planned.lines().filter(|line| line.ends_with("\"shard\":4}")).count();
    assert_eq!(planned.lines().count(), 48);
    let file = "seven/shards/4.ndjson";
    let lines = || fs::read_to_string(place.at(file)).unwrap_or_default().matches('\n').count();
    let shard = |number: usize| format!("run small.toml --shard {number}/7 --out seven --jobs 1");
    // The first line says of which plan the runs are.
    let killed = place.interrupted(&shard(4), "KILL", || lines() >= 2);
    let before = lines();
    assert!(killed.code.is_none() && before <= of_four, "{before} of {of_four} and the first line");
    // As a write that was cut short leaves it.
    place.write(file, format!("{}{{\"id\":\"12", place.read(file)));
    for number in [6, 2, 7, 1] {
        place.done(&shard(number));
    }
    let missing = place.refused("sweep merge seven");
    assert!(missing.starts_with("seven: ") && missing.contains(" of 48 runs are missing"), "{missing}");
    // The commands that it names make what is missing: the shard that was killed goes on.
    let commands: Vec<&str> = missing.lines().filter(|line| line.starts_with("  packetscale run")).collect();
    assert_eq!(commands.len(), 3, "{missing}");
    let said: String = commands.iter().map(|command| place.shell(command).err).collect();
    assert!(said.contains(&format!("4.ndjson: resumes; {} of {of_four} runs are already done", before - 1)), "{said}");
    place.done("sweep merge seven");
    assert_same(&place.at("one"), &place.at("seven"));
}

#[test]
fn shards_of_two_programs_are_refused_with_one_message() {
    let place = Place::with(SCENARIO);
    shard(&place, "1/2", "two");
    shard(&place, "2/2", "two");
    let text = place.read("two/shards/2.ndjson");
    place.write("two/shards/2.ndjson", by_another_program(&text));
    let message = place.refused("sweep merge two");
    let found = "two/shards/2.ndjson: found runs by packetscale 0.0.9 abcdef; expected runs by packetscale ";
    let program = message.strip_prefix(found).unwrap_or_else(|| panic!("{message}"));
    assert!(text.contains(&format!("\"program\":\"{}\"", program.trim_end())), "{program}");
    assert!(!place.has("two/runs.csv"));
}

/// Found at the merge, it would be the work of hours.
#[test]
fn a_shard_of_another_seed_is_refused_before_its_first_run() {
    let place = Place::with(SCENARIO);
    let other =
        |shard: &str| format!("run small.toml --set run.replications=1 --set run.seed=2 --shard {shard} --out two");
    shard(&place, "1/2", "two");
    let message = place.refused(&other("2/2"));
    let found =
        "two/shards/1.ndjson: found runs of small.toml with other settings; expected an empty folder, or one of this";
    assert!(message.starts_with(found), "{message}");
    assert!(!place.has("two/shards/2.ndjson"));
    // One after the other, all can be replaced.
    for number in ["2/2", "1/2"] {
        place.done(&format!("{} --replace", other(number)));
    }
    place.done("sweep merge two");
}

/// What a reader pastes.
#[test]
fn suggested_commands_complete_shards_of_two_divisions() {
    let place = Place::with(SCENARIO);
    shard(&place, "1/2", "two");
    shard(&place, "2/9", "two");
    let message = place.refused("sweep merge two");
    let commands = message.lines().filter_map(|line| line.trim().strip_prefix("packetscale "));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 1, "{message}");
    place.done(commands[0]);
    place.done("sweep merge two");
}

#[test]
fn failed_merge_leaves_only_shards() {
    let place = Place::with(SCENARIO);
    shard(&place, "1/1", "out");
    // A folder in the place of the last file of the results, then of the page.
    for file in ["manifest.json", "report.html"] {
        let folder = place.at("out").join(file);
        fs::create_dir(&folder).expect("a folder");
        let message = place.refused("sweep merge out");
        assert!(message.contains("cannot be written"), "{message}");
        fs::remove_dir(folder).expect("removed");
        assert_eq!(place.names("out"), ["shards"]);
    }
    place.done("sweep merge out");
    assert!(place.at("out/runs.csv").is_file() && place.at("out/report.html").is_file());
}

#[test]
fn a_shard_of_another_program_is_refused_before_its_scenario_is_resolved() {
    let place = Place::with(SCENARIO);
    shard(&place, "1/1", "out");
    let text = place.read("out/shards/1.ndjson");
    let unresolved = text.replacen("controller = \\\"cubic\\\"", "controller = \\\"nobody\\\"", 1);
    assert_ne!(unresolved, text);
    for (text, found) in
        [(unresolved.clone(), "nobody"), (by_another_program(&unresolved), "found runs by packetscale 0.0.9 abcdef")]
    {
        place.write("out/shards/1.ndjson", text);
        let message = place.refused("sweep merge out");
        assert!(message.contains(found), "{message}");
    }
}

#[test]
fn script_values_cannot_inject_commands() {
    let place = Place::with(SCENARIO);
    for engine in ["slurm", "hyperqueue", "here"] {
        let line = format!("sweep submit {engine} small.toml --shards 2 --dry-run --out 'lo\ntouch PWNED\n'");
        let message = place.refused(&line);
        assert!(message.contains("expected a path in UTF-8 without line breaks"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    place.write("{merge}.toml", SCENARIO);
    let script = place.done("sweep submit here {merge}.toml --shards 2 --out out --dry-run").out;
    assert!(script.contains("/{merge}.toml' --on"), "{script}");
}

#[test]
fn wider_sweep_reuses_cached_runs() {
    let place = Place::with(SCENARIO);
    let count = || {
        let folders = place.names("cache");
        folders.iter().map(|folder| place.names(&format!("cache/{folder}")).len()).sum::<usize>()
    };
    place.done("run small.toml --out one --cache cache --set run.replications=1");
    assert_eq!(count(), 24);
    place.done("run small.toml --out two --cache cache");
    place.done("run small.toml --out three");
    assert_eq!(count(), 48);
    assert_same(&place.at("two"), &place.at("three"));
}

#[test]
fn submit_here_makes_shards_and_merges_them() {
    let place = Place::with(SCENARIO);
    let submit = "sweep submit here small.toml --shards 3 --out here";
    let script = place.done(&format!("{submit} --dry-run")).out;
    assert!(script.contains("-le 3 ]") && !place.has("here"), "{script}");
    let said = place.done(submit).out;
    assert!(said.contains("Written to "), "{said}");
    place.done("run small.toml --out one");
    assert_same(&place.at("one"), &place.at("here"));
}

#[test]
fn batch_scripts_contain_requested_options() {
    let place = Place::with(SCENARIO);
    let asked = "small.toml --shards 7 --out out --dry-run --jobs 4 --cache cache -- --partition=short";
    for (engine, parts) in [
        ("slurm", &["\n#SBATCH --array=1-7\n", "\n#SBATCH --cpus-per-task=4\n", "\n#SBATCH --partition=short\n"][..]),
        ("slurm", &["--jobs 4 --cache ", " --shard task/7\n", "--dependency afterany:JOB"]),
        ("hyperqueue", &["#HQ --array=1-7\n", "#HQ --partition=short\n"]),
    ] {
        let script = place.done(&format!("sweep submit {engine} {asked}")).out;
        for part in parts {
            assert!(script.contains(part), "{part}: {script}");
        }
    }
    let message = place.refused(&format!("sweep submit here {asked}"));
    assert!(message.contains("expected no options"), "{message}");
    let task = place.refused("run small.toml --shard task/7");
    assert!(task.contains("neither SLURM_ARRAY_TASK_ID nor HQ_TASK_ID"), "{task}");
}

/// The page's scenario, and each of its blocks of commands, in order, in one folder.
#[test]
fn the_commands_of_the_page_run() {
    let place = Place::empty();
    place.write("sweep.toml", &blocks("sweeps.md", "toml")[0]);
    let commands = blocks("sweeps.md", "sh");
    assert!(commands.len() >= 3, "{}", commands.len());
    commands.iter().for_each(|block| _ = place.shell(block));
}
