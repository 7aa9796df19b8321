//! TCP RAPID: every packet probes, so that congestion is seen before there is a queue or a loss.
//!
//! The law itself is the C body of crate `rapid`, which runs in kernels too; this file only tells it what happens
//! here, in its terms, and turns what it wants into a [`Decision`]. Two presets:
//!
//! * `default`: lower envelopes of arrival minus departure time, a proportional margin (`envelope.h`, `startup.h`);
//! * `thesis`: gaps, denoised, with the rate adapter of Rapid's dissertation (`thesis.h`).
//!
//! The window is two bandwidth-delay products and a stream of slack: it stops a flow whose acknowledgments stop, and
//! never shapes one that runs. Packets are clocked one by one through [`Decision::departure`].

use crate::contract::{
    AckSample, Controller, Decision, GapRecord, Loss, LossResponse, Needs, Probe, Probing, Sent, Setup, StreamTrace,
    Timeout,
};
use alloc::string::String;
use rapid::{Estimator, Law, Params};
use settings::{Kind, Parameter, Setting, SettingError, Settings, check_names, switch};
use units::{Rate, Ratio, Span, Time};

/// What a scenario can set.
pub const PARAMETERS: &[Parameter] = &[
    parameter("preset", Kind::Word(&["default", "thesis"]), "default", "which law reads the streams"),
    parameter("margin", Kind::Ratio, "0.03", "part of the available bandwidth left free (thesis: 0.05)"),
    parameter("range", Kind::Ratio, "0.3", "top rate of a stream above its bottom rate (thesis: 0.5)"),
    parameter(
        "competitive",
        Kind::Switch,
        "false",
        "default: contend with flows that fill the queue, and fill it with them",
    ),
    parameter("tau", Kind::Span, "50 ms", "thesis: time constant of an increase"),
    parameter("eta", Kind::Integer, "4", "thesis: streams that a decrease takes (printed as 1/eta in its tables)"),
    parameter("eta_time", Kind::Span, "0 s", "thesis: time constant of a decrease, in place of eta, unless zero"),
    parameter("gamma", Kind::Integer, "3", "thesis: estimates averaged before the rate is adapted"),
    parameter("levels", Kind::Integer, "4", "thesis: rates in a stream"),
    parameter("packets_per_level", Kind::Integer, "16", "thesis: packets at each rate"),
    parameter("epsilon", Kind::Span, "100 ns", "thesis: by how much a received gap must exceed the created one"),
    parameter("smoothing", Kind::Integer, "16", "thesis: window of the last smoothing, in packets"),
    parameter("loss_cut", Kind::Ratio, "0.25", "thesis: part of the rate cut once per loss recovery"),
    parameter("estimator", Kind::Word(ESTIMATORS), "streams", "thesis: what tells the available bandwidth"),
];

const ESTIMATORS: &[&str] = &["streams", "ideal", "raw", "learnt"];

const fn parameter(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, kind, default, doc }
}

/// A flow under the law.
#[derive(Clone, Debug)]
pub struct Rapid {
    law: Law,
    estimator: Estimator,
}

impl Rapid {
    /// Builds it.
    ///
    /// # Errors
    /// When a setting is unknown, of another kind, or out of range.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Rapid, SettingError> {
        check_names(settings, PARAMETERS)?;
        let params = read(setup, settings)?;
        Ok(Rapid { law: Law::new(&params, setup.now, setup.handshake_rtt, setup.seed), estimator: params.estimator })
    }
}

