//! The law of Rapid, read in floating point from its formulas, in seconds and bytes. It shares no code with the integer law but
//! the random draw of stream lengths. Where a threshold is too close to call in either arithmetic,
//! [`Reading::too_close`] is set: both answers are right.

use crate::policer::{Flow, Policer, Sent};

const NONE: f64 = f64::INFINITY;

#[derive(Clone, Default)]
struct Stream {
    wide: bool,
    per_level: u64,
    rate: f64,
    bytes: f64,
    times: [f64; 4], // first, level 2, level 3, its second half
    end: f64,
    planned: f64,
    rtt: f64,
    delay: f64,
    low: [f64; 3],
    packets: u64,
    accounted: u64,
    lost: [f64; 4],
    closed: bool,
}

/// The law, read in floating point. Seconds, bytes per second.
#[derive(Default)]
pub struct Reading {
    packet: f64,
    pub rate: f64,
    rtt_min: f64,
    delay_min: f64,
    pub slopes: Option<(bool, f64, f64)>,
    pub k: f64,
    k_of_all: Option<f64>, // the same without bias
    pub growth: f64,
    pub loss: f64,
    losing: bool,
    previous: Option<(f64, f64)>, // centre, delay
    pub queue: f64,
    ceiling: Option<(f64, f64, f64)>, // since, last step, gain
    doubt: (f64, f64, u32),           // since, delay, streams
    trial: Option<f64>,               // rate meanwhile
    pub policer: Policer,
    wide: bool,
    random: u32,
    streams: Vec<Stream>,
    reads: u32,                      // streams read
    place: Vec<(usize, usize, f64)>, // stream, level * 2 + half, sent
    at: (usize, u64),
    pub too_close: bool,
}

/// What a flow of less than a quarter of the capacity adds over an empty path.
fn small_adds(rate: f64, share: f64, four_packets: f64) -> f64 {
    let most = f64::max(rate / 4.0, four_packets.min(rate / 2.0));
    most.min(rate / share / 70.0 * (1.0 - 4.0 * share).max(0.0).powi(2))
}

fn ladder(span: f64) -> [f64; 4] {
    let a = span.powf(1.0 / 3.0);
    let h = (1.0 + 1.0 / a + 1.0 / (a * a) + 1.0 / (a * a * a)) / 4.0;
    [h, h * a, h * a * a, h * a * a * a]
}

impl Reading {
    pub fn new(packet: f64, rate: f64, rtt: f64, seed: u32) -> Reading {
        let k = 0.5 / rate; // the law assumes 10 packets per round trip, and a timeout halved it
        Reading { packet, rate, rtt_min: rtt, delay_min: NONE, k, random: seed | 1, ..Reading::default() }
    }

    /// `a > b`, and whether that is too close to call.
    fn above(&mut self, a: f64, b: f64, scale: f64) -> bool {
        self.too_close |= (a - b).abs() < 1e-3 * scale;
        a > b
    }

    /// The rate that it keeps.
    fn floor(&self) -> f64 {
        let packet = self.packet / self.rtt_min;
        if self.losing && self.loss > 0.12 { packet.max(2.0 * packet * 0.12 / self.loss) } else { 2.0 * packet }
    }

