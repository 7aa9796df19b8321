//! Information about every packet for some controllers: when it arrived, how fast the path delivered it, and whether
//! it was lost. A sender stores none of this unless its controller needs it.

use crate::congestion::{Arrival, LostFlight, Needs, RateSample};
use crate::units::{Span, Time};
use alloc::vec::Vec;

use crate::transport::covered::{Covered, CoveredList};
use crate::transport::delivery::DeliverySampler;
use crate::transport::scoreboard::Coverage;
use crate::transport::wire::{Ack, MAX_STAMPS};

/// The needs of one controller for information about every packet.
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

/// Information about every packet for one controller.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Buffer for the list of packets that an acknowledgment delivers.
    pub buffer: Vec<Covered>,
    pub sampler: Option<DeliverySampler>,
    pub arrivals: Arrivals,
    /// The transmissions that were declared lost together.
    pub lost_transmissions: Vec<u64>,
    pub lost_flights: Vec<LostFlight>,
}

/// The arrivals of a few packets: those of most acknowledgments. They take no memory of the flow's.
pub(crate) struct Few {
    arrivals: [Arrival; CoveredList::FEW],
    count: usize,
}

impl Few {
    /// In order of transmission.
    #[inline]
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals[..self.count.min(self.arrivals.len())]
    }

    /// Adds one in its place.
    #[inline]
    fn add(&mut self, arrival: Arrival) {
        let mut place = self.count;
        while place > 0 && self.arrivals[place - 1].transmission > arrival.transmission {
            self.arrivals[place] = self.arrivals[place - 1];
            place -= 1;
        }
        self.arrivals[place] = arrival;
        self.count += 1;
    }
}

/// How the packets that an acknowledgment delivered arrived, in order of transmission, where they are not [`Few`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(Vec<Arrival>);

impl Arrivals {
    /// Learns from the list of an acknowledgment. Returns the arrivals if they are few; else keeps them.
    #[inline]
    pub fn learn(&mut self, ack: &Ack, list: &CoveredList<'_>) -> Option<Few> {
        let packets = list.packets();
        if packets.len() > CoveredList::FEW {
            self.keep(ack, packets);
            return None;
        }
        let none = Arrival { transmission: 0, arrived: None };
        let mut few = Few { arrivals: [none; CoveredList::FEW], count: 0 };
        packets.iter().for_each(|packet| few.add(arrival(ack, packet)));
        Some(few)
    }

    fn keep(&mut self, ack: &Ack, packets: &[Covered]) {
        self.0.clear();
        self.0.extend(packets.iter().map(|packet| arrival(ack, packet)));
        if !self.0.is_sorted_by_key(|arrival| arrival.transmission) {
            self.0.sort_unstable_by_key(|arrival| arrival.transmission);
        }
    }

    /// The stored arrivals.
    pub fn stored(&self) -> &[Arrival] {
        &self.0
    }
}

/// The arrival of a packet, from the stamps of an acknowledgment.
#[inline]
fn arrival(ack: &Ack, packet: &Covered) -> Arrival {
    let stamps = &ack.arrivals[..usize::from(ack.stamps).min(MAX_STAMPS)];
    match stamps.iter().find(|stamp| stamp.sequence == packet.sequence) {
        Some(stamp) => Arrival { transmission: stamp.transmission, arrived: Some(stamp.arrived) },
        None => Arrival { transmission: packet.this.transmission, arrived: None },
    }
}

impl Watch {
    /// The watch for a controller with these needs, if it needs one.
    pub fn of(needs: Needs, now: Time) -> Option<Watch> {
        (needs.arrivals || needs.rate_samples).then(|| Watch {
            buffer: Vec::new(),
            sampler: needs.rate_samples.then(|| DeliverySampler::new(now)),
            arrivals: Arrivals::default(),
            lost_transmissions: Vec::new(),
            lost_flights: Vec::new(),
        })
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
    pub fn take_sample(&mut self, min_rtt: Span, coverage: &Coverage) -> Option<RateSample> {
        self.sampler.as_mut()?.take_sample(min_rtt, coverage)
    }
}