fn read(setup: &Setup, settings: &Settings) -> Result<Params, SettingError> {
    let take = Reader(settings);
    let base = match take.word("preset", "one of \"default\", \"thesis\"", &["default", "thesis"])? {
        Some(1) => Params::thesis(setup.packet),
        _ => Params::new(setup.packet),
    };
    let estimator = match take.word("estimator", "one of \"streams\", \"ideal\", \"raw\", \"learnt\"", ESTIMATORS)? {
        Some(1) => Estimator::Ideal,
        Some(2) => Estimator::Raw,
        Some(3) => Estimator::Learnt,
        _ => Estimator::Streams,
    };
    let levels = take.integer("levels", 2..=16, "a whole number from 2 to 16", base.levels)?;
    let per_level = 2..=512 / u64::from(levels);
    Ok(Params {
        margin: take.ratio("margin", 0.0..=0.5, "a fraction from 0 to 0.5", base.margin)?,
        range: take.ratio("range", 0.05..=3.0, "a fraction from 0.05 to 3", base.range)?,
        competitive: switch(settings, "competitive", base.competitive)?,
        tau: take.span("tau", base.tau)?,
        eta: take.integer("eta", 1..=1000, "a whole number from 1 to 1000", base.eta)?,
        eta_time: take.span("eta_time", base.eta_time)?,
        gamma: take.integer("gamma", 1..=1000, "a whole number from 1 to 1000", base.gamma)?,
        levels,
        packets_per_level: take.integer(
            "packets_per_level",
            per_level,
            "a whole number from 2, with at most 512 packets in a stream",
            base.packets_per_level,
        )?,
        epsilon: take.span("epsilon", base.epsilon)?,
        smoothing: take.integer("smoothing", 1..=512, "a whole number from 1 to 512", base.smoothing)?,
        loss_cut: take.ratio("loss_cut", 0.0..=1.0, "a fraction from 0 to 1", base.loss_cut)?,
        estimator,
        ..base
    })
}

/// Settings, read by kind.
struct Reader<'a>(&'a Settings);

impl Reader<'_> {
    fn ratio(
        &self,
        name: &'static str,
        range: core::ops::RangeInclusive<f64>,
        expected: &'static str,
        default: Ratio,
    ) -> Result<Ratio, SettingError> {
        match self.0.get(name) {
            None => Ok(default),
            Some(Setting::Ratio(ratio)) if range.contains(&ratio.as_f64()) => Ok(*ratio),
            Some(_) => Err(SettingError::Invalid { name, expected }),
        }
    }

    fn span(&self, name: &'static str, default: Span) -> Result<Span, SettingError> {
        match self.0.get(name) {
            None => Ok(default),
            Some(Setting::Span(span)) => Ok(*span),
            Some(_) => Err(SettingError::Invalid { name, expected: "a length of time, like \"50 ms\"" }),
        }
    }

    fn integer(
        &self,
        name: &'static str,
        range: core::ops::RangeInclusive<u64>,
        expected: &'static str,
        default: u32,
    ) -> Result<u32, SettingError> {
        match self.0.get(name) {
            None => Ok(default),
            Some(Setting::Integer(n)) if range.contains(n) => Ok(*n as u32),
            Some(_) => Err(SettingError::Invalid { name, expected }),
        }
    }

    /// The index of the word among `words`.
    fn word(&self, name: &'static str, expected: &'static str, words: &[&str]) -> Result<Option<usize>, SettingError> {
        let unknown = SettingError::Invalid { name, expected };
        match self.0.get(name) {
            None => Ok(None),
            Some(Setting::Word(word)) => {
                words.iter().position(|known| *known == String::as_str(word)).map(Some).ok_or(unknown)
            }
            Some(_) => Err(unknown),
        }
    }
}

