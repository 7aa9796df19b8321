//! The emulated machine: QEMU without hardware acceleration, where every instruction takes the same virtual time.
//!
//! * `-icount shift=0`: one instruction advances the emulator's clock by 1 ns, and nothing else does. `sleep=off`: idle
//!   time passes at once.
//! * `rr=record`: record mode serializes the emulator's threads; without it repeated runs diverge after about a second. The
//!   recording is discarded.
//! * The kernel is configured with a time stamp counter of [`DILATION`] GHz, which actually counts these nanoseconds. So a
//!   nanosecond of the guest has that many instructions. The machine type `microvm` has no timer with its own frequency, so
//!   the kernel calibrates its timers by that counter, and all agree.
//! * The processor has no fast string instructions, so the kernel copies and clears memory by plain loops: with icount each
//!   byte of `rep movsb` is an instruction, which took more than half of the emulator's time.

use crate::virtual_time::board::{Board, MEMORY, PLACE, SIZE};
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::image::find;
use crate::virtual_time::processor::Processor;
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Instructions in a nanosecond of the guest.
pub(crate) const DILATION: u32 = 4;

/// The emulator.
const QEMU: &str = "qemu-system-x86_64";
const PACKAGE: &str = "qemu-system-x86";

/// In what `/proc` counts processor time.
const TICKS_PER_S: f64 = 100.0;

/// `X86_FEATURE_REP_GOOD` of the kernel's `cpufeatures.h`: it would use string instructions of eight bytes.
const REP_GOOD: u32 = 3 * 32 + 16;

/// Name of the snapshot.
const STATE: &str = "ready";

/// Where the emulator is.
pub(crate) fn qemu() -> Result<PathBuf, VirtualError> {
    find(QEMU, PACKAGE)
}

/// The files that a machine is started from.
pub(crate) struct Files<'a> {
    pub kernel: &'a Path,
    pub initrd: &'a Path,
    /// The disk that keeps the machine's state; no device of the machine.
    pub disk: &'a Path,
    /// The kernel's console output.
    pub console: &'a Path,
}

/// The kernel's command line.
pub(crate) fn kernel_line() -> String {
    let clock = format!("tsc=reliable clocksource=tsc tsc_early_khz={} nohz=off", u64::from(DILATION) * 1_000_000);
    let chance = "random.trust_cpu=off random.trust_bootloader=off nokaslr norandmaps";
    let board = format!("memmap={}M${}M iomem=relaxed", SIZE >> 20, PLACE >> 20);
    let rest = "console=ttyS0 quiet panic=-1 mitigations=off nox2apic edd=off";
    let loops = format!("clearcpuid={REP_GOOD}");
    format!("{clock} {chance} {board} {rest} {loops} rdinit=/packetscale -- guest")
}

/// The emulator's arguments that affect results: all but the files.
pub(crate) fn machine_words() -> Vec<String> {
    let words = "-accel tcg,thread=single -icount shift=0,sleep=off,align=off,rr=record,rrfile=/dev/null \
        -rtc base=2000-01-01,clock=vm -M microvm,memory-backend=memory -cpu max,-rdrand,-rdseed,-erms,-fsrm -smp 1 \
        -nodefaults -no-user-config -display none -no-reboot -nic none -device isa-debug-exit,iobase=0x501,iosize=1 \
        -device pvpanic -action panic=pause";
    let memory = ["-m".to_string(), format!("{}M", MEMORY >> 20)];
    words.split_whitespace().map(str::to_string).chain(memory).collect()
}

/// A running or paused machine. Dropping it ends the machine.
pub(crate) struct Machine {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub board: Board,
    _processor: Option<Processor>,
}

impl Machine {
    /// Starts a machine that boots.
    pub fn boot(files: &Files<'_>) -> Result<Machine, VirtualError> {
        Machine::start(files, &[])
    }

    /// Resumes the state that [`Machine::keep`] saved, paused.
    pub fn resume(files: &Files<'_>) -> Result<Machine, VirtualError> {
        Machine::start(files, &["-loadvm", STATE, "-S"])
    }

