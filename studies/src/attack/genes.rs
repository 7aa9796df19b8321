//! Possible properties of a path: the table of genes. Each row has its bounds, with reasons: a controller need not handle paths
//! outside of them.

use Kind::*;
use Scale::{Linear, Logarithmic};

/// Kind of event on a path. A scenario has a gene's value only if it has its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Every path has a rate, a round trip and a buffer.
    Path,
    /// Every transfer has a size, where completion is judged.
    Size,
    /// Every second flow has a start and a round trip, where fairness is judged.
    Second,
    /// The queue is full when the flow begins.
    Start,
    /// The rate goes down and up.
    Rate,
    /// Packets leave in frames.
    Frames,
    /// A token bucket drops what exceeds it.
    Policer,
    /// The delay goes up, and perhaps down again.
    Delay,
    /// Packets are lost at random.
    Loss,
    /// Outages.
    Outages,
    /// Packets overtake each other.
    Reorder,
    /// Periodic bursts of others.
    Pulses,
    /// Random bursts of others.
    Bursts,
    /// Effects of receivers and the return path on acknowledgments and arrival times.
    Receiver,
}

impl Kind {
    /// Optional kinds, in the order in which they are searched.
    pub const CAUSES: [Kind; 11] =
        [Start, Rate, Frames, Policer, Delay, Loss, Outages, Reorder, Pulses, Bursts, Receiver];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Path => "path",
            Size => "size",
            Second => "second",
            Start => "start",
            Rate => "rate",
            Frames => "frames",
            Policer => "policer",
            Delay => "delay",
            Loss => "loss",
            Outages => "outages",
            Reorder => "reorder",
            Pulses => "pulses",
            Bursts => "bursts",
            Receiver => "receiver",
        }
    }
}

/// How a gene is spread between its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Each doubling alike.
    Logarithmic,
}

/// One number of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gene {
    /// Its kind.
    pub kind: Kind,
    /// Its name, which ends in its unit if it has one.
    pub name: &'static str,
    /// The least value.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The neutral value.
    pub usual: f64,
    /// Its distribution.
    pub scale: Scale,
    /// Whether it is a whole number.
    pub whole: bool,
    /// Why these bounds.
    pub why: &'static str,
}

impl Gene {
    /// The value at this place between its bounds, 0 to 1.
    pub fn at(&self, place: f64) -> f64 {
        let place = place.clamp(0.0, 1.0);
        let value = match self.scale {
            Linear => self.least + (self.most - self.least) * place,
            Logarithmic => self.least * libm::pow(self.most / self.least, place),
        };
        self.fitted(value, 3)
    }

    /// The nearest allowed value with this number of digits.
    pub fn fitted(&self, value: f64, digits: usize) -> f64 {
        let value = rounded(value, digits).clamp(self.least, self.most);
        if self.whole { value.round() } else { value }
    }
}

/// Rounded to this number of significant digits.
pub fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

macro_rules! genes {
    ($($id:ident: $kind:ident $name:literal, $least:literal .. $most:literal, $usual:literal, $scale:ident $($whole:ident)?, $why:literal;)*) => {
        /// Which gene: its place in [`GENES`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Id {
            $(#[doc = $why] $id,)*
        }

        impl Id {
            /// All of them.
            pub const ALL: &[Id] = &[$(Id::$id,)*];

            /// Its row.
            pub fn gene(self) -> &'static Gene {
                &GENES[self as usize]
            }
        }

        /// The table.
        pub const GENES: &[Gene] = &[$(Gene {
            kind: $kind,
            name: $name,
            least: $least,
            most: $most,
            usual: $usual,
            scale: $scale,
            whole: genes!(@whole $($whole)?),
            why: $why,
        },)*];
    };
    (@whole whole) => { true };
    (@whole) => { false };
}

