//! Parameters of the laws.

use crate::units::{Bytes, Rate, Ratio, Span};
use core::ffi::c_void;
use core::fmt::Debug;
use packetscale_law as ffi;

/// The parameters of a law, which select the law: [`Params`] or [`ThesisParams`].
pub trait LawParams: Copy + Debug + Sealed {
    /// As the C side has them.
    type Raw;
    /// Memory for the C state.
    #[doc(hidden)]
    type State: Clone + Debug + AsRef<[u64]> + AsMut<[u64]>;
    #[doc(hidden)]
    const EMPTY: Self::State;
    #[doc(hidden)]
    const CALLS: ffi::Calls<Self::Raw>;

    /// A full packet, as it occupies the wire.
    fn packet(&self) -> Bytes;

    /// As the C side has them, for a host that runs the C itself.
    fn raw(&self) -> Self::Raw;

    /// Sets what is no parameter of the C side.
    ///
    /// # Safety
    /// `state` is a state of this law that has begun.
    #[doc(hidden)]
    unsafe fn begin(&self, _state: *mut c_void) {}
}

/// Only the laws of this crate are laws.
pub trait Sealed {}
impl Sealed for Params {}
impl Sealed for ThesisParams {}

/// Words of the default law's C state, and padding, so that the field after it in [`crate::rapid::Law`] begins a cache line.
const STATE_WORDS: usize = 126;
/// Words of the C state of the dissertation's law.
const THESIS_STATE_WORDS: usize = 38;

/// Where the dissertation's law takes the available bandwidth from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// From its probe streams.
    Streams = 0,
    /// From the host, through [`crate::rapid::Law::<ThesisParams>::set_available`].
    Ideal = 1,
    /// From its probe streams, smoothed but not denoised by BASS.
    Raw = 2,
    /// From its probe streams, read by the learnt estimator (`learnt.h`).
    Learnt = 3,
}

/// Everything a user can set of the default law, and nothing else: lower envelopes of delay and a proportional margin (`envelope.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// A full packet, as it occupies the wire: 576 to 9000 bytes.
    pub packet: Bytes,
    /// Part of the available bandwidth left free.
    pub margin: Ratio,
    /// Top rate of a stream over its bottom rate, in excess of one: 0.3 is a top 30 % above the bottom.
    pub range: Ratio,
    /// The same while the path shows no limit.
    pub wide_range: Ratio,
    /// Largest gain.
    pub gain: Ratio,
    /// Gain above the share of the capacity.
    pub gain_offset: Ratio,
    /// Largest lowering of the target to drain a standing queue.
    pub drain: Ratio,
    /// Error of a stamp.
    pub stamp_error: Span,
    /// Shortest level.
    pub level_time: Span,
    /// Contend with flows that fill the queue (`contest.h`).
    pub competitive: bool,
    /// Smallest round-trip time used where the law counts in round trips: for a host whose timers are
    /// coarse. Zero for none.
    pub shortest_round_trip: Span,
}

/// Everything a user can set of the dissertation's law: gaps, denoising and a rate adapter (`thesis.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThesisParams {
    /// A full packet, as it occupies the wire: 576 to 9000 bytes.
    pub packet: Bytes,
    /// Part of the available bandwidth left free.
    pub margin: Ratio,
    /// Top rate of a stream over its bottom rate, in excess of one.
    pub range: Ratio,
    /// As in [`Params`].
    pub shortest_round_trip: Span,
    /// Time constant of an increase.
    pub tau: Span,
    /// Streams that a decrease takes.
    pub eta: u32,
    /// Time constant of a decrease, in place of `eta`, unless zero.
    pub eta_time: Span,
    /// Estimates averaged before the rate is adapted.
    pub gamma: u32,
    /// Rates in a stream.
    pub levels: u32,
    /// Packets at each rate.
    pub packets_per_level: u32,
    /// By how much a received gap must exceed the created one.
    pub epsilon: Span,
    /// Window of the last smoothing, in packets.
    pub smoothing: u32,
    /// Part of the rate cut once per loss recovery.
    pub loss_cut: Ratio,
    /// Where the available bandwidth comes from.
    pub estimator: Estimator,
    /// The initial rate, without start-up; zero: 10 packets per round trip, with start-up.
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
    /// The defaults for packets of this size.
    pub const fn new(packet: Bytes) -> Params {
        Params {
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
        }
    }
}

impl ThesisParams {
    /// The defaults for packets of this size: 4 x 16 packets over a range of 50 %, and no margin.
    pub const fn new(packet: Bytes) -> ThesisParams {
        ThesisParams {
            packet,
            margin: Ratio::ZERO,
            range: percent(50),
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
}

impl LawParams for Params {
    type Raw = ffi::Params;
    type State = [u64; STATE_WORDS];
    const EMPTY: Self::State = [0; STATE_WORDS];
    const CALLS: ffi::Calls<ffi::Params> = ffi::Calls::DEFAULT;

    fn packet(&self) -> Bytes {
        self.packet
    }

    fn raw(&self) -> ffi::Params {
        ffi::Params {
            rtt_floor_ns: self.shortest_round_trip.nanos(),
            packet: packet_bytes(self.packet),
            span: span_q16(self.range),
            wide_span: span_q16(self.wide_range),
            margin: q16(self.margin),
            gain_max: q16(self.gain),
            gain_offset: q16(self.gain_offset),
            drain_cap: q16(self.drain),
            stamp_noise_ns: nanos(self.stamp_error),
            level_min_ns: nanos(self.level_time),
            competitive: u32::from(self.competitive),
        }
    }
}

impl LawParams for ThesisParams {
    type Raw = ffi::ThesisParams;
    type State = [u64; THESIS_STATE_WORDS];
    const EMPTY: Self::State = [0; THESIS_STATE_WORDS];
    const CALLS: ffi::Calls<ffi::ThesisParams> = ffi::Calls::THESIS;

    fn packet(&self) -> Bytes {
        self.packet
    }

    fn raw(&self) -> ffi::ThesisParams {
        ffi::ThesisParams {
            rtt_floor_ns: self.shortest_round_trip.nanos(),
            packet: packet_bytes(self.packet),
            span: span_q16(self.range),
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
            margin: q16(self.margin),
        }
    }

    unsafe fn begin(&self, state: *mut c_void) {
        if self.initial_rate > Rate::ZERO {
            // SAFETY: the caller's state is of this law.
            unsafe { ffi::rapid_thesis_face_begin(state, self.initial_rate.bps() / 8) };
        }
    }
}

fn packet_bytes(packet: Bytes) -> u32 {
    packet.get().min(u64::from(u16::MAX)) as u32
}

/// Top rate over bottom rate.
fn span_q16(range: Ratio) -> u32 {
    q16(range).saturating_add(1 << 16)
}

/// In 1/65536, rounded, at most two.
fn q16(ratio: Ratio) -> u32 {
    ((ratio.q32().min(Ratio::ONE.q32() * 2) + (1 << 15)) >> 16) as u32
}

fn nanos(span: Span) -> u32 {
    u32::try_from(span.nanos()).unwrap_or(u32::MAX)
}
