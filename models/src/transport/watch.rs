//! What some controllers want to know about every packet: when it arrived, how fast the path delivered it, and whether
//! it was lost. A sender keeps none of this unless its controller asks for it.

use crate::congestion::{Arrival, LostFlight, Needs, RateSample};
use crate::units::{Span, Time};
use alloc::vec::Vec;

use crate::transport::delivery::DeliverySampler;
use crate::transport::scoreboard::{Coverage, Record, Scoreboard};
use crate::transport::wire::{Ack, MAX_STAMPS};

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

/// The arrivals of a few packets: those of most acknowledgments. They take no memory of the flow's.
pub(crate) struct Few {
    arrivals: [Arrival; Few::MOST],
    count: usize,
}

impl Few {
    const MOST: usize = 4;
    const NONE: Few = Few { arrivals: [Arrival { transmission: 0, arrived: None }; Few::MOST], count: 0 };
    /// Packets that were sent once, and that are looked at without a loop.
    const PLAIN: u64 = 2;

    /// Whether an acknowledgment of plain packets covers one or two.
    #[inline]
    pub fn is_enough(board: &Scoreboard, ack: &Ack) -> bool {
        (board.first() + 1..=board.first() + Few::PLAIN).contains(&ack.next_expected)
    }

    /// Of one or two plain packets.
    #[inline]
    pub fn of(board: &Scoreboard, ack: &Ack) -> Few {
        let (first, last) = (board.first(), ack.next_expected - 1);
        let [one, two] = [first, last].map(|sequence| arrival(ack, sequence, board.record(sequence)));
        let (least, most) = if two.transmission < one.transmission { (two, one) } else { (one, two) };
        let mut few = Few { count: (ack.next_expected - first) as usize, ..Few::NONE };
        (few.arrivals[0], few.arrivals[1]) = (least, most);
        few
    }

    /// In order of transmission.
    #[inline]
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals[..self.count.min(self.arrivals.len())]
    }

    /// Adds one in its place. Returns whether there was room.
    #[inline]
    fn add(&mut self, arrival: Arrival) -> bool {
        if self.count == Few::MOST {
            return false;
        }
        let mut place = self.count;
        while place > 0 && self.arrivals[place - 1].transmission > arrival.transmission {
            self.arrivals[place] = self.arrivals[place - 1];
            place -= 1;
        }
        self.arrivals[place] = arrival;
        self.count += 1;
        true
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

    /// Applies an acknowledgment to the scoreboard, packet by packet, for a controller that wants arrivals only. Returns them if
    /// they are few; else the watch has them.
    pub fn take_arrivals(&mut self, board: &mut Scoreboard, ack: &Ack, coverage: &mut Coverage) -> Option<Few> {
        let (mut few, mut many) = (Few::NONE, false);
        board.acknowledge(ack, coverage, |sequence, record| {
            let arrival = arrival(ack, sequence, record);
            if !few.add(arrival) {
                if !many {
                    self.arrivals.clear();
                    self.arrivals.extend_from_slice(few.arrivals());
                }
                many = true;
                self.arrivals.push(arrival);
            }
        });
        if many {
            self.arrivals.sort_unstable_by_key(|arrival| arrival.transmission);
        }
        (!many).then_some(few)
    }

    /// The same for a controller that wants rate samples.
    pub fn take_in(&mut self, board: &mut Scoreboard, wants: Wants, now: Time, ack: &Ack, coverage: &mut Coverage) {
        let Watch { sampler, arrivals, .. } = self;
        let Some(sampler) = sampler else { return };
        if wants.arrivals {
            arrivals.clear();
        }
        let mut covered = |sequence: u64, record: &Record| {
            sampler.on_delivered(now, sequence, record.delivered());
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
        sampler.forget_before(board.first());
        if wants.arrivals && !arrivals.is_sorted_by_key(|arrival| arrival.transmission) {
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
