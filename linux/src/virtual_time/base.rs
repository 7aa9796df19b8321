//! The snapshot from which every run of a kernel starts: booted, its modules inserted, Rapid loaded, its clock checked. It
//! is made once, and stored in the cache under the digest of all its inputs. Making it is deterministic, too: it pauses at the
//! same instruction each time.

use crate::virtual_time::board::MEMORY;
use crate::virtual_time::disk_space;
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::image::{Program, image};
use crate::virtual_time::job::{Facts, answered};
use crate::virtual_time::kernels::{Kernel, cache};
use crate::virtual_time::machine::{Files, Machine, kernel_line, machine_words, qemu};
use harness::runner::{Hash, of_file};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Largest lateness of a sleep of 1 ms, at the median: above it, the machine's timers do not follow its clock.
const MOST_LATE_NS: u64 = 2_000;

/// A stored machine.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    /// SHA-256 of all that it is made from: the emulator, its words, the kernel, the file system.
    pub digest: String,
    pub facts: Facts,
    kernel: PathBuf,
    folder: PathBuf,
}

/// The folder of the cache that has one for each machine.
pub(crate) const MACHINES: &str = "machines";

/// The file that is there when a machine is finished.
pub(crate) const FACTS: &str = "facts.json";

const INITRD: &str = "initrd";
const DISK: &str = "disk.qcow2";

impl Base {
    /// Loads it from the cache, or makes it. `own` is this program; `bench` has the other programs of the machine.
    ///
    /// # Errors
    /// What is missing or failed, or an inaccurate clock.
    pub fn of(kernel: &Kernel, own: &Path, bench: Option<&[Program]>) -> Result<Base, VirtualError> {
        let initrd = image(own, kernel, bench)?;
        let digest = digest(kernel, &initrd)?;
        let folder = cache()?.join(MACHINES).join(&digest);
        fs::create_dir_all(&folder).map_err(VirtualError::doing(folder.display()))?;
        // Whoever comes second waits, and finds it.
        let alone = File::open(&folder).map_err(VirtualError::doing(folder.display()))?;
        alone.lock().map_err(VirtualError::doing(folder.display()))?;
        let facts = match fs::read(folder.join(FACTS)) {
            Ok(text) => serde_json::from_slice(&text).map_err(VirtualError::doing(folder.join(FACTS).display()))?,
            Err(_) => make(kernel, &initrd, &folder)?,
        };
        Ok(Base { digest, facts, kernel: kernel.file.clone(), folder })
    }

    /// The digest of the machine that runs of a kernel begin from. `own` is this program.
    pub fn digest_of(kernel: &Kernel, own: &Path) -> Result<String, VirtualError> {
        digest(kernel, &image(own, kernel, None)?)
    }

    /// Starts a paused copy of it.
    pub fn copy(&self, place: &Path) -> Result<Machine, VirtualError> {
        let (kept, disk) = (self.folder.join(DISK), place.join(DISK));
        let about = fs::metadata(&kept).map_err(VirtualError::doing(kept.display()))?;
        disk_space::check_copy(place, about.len())?;
        fs::copy(&kept, &disk).map_err(VirtualError::doing(disk.display()))?;
        let (initrd, console) = (self.folder.join(INITRD), place.join("console"));
        Machine::resume(&Files { kernel: &self.kernel, initrd: &initrd, disk: &disk, console: &console })
    }
}

fn digest(kernel: &Kernel, initrd: &[u8]) -> Result<String, VirtualError> {
    let of = |file: &Path| of_file(file).map(|(_, digest)| digest).map_err(VirtualError::doing(file.display()));
    let mut hash = Hash::default();
    let words = format!("{}\n{}\n{MEMORY}\n", machine_words().join(" "), kernel_line());
    let parts = [words, of(&qemu()?)?, of(&kernel.file)?];
    let written =
        parts.iter().try_for_each(|part| hash.write_all(part.as_bytes())).and_then(|()| hash.write_all(initrd));
    written.map_err(VirtualError::doing("a digest"))?;
    Ok(hash.hex())
}

fn make(kernel: &Kernel, initrd: &[u8], folder: &Path) -> Result<Facts, VirtualError> {
    disk_space::check(folder)?;
    let place = |name: &str| folder.join(name);
    let (file, disk, console) = (place(INITRD), place(DISK), place("console"));
    fs::write(&file, initrd).map_err(VirtualError::doing(file.display()))?;
    new_disk(&disk)?;
    let mut machine = Machine::boot(&Files { kernel: &kernel.file, initrd: &file, disk: &disk, console: &console })?;
    let paused = machine.until_it_pauses();
    let answer = machine.board.take();
    let facts: Facts = paused
        .and_then(|()| serde_json::from_slice(answered(&answer)?).map_err(VirtualError::doing("the machine's facts")))
        .map_err(|error| VirtualError(format!("{}: {error}; {}", kernel.name, last_words(&console))))?;
    if facts.late_median_ns > MOST_LATE_NS {
        let late = format!("sleeps of 1 ms are late by {} ns at the median", facts.late_median_ns);
        return Err(VirtualError(format!("{}: {late}; {MOST_LATE_NS} ns would do", kernel.name)));
    }
    // The disk may have become full meanwhile: then that is the reason.
    machine.keep().map_err(|error| disk_space::check(folder).err().unwrap_or(error))?;
    let text = serde_json::to_vec(&facts).map_err(VirtualError::doing(FACTS))?;
    fs::write(place(FACTS), text).map_err(VirtualError::doing(FACTS))?;
    Ok(facts)
}

/// An empty disk for a machine's state.
fn new_disk(disk: &Path) -> Result<(), VirtualError> {
    let mut command = Command::new(crate::virtual_time::image::find("qemu-img", "qemu-utils")?);
    let output = command.args(["create", "-q", "-f", "qcow2"]).arg(disk).arg("1M").output();
    let output = output.map_err(VirtualError::doing("qemu-img"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(VirtualError(format!("qemu-img: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// The end of the kernel's console output.
pub(crate) fn last_words(console: &Path) -> String {
    const LINES: usize = 3;
    let output = fs::read(console).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("end of its console: {}", lines[lines.len().saturating_sub(LINES)..].join("; "))
}
