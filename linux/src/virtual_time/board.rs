//! A part of the machine's memory that its kernel leaves alone. Both sides map it: the host the file behind the memory,
//! the guest `/dev/mem`. Reading and writing it takes the guest no time beyond the copying, and no device.
//!
//! ```text
//! 0   8 bytes   nanoseconds of the run that have passed
//! 8   8 bytes   length of the message
//! 4096          the message: first the host's, the job; later the guest's, the result
//! ```

use crate::virtual_time::error::VirtualError;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;

/// Where it begins in the machine's memory, and its size.
pub(crate) const PLACE: usize = 128 << 20;
pub(crate) const SIZE: usize = 64 << 20;

/// The machine's memory.
pub(crate) const MEMORY: usize = 1024 << 20;

const REACHED: usize = 0;
const LENGTH: usize = 8;
const MESSAGE: usize = 4096;

/// The mapping.
pub(crate) struct Board(NonNull<std::ffi::c_void>);

// SAFETY: it is only an address. The host writes while the machine is paused, and reads counters otherwise.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

impl Board {
    /// Maps it from the file behind the machine's memory, or from the machine's own `/dev/mem`.
    pub fn map(memory: &File) -> Result<Board, VirtualError> {
        let size = NonZeroUsize::new(SIZE).expect("not zero");
        let (access, flags) = (ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_SHARED);
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let mapped = unsafe { mmap(None, size, access, flags, memory.as_fd(), PLACE as i64) };
        mapped.map(Board).map_err(VirtualError::doing("the machine's memory cannot be mapped"))
    }

    /// Publishes how much of the run has passed.
    pub fn set_reached(&self, ns: u64) {
        self.set_word(REACHED, ns);
    }

    /// How much of the run has passed, in nanoseconds.
    pub fn reached(&self) -> u64 {
        self.word(REACHED)
    }

    /// Writes a message.
    ///
    /// # Errors
    /// It is too long.
    pub fn put(&self, message: &[u8]) -> Result<(), VirtualError> {
        if message.len() > SIZE - MESSAGE {
            let (found, most) = (message.len(), SIZE - MESSAGE);
            let what = format!("found {found} bytes to hand over; a machine takes and gives {most}");
            return Err(VirtualError(format!("{what}: shorten run.duration or lower path.rate")));
        }
        // SAFETY: the mapping is large enough for the message, as checked above, and the two do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), self.at(MESSAGE), message.len()) };
        self.set_word(LENGTH, message.len() as u64);
        Ok(())
    }

    /// Takes the message, and leaves none.
    pub fn take(&self) -> Vec<u8> {
        let length = (self.word(LENGTH) as usize).min(SIZE - MESSAGE);
        let mut message = vec![0; length];
        // SAFETY: the mapping has at least `length` bytes from there on, and the two do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.at(MESSAGE), message.as_mut_ptr(), length) };
        self.set_word(LENGTH, 0);
        message
    }

    fn at(&self, offset: usize) -> *mut u8 {
        // SAFETY: every offset used is inside the mapping.
        unsafe { self.0.as_ptr().cast::<u8>().add(offset) }
    }

    fn word(&self, offset: usize) -> u64 {
        // SAFETY: in the mapping, and aligned: the mapping begins at a page.
        unsafe { self.at(offset).cast::<u64>().read_volatile() }
    }

    fn set_word(&self, offset: usize, value: u64) {
        // SAFETY: as above.
        unsafe { self.at(offset).cast::<u64>().write_volatile(value) }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size, and nothing refers to it any more.
        let _ = unsafe { munmap(self.0, SIZE) };
    }
}
