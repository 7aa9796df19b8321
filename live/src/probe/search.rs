//! Chooses the next stream, and combines the streams' results.
//!
//! 1. *Climb.* Streams whose rates rise by half find the range: doubled while no rate is too high, the geometric middle
//!    of what is known when one was.
//! 2. *Focus.* Such streams around the last estimates, until the 95 % interval of their mean is narrow enough.
//! 3. *Verify.* Longer streams of one rate, 10 % below the mean and 10 % above: those below must pass without growing delays,
//!    those above must not, by a majority of two streams. These two rates are the reported interval.
//!    If that fails, the next rates 10 % below or above are tried, three times. A longer stream that is slowed far below the
//!    rate that the short ones passed shows a token bucket, or changing traffic: then there is no estimate.
//!    There is none, either, if the streams above show other traffic that changes much while they last: they fill the link,
//!    so parts of them arrive faster and slower as it does.
//! 4. *Halve.* Such streams at the mean itself, together with those above it, show where slowing begins
//!    ([`Slowing`]). If that is in the lower quarter of the interval, the interval ends at the mean, and the value is its middle:
//!    bursts that a path passes unchanged make short streams overestimate. If it is below the interval, so little
//!    of the link is free that those below were slowed, and passed: verification repeats 10 % lower, or there is no estimate.
//!
//! `combined` reads the rising streams, `receive-rate` the constant ones: two methods confirm every estimate.
//!
//! Source: ours; rising streams and their reading are Rapid's (Q. Yin, "TCP RAPID: from theory to practice", section
//! 5.4), comparing the rates of a constant stream at both ends is section 2.2.

use super::slowing::Slowing;
use crate::stream::LONGEST;
use experiment::results::Interval;
use packetscale_models::estimation::{Abstain, Estimate, Method, MethodError, Stream};
use packetscale_models::units::{Bytes, Rate, Ratio};

/// A stream to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Packets.
    pub packets: u32,
    /// The first rate.
    pub lowest: Rate,
    /// The last.
    pub highest: Rate,
    /// Number of rates.
    pub levels: u16,
}

impl Plan {
    /// Packets of a stream with rising rates, and its rates (`docs/estimation.md`).
    const PACKETS: u32 = 64;
    const LEVELS: u16 = 4;
    /// Packets of a stream of one rate.
    const LONG: u32 = 500;

    /// A rising stream around a rate: the highest rate is 1.5 times the lowest.
    fn rising(around: Rate) -> Plan {
        let (lowest, highest) = (around.scale(Ratio::of(100, 122)), around.scale(Ratio::of(150, 122)));
        Plan { packets: Plan::PACKETS, lowest, highest, levels: Plan::LEVELS }
    }

    /// A constant stream; shorter at low rates, to limit its duration.
    fn constant(rate: Rate, size: Bytes) -> Plan {
        let most = rate.bps() as f64 * LONGEST.nanos() as f64 * 1e-9 / (size.get() as f64 * 8.0);
        Plan { packets: Plan::LONG.min(most as u32), lowest: rate, highest: rate, levels: 1 }
    }
}

/// Result of a stream.
#[derive(Clone, Debug)]
pub enum Read {
    /// Its gaps, as made and as received.
    Stream(Stream),
    /// The gaps could not be made.
    NotMade,
    /// A clock stepped during the stream.
    Stepped,
    /// The kernel did not report all its times.
    NoTimes,
}

/// The estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The available bandwidth.
    pub value: Rate,
    /// Streams of this rate passed.
    pub low: Rate,
    /// Streams of this rate did not.
    pub high: Rate,
}

