//! `include/packetscale/controller.h` in Rust, with the same layout. Units and rules are in the header.
#![allow(missing_docs)] // Undocumented fields are named by their unit.

use core::ffi::{c_char, c_void};

/// The version of this interface.
pub const ABI: u32 = 1;
/// No time, no rate.
pub const NONE: u64 = u64::MAX;
/// No slow-start threshold.
pub const NO_THRESHOLD: u32 = u32::MAX;

/// A length of time: picoseconds.
pub const TIME_PS: u32 = 1;
/// A fraction, in units of 2^-32.
pub const FRACTION_Q32: u32 = 2;
/// Bits per second.
pub const RATE_BPS: u32 = 3;
/// Packets.
pub const PACKETS: u32 = 4;
/// Bytes.
pub const BYTES: u32 = 5;
/// A whole number below 2^32.
pub const INTEGER: u32 = 6;
/// 1 or 0.
pub const SWITCH: u32 = 7;

/// [`Ack::arrivals`] and [`Loss::transmissions`] are filled.
pub const NEEDS_ARRIVALS: u32 = 1;
/// [`Ack::rate_sample`] and [`Loss::flights`] are filled.
pub const NEEDS_RATE_SAMPLES: u32 = 2;
/// `on_available` is called, by hosts that know what is available.
pub const NEEDS_AVAILABLE: u32 = 4;
/// `on_offer` is called: packets carry a rate field that routers fill in.
pub const NEEDS_OFFERS: u32 = 8;
/// Reads marks; a mark means what a loss means (RFC 3168).
pub const SENDS_ECT0: u32 = 16;
/// Reads marks; each means little (RFC 9331).
pub const SENDS_ECT1: u32 = 32;
/// Its window holds in fast recovery, too.
pub const OWN_WINDOW: u32 = 64;

/// `struct packetscale_setting`. One setting. The host refuses values outside of the range, before a run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in a scenario: small letters, digits and `_`.
    pub name: *const c_char,
    /// Its summary, in one line.
    pub doc: *const c_char,
    /// Its value where a scenario does not set it.
    pub preset: u64,
    pub least: u64,
    pub most: u64,
    pub kind: u32,
    pub reserved: u32,
}

/// `struct packetscale_setup`. What is known at the start of a flow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub now_ps: u64,
    /// A full packet on the wire.
    pub packet_bytes: u64,
    pub handshake_rtt_ps: u64,
    /// For each random choice of the controller.
    pub seed: u64,
    /// In the order of their declaration, each in the unit of its kind.
    pub settings: *const u64,
    pub initial_window_packets: u32,
    pub reserved: u32,
}

/// `struct packetscale_sent`. A packet left.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub now_ps: u64,
    /// 0, 1, 2, ... in its flow, retransmissions included.
    pub transmission: u64,
    pub size_bytes: u64,
    /// This one included.
    pub in_flight_packets: u32,
    /// 1: the flow had nothing else to send.
    pub app_limited: u16,
    /// 1: it was sent before.
    pub retransmission: u16,
}

/// `struct packetscale_arrival`. A packet newly known to have arrived.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub transmission: u64,
    /// On the receiver's clock; [`NONE`]: not reported.
    pub arrived_ps: u64,
}

/// `struct packetscale_rate_sample`. The path's delivery rate, by the newest packet that an acknowledgment covers (draft-ietf-ccwg-bbr).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Between the departure of that packet and now.
    pub delivered_packets: u64,
    /// How long that took; 0: no path allows that it took so short.
    pub interval_ps: u64,
    /// When that packet left.
    pub prior_delivered_packets: u64,
    /// Declared lost since it left.
    pub lost_packets: u64,
    /// After it left, itself included.
    pub tx_in_flight_packets: u32,
    /// 1: the flow lacked data to send when it left.
    pub app_limited: u32,
}

/// `struct packetscale_ack`. An acknowledgment arrived.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now_ps: u64,
    /// Of the newest transmission that it covers; [`NONE`]: unknown.
    pub rtt_ps: u64,
    /// Smoothed (RFC 6298).
    pub srtt_ps: u64,
    /// The smallest of the connection.
    pub min_rtt_ps: u64,
    /// Sequence number, in packets, up to which all has arrived.
    pub next_unacked: u64,
    /// Sequence number of the next packet that was never sent.
    pub next_unsent: u64,
    /// With [`NEEDS_ARRIVALS`].
    pub arrivals: *const Arrival,
    /// With [`NEEDS_RATE_SAMPLES`], or NULL.
    pub rate_sample: *const RateSample,
    pub arrivals_count: u32,
    /// Newly acknowledged, cumulatively and selectively.
    pub delivered_packets: u32,
    /// Of those, cumulatively.
    pub cumulative_packets: u32,
    /// Before this acknowledgment.
    pub prior_in_flight_packets: u32,
    /// After it.
    pub in_flight_packets: u32,
    /// 1: the window limits the flow, not the application or the receiver.
    pub window_limited: u16,
    /// 1: fast recovery, or loss recovery after a timeout.
    pub in_recovery: u16,
}