genes! {
    PathRate: Path "rate_mbps", 1.0..50.0, 10.0, Logarithmic,
        "Access links. Below 1 Mbit/s a packet takes longer than many a round trip; above 50 a search is slow and finds the same.";
    RoundTrip: Path "round_trip_ms", 4.0..200.0, 40.0, Logarithmic,
        "From a server in town to one at the other side of the Earth.";
    Buffer: Path "buffer_bdp", 0.1..4.0, 1.0, Logarithmic,
        "From routers with small buffers to bloated access links; never below four packets.";
    Transfer: Size "size_kb", 10.0..10000.0, 1000.0, Logarithmic,
        "From a small answer to a film's segment.";
    SecondStart: Second "second_start_s", 0.0..15.0, 5.0, Linear,
        "Both begin together, or the second comes to a path that is in use; half of the run is left to share.";
    SecondTrips: Second "second_round_trips", 1.0..8.0, 1.0, Logarithmic,
        "Its base round trip over that of the first: a CDN next door and a server overseas.";
    StartBurst: Start "start_burst_ms", 10.0..1000.0, 100.0, Logarithmic,
        "Others send at twice the rate for this long, and end when the flow begins: any download.";
    RateLow: Rate "rate_low_share", 0.05..0.9, 0.5, Linear,
        "The low rate as a part of the high one: a radio link at the edge of its cell keeps a twentieth.";
    RatePeriod: Rate "rate_period_s", 0.1..20.0, 10.0, Logarithmic,
        "Radio links are rescheduled within 100 ms; changes slower than 20 s do not repeat in a run.";
    RateDuty: Rate "rate_high_share", 0.1..0.9, 0.5, Linear,
        "The part of the period in which the rate is high.";
    FramePackets: Frames "frame_packets", 2.0..64.0, 16.0, Logarithmic whole,
        "802.11n joins up to 64 packets.";
    FrameOverhead: Frames "frame_overhead_ms", 0.05..5.0, 1.0, Logarithmic,
        "Contention, preamble and acknowledgment of a frame: 0.1 ms alone, some ms among many stations.";
    PolicerRate: Policer "policer_rate_share", 0.2..0.95, 0.5, Linear,
        "Contracts below the line's rate.";
    PolicerBucket: Policer "policer_bucket_packets", 2.0..200.0, 20.0, Logarithmic whole,
        "From a bucket for two packets to 300 kB.";
    DelayExtra: Delay "delay_extra_ms", 1.0..300.0, 100.0, Logarithmic,
        "A route that moves to another one, a hand-over to a satellite: up to 300 ms, one way.";
    DelayAt: Delay "delay_at_s", 1.0..20.0, 10.0, Linear,
        "When it first grows.";
    DelayHold: Delay "delay_hold_s", 0.5..30.0, 30.0, Logarithmic,
        "How long it stays so, and then how long not, in turns; 30 s is the rest of the run.";
    LossShare: Loss "loss_share", 0.0001..0.1, 0.01, Logarithmic,
        "Beyond one packet in ten a link is repaired or given up.";
    OutageLength: Outages "outage_ms", 20.0..2000.0, 500.0, Logarithmic,
        "Hand-overs and routes that converge: up to 2 s, and at most half of the time.";
    OutageEvery: Outages "outage_every_s", 1.0..15.0, 10.0, Logarithmic,
        "From a train among cells to one event in the run.";
    ReorderShare: Reorder "reorder_share", 0.001..0.1, 0.01, Logarithmic,
        "Parallel links and retransmissions below IP.";
    ReorderPackets: Reorder "reorder_packets", 1.0..50.0, 3.0, Logarithmic whole,
        "How many packets overtake one.";
    PulseRate: Pulses "pulse_rate_share", 0.2..2.0, 2.0, Linear,
        "Over the path's rate: senders behind a faster link reach twice the rate.";
    PulseWidth: Pulses "pulse_width_ms", 5.0..500.0, 100.0, Logarithmic,
        "Cut so that the pulses' mean is at most half of the rate: half is always left.";
    PulsePeriod: Pulses "pulse_period_s", 0.1..3.0, 1.0, Logarithmic,
        "Around the timeouts of transports and the round trips of paths.";
    BurstLoad: Bursts "burst_load_share", 0.05..0.5, 0.3, Linear,
        "The mean of random bursts over the path's rate: half is always left.";
    BurstLength: Bursts "burst_ms", 1.0..1000.0, 100.0, Logarithmic,
        "The mean burst: from a page's object to a second of a video.";
    BurstPeak: Bursts "burst_peak_share", 0.6..2.0, 1.0, Linear,
        "The rate within a burst over the path's rate.";
    AckLoss: Receiver "ack_loss_share", 0.0..0.5, 0.0, Linear,
        "Routers that thin acknowledgments drop up to half of them.";
    AckBunching: Receiver "ack_bunching_ms", 0.0..50.0, 0.0, Linear,
        "Wireless and DOCSIS links hold acknowledgments back for up to 50 ms.";
    AckEvery: Receiver "ack_every_packets", 1.0..64.0, 2.0, Logarithmic whole,
        "A host that merges arriving packets acknowledges 64 kB at a time.";
    Interrupts: Receiver "interrupts_ms", 0.0..4.0, 0.0, Linear,
        "The longest timers of network cards that moderate interrupts.";
    ClockPace: Receiver "clock_pace", 0.92..1.08, 1.0, Linear,
        "NTP slews a clock by 8.3 % at most.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gene_and_neutral_value_are_within_bounds() {
        for gene in GENES {
            assert!(gene.least < gene.most && (gene.least..=gene.most).contains(&gene.usual), "{}", gene.name);
            assert!(gene.scale == Linear || gene.least > 0.0, "{}", gene.name);
            assert_eq!((gene.at(0.0), gene.at(1.0)), (gene.least, gene.most), "{}", gene.name);
            assert!(gene.why.ends_with('.'), "{}", gene.name);
        }
    }

    #[test]
    fn digits_match_text() {
        assert_eq!((rounded(12.345, 3), rounded(0.098765, 2), rounded(0.0, 3)), (12.3, 0.099, 0.0));
    }

    #[test]
    fn causes_have_genes_and_unique_names() {
        for (place, kind) in Kind::CAUSES.iter().enumerate() {
            assert!(GENES.iter().any(|gene| gene.kind == *kind), "{}", kind.name());
            assert!(Kind::CAUSES[..place].iter().all(|other| other.name() != kind.name()));
        }
    }
}