/// Rates are reported in Mbit/s.
const BPS_PER_MBPS: f64 = 1e6;

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsure {
    /// The gaps could not be made.
    #[error("this machine could not create the gaps of {0} of {1} streams")]
    NotMade(u32, u32),
    /// A clock stepped.
    #[error("a clock stepped in {0} of {1} streams")]
    Stepped(u32, u32),
    /// The kernel did not report all times.
    #[error("the kernel did not report all times of {0} of {1} streams")]
    NoTimes(u32, u32),
    /// Streams could not be read; the reason of the last.
    #[error("too few streams could be read; the last: {0}")]
    Unread(Abstain),
    /// The whole link is available up to the fastest permitted stream.
    #[error(
        "more than {:.2} Mbit/s are available: the fastest streams that --rate, this machine and the server allow were not slowed",
        *.0 as f64 / BPS_PER_MBPS
    )]
    Beyond(u64),
    /// The available bandwidth is below the slowest stream.
    #[error("less than {:.2} Mbit/s are available", *.0 as f64 / BPS_PER_MBPS)]
    Below(u64),
    /// Longer streams were slowed at a rate that shorter ones passed.
    #[error("long streams are slowed at a rate at which short ones are not: a token bucket, or changing traffic")]
    Bucket,
    /// Longer streams passed at a rate at which shorter ones were slowed.
    #[error("short streams are slowed at a rate at which long ones are not: changing traffic")]
    Disagree,
    /// Parts of the streams that fill the link arrive at very different rates.
    #[error("other traffic has bursts as long as a stream: the available bandwidth changes too much for an estimate")]
    Unsteady,
    /// The budget was used up first.
    #[error("the streams differ too much for an estimate within {0} bytes")]
    Budget(u64),
    /// Streams at the value and above it were slowed as if less were available than what streams below it passed.
    #[error("streams are slowed too little: the available share of the link is too small to resolve 10 %")]
    Little,
}

/// Reads a stream of one rate. At 10 % above the available bandwidth, a link of which a half is free slows it by 4.8 %; one of
/// which a quarter is free by 2.4 %, which is not detected: then there is no estimate. Bursts of other traffic move its ends by
/// some packets of 500.
const CONSTANT: &str = "receive-rate(tolerance=0.025)";
/// The half-width of the interval of the mean at which focusing ends, over the mean.
const NARROW: f64 = 0.05;
/// The fewest readings for a mean.
const FEWEST: usize = 8;
/// Distance of the verifying rates from the mean, in per cent.
const APART: u64 = 10;
/// Lead with which one side of the vote wins (Wald's sequential test). If one stream in five is wrong, 6 % of such votes
/// are, as with three of five; but most need fewer streams.
const AHEAD: u32 = 2;
/// Maximum spread of the parts of a stream above: their standard deviation over their mean. Poisson traffic of half the link
/// spreads them by 0.10.
const STEADY: f64 = 0.12;
/// Slowing of streams at the mean, as shares of that 10 % above it ([`Slowing`]), if 95 and 90 % of the mean are available:
/// 0.05 / 0.15 and 0.1 / 0.2.
const LOWER: f64 = 1.0 / 3.0;
const BELOW: f64 = 1.0 / 2.0;
/// Number of streams that vote at the mean itself.
const MIDDLE: u32 = 3;
/// Maximum number of moves to the next verifying rates.
const MOVES: u32 = 3;
/// Lowest rate of the slowest stream: 64 packets of 1500 bytes take less than 2 s.
pub(super) const SLOWEST: Rate = Rate::from_bps(600_000);
/// Part of a stream's lowest rate below which its arrival rate shows that it was too fast at each rate.
const CRUSHED: Ratio = Ratio::of(95, 100);
/// The rate of the first stream.
const FIRST: Rate = Rate::from_mbps(8);
/// Number of unusable streams that ends the search, if they are in a row or more than half.
const USELESS: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Climb,
    Focus,
    /// Streams of one rate; votes for "too high" and against.
    Prove {
        side: Side,
        high: u32,
        passed: u32,
    },
}

/// Position of a verifying rate: below the mean, above it, or at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Below,
    Above,
    Middle,
}

