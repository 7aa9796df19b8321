//! The first and only process of the machine. It prepares the kernel, reports the machine's facts, and pauses: the host takes
//! its snapshot here. Each run resumes here, with a job on the [`board`](crate::virtual_time::board). In a
//! [bench](crate::virtual_time::Bench) the job is a program.

use crate::virtual_time::board::Board;
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::image::BENCH;
use crate::virtual_time::job::{self, Ended, Errand, Facts, Job, answer};
use crate::virtual_time::modules::{MODULES, Modules};
use crate::virtual_time::ports;
use harness::realtime::lateness::Lateness;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::libc;
use nix::mount::{MsFlags, mount};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The kernel's file systems, at the mount points that the lab and Rapid's loader expect.
const FILE_SYSTEMS: [(&str, &str); 5] =
    [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("cgroup2", "/sys/fs/cgroup"), ("bpf", "/sys/fs/bpf")];

/// The kernel's initial random seed, before a job sets its own.
const FIRST_SEED: u64 = 1;

/// Works as the first process of a machine, and ends with it.
pub fn guest() {
    let board = match prepare() {
        Ok(board) => board,
        // To the console, whose end the host prints.
        Err(error) => return eprintln!("packetscale guest: {error}"),
    };
    let facts = facts().and_then(|facts| serde_json::to_vec(&facts).map_err(VirtualError::doing("facts")));
    let _ = board.put(&answer(facts));
    ports::pause();
    if let Err(error) = board.put(&answer(work(&board))) {
        let _ = board.put(&answer(Err(error)));
    }
    ports::end();
}

fn prepare() -> Result<Board, VirtualError> {
    for (kind, place) in FILE_SYSTEMS {
        fs::create_dir_all(place).map_err(VirtualError::doing(place))?;
        mount(Some(kind), place, Some(kind), MsFlags::empty(), None::<&str>).map_err(VirtualError::doing(place))?;
    }
    for folder in ["/tmp", "/run"] {
        fs::create_dir_all(folder).map_err(VirtualError::doing(folder))?;
    }
    many_files()?;
    seed(FIRST_SEED)?;
    ports::open().map_err(VirtualError::doing("the machine's ports"))?;
    let memory = File::options().read(true).write(true).open("/dev/mem");
    Board::map(&memory.map_err(VirtualError::doing("/dev/mem"))?)
}

/// Lets this process and its children have as many files as the kernel gives: a connection has one at each end.
fn many_files() -> Result<(), VirtualError> {
    /// Default of `fs.nr_open`.
    const MOST: libc::rlim_t = 1 << 20;
    let limit = libc::rlimit { rlim_cur: MOST, rlim_max: MOST };
    // SAFETY: the kernel reads one structure, which outlives the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } == 0 {
        return Ok(());
    }
    Err(VirtualError(format!("the limit of open files: {}", std::io::Error::last_os_error())))
}

/// Mixes a seed into the kernel's random numbers, counts it as enough, and makes them follow from it at once.
fn seed(seed: u64) -> Result<(), VirtualError> {
    /// `RNDADDENTROPY` and `RNDRESEEDCRNG` of include/uapi/linux/random.h.
    const ADD: libc::Ioctl = 0x4008_5203u32 as libc::Ioctl;
    const RESEED: libc::Ioctl = 0x5207;
    /// `struct rand_pool_info`: bits of entropy, bytes, and the bytes.
    #[repr(C)]
    struct Pool {
        bits: libc::c_int,
        size: libc::c_int,
        words: [u64; 4],
    }
    let random = File::options().write(true).open("/dev/urandom").map_err(VirtualError::doing("/dev/urandom"))?;
    let pool = Pool { bits: 256, size: 32, words: [seed; 4] };
    // SAFETY: the kernel reads one `Pool`, which outlives the call; the second call has no argument.
    let done =
        unsafe { libc::ioctl(random.as_raw_fd(), ADD, &pool) == 0 && libc::ioctl(random.as_raw_fd(), RESEED, 0) == 0 };
    if done { Ok(()) } else { Err(VirtualError(format!("/dev/urandom: {}", std::io::Error::last_os_error()))) }
}

