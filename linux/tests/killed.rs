//! A killed run leaves no namespaces or devices.

use experiment::scenario::Scenario;
use libbpf_rs::query::ProgInfoIter;
use linux::lab::{self, Draws};
use packetscale_models::units::Time;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The environment variable that is set in the process that the test kills.
const VICTIM: &str = "PACKETSCALE_LAB_VICTIM";

/// Returns the lab's programs that the kernel holds, by number. They live as long as their devices, which live as long
/// as their namespaces.
fn programs() -> BTreeSet<u32> {
    let ours = |name: &str| matches!(name, "arrives" | "departs");
    ProgInfoIter::default().filter(|program| ours(&program.name.to_string_lossy())).map(|program| program.id).collect()
}

fn wait(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts this test in a new process, which makes a long run.
fn victim() -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "killed_run_leaves_no_namespaces"]).env(VICTIM, "1");
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

fn long_run() {
    let text = "[run]\nduration = \"60 s\"\n[path]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n\
                [[flow]]\ncontroller = \"cubic\"\npacket = \"1514 B\"\n";
    let plan = Scenario::parse(text, Path::new("test.toml"), &[]).expect("a scenario").plan();
    lab::run(&plan[0], Draws { starts: vec![Time::ZERO], ..Draws::default() }).expect("a run");
}

#[test]
fn killed_run_leaves_no_namespaces() {
    if std::env::var_os(VICTIM).is_some() {
        return long_run();
    }
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return;
    }
    let before = programs();
    let mut victim = victim();
    wait("the run does not begin", || programs().difference(&before).count() == 2);
    std::thread::sleep(Duration::from_millis(500));
    let of_victim: BTreeSet<u32> = programs().difference(&before).copied().collect();
    victim.kill().expect("killed");
    victim.wait().expect("dead");
    wait("devices of the run are still there", || programs().is_disjoint(&of_victim));
}
