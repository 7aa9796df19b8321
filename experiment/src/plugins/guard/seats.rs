//! Which files' code is running, in memory that the watching process sees.

use nix::libc;
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Threads that are watched at the same time. Those above are not.
const SEATS: usize = 256;

/// Bits of a seat that count the thread's calls. Those above are the number of the file, plus 1.
const COUNT_BITS: u32 = 48;

/// What one thread is doing: 0 outside of calls. On a cache line of its own.
#[repr(align(64))]
struct Seat {
    call: AtomicU64,
    taken: AtomicBool,
}

/// Memory of two processes, all zeros at first.
#[repr(C)]
pub(super) struct Shared {
    /// Whether the command has ended by itself.
    done: AtomicBool,
    /// The file with a call that has forked, plus 1.
    forked: AtomicU32,
    seats: [Seat; SEATS],
}

impl Shared {
    /// The command has ended by itself.
    pub fn set_done(&self) {
        self.done.store(true, Ordering::SeqCst);
    }

    /// Whether it has.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::SeqCst)
    }

    /// The file with a call that has forked.
    pub fn forked(&self) -> Option<usize> {
        (self.forked.load(Ordering::SeqCst) as usize).checked_sub(1)
    }

    /// Calls under way, one for each seat; two looks are equal where a call has not returned between them.
    pub fn calls(&self) -> impl Iterator<Item = u64> {
        self.seats.iter().map(|seat| seat.call.load(Ordering::SeqCst))
    }
}

/// The number of the file that a call is in; `None` outside of calls.
pub(super) fn file_of(call: u64) -> Option<usize> {
    ((call >> COUNT_BITS) as usize).checked_sub(1)
}

/// The memory, mapped by the first who asks. `None` where the system maps none: then nothing is watched.
pub(super) fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<&'static Shared>> = OnceLock::new();
    *SHARED.get_or_init(|| {
        let place = mapped(size_of::<Shared>(), MapFlags::MAP_SHARED)?;
        // Safety: zeros are a `Shared`, which has only atomics; the mapping is of this size, and stays.
        Some(unsafe { place.cast::<Shared>().as_ref() })
    })
}

/// A byte that is 0 in a process as soon as it is forked.
fn same_process() -> Option<&'static AtomicU8> {
    static MARK: OnceLock<Option<&'static AtomicU8>> = OnceLock::new();
    *MARK.get_or_init(|| {
        let place = mapped(size_of::<AtomicU8>(), MapFlags::MAP_PRIVATE)?;
        // Safety: the page was just mapped, and the system writes only zeros into it.
        unsafe { madvise(place, size_of::<AtomicU8>(), MmapAdvise::MADV_WIPEONFORK) }.ok()?;
        // Safety: the mapping stays.
        Some(unsafe { place.cast::<AtomicU8>().as_ref() })
    })
}

fn mapped(bytes: usize, flags: MapFlags) -> Option<NonNull<libc::c_void>> {
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // Safety: new memory, anywhere.
    unsafe { mmap_anonymous(None, NonZeroUsize::new(bytes)?, access, flags) }.ok()
}

/// The seat of a thread, for as long as it lives.
struct Own {
    seat: Option<&'static Seat>,
    forked: Option<&'static AtomicU32>,
    same_process: Option<&'static AtomicU8>,
    calls: Cell<u64>,
}

thread_local! {
    static OWN: Own = Own::taken();
}

impl Own {
    fn taken() -> Own {
        let shared = shared();
        let free = |seat: &&Seat| !seat.taken.swap(true, Ordering::SeqCst);
        Own {
            seat: shared.and_then(|shared| shared.seats.iter().find(free)),
            forked: shared.map(|shared| &shared.forked),
            same_process: same_process(),
            calls: Cell::new(0),
        }
    }

    #[inline]
    fn enter(&self, file: u16) {
        let calls = self.calls.get().wrapping_add(1) & ((1 << COUNT_BITS) - 1);
        self.calls.set(calls);
        if let Some(seat) = self.seat {
            seat.call.store((u64::from(file) + 1) << COUNT_BITS | calls, Ordering::Relaxed);
        }
        if let Some(mark) = self.same_process
            && mark.load(Ordering::Relaxed) == 0
        {
            mark.store(1, Ordering::Relaxed);
        }
    }

    /// A process that the call has forked ends here: it is a copy of the command's, with its open files.
    #[inline]
    fn leave(&self, file: u16) {
        if self.same_process.is_some_and(|mark| mark.load(Ordering::Relaxed) == 0) {
            if let Some(forked) = self.forked {
                forked.store(u32::from(file) + 1, Ordering::SeqCst);
            }
            // Safety: nothing of this copy may run on, so not even what a program does at its end.
            unsafe { libc::_exit(0) };
        }
        if let Some(seat) = self.seat {
            seat.call.store(0, Ordering::Relaxed);
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            seat.taken.store(false, Ordering::SeqCst);
        }
    }
}

/// Calls code of a file. (What it does not return from is found by who watches.)
#[inline]
pub(crate) fn call<Answer>(file: u16, code: impl FnOnce() -> Answer) -> Answer {
    OWN.with(|own| {
        own.enter(file);
        let answer = code();
        own.leave(file);
        answer
    })
}