/// The state of a search.
pub struct Search {
    rising: Method,
    constant: Method,
    phase: Phase,
    around: Rate,
    low: Option<Rate>,
    high: Option<Rate>,
    values: Vec<f64>,
    fastest: Rate,
    budget: Bytes,
    sent: Bytes,
    size: Bytes,
    streams: u32,
    not_made: u32,
    stepped: u32,
    no_times: u32,
    unread: u32,
    /// Consecutive unusable streams, up to the last one.
    in_a_row: u32,
    moves: u32,
    /// Slowing of the streams above, and of those at the mean.
    above: Slowing,
    middle: Slowing,
    /// Slowing began below an interval that streams had verified: report a further one only if it is halved, too.
    needs_halving: bool,
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send this.
    Send(Plan),
    /// The search ends, with an estimate or without.
    End(Result<Found, Unsure>),
}

impl Search {
    /// Starts a search. IP packets have this size, streams this highest rate, and all together at most `budget` bytes.
    ///
    /// # Errors
    /// Never, while both methods exist.
    pub fn new(size: Bytes, fastest: Rate, budget: Bytes) -> Result<Search, MethodError> {
        Ok(Search {
            rising: Method::DEFAULT.parse()?,
            constant: CONSTANT.parse()?,
            phase: Phase::Climb,
            around: FIRST.min(fastest.scale(Ratio::of(122, 150))),
            low: None,
            high: None,
            values: Vec::new(),
            fastest,
            budget,
            sent: Bytes::ZERO,
            size,
            streams: 0,
            not_made: 0,
            stepped: 0,
            no_times: 0,
            unread: 0,
            in_a_row: 0,
            moves: 0,
            above: Slowing::default(),
            middle: Slowing::default(),
            needs_halving: false,
        })
    }

    /// The first stream.
    pub fn first(&mut self) -> Next {
        self.go(Plan::rising(self.around))
    }

    /// Changes the packet size; the current stream is repeated.
    pub fn resized(&mut self, size: Bytes, plan: Plan) -> Next {
        self.size = size;
        self.go(plan)
    }

    /// Number of streams sent, and bytes of their IP packets.
    pub fn sent(&self) -> (u32, Bytes) {
        (self.streams, self.sent)
    }

    fn go(&mut self, plan: Plan) -> Next {
        let bytes = Bytes::new(self.size.get() * u64::from(plan.packets));
        if self.sent + bytes > self.budget {
            return match self.phase {
                // The interval stays verified; it is only not halved.
                Phase::Prove { side: Side::Middle, .. } if !self.needs_halving => self.halve(false),
                _ => Next::End(Err(Unsure::Budget(self.budget.get()))),
            };
        }
        self.sent += bytes;
        self.streams += 1;
        Next::Send(plan)
    }

    fn useless(&self, count: u32) -> bool {
        self.in_a_row >= USELESS || (count >= USELESS && 2 * count > self.streams)
    }

    /// Takes the result of a stream; returns the next step.
    pub fn report(&mut self, plan: Plan, read: &Read) -> Next {
        let stream = match read {
            Read::NotMade => {
                self.not_made += 1;
                // The fastest streams are the hardest to make. Lower results remain valid.
                if self.phase == Phase::Climb && self.not_made >= USELESS && self.low.is_some() {
                    let low = self.low.map_or(0, Rate::bps);
                    return Next::End(Err(Unsure::Beyond(low)));
                }
                return self.unusable(plan, self.not_made, Unsure::NotMade);
            }
            Read::Stepped => {
                self.stepped += 1;
                return self.unusable(plan, self.stepped, Unsure::Stepped);
            }
            Read::NoTimes => {
                self.no_times += 1;
                return self.unusable(plan, self.no_times, Unsure::NoTimes);
            }
            Read::Stream(stream) => stream,
        };
        self.in_a_row = 0;
        match self.phase {
            Phase::Climb => self.climb(plan, stream),
            Phase::Focus => self.focus(plan, stream),
            Phase::Prove { side, high, passed } => self.prove(plan, stream, side, (high, passed)),
        }
    }

