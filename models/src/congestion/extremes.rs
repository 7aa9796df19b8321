//! The smallest value of a moving window of time.
//!
//! It keeps the values that can still become the smallest: each is newer and larger than the previous one.

use crate::units::{Span, Time};
use alloc::collections::VecDeque;

/// The smallest of the last samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Smallest {
    candidates: VecDeque<(Time, Span)>,
}

impl Smallest {
    /// Adds a sample and forgets those older than `memory`, but not this one.
    pub fn take(&mut self, value: Span, now: Time, memory: Span) {
        while self.candidates.back().is_some_and(|(_, last)| *last >= value) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((now, value));
        while self.candidates.front().is_some_and(|(then, _)| now.saturating_since(*then) > memory) {
            self.candidates.pop_front();
        }
    }

    /// Returns the smallest, if there was a sample.
    pub fn value(&self) -> Option<Span> {
        self.candidates.front().map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against looking at all samples of the window.
    #[test]
    fn it_is_the_smallest_of_the_window() {
        let values = [5, 3, 8, 2, 9, 9, 4, 7, 1, 6, 6, 8].map(Span::from_millis);
        let mut smallest = Smallest::default();
        for (i, value) in values.iter().enumerate() {
            smallest.take(*value, Time::from_nanos(i as u64), Span::from_nanos(3));
            let expected = values[i.saturating_sub(3)..=i].iter().min().copied();
            assert_eq!(smallest.value(), expected, "after {i}");
        }
    }
}
