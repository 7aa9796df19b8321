//! Receivers that hand packets over in batches, and stamp them then.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use units::{Span, Time};

/// What makes a batch.
#[derive(Clone, Copy, Debug)]
pub enum Receiver {
    /// Nothing: each packet is stamped when it arrives.
    None,
    /// The first packet starts a timer (the dissertation's NIC1, and `coalescing` of a scenario).
    First { time: Span },
    /// No interrupt within a time of the last one.
    Since { time: Span },
    /// The first packet starts a timer, or a number of frames that changes from batch to batch is reached (after NIC2).
    Adaptive { time: Span, frames: u32 },
}

impl Receiver {
    /// Its name, and its time in nanoseconds or its most frames.
    pub fn name(self) -> (&'static str, u64) {
        match self {
            Receiver::None => ("none", 0),
            Receiver::First { time } => ("first", time.nanos()),
            Receiver::Since { time } => ("since", time.nanos()),
            Receiver::Adaptive { frames, .. } => ("adaptive", u64::from(frames)),
        }
    }

    /// When packets that arrive at these times, in order, are stamped.
    pub fn stamps(self, arrivals: &[Time], seed: u64) -> Vec<Time> {
        let mut draws = Pcg64::seed_from_u64(seed);
        let (mut stamps, mut begin, mut last) = (Vec::with_capacity(arrivals.len()), 0, Time::ZERO);
        while let Some(&first) = arrivals.get(begin) {
            let (due, most) = match self {
                Receiver::None => (first, 1),
                Receiver::First { time } => (first + time, usize::MAX),
                Receiver::Since { time } => (first.max(last + time), usize::MAX),
                Receiver::Adaptive { time, frames } => (first + time, draws.random_range(1..=frames.max(1)) as usize),
            };
            let batch = arrivals[begin..].iter().take(most).take_while(|at| **at <= due).count();
            // A full batch does not wait for the timer.
            let at = if batch == most { arrivals[begin + batch - 1] } else { due };
            stamps.extend(std::iter::repeat_n(at, batch));
            begin += batch;
            last = at;
        }
        stamps
    }
}
