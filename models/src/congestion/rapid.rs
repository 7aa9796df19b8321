//! TCP RAPID: every packet probes, so that congestion is seen before there is a queue or a loss.
//!
//! The law itself is the C body of crate `rapid`, which runs in kernels too; this file only passes events to it,
//! in its terms, and turns its output into a [`Decision`]. It reads lower envelopes of arrival minus departure
//! time and leaves a proportional margin (`envelope.h`, `startup.h`). The law of Rapid's dissertation is a separate entry
//! ([`crate::congestion::rapid_thesis`]): [`Rapid`] with other parameters.
//!
//! The window is two bandwidth-delay products and some slack: it stops a flow without acknowledgments, and slows one of
//! few packets when its queue grows. Packets are clocked one by one through [`Decision::departure`].

use crate::congestion::contract::{
    AckSample, Arrival, Controller, Decision, Extras, GapRecord, Loss, LossResponse, Needs, Probe, Probing, Sent,
    Setup, StreamTrace, Timeout, Undo,
};
pub use crate::rapid::SHORTEST_ROUND_TRIP;
use crate::rapid::{Law, LawParams, Params};
use crate::settings::{Parameter, Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Rate, Ratio, Span, Time};

/// The defaults, which do not depend on the packet size.
const DEFAULTS: Params = Params::new(Bytes::new(1500));

const MARGIN: Parameter<Ratio> = Parameter::new(
    "margin",
    DEFAULTS.margin,
    Ratio::ZERO..=Ratio::of(1, 2),
    "fraction of the available bandwidth to leave unused",
);
const RANGE: Parameter<Ratio> = Parameter::new(
    "range",
    DEFAULTS.range,
    Ratio::of(5, 100)..=Ratio::of(3, 1),
    "spread of a stream's rates: highest over lowest, less 1",
);
const COMPETITIVE: Parameter<bool> =
    Parameter::switch("competitive", DEFAULTS.competitive, "use CUBIC's window beside flows that fill the queue");
/// A packet's own time at the bottleneck may be far more than the round trip of a path without a queue: the rate would then be
/// averaged over less than a packet.
const SHORTEST: Parameter<Span> = Parameter::new(
    "shortest_round_trip",
    DEFAULTS.shortest_round_trip,
    Span::ZERO..=Span::from_millis(1000),
    "least round-trip time by which the law counts rounds; 0 s: no bound",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&MARGIN, &RANGE, &COMPETITIVE, &SHORTEST];

/// Differences between the two laws.
pub trait Steers: LawParams {
    /// Whether a pause of the application counts from the packet after it, as in kernels; else from the packet before it.
    const RESUMES: bool;

    /// Whether the flow receives the true available bandwidth.
    fn needs_available(&self) -> bool {
        false
    }

    /// Passes it on.
    fn set_available(_law: &mut Law<Self>, _available: Rate) {}
}

impl Steers for Params {
    const RESUMES: bool = true;
}

/// A flow under the law that its parameters are of.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Rapid<P: Steers = Params> {
    law: Law<P>,
    /// The rate, and whether it was starting up, before a timeout that may have been for nothing.
    doubted: Option<(Rate, bool)>,
    /// Nothing waited behind the last packet.
    drained: bool,
    oracle: bool,
}

impl Rapid {
    /// Builds the controller.
    ///
    /// Errors: a setting that is unknown, of another kind, or out of range.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Rapid, SettingError> {
        Ok(Rapid::new(setup, &read(setup.packet, settings)?))
    }
}

impl<P: Steers> Rapid<P> {
    pub(crate) fn new(setup: &Setup, params: &P) -> Rapid<P> {
        Rapid {
            law: Law::new(params, setup.now, setup.handshake_rtt, setup.seed),
            oracle: params.needs_available(),
            drained: false,
            doubted: None,
        }
    }
}

fn read(packet: Bytes, settings: &Settings) -> Result<Params, SettingError> {
    check_names(settings, PARAMETERS)?;
    Ok(Params {
        margin: MARGIN.read(settings)?,
        range: RANGE.read(settings)?,
        competitive: COMPETITIVE.read(settings)?,
        shortest_round_trip: SHORTEST.read(settings)?,
        ..Params::new(packet)
    })
}

