//! Rapid's law and those of queues: C headers in `include/`, integers only, and the foreign functions that reach them.
//!
//! The same headers are compiled here and into a kernel. They have no memory, no clock and no randomness of their own.
//! Every struct here is mirrored in `src/face.h`, `src/face.c` or `include/rapid/`, which state units. `packetscale_models::rapid`
//! is the safe interface.
//!
//! `SPEC.md` says what the default law does. In code, start at `include/rapid/rapid.h` (what a host calls), then `frame.h`
//! (packet clock, streams, records), `measure.h` (what a stream shows of the path), `envelope.h` (how the default law moves
//! the rate; `queue.h` serves it), `coalescing.h`, `skew.h`, `startup.h`, and `thesis.h` (the dissertation's law).
#![no_std]
#![allow(missing_docs, reason = "fields and functions are those of the C headers, where they are described")]

pub mod queueing;

use core::ffi::c_void;

/// `struct rapid_params`: see `include/rapid/state.h` for units.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Params {
    pub rtt_floor_ns: u64,
    pub packet: u32,
    pub span: u32,
    pub wide_span: u32,
    pub margin: u32,
    pub gain_max: u32,
    pub gain_offset: u32,
    pub drain_cap: u32,
    pub stamp_noise_ns: u32,
    pub level_min_ns: u32,
    pub competitive: u32,
}

/// `struct rapid_thesis_params`: see `include/rapid/thesis_state.h` for units.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]

pub struct ThesisParams {
    pub rtt_floor_ns: u64,
    pub packet: u32,
    pub span: u32,
    pub tau_ns: u64,
    pub eta_ns: u64,
    pub eta_streams: u32,
    pub gamma: u16,
    pub smoothing: u16,
    pub levels: u32,
    pub per_level: u32,
    pub epsilon_ns: u32,
    pub loss_cut: u32,
    pub reading: u32,
    pub margin: u32,
}

/// `struct rapid_memory`.
#[repr(C)]
pub struct Memory {
    pub records: *mut u64,
    pub streams: *mut u64,
    pub gaps: *mut u64,
    pub record_mask: u32,
    pub stream_mask: u32,
}

/// `struct rapid_view`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    pub rate: u64,
    pub next_ns: u64,
    pub next_q10: u64,
    pub window: u64,
    pub available: u64,
    pub queue_ns: u64,
    pub streams: u64,
    pub unusable: u64,
    pub startup: u64,
    pub completed: u64,
    pub estimated: u64,
    pub rtt_ns: u64,
    pub stream: u64,
}

/// `struct rapid_envelope_view`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Envelope {
    pub inverse: u64,
    pub loss: i64,
    pub batch_ns: u64,
}

/// `struct rapid_packet`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    pub known: u64,
    pub sent_ns: u64,
    pub arrival_ns: u64,
    pub stamped: u64,
    pub size: u64,
    pub rate: u64,
    pub gap_ns: u64,
}

/// `struct rapid_summary`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    pub kind: u64,
    pub first: u64,
    pub sent: u64,
    pub start_ns: u64,
    pub rate: u64,
}

pub const CROWDED_RECORDS: u32 = 1;
pub const CROWDED_STREAMS: u32 = 2;

/// Packets that the window has room for at least, and what they were worked out from.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Room {
    window_rate: u64,
    rtt_ns: u64,
    /// Zero: not known.
    pub packets: u64,
}

/// Declares the calls that both laws have, under the names that `src/face.h` gives them.
macro_rules! calls {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        /// One law's calls. `R`: its parameters.
        #[allow(missing_docs)]
        pub struct Calls<R> {
            pub init: unsafe extern "C" fn(*mut c_void, *const R, u64, u64, u64),
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($kind),*) $(-> $result)?,)*
        }

        impl Calls<Params> {
            pub const DEFAULT: Calls<Params> = {
                unsafe extern "C" {
                    #[link_name = "rapid_face_init"]
                    fn init(law: *mut c_void, params: *const Params, now: u64, rtt: u64, seed: u64);
                    $(#[link_name = concat!("rapid_face_", stringify!($name))]
                    fn $name($($arg: $kind),*) $(-> $result)?;)*
                }
                Calls { init, $($name),* }
            };
        }

        impl Calls<ThesisParams> {
            pub const THESIS: Calls<ThesisParams> = {
                unsafe extern "C" {
                    #[link_name = "rapid_thesis_face_init"]
                    fn init(law: *mut c_void, params: *const ThesisParams, now: u64, rtt: u64, seed: u64);
                    $(#[link_name = concat!("rapid_thesis_face_", stringify!($name))]
                    fn $name($($arg: $kind),*) $(-> $result)?;)*
                }
                Calls { init, $($name),* }
            };
        }
    };
}

calls! {
    fn sizes(sizes: *mut [u64; 5]);
    fn on_sent(law: *mut c_void, memory: *const Memory, now: u64, number: u64, size: u32, idle: u32, fixed: u32) -> u32;
    fn keeps_departure(law: *const c_void) -> u32;
    fn spare(memory: *const Memory, first: u64, end: u64) -> u32;
    fn on_arrival(law: *mut c_void, memory: *const Memory, now: u64, number: u64, arrival: u64);
    fn on_acked(
        law: *mut c_void, memory: *const Memory, room: *mut Room, now: u64, rtt: u64, number: u64, arrival: u64
    );
    fn on_unstamped(law: *mut c_void, memory: *const Memory, now: u64, number: u64);
    fn on_lost(law: *mut c_void, memory: *const Memory, now: u64, number: u64);
    fn on_rtt(law: *mut c_void, rtt: u64);
    fn on_recovery(law: *mut c_void);
    fn on_timeout(law: *mut c_void);
    fn on_spurious_timeout(law: *mut c_void, rate: u64, startup: u32);
    fn on_marked(law: *mut c_void);
    fn set_packet(law: *mut c_void, packet: u32);
    fn completed(law: *const c_void) -> u64;
    fn window(law: *const c_void) -> u32;
    fn rate(law: *const c_void) -> u64;
    fn view(law: *const c_void, view: *mut View);
    fn stream(memory: *const Memory, number: u32, stream: *mut Stream);
    fn denoised(
        law: *const c_void, memory: *const Memory, stream: u32, number: u64, gap: u64, denoised: *mut u64
    ) -> u32;
    fn packet(law: *const c_void, memory: *const Memory, stream: u32, number: u64, packet: *mut Packet);
}

unsafe extern "C" {
    pub fn rapid_face_envelope(law: *const c_void, envelope: *mut Envelope);
    pub fn rapid_thesis_face_begin(law: *mut c_void, rate: u64);
    pub fn rapid_thesis_face_set_available(law: *mut c_void, rate: u64);
    pub fn rapid_face_denoise(gaps: *mut u64, window: u32);
    pub fn rapid_face_smooth(gaps: *mut u64, up: u64, down: u64) -> u32;
    pub fn rapid_face_search(gaps: *const u64, packet: u32, epsilon_ns: u32, least: u32) -> u64;
    pub fn rapid_face_set_gaps(gaps: *mut u64, send: *const u64, receive: *const u64, count: u32);
    pub fn rapid_face_get_gaps(gaps: *const u64, send: *mut u64, receive: *mut u64) -> u32;
    pub fn rapid_face_features(gaps: *mut u64, feature: *mut i16) -> u32;
    pub fn rapid_face_learnt(gaps: *const u64, value: *mut i32, spread: *mut i32, verdict: *mut i32);
}
