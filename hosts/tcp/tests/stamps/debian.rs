//! The same tests on another kernel: Debian's 6.1, in a virtual machine without acceleration.
//!
//! They judge no times, because an emulated processor says nothing about time. `tests/debian/fetch.sh` fetches the
//! kernel into `target/debian-6.1`; this test does not.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::clang::compile;
use super::programs::SOURCES;

/// The tests that run in the guest: none that judges times.
const TESTS: &str = "crafted:: life:: negotiation::a_peer negotiation::ends negotiation::segments";

/// The kernel modules that the guest needs; `init` loads them.
const MODULES: [&str; 9] = ["llc", "stp", "bridge", "veth", "sch_ingress", "cls_bpf", "sch_tbf", "sch_fq", "sch_netem"];

/// Copies a file to the same place below `root`, and keeps its permissions.
fn take(root: &Path, file: &Path) -> io::Result<()> {
    let target = root.join(file.strip_prefix("/").expect("an absolute path"));
    fs::create_dir_all(target.parent().expect("a folder"))?;
    fs::copy(file, target).map(drop)
}

/// A program and the libraries it is linked to.
fn take_program(root: &Path, program: &Path) -> io::Result<()> {
    take(root, program)?;
    let libraries = Command::new("ldd").arg(program).output()?;
    for word in String::from_utf8_lossy(&libraries.stdout).split_whitespace().filter(|w| w.starts_with('/')) {
        take(root, Path::new(word))?;
    }
    Ok(())
}

fn which(program: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().map(|d| Path::new(d).join(program)).find(|p| p.exists())
}

/// Builds the guest's file system below `root`.
fn furnish(root: &Path, kernel: &Path) -> io::Result<()> {
    let room = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = std::env::current_exe()?;
    for folder in ["bin", "objects", "modules"] {
        fs::create_dir_all(root.join(folder))?;
    }
    fs::copy(which("busybox").expect("asked for before"), root.join("bin/busybox"))?;
    for program in ["ip", "tc"] {
        let program = which(program).expect("iproute2");
        take_program(root, &program)?;
        // Where the guest looks for it.
        let name = Path::new("usr/sbin").join(program.file_name().expect("a name"));
        fs::create_dir_all(root.join("usr/sbin"))?;
        fs::copy(&program, root.join(name))?;
    }
    take_program(root, &own)?;
    fs::remove_file(root.join(own.strip_prefix("/").expect("absolute")))?;
    let stripped = Command::new("strip").arg("-o").arg(root.join("stamps")).arg(&own).status()?;
    assert!(stripped.success(), "strip");
    for source in SOURCES {
        let object = compile(source, &[]);
        let name = Path::new(source).file_stem().expect("a file");
        fs::rename(&object, root.join("objects").join(name).with_extension("o"))?;
    }
    for module in MODULES {
        fs::copy(kernel.join(module).with_extension("ko"), root.join("modules").join(module).with_extension("ko"))?;
    }
    fs::write(root.join("tests"), TESTS)?;
    fs::copy(room.join("tests/debian/init"), root.join("init"))?;
    fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755))
}

/// Returns why the guest cannot start, if it cannot.
fn refusal(kernel: &Path) -> Option<String> {
    let missing: Vec<&str> = ["qemu-system-x86_64", "busybox", "cpio", "clang", "strip", "ldd"]
        .into_iter()
        .filter(|p| which(p).is_none())
        .collect();
    if !missing.is_empty() {
        return Some(format!("{} not installed", missing.join(", ")));
    }
    if !kernel.join("vmlinuz").exists() {
        return Some(format!("{} does not exist; tests/debian/fetch.sh fetches it", kernel.join("vmlinuz").display()));
    }
    None
}

#[test]
fn the_programs_work_on_linux_6_1() {
    if std::env::var_os("PACKETSCALE_GUEST").is_some() {
        return;
    }
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kernel = temporary.with_file_name("debian-6.1");
    if let Some(reason) = refusal(&kernel) {
        eprintln!("skipped: {reason}");
        return;
    }
    let root = temporary.join(format!("guest-{}", std::process::id()));
    furnish(&root, &kernel).expect("the guest's files");
    let archive = root.with_extension("cpio");
    let packed = Command::new("sh")
        .args(["-c", "find . | cpio --quiet -o -H newc > \"$0\""])
        .arg(&archive)
        .current_dir(&root)
        .status();
    assert!(packed.expect("a shell").success(), "cpio");
    let output = Command::new("timeout")
        .args(["-k", "5", "400", "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"])
        .args(["-m", "1024", "-nographic", "-no-reboot", "-nic", "none", "-kernel"])
        .arg(kernel.join("vmlinuz"))
        .arg("-initrd")
        .arg(&archive)
        .args(["-append", "console=ttyS0 quiet panic=-1"])
        .output();
    let _ = (fs::remove_dir_all(&root), fs::remove_file(&archive));
    let said = String::from_utf8_lossy(&output.expect("qemu starts").stdout).into_owned();
    eprintln!("{said}");
    assert!(said.contains("6.1."), "another kernel booted");
    assert!(said.contains("guest: tests ended with 0"), "tests failed in the guest");
    assert!(!said.contains("skipped"), "tests were skipped in the guest");
}
