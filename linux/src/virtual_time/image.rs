//! The machine's first file system: this program, which is the first process; `ip` and `tc`; what they link with; and
//! modules of the kernel. The same files make the same bytes.

use crate::virtual_time::cpio::Archive;
use crate::virtual_time::error::VirtualError;
use crate::virtual_time::kernels::Kernel;
use crate::virtual_time::modules::{MODULES, Modules};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that the lab runs.
const PROGRAMS: [&str; 2] = ["ip", "tc"];

/// Further search folders after `PATH`, which often lacks these for ordinary users.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A program of a [bench](crate::virtual_time::Bench): where it is in the machine, and where it is here.
pub type Program = (String, PathBuf);

/// Marks a bench: only modules are loaded.
pub(crate) const BENCH: &str = "/bench";

/// Makes the file system for a kernel, with `own`, this program; with `bench`, that of a bench.
pub(crate) fn image(own: &Path, kernel: &Kernel, bench: Option<&[Program]>) -> Result<Vec<u8>, VirtualError> {
    let mut archive = Archive::default();
    for folder in ["/proc", "/sys", "/tmp", "/run"] {
        archive.folder(folder);
    }
    // The kernel opens the first, Rust the second, before anything is mounted.
    archive.device("/dev/console", 5, 1);
    archive.device("/dev/null", 1, 3);
    let mut libraries = BTreeSet::new();
    let mut programs = vec![("/packetscale".to_string(), own.to_path_buf())];
    for program in PROGRAMS {
        programs.push((format!("/bin/{program}"), find(program, "iproute2")?));
    }
    if let Some(more) = bench {
        archive.file(BENCH, b"");
        programs.extend(more.iter().cloned());
    }
    for (place, file) in programs {
        archive.file(&place, &loaded_part(read(&file)?));
        libraries.extend(linked(&file)?);
    }
    for library in libraries {
        archive.file(&library, &loaded_part(read(Path::new(&library))?));
    }
    let mut needs = Modules::new();
    for module in &kernel.modules {
        archive.file(&format!("/modules/{}.ko", module.name), &read(&module.file)?);
        needs.insert(module.name.clone(), module.needs.clone());
    }
    archive.file(MODULES, &serde_json::to_vec(&needs).map_err(VirtualError::doing(MODULES))?);
    Ok(archive.finish())
}

fn read(file: &Path) -> Result<Vec<u8>, VirtualError> {
    std::fs::read(file).map_err(VirtualError::doing(file.display()))
}

/// Finds a program in `PATH`, or where administrators' programs are.
///
/// # Errors
/// It is not there; names its package.
pub fn find(program: &str, package: &str) -> Result<PathBuf, VirtualError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    found.ok_or_else(|| VirtualError(format!("{program} is missing (Debian package {package})")))
}

/// The shared libraries of a program, and its loader, by the paths that the loader uses.
fn linked(program: &Path) -> Result<Vec<String>, VirtualError> {
    let output =
        Command::new("ldd").arg(program).output().map_err(VirtualError::doing("ldd (Debian package libc-bin)"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // `libelf.so.1 => /lib/x86_64-linux-gnu/libelf.so.1 (0x...)`, or the loader's path alone.
    let paths = text.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    Ok(paths.map(str::to_string).collect())
}

/// Truncates an ELF file after its last loaded segment, removing symbols and debug information. A file without loaded
/// segments, such as an eBPF object, stays whole.
fn loaded_part(mut file: Vec<u8>) -> Vec<u8> {
    let Some(end) = loaded_end(&file) else { return file };
    file.truncate(end.max(HEADER));
    // There is no table of sections any more: its offset, its entries, and the index of names.
    file[40..48].fill(0);
    file[60..64].fill(0);
    file
}

const MAGIC: &[u8] = b"\x7fELF\x02";
/// Bytes of the header of a 64-bit file.
const HEADER: usize = 64;

fn loaded_end(file: &[u8]) -> Option<usize> {
    const LOAD: u32 = 1;
    if !file.starts_with(MAGIC) {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?) as usize);
    let long = |at: usize| Some(u64::from_le_bytes(file.get(at..at + 8)?.try_into().ok()?) as usize);
    let (table, size, count) = (long(32)?, half(54)?, half(56)?);
    if count == 0 {
        return None;
    }
    let mut end = table + size * count;
    for entry in (0..count).map(|number| table + number * size) {
        if u32::from_le_bytes(file.get(entry..entry + 4)?.try_into().ok()?) == LOAD {
            end = end.max(long(entry + 8)? + long(entry + 32)?);
        }
    }
    (end <= file.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_files_stay_whole() {
        // Only a section table, behind the header.
        let mut object = vec![0; 2 * HEADER];
        object[..MAGIC.len()].copy_from_slice(MAGIC);
        object[40] = HEADER as u8;
        assert_eq!(loaded_part(object.clone()), object);
    }

    #[test]
    fn stripped_program_still_runs() {
        let own = std::env::current_exe().expect("the test itself");
        let cut = loaded_part(read(&own).expect("read"));
        assert!(cut.len() < std::fs::metadata(&own).expect("its size").len() as usize);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cut");
        std::fs::write(&file, cut).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).expect("may be executed");
        let output = Command::new(&file).arg("--list").output().expect("runs");
        assert!(String::from_utf8_lossy(&output.stdout).contains("still_runs: test"));
    }
}
