//! Opens a file: reads it, and loads what was read.

use crate::plugins::flaw::Flaw;
use crate::plugins::object::Object;
use crate::plugins::{guard, memory};
use libloading::Library;
use packetscale_controller::abi::{SYMBOL, Table};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The first bytes of each shared object (System V ABI, chapter 4).
const ELF: &[u8] = b"\x7fELF";

/// Why a file is no controller.
#[derive(Debug, thiserror::Error)]
#[error("{}: found {found}; expected {expected}", file.display())]
pub struct OpenError {
    /// The file.
    pub file: PathBuf,
    /// What was found.
    pub found: String,
    /// What is expected.
    pub expected: String,
}

/// What was loaded, by its content.
static LOADED: Mutex<Vec<(Vec<u8>, &'static Object)>> = Mutex::new(Vec::new());

/// Returns the controller that this file defines. The file's content is compared with what is loaded already.
///
/// # Errors
/// A file that cannot be read or loaded, or a controller that is not what this version of packetscale expects.
pub fn open(file: &Path) -> Result<&'static Object, OpenError> {
    let refuse =
        |found: String, expected: &str| OpenError { file: file.to_path_buf(), found, expected: expected.to_string() };
    let unreadable = |error: io::Error| refuse(format!("that it cannot be read: {error}"), "a shared object");
    let content = std::fs::read(file).map_err(unreadable)?;
    if !content.starts_with(ELF) {
        let expected = "a shared object (ELF), as \"cc -shared -O2 -fPIC mine.c -o mine.so\" makes it";
        return Err(refuse("another kind of file".to_string(), expected));
    }
    if !is_whole(&content) {
        return Err(refuse("a shared object whose end is missing".to_string(), "all of it: link it again"));
    }
    // Opening leaves the list whole, whatever happens to a thread that does it.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, object)) = loaded.iter().find(|(known, _)| *known == content) {
        return Ok(object);
    }
    let number = guard::number(file);
    let table = load(&content, number).map_err(|(found, expected)| refuse(found, expected))?;
    let mut object = Object::of(table).map_err(|Flaw { found, expected }| refuse(found, &expected))?;
    object.file = number;
    let object = &*Box::leak(Box::new(object));
    loaded.push((content, object));
    Ok(object)
}

/// Whether the file has all that its segments name. The loader maps them unseen, and touching what is not there is a signal.
/// (Files of other sizes of words and byte orders are left to the loader, which refuses them.)
fn is_whole(content: &[u8]) -> bool {
    // EI_CLASS and EI_DATA: 64 bits, little-endian. Then e_phoff, e_phentsize, e_phnum; p_offset and p_filesz of each.
    if content.get(4..6) != Some(&[2, 1]) {
        return true;
    }
    let number = |at: usize, bytes: usize| {
        let mut whole = [0; 8];
        whole.get_mut(..bytes)?.copy_from_slice(content.get(at..at.checked_add(bytes)?)?);
        usize::try_from(u64::from_le_bytes(whole)).ok()
    };
    let segment_ends = |at: usize| number(at.checked_add(8)?, 8)?.checked_add(number(at.checked_add(32)?, 8)?);
    let (Some(first), Some(size), Some(count)) = (number(32, 8), number(54, 2), number(56, 2)) else { return false };
    (0..count).all(|segment| {
        let at = first.checked_add(segment * size);
        at.and_then(segment_ends).is_some_and(|end| end <= content.len())
    })
}

/// Loads this content, for as long as the program runs, and returns what it defines.
fn load(content: &[u8], number: u16) -> Result<&'static Table, (String, &'static str)> {
    const SHARED: &str = "a shared object that this machine can load, compiled with -shared -fPIC";
    if cfg!(target_feature = "crt-static") {
        let loading = "the command of the wheel, or one that was built from source";
        return Err(("a program that is static, and can load none".to_string(), loading));
    }
    let named = in_memory(content).map_err(|error| (format!("that it cannot be copied: {error}"), SHARED))?;
    // Safety: the code in it runs with the rights of the user who named it. Nothing can be checked before.
    let library = guard::call(number, || unsafe { Library::new(&named) });
    let library = library.map_err(|error| (format!("that it cannot be loaded: {}", cause(&error)), SHARED))?;
    // Safety: the symbol is a table, whose first two fields tell whether it is one of this version.
    let symbol = unsafe { library.get::<*const Table>(SYMBOL) };
    let missing =
        "a variable \"const struct packetscale_controller packetscale_controller\" (packetscale/controller.h)";
    let table = *symbol.map_err(|_| (format!("no symbol \"{SYMBOL}\""), missing))?;
    std::mem::forget(library);
    // Safety: it stays where it is, since the library is never unloaded. It is constant.
    unsafe { table.as_ref() }.ok_or_else(|| (format!("an empty symbol \"{SYMBOL}\""), missing))
}

/// A name under which the loader finds this content: a file in memory, which nobody can change or replace. Its descriptor
/// stays open, because the loader takes two files of the same name for one.
fn in_memory(content: &[u8]) -> io::Result<PathBuf> {
    let mut file = memory::file(c"packetscale-controller")?;
    file.write_all(content)?;
    let name = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    std::mem::forget(file);
    Ok(name)
}

/// What the loader says, without the name of the file in memory.
fn cause(error: &libloading::Error) -> String {
    let text = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    match text.split_once(": ") {
        Some((name, cause)) if name.starts_with("/proc/self/fd/") => cause.to_string(),
        _ => text,
    }
}