    fn length(&mut self) -> u64 {
        let window = (self.rate * self.rtt_min / self.packet).floor() as u64;
        let crowd = self.above(self.loss, 0.005, 0.05) && window < 4;
        let mut n = (window / 256).clamp(16, 64).min((window / 16).max(if crowd { 2 } else { 4 }));
        n = n.max((5e-6 * self.rate / self.packet) as u64);
        if n >= 8 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 17;
            self.random ^= self.random << 5;
            let reach = n / 4;
            let uniform = f64::from(self.random) / 4_294_967_296.0;
            n = n - reach + ((2 * reach + 1) as f64 * uniform).floor() as u64;
        }
        (n & !1).max(2)
    }

    pub fn sent(&mut self, now: f64, next: f64) {
        if self.streams.last().is_none_or(|s| s.closed) {
            let stream = Stream {
                wide: self.wide,
                per_level: self.length(),
                rate: self.rate,
                rtt: NONE,
                delay: NONE,
                low: [NONE; 3],
                ..Stream::default()
            };
            self.streams.push(stream);
            self.at = (0, 0);
        }
        let number = self.streams.len() - 1;
        let s = self.streams.last_mut().expect("a stream");
        let half = s.per_level / 2;
        let slot = self.at.0;
        if self.at.1 == 0 {
            match slot {
                0 => s.times[0] = now,
                4 => s.times[1] = now,
                6 => s.times[2] = now,
                7 => s.times[3] = now,
                _ => {}
            }
        }
        let x = ladder(if s.wide { 1.6 } else { 1.3 });
        s.planned += self.packet / (s.rate * x[slot / 2]);
        s.bytes += self.packet;
        s.packets += 1;
        self.place.push((number, slot, now));
        self.at.1 += 1;
        if self.at.1 == half {
            self.at = (slot + 1, 0);
            if self.at.0 == 8 {
                s.closed = true;
                s.end = next;
            }
        }
    }

    pub fn arrived(&mut self, now: f64, packet: usize, arrival: f64) {
        let (number, slot, sent) = self.place[packet];
        let s = &mut self.streams[number];
        let d = arrival - sent;
        s.delay = s.delay.min(d);
        s.rtt = s.rtt.min(now - sent);
        if let Some(low) = match slot {
            4 => Some(0),
            6 => Some(1),
            7 => Some(2),
            _ => None,
        } {
            s.low[low] = s.low[low].min(d);
        }
        self.account(now, number);
    }

    pub fn lost(&mut self, now: f64, packet: usize) {
        let (number, slot, _) = self.place[packet];
        self.streams[number].lost[slot / 2] += 1.0;
        self.account(now, number);
    }

    fn account(&mut self, now: f64, number: usize) {
        self.streams[number].accounted += 1;
        let s = self.streams[number].clone();
        if s.closed && s.accounted == s.packets {
            self.read(now, &s);
        }
    }

    fn note_queue(&mut self, s: &Stream, dt: f64) {
        let t = self.rtt_min;
        if s.delay < NONE {
            self.delay_min = self.delay_min.min(s.delay);
            self.queue = (s.delay - self.delay_min).min(s.rtt - t).max(0.0);
            let centre = s.times[0] + dt / 2.0;
            if let Some((before, delay)) = self.previous {
                let slope = (s.delay - delay) / (centre - before);
                self.growth += (4.0 * dt / t).min(1.0) * (slope - self.growth);
            }
            self.previous = Some((centre, s.delay));
        }
        let lost: f64 = s.lost.iter().sum();
        let window = self.rate * t / self.packet;
        let few = !self.at_floor() && self.above(16.0, window, 1.0);
        let most = if few { s.packets as f64 / 32.0 } else { 1.0 };
        let part = lost / s.packets as f64;
        if part < 1.0 {
            self.losing = part > 0.0;
            self.loss += (dt / t).min(1.0).min(most) * (part - self.loss);
        }
    }

    fn read(&mut self, now: f64, s: &Stream) {
        let (t, p, m) = (self.rtt_min, self.packet, 0.03);
        let dt = s.end - s.times[0];
        let rs = s.bytes / dt;
        let x = ladder(if s.wide { 1.6 } else { 1.3 });
        self.reads += 1;
        self.note_queue(s, dt);
        self.police(now, s);
        let part = s.lost.iter().sum::<f64>() / s.packets as f64;
        if part * s.packets as f64 >= 2.0 && self.above(part, 0.3, 0.3) {
            self.rate = self.rate.min(rs * (1.0 - part).max(0.25)).max(self.floor());
        }
        if self.above(dt, 1.125 * s.planned, s.planned) {
            self.rate += (s.planned / t).min(1.0) * (self.rate.min(rs * x[3]) - self.rate);
            self.rate = self.rate.max(self.floor());
            let low = s.low.iter().copied().fold(s.delay, f64::max);
            if low < NONE && part == 0.0 && self.above(t / 32.0, low - s.delay, t) {
                self.doubt_base(now, s, 1.03, (t + self.queue) / 32.0, self.rate);
            } else {
                self.end_trial();
            }
            return;
        }
        if s.low.contains(&NONE) {
            return;
        }
        let n = s.per_level as f64;
        let f0 = (s.lost[0] + s.lost[1]) / (2.0 * n);
        let g2 = (s.low[1] - s.low[0]) / (s.times[2] - s.times[1]) + s.lost[2] / n - f0;
        let g3 = (s.low[2] - s.low[1]) / (s.times[3] - s.times[2]) + s.lost[3] / n - f0;
        let mut w = (8.0 * dt / t).min(1.0);
        if dt < t / 4.0 {
            w = w.min(0.5);
        }
        let (s2, s3) = match self.slopes {
            Some((wide, s2, s3)) if wide == s.wide => (s2 + w * (g2 - s2), s3 + w * (g3 - s3)),
            _ => (g2, g3),
        };
        self.slopes = Some((s.wide, s2, s3));

        let e3 = f64::max(0.03, 100e-9 / (s.times[3] - s.times[2]));
        let congested = self.above(s3, e3, 0.1);
        let mut all = self.k_of_all.unwrap_or(self.k);
        if congested {
            let line = self.above(s2, 0.005, 0.1);
            let v = if line { (s3 - s2) / (rs * (x[3] - x[2])) } else { s3 / (rs * (x[3] - x[2])) };
            let some = self.above(v * rs, 0.0, 1.0);
            let v = v.clamp(0.0, 1.0 / rs);
            if some && (line || v > self.k) {
                self.k += w / 4.0 * (v - self.k);
            }
            if line || v > all {
                all += w / 4.0 * (v - all);
            }
        }
        let all = all.clamp(0.001 / rs, 1.0 / rs);
        self.k_of_all = Some(all);
        self.k = self.k.clamp(0.001 / rs, 1.0 / rs);
        let share = rs * self.k;

        let short = self.above(4.0 * p / rs, self.queue, 4.0 * p / rs);
        let ceiling = !congested && short;
        let alpha = if ceiling {
            x[3]
        } else if self.above(x[3] - s3 / share, x[2], 1.0) {
            x[3].min(x[3] - s3 / share)
        } else {
            x[2].min(x[2] - s2 / share).max(0.5)
        };
        let t = self.rtt_min;
        let gain = self.gain(now, t, share, ceiling);
        let empty = ceiling && self.above(t / 128.0, self.queue, t);
        let target = rs * (1.0 + gain * ((1.0 - m) * alpha - 1.0))
            + if empty { small_adds(rs, rs * all, 4.0 * p / t) } else { 0.0 };
        let mut target = self.hold_back(target, rs);
        if empty && part == 0.0 && !self.policer.suspects() && self.reads >= 8 && self.above(dt, t, t) {
            target = target.max(self.rate); // it began before the answer to the stream before it
        }
        let target = target.min(self.policer.most());
        let target = self.doubt_base(now, s, alpha, 2.0 * p / rs + 1e-6, target);
        self.rate += (4.0 * dt / self.rtt_min).min(1.0) * (target - self.rate);
        self.rate = self.rate.max(self.floor());
    }

    fn police(&mut self, now: f64, s: &Stream) {
        let flow = Flow { rate: self.rate, rtt: self.rtt_min, queue: self.queue, packet: self.packet };
        let sent = Sent { from: s.times[0], until: s.end, packets: s.packets as f64, lost: s.lost.iter().sum() };
        if let Some(rate) = self.policer.heard(now, &sent, &flow) {
            self.rate = rate.max(self.floor());
        }
        self.too_close |= self.policer.too_close;
    }

    /// A queue that stands still although there is room to drain it, and, of flows of 8 packets per round trip that have not both 64 and
    /// 5/8 of the capacity, also while the flow sends three quarters, is a longer path.
    fn doubt_base(&mut self, now: f64, s: &Stream, alpha: f64, tolerated: f64, target: f64) -> f64 {
        if !self.above(self.queue, tolerated, tolerated)
            || (self.trial.is_none() && !self.above(alpha, 1.03, 1.0))
            || self.above((s.delay - self.doubt.1).abs(), tolerated, tolerated)
        {
            self.doubt = (now, s.delay, 0);
            self.end_trial();
            return target;
        }
        self.doubt.2 += 1;
        let window = self.rate * (self.rtt_min + self.queue) / self.packet;
        let longer = if self.trial.is_some() {
            let rounds = 4.0 + (256.0 / window.floor().max(8.0)).floor();
            !self.above(rounds * self.rtt_min, now - self.doubt.0, self.rtt_min)
        } else {
            if self.doubt.2 < 9 || self.above(8.0 * self.rtt_min, now - self.doubt.0, self.rtt_min) {
                return target;
            }
            self.doubt.0 = now;
            self.trial = Some(0.75 * self.rate);
            self.above(self.queue, self.rtt_min / 2.0, self.rtt_min)
                || self.above(8.0, window, 8.0)
                || (!self.above(64.0, window, 64.0) && !self.above(0.625, self.rate * self.k, 0.625))
        };
        if !longer {
            return self.trial.unwrap_or(target);
        }
        self.delay_min = s.delay;
        self.rtt_min = s.rtt;
        self.queue = 0.0;
        self.doubt.2 = 0;
        self.end_trial();
        target
    }

    fn end_trial(&mut self) {
        if let Some(rate) = self.trial.take() {
            self.rate = self.rate.max(rate / 0.75);
        }
    }

    fn gain(&mut self, now: f64, t: f64, share: f64, ceiling: bool) -> f64 {
        let gain = f64::min(0.7, share + 0.15);
        if !ceiling {
            self.ceiling = None;
            self.wide = false;
            return gain;
        }
        let (since, mut step, mut bold) = self.ceiling.unwrap_or((now, now, 0.0));
        if !self.above(t, now - step, t) {
            bold = f64::min(1.0, gain.max(2.0 * bold));
            step = now;
        }
        self.ceiling = Some((since, step, bold));
        self.wide = self.above(now - since, t / 4.0, t) && !self.policer.holds();
        gain.max(bold)
    }

    /// The integer law counts whole packets: two, and not three.
    fn at_floor(&mut self) -> bool {
        let window = self.rate * self.rtt_min / self.packet;
        self.above(3.0, window, 1.0)
    }

    /// The queue that a flow makes by itself.
    fn tolerated(&mut self, rs: f64) -> f64 {
        let excused = self.queue < 1e-6 || self.at_floor() || !self.above(self.loss, 0.005, 0.05);
        if excused { 2.0 * self.packet / rs + 1e-6 } else { 1e-6 }
    }

    fn hold_back(&mut self, mut target: f64, rs: f64) -> f64 {
        let (t, m) = (self.rtt_min, 0.03);
        let tolerated = self.tolerated(rs);
        let stands = self.above(self.queue, tolerated, tolerated);
        let queue = (self.queue - tolerated).max(0.0);
        if stands && self.above(self.growth, 0.02, 0.1) {
            target = target.min((1.0 - m) * rs / (1.0 + self.growth));
        }
        target *= 1.0 - (queue / (1.5 * t)).min(0.07);
        if stands && self.above(self.loss, 0.005, 0.05) {
            target = target.min((1.0 - m) * (1.0 - self.loss) * rs);
        }
        if self.above(self.loss, 0.08, 0.1) {
            target = target.min((1.0 - self.loss) * rs);
        }
        target
    }
}