/// `struct packetscale_lost_flight`. A lost packet, as it was when it left.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LostFlight {
    pub sequence: u64,
    /// Declared lost since it left, itself included.
    pub lost_packets: u64,
    pub tx_in_flight_packets: u32,
    pub app_limited: u32,
}

/// `struct packetscale_loss`. Packets were declared lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub now_ps: u64,
    pub srtt_ps: u64,
    /// With [`NEEDS_ARRIVALS`].
    pub transmissions: *const u64,
    /// With [`NEEDS_RATE_SAMPLES`].
    pub flights: *const LostFlight,
    pub transmissions_count: u32,
    pub flights_count: u32,
    pub lost_packets: u32,
    pub prior_in_flight_packets: u32,
    /// 1: the first loss of an episode. Reduce only here (RFC 6675, section 5).
    pub enters_recovery: u32,
    pub reserved: u32,
}

/// `struct packetscale_mark`. Packets arrived marked. Comes before their acknowledgment, and only with [`SENDS_ECT0`] or [`SENDS_ECT1`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub now_ps: u64,
    pub srtt_ps: u64,
    /// With congestion experienced.
    pub congestion_packets: u32,
    /// With the burstiness bit.
    pub burstiness_packets: u32,
    /// 1: the first congestion mark of a window (RFC 3168, section 6.1.2).
    pub answer: u32,
    pub reserved: u32,
}

/// `struct packetscale_timeout`. The retransmission timer expired.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    pub now_ps: u64,
    pub in_flight_packets: u32,
    /// 1: the first expiry for this data.
    pub first: u32,
}

/// `struct packetscale_undo`. The last reduction was needless: the packets were not lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    pub now_ps: u64,
}

/// `struct packetscale_rate_feedback`: a rate offered by routers, or the available rate as the experiment knows it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RateFeedback {
    pub now_ps: u64,
    pub rate_bps: u64,
}

/// `struct packetscale_decision`. It holds until an event changes it. It begins with the initial window, a departure at time 0, no rate and no threshold. The host keeps the window between 1 packet and 2^20, and the departure at most 60 s after the event. A departure in the past means: as soon as the window allows.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The next packet leaves no earlier.
    pub departure_ps: u64,
    /// The mean rate aimed at, for pictures; [`NONE`].
    pub rate_bps: u64,
    /// At most this many packets are in flight.
    pub window_packets: u32,
    /// Slow-start threshold, for pictures; [`NO_THRESHOLD`].
    pub threshold_packets: u32,
}
/// A function for an event.
pub type On<Event> = unsafe extern "C" fn(state: *mut c_void, event: *const Event, decision: *mut Decision);

/// `struct packetscale_controller`: what a file defines under the name [`SYMBOL`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// [`ABI`].
    pub abi: u32,
    /// Size of this structure.
    pub struct_bytes: u32,
    /// Small letters, digits and `-`.
    pub name: *const c_char,
    /// One line.
    pub summary: *const c_char,
    pub settings: *const Setting,
    pub settings_count: u32,
    pub needs: u32,
    pub state_bytes: u32,
    pub state_align: u32,
    /// Begins a flow. Returns 0, or the number of the setting that does not fit, from 1.
    pub start: Option<unsafe extern "C" fn(*mut c_void, *const Setup, *mut Decision) -> i32>,
    pub on_ack: Option<On<Ack>>,
    pub on_loss: Option<On<Loss>>,
    pub on_timeout: Option<On<Timeout>>,
    pub on_sent: Option<On<Sent>>,
    pub on_mark: Option<On<Mark>>,
    pub on_undo: Option<On<Undo>>,
    pub on_offer: Option<On<RateFeedback>>,
    pub on_available: Option<On<RateFeedback>>,
}

// Safety: its pointers are to constants, which never change.
unsafe impl Sync for Table {}
// Safety: as above.
unsafe impl Sync for Setting {}

/// The name under which a file defines its [`Table`].
pub const SYMBOL: &str = "packetscale_controller";
