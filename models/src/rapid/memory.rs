//! The memory the C side works in: words, so that every struct in it is aligned.

use alloc::boxed::Box;
use alloc::vec;
use packetscale_law as ffi;

/// Sizes of the C structs, in words.
pub struct Sizes {
    pub law: usize,
    pub record: usize,
    pub stream: usize,
    /// Its work space.
    pub gaps: usize,
    /// Index of the next departure in the law's state.
    pub next_ns: usize,
}

/// The sizes of a law's structs, from the C compiler.
pub fn sizes<R>(calls: &ffi::Calls<R>) -> Sizes {
    let mut bytes = [0u64; 5];
    // SAFETY: writes five words.
    unsafe { (calls.sizes)(&mut bytes) };
    let words = bytes.map(|b| (b as usize).div_ceil(8));
    Sizes { law: words[0], record: words[1], stream: words[2], gaps: words[3], next_ns: words[4] }
}

/// Words of a cache line.
const LINE_WORDS: usize = 8;

/// A cache line, so that rings begin with one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; LINE_WORDS]);

/// A ring of equal items, a power of two of them, found by number.
#[derive(Clone, Debug)]
pub struct Ring {
    lines: Box<[Line]>,
    item: u32,
    /// Largest slot number. It is used several times per packet: computing it would cost a division.
    mask: u32,
}

impl Ring {
    /// An empty ring of `capacity` items (a power of two) of `item` words.
    pub fn new(item: usize, capacity: usize) -> Ring {
        Ring { lines: empty(item * capacity), item: item as u32, mask: (capacity - 1) as u32 }
    }

    /// Pointer to its first item.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u64 {
        self.lines.as_mut_ptr().cast()
    }

    /// The words it takes.
    pub fn words(&self) -> usize {
        self.lines.len() * LINE_WORDS
    }

    /// The number of items it can hold.
    pub fn capacity(&self) -> usize {
        self.mask as usize + 1
    }

    /// Largest slot number.
    #[inline]
    pub fn mask(&self) -> u32 {
        self.mask
    }

    /// Doubles the capacity. Items keep their numbers; `next` is the first number not used yet.
    pub fn double(&mut self, next: u64) {
        self.resize(next, 2 * self.capacity() as u64);
    }

    /// Halves the capacity. The newest items keep their numbers.
    pub fn halve(&mut self, next: u64) {
        self.resize(next, self.capacity() as u64 / 2);
    }

    fn resize(&mut self, next: u64, new: u64) {
        let (old, item) = (self.capacity() as u64, self.item as usize);
        let mut lines = empty(new as usize * item);
        for number in next.saturating_sub(old.min(new))..next {
            let (from, to) = ((number % old) as usize * item, (number % new) as usize * item);
            for word in 0..item {
                let (from, to) = (from + word, to + word);
                lines[to / LINE_WORDS].0[to % LINE_WORDS] = self.lines[from / LINE_WORDS].0[from % LINE_WORDS];
            }
        }
        (self.lines, self.mask) = (lines, (new - 1) as u32);
    }
}

fn empty(words: usize) -> Box<[Line]> {
    vec![Line([0; LINE_WORDS]); words.div_ceil(LINE_WORDS)].into_boxed_slice()
}