impl<P: Steers> Controller for Rapid<P> {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        let mut paused = sent.app_limited;
        if P::RESUMES {
            paused = self.drained && self.law.is_overdue(sent.now);
            self.drained = sent.app_limited;
        }
        self.law.on_sent(sent.now, sent.transmission, sent.size, paused);
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if !ack.in_recovery {
            self.doubted = None;
        }
        if let ([Arrival { transmission, arrived: Some(arrived) }], Some(rtt)) = (ack.arrivals, ack.rtt) {
            return self.law.on_acked(ack.now, rtt, *transmission, *arrived);
        }
        if let Some(rtt) = ack.rtt {
            self.law.on_rtt(rtt);
        }
        for arrival in ack.arrivals {
            match arrival.arrived {
                Some(arrived) => self.law.on_arrival(ack.now, arrival.transmission, arrived),
                None => self.law.on_acked_without_stamp(ack.now, arrival.transmission),
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            self.law.on_recovery();
        }
        for transmission in loss.transmissions {
            self.law.on_lost(loss.now, *transmission);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.doubted = Some((self.law.rate(), self.law.probe().startup));
            self.law.on_timeout();
        }
    }

    fn on_undo(&mut self, _undo: &Undo) {
        if let Some((rate, startup)) = self.doubted.take() {
            self.law.on_spurious_timeout(rate, startup);
        }
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.law.window(), departure: self.law.departure() }
    }

    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }

    fn needs(&self) -> Needs {
        Needs { arrivals: true, available: self.oracle, ..Needs::NOTHING }
    }
}

impl<P: Steers> Extras for Rapid<P> {
    #[inline]
    fn departure(&self, in_flight: u32) -> Option<Time> {
        self.law.has_room(in_flight).then(|| self.law.departure())
    }

    fn keeps_departure(&self) -> bool {
        self.law.keeps_departure()
    }

    fn on_available(&mut self, _now: Time, available: Rate) {
        P::set_available(&mut self.law, available);
    }

    fn rate(&self) -> Option<Rate> {
        Some(self.law.rate())
    }

    fn probing(&self) -> Option<&dyn Probing> {
        Some(self)
    }

    fn probing_mut(&mut self) -> Option<&mut dyn Probing> {
        Some(self)
    }
}

impl<P: Steers> Probing for Rapid<P> {
    fn probe(&self) -> Probe {
        let probe = self.law.probe();
        Probe {
            rate: probe.rate,
            available: probe.available,
            queue: probe.queue,
            streams: probe.streams,
            unusable: probe.unusable,
        }
    }

    fn arm_trace(&mut self) {
        self.law.arm_trace();
    }

