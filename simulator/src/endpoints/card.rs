//! Network cards with a rate: packets leave them one after the other.

use packetscale_models::units::{Bytes, Rate, Serialiser, Time};

/// The cards of all sending hosts. Flows name theirs by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cards {
    cards: Vec<Card>,
}

#[derive(Clone, Debug)]
struct Card {
    wire: Serialiser,
    free: Time,
}

impl Cards {
    /// Adds a card and returns its number.
    pub(crate) fn add(&mut self, rate: Rate) -> u32 {
        self.cards.push(Card { wire: Serialiser::new(rate), free: Time::ZERO });
        (self.cards.len() - 1) as u32
    }

    /// When a packet that is handed over now has left the card.
    #[inline]
    pub(super) fn leaves(&mut self, card: u32, now: Time, size: Bytes) -> Time {
        let card = &mut self.cards[card as usize];
        card.free = now.max(card.free) + card.wire.next(size);
        card.free
    }

    /// The earliest that a packet of at least this size can have left the card, handed over then after all others.
    #[inline]
    pub(super) fn earliest(&self, card: u32, then: Time, size: Bytes) -> Time {
        let card = &self.cards[card as usize];
        then.max(card.free) + card.wire.peek(size)
    }

    /// When all packets handed over so far have left the card.
    pub(super) fn free(&self, card: u32) -> Time {
        self.cards[card as usize].free
    }
}
