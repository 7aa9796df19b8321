//! What a flow makes of loss without a queue, read in floating point, for [`reading`](crate::reading); and what it does behind a
//! policer, on a lossy line, and on one that loses in bursts.

/// A flow, when a stream of it is back. Seconds, bytes per second.
pub struct Flow {
    pub rate: f64,
    pub rtt: f64,
    pub queue: f64,
    pub packet: f64,
}

/// That stream: when it was sent, its packets, and how many of them were lost.
pub struct Sent {
    pub from: f64,
    pub until: f64,
    pub packets: f64,
    pub lost: f64,
}

/// Counts while there is no limit; asks while there is a part.
#[derive(Debug, Default)]
pub struct Policer {
    limit: Option<f64>,
    part: Option<f64>, // lost before it asked
    since: f64,
    sent: f64,
    lost: f64,
    first_ms: f64, // since `since`, as the two that follow
    lost_ms: f64,
    pause_ms: f64,
    steps: i32,
    times: i32,
    pub too_close: bool,
}

impl Policer {
    /// Whether it counts losses without a queue, or asks.
    pub fn suspects(&self) -> bool {
        self.part.is_some() || self.lost > 0.0
    }

    pub fn holds(&self) -> bool {
        self.limit.is_some()
    }

    /// What may be sent at most.
    pub fn most(&self) -> f64 {
        self.limit.map_or(f64::INFINITY, |limit| limit * (1.0 + (2f64.powi(self.steps) - 1.0) / 64.0))
    }

    fn above(&mut self, a: f64, b: f64, near: f64) -> bool {
        self.too_close |= (a - b).abs() < near;
        a > b
    }

    fn count(&mut self, since: f64) {
        self.since = since;
        (self.sent, self.lost, self.first_ms, self.lost_ms, self.pause_ms) = (0.0, 0.0, 0.0, 0.0, 0.0);
    }

    /// Whole milliseconds, as the law counts them.
    fn ms(&mut self, at: f64) -> f64 {
        let ms = (at - self.since) * 1000.0;
        self.too_close |= (ms - ms.round()).abs() < 1e-4 && ms > 0.5;
        ms.floor()
    }

    fn through(&self, flow: &Flow, span: f64) -> f64 {
        (self.sent - self.lost) * flow.packet / span * 31.0 / 32.0
    }

    fn hold(&mut self, limit: f64, rate: f64, now: f64) -> Option<f64> {
        self.limit = Some(limit);
        self.steps = 0;
        self.count(now);
        Some(rate.min(limit))
    }

    fn ask(&mut self, flow: &Flow, span: f64, now: f64) -> Option<f64> {
        self.part = Some(self.lost / self.sent);
        self.hold(self.through(flow, span), flow.rate, now)
    }

    fn give_up(&mut self, flow: &Flow, now: f64) {
        let asked = self.part.is_some();
        self.count(if asked { now + 64.0 * flow.rtt * 2f64.powi(self.times) } else { now });
        self.times = if asked { (self.times + 1).min(6) } else { 0 };
        (self.limit, self.part, self.steps) = (None, None, 0);
    }

    fn add(&mut self, stream: &Sent, flow: &Flow) {
        if self.sent == 0.0 {
            self.since = stream.from;
        }
        let (from, until) = (self.ms(stream.from), self.ms(stream.until));
        let apart_ms = 1000.0 * f64::max(flow.rtt, 64.0 * flow.packet / flow.rate);
        if self.steps > 0 && stream.lost > 0.0 && (self.lost == 0.0 || self.above(from - self.lost_ms, apart_ms, 1e-3))
        {
            (self.sent, self.lost, self.first_ms) = (0.0, 0.0, from);
        }
        self.sent += stream.packets;
        self.lost += stream.lost;
        self.pause_ms = self.pause_ms.max(until - self.lost_ms);
        if stream.lost > 0.0 {
            self.lost_ms = until;
        }
    }

    fn may_be(&mut self, flow: &Flow, span: f64) -> bool {
        let part = self.lost / self.sent;
        self.lost >= 16.0
            && self.above(part, 0.04, 1e-4)
            && !self.above(part, 0.2, 1e-4)
            && !self.above(8.0 * flow.rate * (1.0 - part), 9.0 * self.through(flow, span), 1e-3 * flow.rate)
            && !self.above(4e-3 * self.pause_ms, span, 1e-6)
            && self.above(flow.rate * flow.rtt / flow.packet, 4.0, 1e-3)
    }

