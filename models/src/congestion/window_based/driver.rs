//! Drives a law step by step: a path with a round-trip time set by the test, with one call per event.

use super::{Law, WindowBased};
use crate::congestion::contract::{AckSample, Arrival, Controller, Loss, Setup, Timeout, Undo};
use crate::congestion::testing;
use crate::settings::Settings;
use crate::units::{Span, Time};

pub(crate) struct Driver<L> {
    pub controller: WindowBased<L>,
    pub now: Time,
    pub rtt: Span,
    /// The smallest that an acknowledgment has shown.
    min_rtt: Span,
    /// The receiver's stamp of what is acknowledged; `None`: it gives none.
    pub stamp: Option<Time>,
    /// Packets acknowledged.
    pub acked: u64,
    pub in_recovery: bool,
}

impl<L: Law> Driver<L> {
    /// In the initial slow start.
    pub fn starting(window: u32, rtt: Span) -> Driver<L> {
        Driver::with(window, rtt, &Settings::new())
    }

    /// In avoidance: the threshold is the window.
    pub fn avoiding(window: u32, rtt: Span) -> Driver<L> {
        let mut driver = Driver::starting(window, rtt);
        driver.controller.window.size = window;
        driver.controller.window.threshold = window;
        driver
    }

    pub fn with(window: u32, rtt: Span, settings: &Settings) -> Driver<L> {
        let now = Time::ZERO + Span::from_secs(1);
        let setup = Setup { now, ..testing::setup(1000, rtt, window) };
        let controller = WindowBased::build(&setup, settings).expect("valid settings");
        Driver { controller, now, rtt, min_rtt: Span::MAX, stamp: None, acked: 0, in_recovery: false }
    }

    pub fn window(&self) -> u32 {
        self.controller.window.size
    }

    pub fn threshold(&self) -> u32 {
        self.controller.window.threshold
    }

    pub fn law(&mut self) -> &mut L {
        &mut self.controller.law
    }

    /// One acknowledgment of this many packets; no time passes. A full window is in flight.
    pub fn ack(&mut self, packets: u32) {
        self.acked += u64::from(packets);
        self.min_rtt = self.min_rtt.min(self.rtt);
        let arrival = Arrival { transmission: self.acked - 1, arrived: self.stamp };
        let sample = AckSample {
            prior_in_flight: self.window(),
            in_flight: self.window(),
            min_rtt: self.min_rtt,
            next_unacked: self.acked,
            next_unsent: self.acked + u64::from(self.window()),
            in_recovery: self.in_recovery,
            arrivals: &[arrival],
            ..testing::ack(self.now, packets, self.rtt)
        };
        self.controller.on_ack(&sample);
    }

    /// This many acknowledgments of one packet each.
    pub fn acks(&mut self, count: u32) {
        (0..count).for_each(|_| self.ack(1));
    }

    pub fn loss(&mut self) {
        self.in_recovery = true;
        self.controller.on_loss(&Loss { prior_in_flight: self.window(), ..testing::loss(self.now, self.rtt) });
    }

    pub fn timeout(&mut self) {
        self.in_recovery = true;
        self.controller.on_timeout(&Timeout { now: self.now, in_flight: self.window(), first: true });
    }

    pub fn undo(&mut self) {
        self.in_recovery = false;
        self.controller.on_undo(&Undo { now: self.now });
    }

    /// Ends the episode; the acknowledgment that ends it covers one packet.
    pub fn recover(&mut self) {
        self.in_recovery = false;
        self.ack(1);
    }
}
