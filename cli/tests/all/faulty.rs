//! Controllers of users that end the program, fork, or do not return: the command names the file, and leaves its folder to the
//! next one.

use crate::support::{Place, Said};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A window of ten packets. Tests replace what an acknowledgment and a start do, and add to the file.
const SOURCE: &str = r#"
#include <packetscale/controller.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
ADDED
static int32_t start(void *s, const struct packetscale_setup *e, struct packetscale_decision *d)
{
	(void)s; (void)e;
	d->window_packets = 10;
	START
	return 0;
}
static void on_ack(void *s, const struct packetscale_ack *e, struct packetscale_decision *d)
{
	(void)s; (void)d;
	if (e->now_ps > 500000000000) {
		ON_ACK
	}
}
static void on_loss(void *s, const struct packetscale_loss *e, struct packetscale_decision *d) { (void)s; (void)e; (void)d; }
static void on_timeout(void *s, const struct packetscale_timeout *e, struct packetscale_decision *d)
{
	(void)s; (void)e; (void)d;
}
const struct packetscale_controller packetscale_controller = {
	.abi = PACKETSCALE_ABI, .struct_bytes = sizeof(struct packetscale_controller), .name = "faulty", .summary = "none",
	.state_bytes = 8, .state_align = 8, .start = start, .on_ack = on_ack, .on_loss = on_loss, .on_timeout = on_timeout,
};
"#;

/// Two seeds with a controller of packetscale, then two with the file.
const SCENARIO: &str = "
run = { duration = \"1 s\", replications = 2 }
path = { rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }
compare = { controllers = [\"newreno\", { kind = \"c\", file = \"faulty.so\" }] }
[[flow]]
";

const RUN: &str = "run small.toml --jobs 1 --no-page";

/// What a source does in each place.
#[derive(Default)]
struct Does {
    added: &'static str,
    start: &'static str,
    on_ack: &'static str,
}

/// Compiles the source into the folder. Without a compiler the test is skipped, with a message.
fn compiled(place: &Place, does: &Does) -> bool {
    let text = SOURCE.replace("ADDED", does.added).replace("START", does.start).replace("ON_ACK", does.on_ack);
    place.write("faulty.c", text);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../controller/include");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-O1", "-fPIC", "-I"]).arg(include).args(["faulty.c", "-o", "faulty.so"]);
    match cc.current_dir(place.path()).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("skipped: no C compiler (cc: {error})");
            return false;
        }
    }
    true
}

/// The scenario, the file, and what the command said.
fn run(does: &Does) -> Option<(Place, Said)> {
    let place = Place::with(SCENARIO);
    compiled(&place, does).then(|| {
        let said = place.says(RUN);
        (place, said)
    })
}

/// The command fails, names the file, and keeps finished runs; with a repaired file it makes the rest.
#[track_caller]
fn assert_found(does: &Does, found: &str) {
    let Some((place, said)) = run(does) else { return };
    let line = format!("faulty.so: found {found}; expected functions that return, in the same process");
    assert_eq!((said.code, said.err.lines().last()), (Some(2), Some(line.as_str())), "{said:?}");
    assert!(!place.has("out/small/runs.csv"));
    compiled(&place, &Does::default());
    place.write("small.toml", SCENARIO);
    let repaired = place.done(RUN);
    assert_eq!(repaired.out.matches("newreno").count(), 1, "{repaired:?}");
}

fn ack(on_ack: &'static str) -> Does {
    Does { on_ack, ..Does::default() }
}

#[test]
fn file_that_exits_is_named() {
    assert_found(&ack("exit(0);"), "a call that ended the program with exit code 0");
}

#[test]
fn file_that_exits_at_once_is_named() {
    assert_found(&ack("_exit(0);"), "a call that ended the program with exit code 0");
}

#[test]
fn file_that_becomes_another_program_is_named() {
    let does = "execl(\"/bin/sh\", \"sh\", \"-c\", \"exit 7\", (char *)0);";
    assert_found(&ack(does), "a call that ended the program with exit code 7");
}

#[test]
fn file_that_aborts_is_named() {
    assert_found(&ack("abort();"), "a call that ended the program by SIGABRT");
}

