//! What some controllers want to know about every packet: when it arrived, how fast the path delivered it, and whether
//! it was lost. A sender keeps none of this unless its controller asks for it.

use alloc::vec::Vec;
use congestion::{Arrival, LostFlight, Needs, RateSample};
use units::{Span, Time};

use crate::delivery::DeliverySampler;
use crate::scoreboard::{Coverage, Record, Scoreboard};
use crate::wire::{Ack, MAX_STAMPS};

/// What one controller wants to learn about every packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wants {
    pub arrivals: bool,
    pub rate_samples: bool,
}

impl Wants {
    pub fn of(needs: Needs) -> Wants {
        Wants { arrivals: needs.arrivals, rate_samples: needs.rate_samples }
    }
}

/// What one controller is to learn about every packet.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    sampler: Option<DeliverySampler>,
    /// What the current acknowledgment covers, in order of transmission, unless it is [`Few`].
    pub arrivals: Vec<Arrival>,
    /// The transmissions that were declared lost together.
    pub lost_transmissions: Vec<u64>,
    pub lost_flights: Vec<LostFlight>,
}

/// What an acknowledgment stamps: how a packet arrived.
fn arrival(ack: &Ack, sequence: u64, record: &Record) -> Arrival {
    let stamps = &ack.arrivals[..usize::from(ack.stamps).min(MAX_STAMPS)];
    match stamps.iter().find(|stamp| stamp.sequence == sequence) {
        Some(stamp) => Arrival { transmission: stamp.transmission, arrived: Some(stamp.arrived) },
        None => Arrival { transmission: record.transmission, arrived: None },
    }
}

/// The arrivals of one or two packets that were sent once: those of most acknowledgments. They take no memory of the flow's.
pub(crate) struct Few {
    arrivals: [Arrival; Few::MOST as usize],
    count: usize,
}

impl Few {
    const MOST: u64 = 2;

    /// Whether an acknowledgment of plain packets covers so few.
    #[inline]
    pub fn is_enough(board: &Scoreboard, ack: &Ack) -> bool {
        (board.first() + 1..=board.first() + Few::MOST).contains(&ack.next_expected)
    }

    #[inline]
    pub fn of(board: &Scoreboard, ack: &Ack) -> Few {
        let (first, last) = (board.first(), ack.next_expected - 1);
        let [one, two] = [first, last].map(|sequence| arrival(ack, sequence, board.record(sequence)));
        let (least, most) = if two.transmission < one.transmission { (two, one) } else { (one, two) };
        Few { arrivals: [least, most], count: (ack.next_expected - first) as usize }
    }

    /// In order of transmission.
    #[inline]
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals[..self.count.min(self.arrivals.len())]
    }
}

impl Watch {
    /// What a controller with these needs asks for, if anything.
    pub fn of(needs: Needs, now: Time) -> Option<Watch> {
        (needs.arrivals || needs.rate_samples).then(|| Watch {
            sampler: needs.rate_samples.then(|| DeliverySampler::new(now)),
            arrivals: Vec::new(),
            lost_transmissions: Vec::new(),
            lost_flights: Vec::new(),
        })
    }

    /// Applies an acknowledgment to the scoreboard, packet by packet.
    pub fn take_in(&mut self, board: &mut Scoreboard, wants: Wants, now: Time, ack: &Ack, coverage: &mut Coverage) {
        let Watch { sampler, arrivals, .. } = self;
        arrivals.clear();
        let mut covered = |sequence: u64, record: &Record| {
            if let Some(sampler) = sampler {
                sampler.on_delivered(now, sequence, record.delivered());
            }
            if wants.arrivals {
                arrivals.push(arrival(ack, sequence, record));
            }
        };
        if ack.blocks == 0 && board.is_plain() && Few::is_enough(board, ack) {
            (board.first()..ack.next_expected).for_each(|sequence| covered(sequence, board.record(sequence)));
            board.advance_plain(ack.next_expected, coverage);
        } else {
            board.acknowledge(ack, coverage, covered);
        }
        if let Some(sampler) = sampler {
            sampler.forget_before(board.first());
        }
        if !arrivals.is_sorted_by_key(|arrival| arrival.transmission) {
            arrivals.sort_unstable_by_key(|arrival| arrival.transmission);
        }
    }

    /// A packet left; `in_flight` counts it.
    #[inline]
    pub fn on_sent(&mut self, now: Time, sequence: u64, in_flight: u32) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sent(now, sequence, in_flight);
        }
    }

    /// The application has nothing to send.
    pub fn on_nothing_to_send(&mut self, in_flight: u32) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_nothing_to_send(in_flight);
        }
    }

    /// Losses are about to be declared.
    pub fn begin_losses(&mut self) {
        self.lost_transmissions.clear();
        self.lost_flights.clear();
    }

    /// One more packet is declared lost.
    pub fn on_lost(&mut self, wants: Wants, sequence: u64, transmission: u64) {
        if wants.arrivals {
            self.lost_transmissions.push(transmission);
        }
        if let Some(sampler) = &mut self.sampler {
            self.lost_flights.push(sampler.on_lost(sequence));
        }
    }

    /// Returns the delivery rate that the current acknowledgment shows.
    pub fn take_sample(&mut self, min_rtt: Span) -> Option<RateSample> {
        self.sampler.as_mut()?.take_sample(min_rtt)
    }
}