fn facts() -> Result<Facts, VirtualError> {
    let modules: Modules = match fs::read(MODULES) {
        Ok(text) => serde_json::from_slice(&text).map_err(VirtualError::doing(MODULES))?,
        Err(_) => Modules::new(),
    };
    let mut inserted = BTreeSet::new();
    for name in modules.keys() {
        insert(name, &modules, &mut inserted);
    }
    let no_rapid = match Path::new(BENCH).exists() {
        true => Some("it is not loaded here".to_string()),
        false => crate::tcp::load(&crate::tcp::Options::default()).err().map(|error| error.to_string()),
    };
    let lateness = Lateness::measure().map_err(VirtualError::doing("a thread that sleeps"))?;
    let read = |path: &str| fs::read_to_string(path).map_err(VirtualError::doing(path));
    let available = read("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    let lab = |error: crate::lab::LabError| VirtualError(error.to_string());
    Ok(Facts {
        release: read("/proc/sys/kernel/osrelease")?.trim().to_string(),
        late_median_ns: lateness.percentile_ns(50),
        late_most_ns: lateness.percentile_ns(100),
        controllers: available.split_whitespace().map(str::to_string).collect(),
        queues: crate::lab::queues().map_err(lab)?,
        polices: crate::lab::polices().map_err(lab)?,
        no_rapid,
    })
}

/// Inserts a module after its dependencies. A failure shows up in whatever needs the module.
fn insert(name: &str, modules: &Modules, inserted: &mut BTreeSet<String>) {
    let Some(needs) = modules.get(name) else { return };
    if inserted.contains(name) {
        return;
    }
    needs.iter().for_each(|need| insert(need, modules, inserted));
    let none = CString::default();
    let done = File::open(format!("/modules/{name}.ko"))
        .and_then(|file| Ok(finit_module(&file, &none, ModuleInitFlags::empty())?));
    match done {
        Ok(()) => drop(inserted.insert(name.to_string())),
        Err(error) => eprintln!("packetscale guest: module {name}: {error}"),
    }
}

/// Does the job that is on the board.
fn work(board: &Board) -> Result<Vec<u8>, VirtualError> {
    let (experiment, draws) = match job::read(&board.take())? {
        Job::Run(experiment, draws) => (experiment, draws),
        Job::Errand(errand) => {
            let ended = perform(&errand, &|ns| board.set_reached(ns))?;
            return serde_json::to_vec(&ended).map_err(VirtualError::doing("its end"));
        }
    };
    seed(experiment.seed)?;
    let lab = |error: crate::lab::LabError| VirtualError(error.to_string());
    let raw = crate::lab::run_exactly(&experiment, draws, &|ns| board.set_reached(ns)).map_err(lab)?;
    raw.to_bytes().map_err(lab)
}

/// Runs a program to its end, or to its limit, and reports the nanoseconds passed from time to time.
fn perform(errand: &Errand, reached: &dyn Fn(u64)) -> Result<Ended, VirtualError> {
    const OUTPUT: &str = "/tmp/output";
    const POLL: Duration = Duration::from_millis(10);
    /// How much later each draw begins than the one before. Of a tick of 1 to 10 ms, eight draws see all parts.
    const LATER: Duration = Duration::from_micros(1_370);
    seed(FIRST_SEED + errand.draw)?;
    std::thread::sleep(LATER * errand.draw as u32);
    let (program, words) = errand.words.split_first().ok_or_else(|| VirtualError("no program".to_string()))?;
    let output = File::create(OUTPUT).map_err(VirtualError::doing(OUTPUT))?;
    let errors = output.try_clone().map_err(VirtualError::doing(OUTPUT))?;
    let mut command = Command::new(program);
    command.args(words).env("PATH", "/bin").env("TMPDIR", "/tmp").envs(errand.environment.iter().cloned());
    let mut child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
    let child = child.as_mut().map_err(|error| VirtualError(format!("{program}: {error}")))?;
    let began = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().map_err(VirtualError::doing(program))? {
            break status.code();
        }
        if began.elapsed() > Duration::from_secs(errand.limit_s) {
            let _ = child.kill();
            break None;
        }
        reached(began.elapsed().as_nanos() as u64);
        std::thread::sleep(POLL);
    };
    let output = fs::read(OUTPUT).map_err(VirtualError::doing(OUTPUT))?;
    Ok(Ended { code, output: String::from_utf8_lossy(&output).into_owned(), cpu_s: 0.0 })
}