    /// Another stream is unusable, as `count` streams so far, for the same reason: repeats it, or ends the search.
    fn unusable(&mut self, plan: Plan, count: u32, reason: fn(u32, u32) -> Unsure) -> Next {
        self.in_a_row += 1;
        match self.useless(count) {
            true => Next::End(Err(reason(count, self.streams))),
            false => self.go(plan),
        }
    }

    /// An estimate. A stream with much loss was too fast at every rate; so was one that arrived slower than its lowest rate,
    /// since a stream above the available bandwidth arrives faster than that.
    fn estimate(&self, plan: &Plan, stream: &Stream) -> Result<Estimate, Abstain> {
        let crushed = stream.receive_rate() < plan.lowest.scale(CRUSHED);
        if crushed || stream.lost * 10 > u64::from(plan.packets) {
            return Ok(Estimate::at_most(plan.lowest));
        }
        self.rising.estimate(stream.clone())
    }

    fn refused(&mut self, plan: Plan, reason: Abstain) -> Next {
        self.unread += 1;
        match self.useless(self.unread) {
            true => Next::End(Err(Unsure::Unread(reason))),
            false => self.go(plan),
        }
    }

    fn climb(&mut self, plan: Plan, stream: &Stream) -> Next {
        let estimate = match self.estimate(&plan, stream) {
            Ok(estimate) => estimate,
            Err(reason) => return self.refused(plan, reason),
        };
        // A value at an end of the range only bounds the truth.
        if estimate.value > plan.lowest.scale(Ratio::of(105, 100))
            && estimate.value < plan.highest.scale(Ratio::of(95, 100))
        {
            self.phase = Phase::Focus;
            self.around = estimate.value;
            return self.focus(plan, stream);
        }
        if estimate.value >= self.around {
            self.low = self.low.max(Some(plan.lowest));
        } else {
            self.high = Some(self.high.map_or(plan.highest, |high| high.min(plan.highest)));
        }
        self.around = match (self.low, self.high) {
            (_, None) => self.around + self.around,
            (None, Some(_)) => self.around.scale(Ratio::of(1, 2)),
            (Some(low), Some(high)) if low < high => middle(low, high),
            // The two contradict each other: the traffic changes. The best guess is here.
            (Some(low), Some(_)) => {
                (self.low, self.high) = (None, None);
                self.phase = Phase::Focus;
                low
            }
        };
        self.within_reach()
    }

    /// The next rising stream, if one at that rate is permitted.
    fn within_reach(&mut self) -> Next {
        let plan = Plan::rising(self.around);
        let top = Plan::rising(self.fastest.scale(Ratio::of(122, 150)));
        if plan.highest > self.fastest {
            return match self.low {
                Some(low) if low >= top.lowest => Next::End(Err(Unsure::Beyond(low.bps()))),
                _ => {
                    self.around = self.fastest.scale(Ratio::of(122, 150));
                    self.go(top)
                }
            };
        }
        match plan.lowest < SLOWEST {
            true => Next::End(Err(Unsure::Below(plan.highest.bps()))),
            false => self.go(plan),
        }
    }

    fn focus(&mut self, plan: Plan, stream: &Stream) -> Next {
        match self.estimate(&plan, stream) {
            Ok(estimate) => self.values.push(estimate.value.bps() as f64),
            Err(reason) => return self.refused(plan, reason),
        }
        let Some(Interval { mean, half_width }) = Interval::of(&self.values) else { return self.go(plan) };
        self.around = Rate::from_bps(mean as u64);
        let narrow = half_width.is_some_and(|half| half <= NARROW * mean);
        if self.values.len() >= FEWEST && narrow {
            return self.vote(Side::Below);
        }
        // The first values may come from streams outside the range: only the last ones, twice the minimum, count.
        if self.values.len() > 2 * FEWEST {
            self.values.remove(0);
        }
        self.within_reach()
    }

