//! The laws without a network: a window that grows continuously, losses after a number of packets, a constant round
//! trip, and nothing else. Windows are in packets, times in seconds.
//!
//! The published response functions assume that the number of packets between two losses is always `1/p`. The
//! simulator's losses are independent, so these numbers have an exponential distribution. That gives Reno a few percent
//! more, and CUBIC more than that. A simulation must meet the mean over this distribution. The law with equal numbers
//! must meet the published formula, and that is the check on this file.

/// Packets between one loss and the next.
#[derive(Clone, Copy)]
pub enum Losses {
    /// Always `1/p`.
    Equal,
    /// Independent: exponential with mean `1/p`.
    Independent,
}

/// How a window grows, from the window before the last loss and the time since then.
pub trait Law {
    /// The window after `t`.
    fn window(&self, prior: f64, t: f64, rtt: f64) -> f64;
}

/// One packet per round trip.
pub struct Reno;

impl Law for Reno {
    fn window(&self, prior: f64, t: f64, rtt: f64) -> f64 {
        prior / 2.0 + t / rtt
    }
}

/// RFC 9438, equations 1, 2 and 4, without fast convergence.
pub struct Cubic {
    /// Never slower than Reno would be (section 4.3).
    pub reno_friendly: bool,
}

impl Law for Cubic {
    fn window(&self, prior: f64, t: f64, rtt: f64) -> f64 {
        let k = (prior * 0.3 / 0.4).cbrt();
        let cubic = 0.4 * (t - k).powi(3) + prior;
        if !self.reno_friendly {
            return cubic;
        }
        let alpha = 3.0 * 0.3 / 1.7;
        let until_prior = 0.3 * prior / alpha;
        let rounds = t / rtt;
        let reno = 0.7 * prior + alpha * rounds.min(until_prior) + (rounds - until_prior).max(0.0);
        cubic.max(reno)
    }
}

/// Mean window over time, after `cycles` losses.
pub fn mean_window(law: &impl Law, p: f64, rtt: f64, losses: Losses, cycles: usize) -> f64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let (mut prior, mut packets, mut time) = (1.0 / p.sqrt(), 0.0, 0.0);
    for cycle in 0..cycles {
        let until_loss = match losses {
            Losses::Equal => 1.0 / p,
            Losses::Independent => -uniform(&mut state).ln() / p,
        };
        let (length, sent, last) = one_cycle(law, prior, rtt, until_loss);
        prior = last;
        if cycle >= cycles / 10 {
            packets += sent;
            time += length;
        }
    }
    packets / time * rtt
}

/// Returns the length of a cycle in which `until_loss` packets are sent, the packets, and its last window. It uses the
/// midpoint rule, in steps that are a small part of a round trip or of the cycle.
fn one_cycle(law: &impl Law, prior: f64, rtt: f64, until_loss: f64) -> (f64, f64, f64) {
    let step = rtt / 4.0;
    let (mut t, mut sent) = (0.0, 0.0);
    loop {
        let window = law.window(prior, t + step / 2.0, rtt);
        let more = window * step / rtt;
        if sent + more >= until_loss {
            let part = (until_loss - sent) / more;
            t += step * part;
            return (t, until_loss, law.window(prior, t, rtt));
        }
        sent += more;
        t += step;
    }
}

/// Uniform in (0, 1): Knuth's linear congruential generator MMIX, upper 53 bits.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}
