//! Downloads a Debian kernel: requests one package by its exact name from apt, without root. Apt verifies the
//! package's digest against the archive's signed lists.

use crate::virtual_time::error::VirtualError;
use crate::virtual_time::kernels::{IMAGE, cache, folder, order};
use crate::virtual_time::modules::{is_wanted, needs};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where kernels are that this machine's own lists do not have.
const ARCHIVES: [&str; 3] = ["bookworm-backports", "trixie", "trixie-backports"];
const MIRROR: &str = "http://deb.debian.org/debian";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Puts the newest package of this version, as in `6.12`, into the cache. Returns the package's name.
///
/// # Errors
/// No package, or a program that fails.
pub fn fetch(version: &str) -> Result<String, VirtualError> {
    if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(VirtualError(format!("found kernel \"{version}\"; expected a version, as in 6.12")));
    }
    let machine = Apt { options: sandbox(Vec::new()) };
    let (apt, package) = match machine.newest(version)? {
        Some(package) => (machine, package),
        None => {
            let wider = Apt::of_our_own()?;
            let found = wider.newest(version)?;
            let archives = ARCHIVES.join(", ");
            let missing = || VirtualError(format!("no kernel {version} here and in Debian's {archives}"));
            (wider, found.ok_or_else(missing)?)
        }
    };
    let work = tempfile::tempdir().map_err(VirtualError::doing("a temporary folder"))?;
    // Newer packages are split: the one with the plain name only depends on the others.
    let mut names = apt.parts(&package)?;
    names.push(package.clone());
    for name in &names {
        apt.run("apt-get", &["download", "-q", name], work.path())?;
    }
    let tree = work.path().join("tree");
    for deb in files(work.path(), ".deb")? {
        run(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(&tree), "dpkg-deb")?;
    }
    keep(&tree, &folder(version)?, &package)?;
    Ok(package)
}

/// An apt, with lists of the machine's or of our own.
struct Apt {
    options: Vec<String>,
}

/// Apt drops its rights where it is run by root, and could then not write here.
fn sandbox(mut options: Vec<String>) -> Vec<String> {
    options.push("APT::Sandbox::User=root".to_string());
    options.into_iter().flat_map(|option| ["-o".to_string(), option]).collect()
}

impl Apt {
    /// With lists in the cache, which leave the machine's alone.
    fn of_our_own() -> Result<Apt, VirtualError> {
        let home = cache()?.join("apt");
        for inner in ["lists/partial", "archives/partial"] {
            fs::create_dir_all(home.join(inner)).map_err(VirtualError::doing(home.display()))?;
        }
        let sources: String =
            ARCHIVES.iter().map(|archive| format!("deb [signed-by={KEYS}] {MIRROR} {archive} main\n")).collect();
        let list = home.join("sources.list");
        fs::write(&list, sources).map_err(VirtualError::doing(list.display()))?;
        let apt = Apt {
            options: sandbox(vec![
                format!("Dir::Etc::sourcelist={}", list.display()),
                "Dir::Etc::sourceparts=/dev/null".to_string(),
                format!("Dir::State::lists={}", home.join("lists").display()),
                format!("Dir::Cache={}", home.display()),
            ]),
        };
        apt.run("apt-get", &["update", "-q"], &home)?;
        Ok(apt)
    }

    fn run(&self, program: &str, words: &[&str], place: &Path) -> Result<String, VirtualError> {
        run(Command::new(program).args(&self.options).args(words).current_dir(place), program)
    }

    /// The newest package with a kernel of this version for virtual machines.
    fn newest(&self, version: &str) -> Result<Option<String>, VirtualError> {
        let pattern = format!("^linux-image-{}[.].*-cloud-amd64$", version.replace('.', "[.]"));
        let found = self.run("apt-cache", &["search", "--names-only", &pattern], Path::new("/"))?;
        let names = found.lines().filter_map(|line| line.split_whitespace().next());
        Ok(names.max_by_key(|name| order(name)).map(str::to_string))
    }

    /// The packages that hold the parts of a kernel, where it is split.
    fn parts(&self, package: &str) -> Result<Vec<String>, VirtualError> {
        let output = self.run("apt-cache", &["depends", package], Path::new("/"))?;
        let names = output.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let part = |name: &&str| name.starts_with("linux-binary-") || name.starts_with("linux-modules-");
        Ok(names.filter(part).map(str::to_string).collect())
    }
}

/// Copies the image and the modules that may be needed. The image comes last: where it is, all is there.
fn keep(tree: &Path, folder: &Path, package: &str) -> Result<(), VirtualError> {
    let into = || VirtualError::doing(folder.display().to_string());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(into())?;
    }
    fs::create_dir_all(folder).map_err(into())?;
    let mut modules: BTreeMap<String, PathBuf> = BTreeMap::new();
    for suffix in [".ko", ".ko.xz", ".ko.zst"] {
        for file in files(tree, suffix)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            modules.insert(name.trim_end_matches(suffix).replace('-', "_"), file);
        }
    }
    let mut open: Vec<String> = modules.keys().filter(|name| is_wanted(name)).cloned().collect();
    while let Some(name) = open.pop() {
        let Some(file) = modules.remove(&name) else { continue };
        let content = plain(&file)?;
        open.extend(needs(&content));
        fs::write(folder.join(format!("{name}.ko")), content).map_err(into())?;
    }
    fs::write(folder.join("package"), format!("{package}\n")).map_err(into())?;
    let mut images = files(tree, "")?
        .into_iter()
        .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(IMAGE)));
    let image = images.next_back().ok_or_else(|| VirtualError(format!("{package}: found no {IMAGE} in it")))?;
    let part = folder.join("image.part");
    fs::copy(image, &part).and_then(|_| fs::rename(&part, folder.join(IMAGE))).map_err(into())
}

/// The content of a file, decompressed if its name has a compression suffix.
fn plain(file: &Path) -> Result<Vec<u8>, VirtualError> {
    let program = match file.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => return fs::read(file).map_err(VirtualError::doing(file.display())),
    };
    let output = Command::new(program).arg("-dc").arg(file).stderr(Stdio::inherit()).output();
    let output = output.map_err(VirtualError::doing(program))?;
    if output.status.success() { Ok(output.stdout) } else { Err(VirtualError(format!("{program}: {}", output.status))) }
}

/// All files below a folder with this suffix, in order.
fn files(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>, VirtualError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(VirtualError::doing(folder.display()))?.flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path, suffix)?);
        } else if entry.file_name().to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs a program; returns its output, or its error message.
fn run(command: &mut Command, name: &str) -> Result<String, VirtualError> {
    let output = command.stdin(Stdio::null()).output().map_err(VirtualError::doing(name))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(VirtualError(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
