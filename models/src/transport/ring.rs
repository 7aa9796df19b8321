//! State of each of the outstanding packets, found by its number.

use alloc::boxed::Box;
use alloc::vec;

/// Number of packets that a ring holds at first.
const FIRST_CAPACITY: usize = 16;

/// A ring is too large if no more than this part of it is in use: half of what it will have then.
const OVERSIZED: u64 = 4;

/// One item for each packet, in a ring with a power of two as length. The owner tracks which packets those are.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    items: Box<[T]>,
}

impl<T: Copy> Ring<T> {
    pub fn new(empty: T) -> Ring<T> {
        Ring { items: vec![empty; FIRST_CAPACITY].into_boxed_slice() }
    }

    #[inline]
    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.items.len() - 1)
    }

    #[inline]
    pub fn get(&self, sequence: u64) -> &T {
        &self.items[self.index(sequence)]
    }

    #[inline]
    pub fn get_mut(&mut self, sequence: u64) -> &mut T {
        let index = self.index(sequence);
        &mut self.items[index]
    }

    /// Reserves space for packet `next`, in addition to those from `first` on.
    #[inline]
    pub fn reserve(&mut self, first: u64, next: u64) {
        if self.index(next) == 0 {
            self.begin_turn(first, next);
        }
        if next - first == self.items.len() as u64 {
            self.resize(self.items.len() * 2, first, next);
        }
    }

    /// Halves a ring that a burst has left too large. Each turn passes through all of its memory, so that of a large ring
    /// nothing stays in the cache.
    #[cold]
    fn begin_turn(&mut self, first: u64, next: u64) {
        let capacity = self.items.len();
        if capacity > FIRST_CAPACITY && next - first <= capacity as u64 / OVERSIZED {
            self.resize(capacity / 2, first, next);
        }
    }

    #[cold]
    fn resize(&mut self, capacity: usize, first: u64, next: u64) {
        let mut items = vec![self.items[0]; capacity].into_boxed_slice();
        for sequence in first..next {
            items[sequence as usize & (capacity - 1)] = *self.get(sequence);
        }
        self.items = items;
    }
}
