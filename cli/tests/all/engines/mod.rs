//! Sweeps of 200 points by engines that others wrote, started here. A test whose engine is not there says so and passes.

use crate::support::{Place, Said, assert_same, search_path};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What SLURM takes seconds for may take minutes on a busy machine; then something is wrong.
const PATIENCE: Duration = Duration::from_secs(300);

/// Twenty buffers, five delays, two controllers.
fn two_hundred() -> String {
    let buffers: Vec<String> = (1..=20).map(|of| format!("\"{} packets\"", 5 * of)).collect();
    let head =
        "[run]\nduration = \"1 s\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[[flow]]\ncontroller = \"cubic\"\n";
    let compared = "[compare]\ncontrollers = [\"cubic\", \"newreno\"]\n[record]\ndetail = false\n";
    let delays = r#"["1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]"#;
    format!("{head}{compared}[sweep]\n\"path.buffer\" = [{}]\n\"path.delay\" = {delays}\n", buffers.join(", "))
}

/// A process that ends with the test.
struct Daemon(Child);

impl Daemon {
    fn start(command: &mut Command) -> Option<Daemon> {
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok().map(Daemon)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ports that nobody listens to.
fn free_ports() -> Option<[u16; 2]> {
    let open = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").ok());
    let ports = open.map(|listener| listener?.local_addr().ok().map(|address| address.port()));
    Some([ports[0]?, ports[1]?])
}

/// SLURM in one box: a controller and a node without authentication, accounting or systemd.
fn slurm(folder: &Path) -> Option<[Daemon; 2]> {
    let name = Command::new("hostname").arg("-s").output().ok()?;
    let name = String::from_utf8(name.stdout).ok()?.trim().to_string();
    let [control, node] = free_ports()?;
    let at = folder.display();
    for inner in ["state", "spool"] {
        fs::create_dir_all(folder.join(inner)).ok()?;
    }
    let text = format!(
        "ClusterName=box\nSlurmctldHost={name}(127.0.0.1)\nAuthType=auth/none\nCredType=cred/none\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSlurmUser=root\nSlurmdUser=root\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\nSlurmctldPidFile={at}/slurmctld.pid\n\
         SlurmdPidFile={at}/slurmd.pid\nSlurmctldPort={control}\nSlurmdPort={node}\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nReturnToService=2\n\
         MpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
         SchedulerParameters=batch_sched_delay=0,sched_interval=2\nNodeName={name} NodeAddr=127.0.0.1 CPUs=2\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    );
    let file = folder.join("slurm.conf");
    fs::write(&file, text).ok()?;
    let start = |program: &str| Daemon::start(Command::new(program).args(["-D", "-f"]).arg(&file));
    Some([start("slurmctld")?, start("slurmd")?])
}

#[test]
fn slurm_makes_two_hundred_points() {
    // SLURM's daemons start jobs as the user who asked, which only root may.
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let there =
        Command::new("slurmctld").arg("-V").output().is_ok() && Command::new("slurmd").arg("-V").output().is_ok();
    if !root || !there {
        println!("skipped: {}", if root { "no SLURM (Debian package slurm-wlm)" } else { "SLURM needs root" });
        return;
    }
    let place = Place::with(&two_hundred());
    let cluster = place.at("cluster");
    let _daemons = slurm(&cluster).expect("SLURM starts");
    // A space in its name: sbatch reads the script by its own rules.
    let mut submit = place.command("sweep submit slurm small.toml --shards 7 --out 'my out'");
    submit.env("SLURM_CONF", cluster.join("slurm.conf"));
    let began = Instant::now();
    // The controller answers after some seconds.
    let submitted = loop {
        let said = Said::of(&mut submit);
        if said.code == Some(0) || began.elapsed() > PATIENCE {
            break said;
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    assert_eq!(submitted.code, Some(0), "{}", submitted.err);
    let out = place.at("my out");
    while !out.join("report.html").exists() {
        let log = || fs::read_to_string(out.join("logs/merge.log")).unwrap_or_default();
        assert!(began.elapsed() < PATIENCE, "not merged: {}", log());
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_as_one(&place, "my out", "SLURM", began);
}

/// The results are those of one command.
fn assert_as_one(place: &Place, out: &str, engine: &str, began: Instant) {
    println!("200 points by {engine}, its start included: {:.1} s", began.elapsed().as_secs_f64());
    place.done("run small.toml --out one");
    assert_same(&place.at("one"), &place.at(out));
}

/// HyperQueue in one box: a server and a worker, which `hq` finds by a folder.
#[test]
fn hq_makes_two_hundred_points() {
    if Command::new("hq").arg("--version").output().is_err() {
        println!("skipped: no hq (HyperQueue's own program, not on PyPI)");
        return;
    }
    let place = Place::with(&two_hundred());
    let cluster = place.at("cluster");
    let hq = |words: &str| {
        let mut hq = Command::new("hq");
        hq.args(words.split(' ')).env("HQ_SERVER_DIR", &cluster);
        hq
    };
    let answers = |words: &str| hq(words).output().is_ok_and(|output| output.status.success());
    let began = Instant::now();
    let _server = Daemon::start(&mut hq("server start")).expect("the server starts");
    while !answers("server info") {
        assert!(began.elapsed() < PATIENCE, "the server does not answer");
        std::thread::sleep(Duration::from_millis(100));
    }
    let _worker = Daemon::start(&mut hq("worker start --cpus 2")).expect("a worker starts");
    let mut submit = place.command("sweep submit hyperqueue small.toml --shards 7 --out out");
    let submitted = Said::of(submit.env("HQ_SERVER_DIR", &cluster));
    assert_eq!(submitted.code, Some(0), "{}", submitted.err);
    assert!(answers("job wait all"), "a task failed: {}", logged(&place.at("out/logs")));
    place.done("sweep merge out");
    assert_as_one(&place, "out", "hq submit", began);
}

/// What tasks had to say.
fn logged(folder: &Path) -> String {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect::<Vec<_>>().join("\n")
}

/// Runs a script of the documents with this Python, or `python3`, if it has the module.
fn by_script(module: &str, script: &str) {
    let python = std::env::var("PACKETSCALE_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let there = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no {module} (PyPI); PACKETSCALE_PYTHON names another Python");
        return;
    }
    let place = Place::with(&two_hundred());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sweeps").join(script);
    let (began, mut command) = (Instant::now(), Command::new(python));
    command.arg(script).args(["small.toml", "7", "out"]).current_dir(place.path()).env("PATH", search_path());
    let said = Said::of(&mut command);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_as_one(&place, "out", module, began);
}

#[test]
fn hyperqueue_makes_two_hundred_points() {
    by_script("hyperqueue", "with_hyperqueue.py");
}

#[test]
fn dask_makes_two_hundred_points() {
    by_script("distributed", "with_dask.py");
}
