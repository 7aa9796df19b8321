//! RCP's sender: sends at the rate that the routers of its path offer.
//!
//! Each packet carries the sender's round-trip time and a field for a rate. Routers write their rate into it (see the
//! queue discipline `rcp`), and the receiver returns it. The sender then acts as follows:
//!
//! ```text
//! before the first reply:       it sends one packet, which replaces the SYN
//! a reply offers R:             the next packet leaves S / R after a packet of S bytes, with R the newest offer
//! a reply without an offer:     no router of the path speaks RCP: NewReno
//! ```
//!
//! A loss carries no information: it is repaired, and the rate stays. If acknowledgments stop, at most four round
//! trips' worth of packets are in flight, and after a timeout one packet requests a rate again.
//!
//! Source: N. Dukkipati, "Rate Control Protocol (RCP)", PhD thesis, Stanford 2008, chapter 2.
//!
//! Deviations:
//! 1. The first packet requests the rate instead of a SYN, and has the full size. The handshake has taken place before.
//! 2. A flow with a rate below a packet per round trip sends no extra packets in between to request a new rate.
//! 3. The limit of four round trips, the reaction to a timeout, and NewReno without an offer are not in the source.

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, Marked, Needs, Sent, Setup, Timeout, Undo,
};
use crate::congestion::newreno::NewReno;
use crate::settings::{Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Rate, Span, Time};

/// No settings.
pub const PARAMETERS: Parameters = &[];

/// Most packets under way, in round trips' worth.
const MOST_ROUND_TRIPS: u64 = 4;
/// Packets beyond that, for rates below a packet per round trip.
const SPARE_PACKETS: u64 = 4;

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Rcp {
    state: State,
    /// Takes over if no router makes an offer.
    fallback: NewReno,
    packet: Bytes,
    srtt: Span,
    /// The last packet: when it was due, and its size; zero: none yet.
    last: Time,
    last_size: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// One packet is under way to request a rate.
    Asking,
    /// Sends at this rate.
    Offered(Rate),
    /// After a timeout: the old rate is no longer used, one packet requests another.
    AskingAgain(Rate),
    /// No router of the path speaks RCP.
    Unheard,
}

impl Rcp {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Rcp, SettingError> {
        check_names(settings, PARAMETERS)?;
        Ok(Rcp {
            state: State::Asking,
            fallback: NewReno::build(setup, &Settings::new())?,
            packet: setup.packet,
            srtt: setup.handshake_rtt,
            last: setup.now,
            last_size: Bytes::ZERO,
        })
    }

    /// Gap from the last packet to the next.
    fn gap(&self) -> Span {
        match self.state {
            State::Offered(rate) => rate.time_for(self.last_size),
            _ => Span::ZERO,
        }
    }

    /// When the next packet may leave.
    fn departure(&self) -> Time {
        self.last.saturating_add(self.gap())
    }

    fn window(&self, rate: Rate) -> u32 {
        let round_trips = rate.amount_in(self.srtt.saturating_mul(MOST_ROUND_TRIPS)).packets_of(self.packet).get();
        u32::try_from(round_trips.saturating_add(SPARE_PACKETS)).unwrap_or(u32::MAX)
    }
}

