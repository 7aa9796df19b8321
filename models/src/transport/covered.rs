//! The packets that one acknowledgment delivers: the scoreboard writes the list, and everything that learns from single packets reads it.

use crate::units::Time;
use alloc::vec::Vec;

/// A transmission that has arrived: its number and when it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub transmission: u64,
    pub sent: Time,
}

/// A packet that is newly delivered, and its newest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub sequence: u64,
    pub this: Delivered,
}

/// The packets that one acknowledgment delivers, as the scoreboard finds them. A few are stored in the list itself, so that most
/// acknowledgments touch no heap memory of the flow.
pub(crate) struct CoveredList<'a> {
    few: [Covered; CoveredList::FEW],
    count: usize,
    /// Buffer for all, once they are more than a few; owned by the flow, so that no acknowledgment allocates.
    buffer: &'a mut Vec<Covered>,
}

impl<'a> CoveredList<'a> {
    pub const FEW: usize = 4;
    const NONE: Covered = Covered { sequence: 0, this: Delivered { transmission: 0, sent: Time::ZERO } };

    #[inline]
    pub fn new(buffer: &'a mut Vec<Covered>) -> CoveredList<'a> {
        CoveredList { few: [CoveredList::NONE; CoveredList::FEW], count: 0, buffer }
    }

    #[inline]
    pub fn push(&mut self, packet: Covered) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = packet,
            None => self.push_more(packet),
        }
        self.count += 1;
    }

    #[cold]
    fn push_more(&mut self, packet: Covered) {
        if self.count == CoveredList::FEW {
            self.buffer.clear();
            self.buffer.extend_from_slice(&self.few);
        }
        self.buffer.push(packet);
    }

    #[inline]
    pub fn packets(&self) -> &[Covered] {
        match self.few.get(..self.count) {
            Some(few) => few,
            None => self.buffer,
        }
    }
}