    fn vote(&mut self, side: Side) -> Next {
        self.phase = Phase::Prove { side, high: 0, passed: 0 };
        if let Some(slowing) = self.slowing(side) {
            *slowing = Slowing::default();
        }
        self.go(Plan::constant(self.proving(side), self.size))
    }

    /// Slowing of this side's streams, if it is measured.
    fn slowing(&mut self, side: Side) -> Option<&mut Slowing> {
        match side {
            Side::Below => None,
            Side::Middle => Some(&mut self.middle),
            Side::Above => Some(&mut self.above),
        }
    }

    fn proving(&self, side: Side) -> Rate {
        let percent = match side {
            Side::Below => 100 - APART,
            Side::Middle => 100,
            Side::Above => 100 + APART,
        };
        self.around.scale(Ratio::of(percent, 100)).min(self.fastest)
    }

    fn prove(&mut self, plan: Plan, stream: &Stream, side: Side, (mut high, mut passed): (u32, u32)) -> Next {
        let lost_much = stream.lost * 10 > u64::from(plan.packets);
        // Both times are those of the packets that arrived, so a stream with losses can show slowing, but not
        // that it passed.
        let arrived = Stream { lost: 0, ..stream.clone() };
        match self.constant.estimate(arrived) {
            _ if lost_much => high += 1,
            Ok(Estimate { high: Some(_), .. }) => high += 1,
            Ok(_) if stream.lost > 0 => return self.refused(plan, Abstain::Lost { packets: stream.lost }),
            Ok(_) => passed += 1,
            Err(Abstain::Ambiguous) => {}
            Err(reason) => return self.refused(plan, reason),
        }
        if let Some(slowing) = self.slowing(side) {
            slowing.note(stream);
        }
        self.phase = Phase::Prove { side, high, passed };
        let (is_high, is_passed) = match side {
            Side::Middle => (high > MIDDLE / 2, passed > MIDDLE / 2),
            Side::Below | Side::Above => (high >= passed + AHEAD, passed >= high + AHEAD),
        };
        match (side, is_high, is_passed) {
            (Side::Below, _, true) => self.vote(Side::Above),
            (Side::Above, true, _) if self.above.spread() > STEADY => Next::End(Err(Unsure::Unsteady)),
            (Side::Above, true, _) => self.vote(Side::Middle),
            (Side::Below, true, _) => self.again(Unsure::Bucket, Side::Below),
            (Side::Above, _, true) => self.again(Unsure::Disagree, Side::Above),
            (Side::Middle, ..) if is_high || is_passed => self.halve(is_high),
            _ => self.go(plan),
        }
    }

    /// Which half of the interval contains the available bandwidth, if either does.
    fn halve(&mut self, is_slowed: bool) -> Next {
        if self.middle.exceeds(BELOW, &self.above) {
            self.needs_halving = true;
            return self.again(Unsure::Little, Side::Below);
        }
        self.found(if is_slowed || self.middle.exceeds(LOWER, &self.above) { Side::Middle } else { Side::Above })
    }

    /// The result when streams below pass, and streams of this side are slowed.
    fn found(&self, slowed: Side) -> Next {
        let (low, high) = (self.proving(Side::Below), self.proving(slowed));
        let value = Rate::from_bps((low.bps() + high.bps()) / 2);
        Next::End(Ok(Found { value, low, high }))
    }

    /// Verification failed: tries the next rates below or above, a few times. The value is then between the verified rates.
    fn again(&mut self, reason: Unsure, side: Side) -> Next {
        self.moves += 1;
        if self.moves > MOVES {
            return Next::End(Err(reason));
        }
        self.around = self.proving(side);
        // A stream that passed above also votes for passing below.
        self.vote(side)
    }
}

/// The geometric middle of two rates.
fn middle(low: Rate, high: Rate) -> Rate {
    Rate::from_bps((low.bps() as f64 * high.bps() as f64).sqrt() as u64)
}