impl Controller for Rcp {
    fn on_sent(&mut self, sent: &Sent) {
        // If the host was late: the time at which it was due, so that the mean rate holds.
        let due = self.departure();
        let in_time = sent.now.saturating_since(due) < self.gap();
        (self.last, self.last_size) = (if in_time { due } else { sent.now }, sent.size);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.srtt = ack.srtt;
        if self.state == State::Asking {
            self.state = State::Unheard;
        }
        if self.state == State::Unheard {
            self.fallback.on_ack(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if self.state == State::Unheard {
            self.fallback.on_loss(loss);
        }
    }

    fn on_mark(&mut self, marked: &Marked) {
        if self.state == State::Unheard {
            self.fallback.on_mark(marked);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        match self.state {
            State::Offered(rate) => self.state = State::AskingAgain(rate),
            State::Unheard => self.fallback.on_timeout(timeout),
            State::Asking | State::AskingAgain(_) => {}
        }
    }

    fn on_undo(&mut self, undo: &Undo) {
        match self.state {
            State::AskingAgain(rate) => self.state = State::Offered(rate),
            State::Unheard => self.fallback.on_undo(undo),
            State::Asking | State::Offered(_) => {}
        }
    }

    fn decision(&self) -> Decision {
        match self.state {
            State::Asking | State::AskingAgain(_) => Decision { window: 1, departure: self.last },
            State::Offered(rate) => Decision { window: self.window(rate), departure: self.departure() },
            State::Unheard => self.fallback.decision(),
        }
    }

    fn loss_response(&self) -> LossResponse {
        if self.state == State::Unheard { LossResponse::ProportionalReduction } else { LossResponse::OwnWindow }
    }

    fn needs(&self) -> Needs {
        Needs { offers: true, ..self.fallback.needs() }
    }

    fn slow_start_threshold(&self) -> u32 {
        if self.state == State::Unheard { self.fallback.slow_start_threshold() } else { u32::MAX }
    }
}

impl Extras for Rcp {
    fn on_offer(&mut self, _now: Time, rate: Rate) {
        // A rate of zero has no gap.
        self.state = State::Offered(rate.max(Rate::from_bps(1)));
    }

    fn rate(&self) -> Option<Rate> {
        match self.state {
            State::Offered(rate) | State::AskingAgain(rate) => Some(rate),
            State::Asking | State::Unheard => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{self, setup};

    const MS: fn(u64) -> Time = |ms| Time::from_nanos(ms * 1_000_000);
    const RTT: Span = Span::from_millis(100);

    fn rcp() -> Rcp {
        Rcp::build(&setup(1000, RTT, 10), &Settings::new()).expect("it has no settings")
    }

    fn sent(now: Time) -> Sent {
        testing::sent(now, 1000)
    }

    fn ack(now: Time) -> AckSample<'static> {
        AckSample { next_unacked: 1, next_unsent: 1, ..testing::ack(now, 1, RTT) }
    }

    #[test]
    fn one_packet_requests_a_rate_first() {
        assert_eq!(rcp().decision().window, 1);
    }

    /// 1000 bytes at 8 Mbit/s take 1 ms.
    #[test]
    fn an_offer_sets_the_gap() {
        let mut rcp = rcp();
        rcp.on_offer(MS(100), Rate::from_mbps(8));
        rcp.on_ack(&ack(MS(100)));
        rcp.on_sent(&sent(MS(100)));
        assert_eq!(rcp.decision().departure, MS(101));
        rcp.on_sent(&sent(MS(101)));
        assert_eq!(rcp.decision().departure, MS(102));
        // 8 Mbit/s over four round trips of 100 ms, and four more.
        assert_eq!(rcp.decision().window, 404);
    }

    #[test]
    fn a_new_offer_changes_the_gap_under_way() {
        let mut rcp = rcp();
        rcp.on_offer(MS(100), Rate::from_mbps(8));
        rcp.on_sent(&sent(MS(100)));
        rcp.on_offer(MS(100), Rate::from_mbps(2));
        assert_eq!(rcp.decision().departure, MS(104));
        rcp.on_offer(MS(102), Rate::from_mbps(4));
        assert_eq!(rcp.decision().departure, MS(102));
    }

    #[test]
    fn slight_lateness_does_not_slow_the_flow_down() {
        let mut rcp = rcp();
        rcp.on_offer(MS(100), Rate::from_mbps(8));
        rcp.on_sent(&sent(MS(100)));
        rcp.on_sent(&Sent { now: MS(101) + Span::from_micros(300), ..sent(MS(101)) });
        assert_eq!(rcp.decision().departure, MS(102));
        rcp.on_sent(&sent(MS(110)));
        assert_eq!(rcp.decision().departure, MS(111));
    }

    #[test]
    fn an_answer_without_an_offer_makes_it_newreno() {
        let mut rcp = rcp();
        rcp.on_ack(&ack(MS(100)));
        assert_eq!((rcp.decision().window, rcp.rate()), (11, None));
        assert_eq!(rcp.loss_response(), LossResponse::ProportionalReduction);
    }

    #[test]
    fn a_loss_keeps_the_rate_and_a_timeout_requests_another() {
        let mut rcp = rcp();
        rcp.on_offer(MS(100), Rate::from_mbps(8));
        let before = rcp.decision();
        rcp.on_loss(&testing::loss(MS(200), RTT));
        assert_eq!(rcp.decision(), before);
        rcp.on_timeout(&Timeout { now: MS(500), in_flight: 100, first: true });
        assert_eq!(rcp.decision().window, 1);
        rcp.on_offer(MS(600), Rate::from_mbps(4));
        assert_eq!(rcp.rate(), Some(Rate::from_mbps(4)));
    }
}