    fn take_trace(&mut self) -> Option<StreamTrace> {
        let trace = self.law.take_trace()?;
        let gaps = trace.packets.iter().map(|packet| GapRecord {
            intended: packet.intended,
            created: packet.created,
            received: packet.received,
            denoised: packet.denoised,
            size: packet.size,
            rate: packet.rate,
            delay: packet.delay,
        });
        Some(StreamTrace { start: trace.start, rate: trace.rate, estimate: trace.estimate, gaps: gaps.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing;
    use crate::settings::Setting;
    use crate::units::{Span, Time};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    const RTT: Span = Span::from_millis(30);

    fn setup() -> Setup {
        Setup { now: Time::from_nanos(1000), ..testing::setup(1500, RTT, 10) }
    }

    fn settings(list: &[(&str, Setting)]) -> Settings {
        list.iter().map(|(name, setting)| (name.to_string(), setting.clone())).collect()
    }

    fn build(list: &[(&str, Setting)]) -> Result<Rapid, SettingError> {
        Rapid::build(&setup(), &settings(list))
    }

    fn sent<P: Steers>(flow: &mut Rapid<P>, now: Time, transmission: u64) {
        flow.on_sent(&Sent { transmission, ..testing::sent(now, 1500) });
    }

    /// Sends `packets` on schedule, each acknowledged `rtt` later with an arrival stamp.
    fn run<P: Steers>(flow: &mut Rapid<P>, packets: u64) {
        let mut waiting: Vec<(Time, Arrival)> = Vec::new();
        for transmission in 0..packets {
            let now = flow.decision().departure;
            while waiting.first().is_some_and(|(due, _)| *due <= now) {
                let (due, arrival) = waiting.remove(0);
                let kept = flow.keeps_departure().then(|| flow.decision().departure);
                flow.on_ack(&AckSample {
                    next_unacked: arrival.transmission + 1,
                    next_unsent: transmission,
                    window_limited: false,
                    arrivals: &[arrival],
                    ..testing::ack(due, 1, RTT)
                });
                assert!(kept.is_none_or(|departure| flow.decision().departure == departure));
            }
            sent(flow, now, transmission);
            waiting.push((now + RTT, Arrival { transmission, arrived: Some(now + RTT / 2) }));
        }
    }

    /// A timeout halves the rate and ends start-up; a spurious one restores both (RFC 5682). Once the
    /// episode is over, nothing is undone.
    #[test]
    fn a_needless_timeout_is_undone() {
        let mut flow = build(&[]).expect("a flow");
        let before = flow.law.rate();
        let timeout = |first| Timeout { now: setup().now, in_flight: 10, first };
        flow.on_timeout(&timeout(true));
        flow.on_timeout(&timeout(false));
        assert_eq!(flow.law.rate().bps(), before.bps() / 2);
        flow.on_undo(&Undo { now: setup().now });
        assert_eq!((flow.law.rate(), flow.law.probe().startup), (before, true));
        flow.on_timeout(&timeout(true));
        run(&mut flow, 40);
        let after = flow.law.rate();
        flow.on_undo(&Undo { now: setup().now });
        assert_eq!((flow.law.rate(), flow.law.probe().startup), (after, false));
    }

    #[test]
    fn the_second_packet_leaves_a_gap_after_the_first() {
        let mut flow = build(&[]).expect("a flow");
        assert_eq!(flow.decision().departure, setup().now);
        sent(&mut flow, setup().now, 0);
        // 10 packets per round trip.
        assert_eq!(flow.decision().departure, setup().now + RTT / 10);
    }

    #[test]
    fn a_path_without_limit_raises_rate_and_window() {
        let mut flow = build(&[]).expect("a flow");
        let (rate, window) = (flow.rate().expect("a rate"), flow.decision().window);
        run(&mut flow, 4000);
        assert!(flow.rate().expect("a rate").bps() > 50 * rate.bps());
        assert!(flow.decision().window > window);
        let probe = flow.probe();
        assert!(probe.streams > 3 && probe.queue == Span::ZERO, "{probe:?}");
    }

    #[test]
    fn the_window_covers_two_round_trips_at_the_rate() {
        for packets in [1, 500, 4000] {
            let mut flow = build(&[]).expect("a flow");
            run(&mut flow, packets);
            let two = flow.rate().expect("a rate").amount_in(RTT * 2).get() / 1500;
            assert!(u64::from(flow.decision().window) >= two, "{} < {two}", flow.decision().window);
        }
    }

    #[test]
    fn a_trace_comes_with_every_gap() {
        let mut flow = crate::congestion::rapid_thesis::build(&setup(), &Settings::new()).expect("a flow");
        flow.arm_trace();
        run(&mut flow, 400);
        let trace = flow.take_trace().expect("a trace");
        assert_eq!(trace.gaps.len(), 64);
        assert!(trace.estimate.is_some());
        assert!(trace.gaps[1..].iter().all(|gap| gap.received == Some(gap.created)));
        assert!(flow.take_trace().is_none());
    }

    #[test]
    fn settings_out_of_range_are_refused_by_name() {
        for (name, setting) in [
            ("margin", Setting::Ratio(Ratio::of(6, 10))),
            ("range", Setting::Ratio(Ratio::ZERO)),
            ("competitive", Setting::Integer(1)),
        ] {
            match build(&[(name, setting)]) {
                Err(SettingError::Invalid { name: refused, .. }) => assert_eq!(refused, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_settings_of_the_other_law_are_unknown() {
        for (name, setting) in [("tau", Setting::Span(RTT)), ("preset", Setting::Word("thesis".to_string()))] {
            assert!(matches!(build(&[(name, setting)]), Err(SettingError::Unknown { .. })), "{name}");
        }
    }

    #[test]
    fn without_settings_it_is_the_default_law() {
        assert_eq!(read(Bytes::new(9000), &Settings::new()), Ok(Params::new(Bytes::new(9000))));
    }
}
