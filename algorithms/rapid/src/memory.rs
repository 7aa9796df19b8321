//! The memory the C side works in: words, so that every struct in it is aligned.

use crate::ffi;
use alloc::boxed::Box;
use alloc::vec;

/// Sizes of the C structs, in words.
pub struct Sizes {
    pub law: usize,
    pub record: usize,
    pub stream: usize,
    pub gaps: usize,
    /// Where the next departure stands in the law's state.
    pub next_ns: usize,
}

/// What the C compiler says.
pub fn sizes() -> Sizes {
    let mut bytes = [0u64; 5];
    // SAFETY: writes five words.
    unsafe { ffi::rapid_face_sizes(&mut bytes) };
    let words = bytes.map(|b| (b as usize).div_ceil(8));
    Sizes { law: words[0], record: words[1], stream: words[2], gaps: words[3], next_ns: words[4] }
}

/// A ring of equal items, a power of two of them, found by number.
#[derive(Clone, Debug)]
pub struct Ring {
    pub words: Box<[u64]>,
    item: u32,
    /// Largest slot number. Each packet asks for it several times: to work it out would cost a division.
    mask: u32,
}

impl Ring {
    /// An empty ring of `capacity` items (a power of two) of `item` words.
    pub fn new(item: usize, capacity: usize) -> Ring {
        Ring { words: vec![0; item * capacity].into_boxed_slice(), item: item as u32, mask: (capacity - 1) as u32 }
    }

    /// How many items it has room for.
    pub fn capacity(&self) -> usize {
        self.mask as usize + 1
    }

    /// Largest slot number.
    #[inline]
    pub fn mask(&self) -> u32 {
        self.mask
    }

    /// Doubles the room. Items keep their numbers; `next` is the first number not used yet.
    pub fn double(&mut self, next: u64) {
        self.resize(next, 2 * self.capacity() as u64);
    }

    /// Halves the room. The newest items keep their numbers.
    pub fn halve(&mut self, next: u64) {
        self.resize(next, self.capacity() as u64 / 2);
    }

    fn resize(&mut self, next: u64, new: u64) {
        let (old, item) = (self.capacity() as u64, self.item as usize);
        let mut words = vec![0; new as usize * item].into_boxed_slice();
        for number in next.saturating_sub(old.min(new))..next {
            let (from, to) = ((number % old) as usize * item, (number % new) as usize * item);
            words[to..to + item].copy_from_slice(&self.words[from..from + item]);
        }
        (self.words, self.mask) = (words, (new - 1) as u32);
    }
}