impl Controller for Rapid {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        self.law.on_sent(sent.now, sent.transmission, sent.size, sent.app_limited);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
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
            self.law.on_timeout();
        }
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.law.window(), departure: self.law.departure() }
    }

    fn on_available(&mut self, _now: Time, available: Rate) {
        self.law.set_available(available);
    }

    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }

    fn needs(&self) -> Needs {
        Needs { arrivals: true, available: self.estimator == Estimator::Ideal, ..Needs::NOTHING }
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

impl Probing for Rapid {
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
    use crate::contract::Arrival;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use units::{Bytes, Time};

    const RTT: Span = Span::from_millis(30);

    fn setup() -> Setup {
        Setup { now: Time::from_nanos(1000), packet: Bytes::new(1500), handshake_rtt: RTT, initial_window: 10, seed: 1 }
    }

    fn settings(list: &[(&str, Setting)]) -> Settings {
        list.iter().map(|(name, setting)| (name.to_string(), setting.clone())).collect()
    }

    fn build(list: &[(&str, Setting)]) -> Result<Rapid, SettingError> {
        Rapid::build(&setup(), &settings(list))
    }

    fn sent(flow: &mut Rapid, now: Time, transmission: u64) {
        flow.on_sent(&Sent {
            now,
            transmission,
            size: Bytes::new(1500),
            in_flight: 1,
            app_limited: false,
            retransmission: false,
        });
    }

    /// Sends `packets` on schedule, each acknowledged `rtt` later with an arrival stamp.
    fn run(flow: &mut Rapid, packets: u64) {
        let mut waiting: Vec<(Time, Arrival)> = Vec::new();
        for transmission in 0..packets {
            let now = flow.decision().departure;
            while waiting.first().is_some_and(|(due, _)| *due <= now) {
                let (due, arrival) = waiting.remove(0);
                flow.on_ack(&AckSample {
                    now: due,
                    delivered: 1,
                    cumulative: 1,
                    prior_in_flight: 2,
                    in_flight: 1,
                    rtt: Some(RTT),
                    srtt: RTT,
                    min_rtt: RTT,
                    next_unacked: arrival.transmission + 1,
                    next_unsent: transmission,
                    window_limited: false,
                    in_recovery: false,
                    arrivals: &[arrival],
                    rate: None,
                });
            }
            sent(flow, now, transmission);
            waiting.push((now + RTT, Arrival { transmission, arrived: Some(now + RTT / 2) }));
        }
    }

    #[test]
    fn the_first_packet_may_leave_at_once_and_the_second_a_gap_later() {
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
        let mut flow = build(&[("preset", Setting::Word("thesis".to_string()))]).expect("a flow");
        flow.arm_trace();
        run(&mut flow, 400);
        let trace = flow.take_trace().expect("a trace");
        assert_eq!(trace.gaps.len(), 64);
        assert!(trace.estimate.is_some());
        assert!(trace.gaps[1..].iter().all(|gap| gap.received == Some(gap.created)));
        assert!(flow.take_trace().is_none());
    }

    #[test]
    fn a_first_timeout_halves_the_rate_and_a_later_one_does_not() {
        let mut flow = build(&[]).expect("a flow");
        let rate = flow.rate().expect("a rate").bps();
        flow.on_timeout(&Timeout { now: setup().now, in_flight: 1, first: true });
        flow.on_timeout(&Timeout { now: setup().now, in_flight: 1, first: false });
        assert_eq!(flow.rate().expect("a rate").bps(), rate / 2);
    }

    #[test]
    fn settings_out_of_range_are_refused_by_name() {
        for (name, setting) in [
            ("preset", Setting::Word("vegas".to_string())),
            ("preset", Setting::Integer(1)),
            ("margin", Setting::Ratio(Ratio::of(6, 10))),
            ("levels", Setting::Integer(1)),
            ("packets_per_level", Setting::Integer(200)),
            ("tau", Setting::Integer(5)),
        ] {
            match build(&[(name, setting)]) {
                Err(SettingError::Invalid { name: refused, .. }) => assert_eq!(refused, name),
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(matches!(build(&[("beta", Setting::Integer(1))]), Err(SettingError::Unknown { .. })));
    }

    #[test]
    fn the_printed_defaults_are_the_defaults() {
        let thesis = settings(&[("preset", Setting::Word("thesis".to_string()))]);
        for (given, params) in
            [(Settings::new(), Params::new(Bytes::new(1500))), (thesis, Params::thesis(Bytes::new(1500)))]
        {
            assert_eq!(read(&setup(), &given).expect("params"), params);
        }
        let printed = |name| PARAMETERS.iter().find(|p| p.name == name).expect("a parameter").default;
        let params = Params::new(Bytes::new(1500));
        assert_eq!(printed("tau").parse(), Ok(params.tau));
        assert_eq!(printed("epsilon").parse(), Ok(params.epsilon));
        assert_eq!(printed("eta_time").parse(), Ok(params.eta_time));
        assert_eq!(printed("margin").parse::<f64>().map(Ratio::from_f64), Ok(Ratio::from_f64(0.03)));
        for (name, value) in [
            ("eta", params.eta),
            ("gamma", params.gamma),
            ("levels", params.levels),
            ("packets_per_level", params.packets_per_level),
            ("smoothing", params.smoothing),
        ] {
            assert_eq!(printed(name).parse(), Ok(value), "{name}");
        }
    }
}