    fn holding(&mut self, stream: &Sent, flow: &Flow, limit: f64, span: f64, now: f64) -> Option<f64> {
        let losing = (self.lost_ms - self.first_ms) / 1000.0;
        let lasting = losing >= f64::max(2.0 * flow.rtt, 0.1);
        if self.steps > 0 && stream.lost > 0.0 && self.lost >= 4.0 && lasting {
            let part = self.lost / self.sent;
            if self.above(part, 1.0 / 128.0, 1e-4) {
                self.times = 1;
                let met = self.through(flow, losing).max(limit).min(self.most());
                return self.hold(met, flow.rate, now);
            }
        }
        let wait = f64::max(if self.steps > 0 { 4.0 } else { 16.0 } * flow.rtt, 0.25);
        if self.steps == 0 && self.above(span, wait, 1e-6) && self.may_be(flow, span) {
            return self.ask(flow, span, now);
        }
        let step = if self.steps == 0 { wait * 2f64.powi(self.times) } else { wait };
        if self.above(span, step, 1e-6) {
            self.steps += 1;
            self.count(now);
            if self.steps > 6 {
                self.give_up(flow, now);
            }
        }
        None
    }

    /// A stream is back. The rate, if that changes.
    pub fn heard(&mut self, now: f64, stream: &Sent, flow: &Flow) -> Option<f64> {
        if stream.lost >= stream.packets || stream.from < self.since {
            return None;
        }
        self.add(stream, flow);
        let span = stream.until - self.since;
        if let (Some(limit), None) = (self.limit, self.part) {
            return self.holding(stream, flow, limit, span, now);
        }
        let wait = f64::max(16.0 * flow.rtt, 0.25);
        let queued = self.above(flow.queue, flow.rtt / 64.0 + 1e-6, 1e-7);
        let enough = self.above(span, wait, 1e-6);
        if let Some(before) = self.part {
            if stream.lost > 0.0 && queued {
                self.give_up(flow, now);
            } else if enough && self.above(self.sent * before, 16.0, 1e-2) {
                if self.above(4.0 * self.lost / self.sent, before, 1e-4) {
                    self.give_up(flow, now);
                } else {
                    (self.part, self.times) = (None, 0);
                    self.count(now);
                }
            }
        } else if enough && !queued && self.may_be(flow, span) {
            return self.ask(flow, span, now);
        } else if (stream.lost > 0.0 && queued) || self.above(span, 4.0 * wait, 1e-6) {
            self.count(now);
        }
        None
    }
}

mod behind {
    use crate::bottleneck::{Bottleneck, Path, ms};
    use packetscale_models::rapid::Params;
    use packetscale_models::units::{Bytes, Rate, Span, Time};

    const RTT: Span = Span::from_millis(40);
    const LINK: Rate = Rate::from_mbps(100);
    const POLICED: Rate = Rate::from_mbps(20);

    /// One flow, from 20 s to 40 s.
    fn run(path: Path) -> Bottleneck {
        let mut net = Bottleneck::new(path).flow(&Params::new(Bytes::new(1500)), RTT, Time::ZERO);
        net.between(ms(20_000), ms(40_000));
        net
    }

    #[test]
    fn policers_are_filled_and_lossy_lines_are_not_taken_for_one() {
        let clear = Path::new(LINK, RTT);
        let policed = |until| Path { policer: Some((POLICED, Bytes::new(100_000), until)), ..clear.clone() };
        let dark = Some((Span::from_millis(20), Span::from_millis(400)));
        for (why, path, least_used, most_lost) in [
            // CUBIC's loss behind it is 0.2 %, and BBR's bound is 2 %.
            ("a policer of a fifth of the link", policed(Time::MAX), 0.95 / 5.0, 0.02),
            // A held rate is let go: after two waits of 0.64 s and six steps of 0.25 s at most, and all of it again.
            ("a policer that is gone after 7 s", policed(ms(7_000)), 0.95, 1.0),
            (
                "a loss of one in twenty leaves 95 % of 97 %",
                Path { loss_ppm: 50_000, ..clear.clone() },
                0.95 * 0.97 * 0.95,
                1.0,
            ),
            // A flow that never asks has 65 % of this path.
            ("20 ms of every 400 are dark", Path { dark, ..clear.clone() }, 0.62, 1.0),
        ] {
            let net = run(path);
            let used = net.utilisation(Span::from_secs(20));
            let lost = net.flows[0].lost as f64 / net.flows[0].sent as f64;
            assert!(used > least_used && lost < most_lost, "{why}: {used} used, {lost} lost");
        }
    }
}