    fn start(files: &Files<'_>, more: &[&str]) -> Result<Machine, VirtualError> {
        let memory = memfd_create("packetscale machine", MFdFlags::MFD_CLOEXEC);
        let memory = File::from(memory.map_err(VirtualError::doing("no memory for the machine"))?);
        memory.set_len(MEMORY as u64).map_err(VirtualError::doing("no memory for the machine"))?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
        let mut command = Command::new(qemu()?);
        command
            .args(machine_words())
            .args(["-object", &format!("memory-backend-file,id=memory,share=on,size={MEMORY},mem-path={path}")])
            .arg("-kernel")
            .arg(files.kernel)
            .arg("-initrd")
            .arg(files.initrd)
            .args(["-append", &kernel_line()])
            .arg("-drive")
            .arg(format!("if=none,id=state,format=qcow2,file={}", comma(files.disk)))
            .arg("-serial")
            .arg(format!("file:{}", files.console.display()))
            .args(["-qmp", "stdio"])
            .args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let processor = Processor::take();
        let number = processor.as_ref().map(Processor::number);
        // SAFETY: between fork and exec the closure makes two system calls, and touches nothing else.
        unsafe { command.pre_exec(move || end_with_parent().and_then(|()| number.map_or(Ok(()), Processor::enter))) };
        let mut process = command.spawn().map_err(VirtualError::doing(QEMU))?;
        let (Some(orders), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(VirtualError(format!("{QEMU}: no pipe to it")));
        };
        let board = Board::map(&memory)?;
        let mut machine = Machine { process, orders, answers: BufReader::new(answers), board, _processor: processor };
        // Its greeting comes when the state is loaded.
        machine.until(|output| output.get("QMP").is_some())?;
        machine.order("qmp_capabilities", json!({}))?;
        Ok(machine)
    }

    /// Waits until the guest pauses itself.
    pub fn until_it_pauses(&mut self) -> Result<(), VirtualError> {
        self.until(|output| output["event"] == "STOP").map(drop)
    }

    /// Saves the state of a paused machine to its disk.
    pub fn keep(&mut self) -> Result<(), VirtualError> {
        let output = self.order("human-monitor-command", json!({"command-line": format!("savevm {STATE}")}))?;
        match output.as_str() {
            Some("") => Ok(()),
            _ => Err(VirtualError(format!("{QEMU}: cannot save the machine's state: {output}"))),
        }
    }

    /// Continues a paused machine.
    pub fn go_on(&mut self) -> Result<(), VirtualError> {
        self.order("cont", json!({})).map(drop)
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool, VirtualError> {
        self.process.try_wait().map(|status| status.is_some()).map_err(VirtualError::doing(QEMU))
    }

    /// Processor seconds that the emulator has used so far; `None` if unknown.
    pub fn cpu_s(&self) -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        // After the name in brackets: user and system time are fields 14 and 15, in ticks of 10 ms (proc_pid_stat(5)).
        let ticks = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
        Some(ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_S)
    }

    /// Gives an order; returns the answer.
    fn order(&mut self, name: &str, arguments: Value) -> Result<Value, VirtualError> {
        let order = format!("{}\n", json!({"execute": name, "arguments": arguments}));
        self.orders.write_all(order.as_bytes()).map_err(VirtualError::doing(QEMU))?;
        let output = self.until(|output| output.get("return").is_some() || output.get("error").is_some())?;
        match output.get("return") {
            Some(answer) => Ok(answer.clone()),
            None => Err(VirtualError(format!("{QEMU}: {name}: {}", output["error"]["desc"]))),
        }
    }

    /// Reads messages until one matches.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value, VirtualError> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.answers.read_line(&mut line).map_err(VirtualError::doing(QEMU))? == 0 {
                return Err(VirtualError(format!("{QEMU} ended: {}", self.complaint())));
            }
            match serde_json::from_str::<Value>(&line) {
                Ok(output) if wanted(&output) => return Ok(output),
                _ => {}
            }
        }
    }

    /// The last line of its standard error.
    fn complaint(&mut self) -> String {
        let mut output = String::new();
        if let Some(mut stream) = self.process.stderr.take() {
            let _ = std::io::Read::read_to_string(&mut stream, &mut output);
        }
        output.lines().last().unwrap_or("without a message").to_string()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The emulator ends when whoever started it does, killed or not.
fn end_with_parent() -> std::io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL).map_err(std::io::Error::from)
}

/// In a list of options, commas in a file's name are doubled.
fn comma(file: &Path) -> String {
    file.display().to_string().replace(',', ",,")
}
