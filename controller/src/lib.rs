//! A congestion controller of your own, compiled to a shared object that packetscale loads.
//!
//! `include/packetscale/controller.h` is the interface, for C. This crate is the same for Rust: a type that implements
//! [`Controller`] and the line `controller!(Mine);` make a `cdylib` that a scenario can name.
//!
//! ```
//! use packetscale_controller::{Ack, Controller, Decision, Loss, Refused, Start, Timeout};
//! use core::ffi::CStr;
//!
//! /// One packet more per round trip, half after a loss.
//! #[derive(Clone, Copy)]
//! struct Mine {
//!     packets: f64,
//! }
//!
//! impl Controller for Mine {
//!     const NAME: &'static CStr = c"mine";
//!     const SUMMARY: &'static CStr = c"additive increase, multiplicative decrease";
//!
//!     fn start(start: &Start<'_>, _: &mut Decision) -> Result<Mine, Refused> {
//!         Ok(Mine { packets: f64::from(start.initial_window_packets) })
//!     }
//!     fn on_ack(&mut self, ack: &Ack<'_>, decision: &mut Decision) {
//!         self.packets += f64::from(ack.cumulative_packets) / self.packets;
//!         decision.window_packets = self.packets as u32;
//!     }
//!     fn on_loss(&mut self, loss: &Loss<'_>, decision: &mut Decision) {
//!         if loss.enters_recovery == 1 {
//!             self.packets = (self.packets / 2.0).max(2.0);
//!             decision.window_packets = self.packets as u32;
//!         }
//!     }
//!     fn on_timeout(&mut self, _: &Timeout, decision: &mut Decision) {
//!         self.packets = 1.0;
//!         decision.window_packets = 1;
//!     }
//! }
//!
//! packetscale_controller::controller!(Mine);
//! # fn main() {}
//! ```
#![no_std]

pub mod abi;
mod called;

pub use abi::{Arrival, Decision, LostFlight, Mark, RateFeedback, RateSample, Sent, Setting, Timeout, Undo};
pub use called::table;

use core::ffi::CStr;
use core::ops::Deref;
use core::slice;

/// A controller. Its value is what a flow remembers; it is copied byte by byte, so it is `Copy`. A panic ends the program.
pub trait Controller: Copy + Send + 'static {
    /// Its name: small letters, digits and `-`; not one of packetscale's own.
    const NAME: &'static CStr;
    /// One line for lists.
    const SUMMARY: &'static CStr;
    /// The settings.
    const SETTINGS: &'static [Setting] = &[];
    /// Its needs: constants of [`abi`], combined with `|`.
    const NEEDS: u32 = 0;
    /// Whether [`Controller::on_sent`] is called.
    const WANTS_SENT: bool = false;

    /// Begins a flow. The decision begins with the initial window, and no departure, rate and threshold.
    ///
    /// # Errors
    /// A setting that does not fit the others or the flow.
    fn start(start: &Start<'_>, decision: &mut Decision) -> Result<Self, Refused>;
    /// An acknowledgment arrived.
    fn on_ack(&mut self, ack: &Ack<'_>, decision: &mut Decision);
    /// Packets were declared lost.
    fn on_loss(&mut self, loss: &Loss<'_>, decision: &mut Decision);
    /// The retransmission timer expired.
    fn on_timeout(&mut self, timeout: &Timeout, decision: &mut Decision);
    /// A packet left.
    fn on_sent(&mut self, _sent: &Sent, _decision: &mut Decision) {}
    /// Packets arrived marked.
    fn on_mark(&mut self, _mark: &Mark, _decision: &mut Decision) {}
    /// The last reduction was needless.
    fn on_undo(&mut self, _undo: &Undo, _decision: &mut Decision) {}
    /// Routers offer this rate.
    fn on_offer(&mut self, _offer: &RateFeedback, _decision: &mut Decision) {}
    /// This rate is available.
    fn on_available(&mut self, _available: &RateFeedback, _decision: &mut Decision) {}
}

/// The index, from 0, of the setting that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub u16);

/// Defines the symbol that packetscale loads. Use it once, in a `cdylib`.
#[macro_export]
macro_rules! controller {
    ($controller:ty) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        /// The symbol that packetscale reads.
        pub static packetscale_controller: $crate::abi::Table = $crate::table::<$controller>();
    };
}

impl Setting {
    /// Declares a setting of one of the kinds in [`abi`], in the unit of its kind.
    pub const fn new(
        name: &'static CStr,
        kind: u32,
        preset: u64,
        least: u64,
        most: u64,
        doc: &'static CStr,
    ) -> Setting {
        Setting { name: name.as_ptr(), doc: doc.as_ptr(), preset, least, most, kind, reserved: 0 }
    }
}

/// The start of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    raw: &'a abi::Setup,
    /// The values of the settings, in the order of [`Controller::SETTINGS`], each in the unit of its kind.
    pub values: &'a [u64],
}

/// An acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a>(&'a abi::Ack);

/// A declaration of loss.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a>(&'a abi::Loss);

impl Deref for Start<'_> {
    type Target = abi::Setup;

    fn deref(&self) -> &abi::Setup {
        self.raw
    }
}

impl Deref for Ack<'_> {
    type Target = abi::Ack;

    fn deref(&self) -> &abi::Ack {
        self.0
    }
}

impl Deref for Loss<'_> {
    type Target = abi::Loss;

    fn deref(&self) -> &abi::Loss {
        self.0
    }
}

impl<'a> Ack<'a> {
    /// The packets it covers, with [`abi::NEEDS_ARRIVALS`].
    pub fn arrivals(&self) -> &'a [Arrival] {
        // Safety: the array has the given length and lives as long as the call.
        unsafe { given(self.0.arrivals, self.0.arrivals_count) }
    }

    /// The delivery rate, with [`abi::NEEDS_RATE_SAMPLES`].
    pub fn rate(&self) -> Option<&'a RateSample> {
        // Safety: null, or a sample that lives as long as the call.
        unsafe { self.0.rate_sample.as_ref() }
    }

    /// The round-trip time, in picoseconds, if it is known.
    pub fn rtt(&self) -> Option<u64> {
        Some(self.0.rtt_ps).filter(|rtt| *rtt != abi::NONE)
    }
}

impl<'a> Loss<'a> {
    /// The lost transmissions, with [`abi::NEEDS_ARRIVALS`].
    pub fn lost_transmissions(&self) -> &'a [u64] {
        // Safety: the array has the given length and lives as long as the call.
        unsafe { given(self.0.transmissions, self.0.transmissions_count) }
    }

    /// The lost packets, with [`abi::NEEDS_RATE_SAMPLES`].
    pub fn lost_flights(&self) -> &'a [LostFlight] {
        // Safety: the array has the given length and lives as long as the call.
        unsafe { given(self.0.flights, self.0.flights_count) }
    }
}

/// A slice that may have no place.
///
/// # Safety
/// `count` values are at `first` for as long as `'a`.
unsafe fn given<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // Safety: as this function demands.
    unsafe { slice::from_raw_parts(first, count as usize) }
}