#[test]
fn file_that_faults_is_named() {
    assert_found(&ack("*(volatile int *)8 = 1;"), "a call that ended the program by SIGSEGV");
}

#[test]
fn file_that_exits_when_flow_starts_is_named() {
    let does = Does { start: "_exit(0);", ..Does::default() };
    assert_found(&does, "a call that ended the program with exit code 0");
}

#[test]
fn file_that_exits_when_loaded_is_named() {
    let does = Does { added: "__attribute__((constructor)) static void first(void) { exit(0); }", ..Does::default() };
    assert_found(&does, "a call that ended the program with exit code 0");
}

/// It waits instead of computing, so that other tests have the processor.
#[test]
fn file_that_never_returns_is_named() {
    assert_found(&ack("for (;;) pause();"), "a call that had not returned after 20 s");
}

/// The copies end with their call, so the results are those of a file that does not fork.
#[test]
fn file_that_forks_changes_no_result() {
    let once = "static int forked; if (!forked) { forked = 1; fork(); }";
    let Some((place, said)) = run(&ack(once)) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    let line = "faulty.so: found a call that forked; its processes were ended; expected functions that return";
    assert!(said.err.contains(line), "{said:?}");
    let forked = place.read("out/small/runs.csv");
    compiled(&place, &Does::default());
    place.done("run small.toml --jobs 1 --no-page --out other");
    let results = |text: &str| text.lines().map(|line| line.split(',').skip(3).collect()).collect::<Vec<String>>();
    assert_eq!(results(&forked), results(&place.read("other/runs.csv")));
}

#[test]
fn processes_of_file_end_with_command() {
    let once = "static int forked; if (!forked) { forked = 1; if (fork() == 0) for (;;) pause(); }";
    let Some((place, said)) = run(&ack(once)) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    // The folder is not locked.
    place.done(&format!("{RUN} --replace"));
}

#[test]
fn each_command_names_file_that_exits() {
    let place = Place::with(SCENARIO);
    if !compiled(&place, &ack("_exit(0);")) {
        return;
    }
    let lines = [
        // The one shard has all runs; which of two has a run depends on the program.
        "run small.toml --shard 1/1 --out shards",
        "judge evaluate faulty.so --quick --only 5.1",
        "judge matrix faulty.so cubic --quick",
        "judge attack faulty.so --evaluations 4",
    ];
    for line in lines {
        let said = place.says(line);
        assert_eq!(said.code, Some(2), "{line}: {said:?}");
        let last = said.err.lines().last().unwrap_or_default();
        assert!(last.contains("faulty.so: found a call that ended the program"), "{line}: {said:?}");
    }
}

#[test]
fn ctrl_c_and_sigterm_reach_runs_of_file() {
    for signal in ["INT", "TERM"] {
        let place = Place::with(&SCENARIO.replace("= 2 }", "= 100 }").replace("1 s", "5 s"));
        if !compiled(&place, &Does::default()) {
            return;
        }
        let unfinished = place.at("out/small/unfinished.ndjson");
        let one_is_finished = || std::fs::read_to_string(&unfinished).unwrap_or_default().lines().count() >= 1;
        let said = place.interrupted(RUN, signal, one_is_finished);
        assert_eq!(said.code, Some(130), "{said:?}");
        assert!(said.err.contains("the same command resumes"), "{said:?}");
    }
}

/// SIGKILL of the command leaves no process that makes runs.
#[test]
fn killed_command_leaves_folder_unlocked() {
    let place = Place::with(&SCENARIO.replace("= 2 }", "= 100 }").replace("1 s", "5 s"));
    if !compiled(&place, &Does::default()) {
        return;
    }
    let unfinished = place.at("out/small/unfinished.ndjson");
    let said = place.interrupted(RUN, "KILL", || unfinished.exists());
    assert_eq!(said.code, None);
    // The system needs a moment to end the other process.
    let deadline = Instant::now() + Duration::from_secs(600);
    while std::fs::File::open(place.at("out/small")).expect("the folder").try_lock().is_err() {
        assert!(Instant::now() < deadline, "the folder is still locked");
        std::thread::sleep(Duration::from_millis(1));
    }
}
