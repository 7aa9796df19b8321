//! What a user can set.

use crate::units::{Bytes, Rate, Ratio, Span};
use packetscale_law as ffi;

/// How streams are read and acted upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Lower envelopes of delay and a proportional margin (`envelope.h`).
    Default,
    /// The dissertation's gaps, denoising and rate adapter (`thesis.h`).
    Thesis,
}

/// Where the thesis preset takes the available bandwidth from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// From its probe streams.
    Streams = 0,
    /// From the host, through [`crate::rapid::Law::set_available`].
    Ideal = 1,
    /// From its probe streams, smoothed but not denoised by BASS.
    Raw = 2,
    /// From its probe streams, read by the learnt estimator (`learnt.h`).
    Learnt = 3,
}

/// Everything a user can set, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// How streams are read.
    pub preset: Preset,
    /// A full packet, as it occupies the wire: 576 to 9000 bytes.
    pub packet: Bytes,
    /// Part of the available bandwidth left free.
    pub margin: Ratio,
    /// Top rate of a stream over its bottom rate, in excess of one: 0.3 is a top 30 % above the bottom.
    pub range: Ratio,
    /// The same while the path shows no limit (default preset).
    pub wide_range: Ratio,
    /// Largest gain (default preset).
    pub gain: Ratio,
    /// Gain above the share of the capacity (default preset).
    pub gain_offset: Ratio,
    /// Largest lowering of the target to drain a standing queue (default preset).
    pub drain: Ratio,
    /// Error of a stamp (default preset).
    pub stamp_error: Span,
    /// Shortest level (default preset).
    pub level_time: Span,
    /// Contend with flows that fill the queue (default preset, `contest.h`).
    pub competitive: bool,
    /// A shorter round trip is taken for this where time is counted in round trips: for a host whose timers are
    /// coarse. Zero for none.
    pub shortest_round_trip: Span,
    /// Time constant of an increase (thesis).
    pub tau: Span,
    /// Streams that a decrease takes (thesis).
    pub eta: u32,
    /// Time constant of a decrease, in place of `eta`, unless zero (thesis).
    pub eta_time: Span,
    /// Estimates averaged before the rate is adapted (thesis).
    pub gamma: u32,
    /// Rates in a stream (thesis).
    pub levels: u32,
    /// Packets at each rate (thesis).
    pub packets_per_level: u32,
    /// By how much a received gap must exceed the created one (thesis).
    pub epsilon: Span,
    /// Window of the last smoothing, in packets (thesis).
    pub smoothing: u32,
    /// Part of the rate cut once per loss recovery (thesis).
    pub loss_cut: Ratio,
    /// Where the available bandwidth comes from (thesis).
    pub estimator: Estimator,
    /// The rate to begin at, without start-up; zero: 10 packets per round trip, and start-up (thesis).
    pub initial_rate: Rate,
}

/// A percentage.
const fn percent(n: u64) -> Ratio {
    Ratio::of(n, 100)
}

/// [`Params::shortest_round_trip`] of senders on real paths. Between two hosts of one machine a round trip takes some
/// microseconds: less than the noise of timers, and less than a packet's own time at a slow bottleneck. An average over it
/// would measure these.
pub const SHORTEST_ROUND_TRIP: Span = Span::from_millis(20);

impl Params {
    /// The default preset for packets of this size.
    pub const fn new(packet: Bytes) -> Params {
        Params {
            preset: Preset::Default,
            packet,
            margin: percent(3),
            range: percent(30),
            wide_range: percent(60),
            gain: percent(70),
            gain_offset: percent(15),
            drain: percent(7),
            stamp_error: Span::from_nanos(100),
            level_time: Span::from_micros(5),
            competitive: false,
            shortest_round_trip: Span::ZERO,
            tau: Span::from_millis(50),
            eta: 4,
            eta_time: Span::ZERO,
            gamma: 3,
            levels: 4,
            packets_per_level: 16,
            epsilon: Span::from_nanos(100),
            smoothing: 16,
            loss_cut: percent(25),
            estimator: Estimator::Streams,
            initial_rate: Rate::ZERO,
        }
    }

    /// The dissertation's preset for packets of this size: 4 x 16 packets over a range of 50 %, and no margin.
    pub const fn thesis(packet: Bytes) -> Params {
        Params { preset: Preset::Thesis, margin: Ratio::ZERO, range: percent(50), ..Params::new(packet) }
    }

    /// As the C side has it (`struct rapid_params`), for a host that runs the C itself.
    pub fn raw(&self) -> ffi::Params {
        let thesis = self.preset == Preset::Thesis;
        ffi::Params {
            preset: u32::from(thesis),
            packet: self.packet.get().min(u64::from(u16::MAX)) as u32,
            margin: q16(self.margin),
            span: q16(self.range).saturating_add(1 << 16),
            wide_span: q16(self.wide_range).saturating_add(1 << 16),
            gain_max: q16(self.gain),
            gain_offset: q16(self.gain_offset),
            drain_cap: q16(self.drain),
            stamp_noise_ns: nanos(self.stamp_error),
            level_min_ns: nanos(self.level_time),
            rtt_floor_ns: self.shortest_round_trip.nanos(),
            tau_ns: self.tau.nanos(),
            eta_ns: self.eta_time.nanos(),
            eta_streams: self.eta,
            gamma: u16::try_from(self.gamma).unwrap_or(u16::MAX),
            smoothing: u16::try_from(self.smoothing).unwrap_or(u16::MAX),
            levels: self.levels,
            per_level: self.packets_per_level,
            epsilon_ns: nanos(self.epsilon),
            loss_cut: q16(self.loss_cut),
            reading: self.estimator as u32,
            competitive: u32::from(self.competitive),
        }
    }
}

/// In 1/65536, rounded, at most two.
fn q16(ratio: Ratio) -> u32 {
    ((ratio.q32().min(Ratio::ONE.q32() * 2) + (1 << 15)) >> 16) as u32
}

fn nanos(span: Span) -> u32 {
    u32::try_from(span.nanos()).unwrap_or(u32::MAX)
}
