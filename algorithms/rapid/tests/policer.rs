//! What a flow makes of loss without a queue, read in floating point, for [`formulas`](crate::formulas); and what it does behind a
//! policer, on a lossy line, and on one that loses in bursts.

/// A flow, when a stream of it is back. Seconds, bytes per second.
pub struct Flow {
    pub rate: f64,
    pub rtt: f64,
    pub queue: f64,
    pub tolerated: f64,
}

/// Counts while there is no limit; asks while there is a part.
#[derive(Debug, Default)]
pub struct Policer {
    limit: Option<f64>,
    part: Option<f64>, // lost before it asked
    since: f64,
    sent: f64,
    lost: f64,
    lost_at: f64, // since `since`
    pause: f64,
    steps: i32,
    times: i32,
    pub too_close: bool,
}

impl Policer {
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
        (self.sent, self.lost, self.lost_at, self.pause) = (0.0, 0.0, 0.0, 0.0);
    }

    fn keeps(&self) -> f64 {
        1.0 - 1.0 / 32.0 - self.part.unwrap_or(0.0)
    }

    fn hold(&mut self, limit: f64, rate: f64, now: f64) -> f64 {
        self.limit = Some(limit);
        self.steps = 0;
        self.count(now);
        rate.min(limit)
    }

    fn ask(&mut self, of: f64, rate: f64, now: f64) -> f64 {
        self.part = Some((self.lost / self.sent).min(0.2));
        self.hold(of * self.keeps(), rate, now)
    }

    fn give_up(&mut self, flow: &Flow, now: f64) -> Option<f64> {
        let asked = self.part.is_some();
        let rate = asked.then(|| flow.rate.min(self.limit.unwrap_or(flow.rate)) / self.keeps());
        self.times = if asked { (self.times + 1).min(6) } else { 0 };
        (self.limit, self.part) = (None, None);
        self.count(now + 64.0 * flow.rtt * 2f64.powi(self.times));
        rate
    }

    /// A stream is back. The rate, if that changes.
    pub fn heard(&mut self, now: f64, start: f64, sent: f64, lost: f64, flow: &Flow) -> Option<f64> {
        let near = 1e-6;
        if lost >= sent || start < self.since {
            return None;
        }
        let since = now - self.since;
        self.sent += sent;
        self.lost += lost;
        self.pause = self.pause.max(since - self.lost_at);
        if lost > 0.0 {
            self.lost_at = since;
        }
        let part = self.lost / self.sent;
        let wait = f64::max(16.0 * flow.rtt, 0.25);
        if let (Some(limit), None) = (self.limit, self.part) {
            let wait = if self.steps == 0 { wait * 2f64.powi(self.times) } else { wait };
            if self.lost >= 4.0 && self.above(part, 1.0 / 128.0, 1e-4) {
                if self.steps == 0 {
                    return Some(self.ask(limit, flow.rate, now));
                }
                self.times = (self.times + 1).min(4);
                self.steps = (self.steps - 2).max(0);
                return Some(self.hold(self.most(), flow.rate, now));
            }
            if self.above(since, wait, near) {
                self.steps += 1;
                self.count(now);
                if self.steps > 6 {
                    return self.give_up(flow, now);
                }
            }
        } else if let Some(before) = self.part {
            if self.above(since, wait, near) && self.above(self.sent * before, 16.0, 1e-3) {
                if self.above(4.0 * part, before, 1e-4) {
                    return self.give_up(flow, now);
                }
                self.part = None;
                self.times = 0;
                self.count(now);
            }
        } else if self.above(since, wait, near) && self.lost >= 16.0 {
            let like = self.above(part, 0.04, 1e-4) && !self.above(part, 0.2, 1e-4);
            let steady = !self.above(2.0 * self.pause, since, 0.004);
            if like && steady && !self.above(flow.queue, flow.tolerated, 1e-3 * flow.tolerated) {
                return Some(self.ask(flow.rate, flow.rate, now));
            }
            self.count(now);
        } else if self.above(since, 4.0 * wait, near) {
            self.count(now);
        }
        None
    }
}

#[cfg(test)]
mod behind {
    use crate::bottleneck::{Bottleneck, Path, ms};
    use packetscale_rapid::Params;
    use units::{Bytes, Rate, Span, Time};

    const RTT: Span = Span::from_millis(40);
    const LINK: Rate = Rate::from_mbps(100);
    const POLICED: Rate = Rate::from_mbps(20);

    /// One flow, from 20 s to 40 s.
    fn run(path: Path) -> Bottleneck {
        let mut net = Bottleneck::new(path).flow(&Params::new(Bytes::new(1500)), RTT, Time::ZERO);
        net.run_until(ms(20_000));
        net.clear();
        net.run_until(ms(40_000));
        net
    }

    fn lost(net: &Bottleneck) -> f64 {
        net.flows[0].lost as f64 / net.flows[0].sent as f64
    }

    /// CUBIC's loss behind it is 0.2 %, and BBR's bound is 2 %.
    #[test]
    fn a_policer_is_filled_and_not_run_over() {
        let net = run(Path { policer: Some((POLICED, Bytes::new(100_000), Time::MAX)), ..Path::new(LINK, RTT) });
        let used = net.utilisation(Span::from_secs(20)) * LINK.bps() as f64 / POLICED.bps() as f64;
        assert!(used > 0.95, "{used}");
        assert!(lost(&net) < 0.02, "{}", lost(&net));
    }

    /// A held rate is let go: 6 steps of 0.64 s, after a wait of 16 of these at most.
    #[test]
    fn a_policer_that_is_gone_is_forgotten() {
        let until = ms(7_000);
        let net = run(Path { policer: Some((POLICED, Bytes::new(100_000), until)), ..Path::new(LINK, RTT) });
        let used = net.utilisation(Span::from_secs(20));
        assert!(used > 0.95, "{used}");
    }

    /// A line that loses one packet in twenty has 95 % of 97 % to give.
    #[test]
    fn a_lossy_line_is_no_policer() {
        let net = run(Path { loss_ppm: 50_000, ..Path::new(LINK, RTT) });
        let used = net.utilisation(Span::from_secs(20));
        assert!(used > 0.95 * 0.97 * 0.95, "{used}");
    }

    /// 20 ms of every 400 are dark. A flow that never asks has 65 % of this path.
    #[test]
    fn losses_in_bursts_are_no_policer() {
        let dark = Some((Span::from_millis(20), Span::from_millis(400)));
        let net = run(Path { dark, ..Path::new(LINK, RTT) });
        let used = net.utilisation(Span::from_secs(20));
        assert!(used > 0.62, "{used}");
    }
}
