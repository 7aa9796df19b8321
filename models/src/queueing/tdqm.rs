//! TDQM marks packets with two bits: one when there is too much traffic, the other when it is too bursty.
//!
//! ```text
//! rho = busy time of the link in a window / the window          averaged per window
//! eta = integral of V over a busy period of length b / (b^2/2)  averaged per value
//! V   = work of the packets that wait, as a time on the link
//! ```
//!
//! In a busy period with `n` equal packets, `eta` is `1 - 1/n` when all arrive at once and 0 when each arrives just in
//! time. Short busy periods are joined, without the rests between them, until they exceed a shortest length. At every
//! arrival each average may mark the packet, independently and by its own ramp: `rho` with congestion experienced,
//! `eta` with the burstiness bit. Thresholds of 1 and 1 turn a marker off. [`meter`] does the bookkeeping.
//!
//! Source: Q. Li and D. L. Mills, "Control Architecture for Tuning Intensity and Burstiness of Traffic", section II.
//!
//! Where the paper leaves a choice, this file does the following:
//! 1. `rho` is a share of time, at most 1, so it can reach a maximum of 1.0: a packet is marked for sure at the
//!    maximum, not only above it. With `load = "offered"` it is the work that arrived in the window, which has no
//!    bound.
//! 2. Windows follow each other without overlap, and the first begins with the run. A window counts when it has ended.
//! 3. The paper gives no value for the weights of the averages or for `max_p`. RED's spreading is off by default.
//! 4. `V`, "the queueing delay", leaves out the packet in service. With `delay = "unfinished"` that packet counts, and
//!    every `eta` is larger by `1/n`. The paper's limits, towards 1 and towards 0, fit both readings; its thresholds
//!    fit only the first. In the other, lone packets joined beyond three packet times have `eta` = 1/4, more than the
//!    paper's maximum of 0.2 however little is sent, and senders that obey starve.
//! 5. A long busy period that ends while short ones are being joined gives its own `eta`; the short ones remain.
//! 6. While a busy period lasts, its `eta` is unknown, and the average is stale if the link is overloaded. With
//!    `provisional` (only for unfinished work) the value so far counts at the end of every window.
//! 7. A packet that finds a full buffer is dropped, and does not count in `rho` and `eta`.
//! 8. Where the `rho` marker chooses packets that are not ECN-capable, they are dropped (RFC 3168). The `eta`
//!    marker passes them over: burstiness is no reason to lose a packet.
//! 9. A busy period continues if a packet arrives at the very instant at which the link would have become idle.

#[cfg(test)]
mod law;
mod meter;

use crate::queueing::average::Average;
use crate::queueing::contract::{DropReason, Limit, Packet, Queue, Readings, Setup, Verdict};
use crate::queueing::fifo::Fifo;
use crate::queueing::ramp::{Choice, Ramp};
use crate::settings::{
    Derived, OneOf, PROPER, Parameter, Parameters, SettingError, Settings, Value, above_zero, any, check_names,
};
use crate::units::{Bytes, Packets, Random, Ratio, Span, Time};
use meter::{Delay, Known, Meter};

const RHO_MIN: Parameter<Ratio> =
    Parameter::new("rho_min", Ratio::of(9, 10), any(), "average utilisation at which marking begins");
const RHO_MAX: Parameter<Ratio> = Parameter::new(
    "rho_max",
    Ratio::ONE,
    any(),
    "average utilisation from which all packets are marked; min and max 1: never",
);
const ETA_MIN: Parameter<Ratio> =
    Parameter::new("eta_min", Ratio::of(1, 10), any(), "average burstiness at which marking begins");
const ETA_MAX: Parameter<Ratio> = Parameter::new(
    "eta_max",
    Ratio::of(2, 10),
    any(),
    "average burstiness from which all packets are marked; min and max 1: never",
);
const MAX_P: Parameter<Ratio> = Parameter::new("max_p", Ratio::of(1, 10), PROPER, "probability just below a maximum");
const WINDOW: Derived<Span> =
    Derived::new("window", "half the time to drain the buffer", above_zero(), "window of the utilisation");
const SHORTEST: Parameter<Ratio> = Parameter::new(
    "shortest",
    Ratio::of(25, 1000),
    Ratio::ZERO..=Ratio::ONE,
    "join busy periods up to this share of the window",
);
const RHO_WEIGHT: Parameter<Ratio> = Parameter::new(
    "rho_weight",
    Ratio::of(1, 4),
    Ratio::NEXT..=Ratio::ONE,
    "weight of a window in the average utilisation",
);
const ETA_WEIGHT: Parameter<Ratio> = Parameter::new(
    "eta_weight",
    Ratio::of(1, 10),
    Ratio::NEXT..=Ratio::ONE,
    "weight of a value in the average burstiness",
);
const SPREAD: Parameter<bool> = Parameter::switch("spread", false, "space marks evenly over packets, as RED does");
const LOAD: OneOf = OneOf::new("load", &["busy", "offered"], "utilisation: share of time busy, or work that arrived");
const DELAY: OneOf =
    OneOf::new("delay", &["waiting", "unfinished"], "burstiness of the waiting packets, or with the one in service");
const PROVISIONAL: Parameter<bool> = Parameter::switch(
    "provisional",
    false,
    "count an unfinished busy period at each window's end (delay = unfinished only)",
);

/// The settings.
pub const PARAMETERS: Parameters = &[
    &RHO_MIN,
    &RHO_MAX,
    &ETA_MIN,
    &ETA_MAX,
    &MAX_P,
    &WINDOW,
    &SHORTEST,
    &RHO_WEIGHT,
    &ETA_WEIGHT,
    &SPREAD,
    &LOAD,
    &DELAY,
    &PROVISIONAL,
];

/// The discipline; the head of this file explains it.
#[derive(Clone, Debug)]
pub struct Tdqm<P> {
    fifo: Fifo<P>,
    meter: Meter,
    rho: Average,
    eta: Average,
    /// The sum and the number of all values of eta.
    etas: (f64, u64),
    /// `None`: the marker is turned off.
    rho_ramp: Option<Ramp>,
    eta_ramp: Option<Ramp>,
    offered: bool,
    provisional: bool,
    random: Random,
}

impl<P> Tdqm<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Tdqm<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        let window = match WINDOW.read(settings)? {
            Some(window) => window,
            None => half_drainage(setup)?,
        };
        let shortest = SHORTEST.read(settings)?;
        let waiting = DELAY.read(settings)? == "waiting";
        let delay = if waiting { Delay::Waiting } else { Delay::Unfinished };
        let provisional = PROVISIONAL.read(settings)?;
        if provisional && waiting {
            return Err(PROVISIONAL.refuse("false beside delay = \"waiting\""));
        }
        Ok(Tdqm {
            fifo: Fifo::new(setup.limit),
            meter: Meter::new(setup.rate, window, window.scale(shortest), delay),
            rho: Average::new(RHO_WEIGHT.read(settings)?.as_f64()),
            eta: Average::new(ETA_WEIGHT.read(settings)?.as_f64()),
            etas: (0.0, 0),
            rho_ramp: ramp(settings, &RHO_MIN, &RHO_MAX)?,
            eta_ramp: ramp(settings, &ETA_MIN, &ETA_MAX)?,
            offered: LOAD.read(settings)? == "offered",
            provisional,
            random: Random::new(setup.seed),
        })
    }

    /// Brings both averages up to date.
    fn learn(&mut self, now: Time) {
        while let Some(known) = self.meter.next(now) {
            match known {
                Known::Burstiness(eta) => self.take_eta(eta),
                Known::IdleWindows(count) => self.rho.take_zeros(count),
                Known::Window { end, busy, offered } => {
                    self.rho.take(if self.offered { offered } else { busy });
                    if self.provisional
                        && let Some(eta) = self.meter.so_far(end)
                    {
                        self.take_eta(eta);
                    }
                }
            }
        }
    }

    fn take_eta(&mut self, eta: f64) {
        self.eta.take(eta);
        self.etas = (self.etas.0 + eta, self.etas.1 + 1);
    }
}

/// The window's default, which the paper's experiment uses.
fn half_drainage(setup: &Setup) -> Result<Span, SettingError> {
    let content = match setup.limit {
        Limit::Packets(packets) => Some(setup.packet.get().saturating_mul(packets.get())),
        Limit::Bytes(bytes) => Some(bytes.get()),
        Limit::Unlimited => None,
    };
    let half = content.map(|bytes| setup.rate.time_for(Bytes::new(bytes)) / 2).filter(|half| *half > Span::ZERO);
    half.ok_or_else(|| WINDOW.refuse("a time, where the buffer has no limit"))
}

fn ramp(settings: &Settings, min: &Parameter<Ratio>, max: &Parameter<Ratio>) -> Result<Option<Ramp>, SettingError> {
    let min = min.read(settings)?;
    let max = max.read_from(settings, min)?;
    let max_p = MAX_P.read(settings)?.as_f64();
    let spread = SPREAD.read(settings)?;
    let off = min == Ratio::ONE && max == Ratio::ONE;
    let ramp = Ramp { min: min.as_f64(), max: max.as_f64(), max_p, gentle: false, spread, count: None };
    Ok((!off).then_some(ramp))
}

impl<P> Queue<P> for Tdqm<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>) -> Verdict {
        self.learn(now);
        let random = &mut self.random;
        let mut chosen = |ramp: &mut Option<Ramp>, average: f64| {
            ramp.as_mut().is_some_and(|ramp| ramp.choose(average, random) != Choice::Spared)
        };
        let congestion = chosen(&mut self.rho_ramp, self.rho.value);
        let burstiness = chosen(&mut self.eta_ramp, self.eta.value);
        if congestion && !packet.ecn.is_capable() {
            return Verdict::Dropped(DropReason::Early);
        }
        packet.marks.congestion |= congestion;
        packet.marks.burstiness |= burstiness && packet.ecn.is_capable();
        let size = packet.size;
        let verdict = self.fifo.enqueue(now, packet);
        if verdict == Verdict::Queued {
            self.meter.arrival(now, size);
        }
        verdict
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        self.fifo.dequeue(now)
    }

    fn departed(&mut self, now: Time, size: Bytes) {
        self.fifo.departed(now, size);
    }

    fn length(&self) -> (Packets, Bytes) {
        self.fifo.length()
    }

    fn readings(&self) -> Readings {
        let (sum, count) = self.etas;
        Readings {
            utilisation: Some(self.rho.value),
            burstiness: Some(self.eta.value),
            burstiness_mean: (count > 0).then(|| (sum / count as f64, count)),
            ..Readings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Setting;
    use crate::units::{Ecn, Marks, Rate};

    /// 8 Mbit/s: a packet of 1000 bytes takes 1 ms. A buffer of 40 packets: windows of 20 ms, busy periods beyond 0.5 ms.
    fn tdqm(settings: &[(&str, Setting)]) -> Tdqm<u32> {
        let limit = Limit::Packets(Packets::new(40));
        let setup = Setup { rate: Rate::from_mbps(8), limit, packet: Bytes::new(1000), seed: 5 };
        let settings =
            settings.iter().map(|(name, value)| (alloc::string::String::from(*name), value.clone())).collect();
        Tdqm::build(&setup, &settings).expect("valid settings")
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Sends one packet, which is served at once. Returns its marks; `None` if it was dropped.
    fn marks(queue: &mut Tdqm<u32>, now: Time, ecn: bool) -> Option<Marks> {
        let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
        let verdict = queue.enqueue(now, Packet { ecn, ..Packet::new(0, Bytes::new(1000), 0) });
        (verdict == Verdict::Queued).then(|| {
            let packet = queue.dequeue(now).expect("it was queued");
            queue.departed(now, packet.size);
            packet.marks
        })
    }

    const NEITHER: [(&str, f64); 4] = [("rho_min", 1.0), ("rho_max", 1.0), ("eta_min", 1.0), ("eta_max", 1.0)];

    fn thresholds(values: [(&'static str, f64); 4]) -> alloc::vec::Vec<(&'static str, Setting)> {
        let weights = [("rho_weight", 1.0), ("eta_weight", 1.0)];
        let ratios = values.into_iter().chain(weights).map(|(name, x)| (name, Setting::Ratio(Ratio::from_f64(x))));
        ratios.chain([("delay", Setting::Word("unfinished".into()))]).collect()
    }

    /// One packet every two milliseconds: the link is busy half of the time. Lone packets: eta 1, service included.
    #[test]
    fn averages_are_of_the_last_window_and_busy_period() {
        let mut queue = tdqm(&thresholds(NEITHER));
        for ms in (0..100).step_by(2) {
            assert_eq!(marks(&mut queue, at(ms), true), Some(Marks::NONE));
        }
        let readings = queue.readings();
        assert_eq!((readings.utilisation, readings.burstiness), (Some(0.5), Some(1.0)));
        assert_eq!(readings.burstiness_mean, Some((1.0, 49)));
    }

    /// Weight 1/4 from zero: a window of 0.5, then nothing arrives until 80 ms: two windows of zero.
    #[test]
    fn the_average_utilisation_falls_in_idle_time() {
        let mut queue = tdqm(&[]);
        for ms in (0..20).step_by(2).chain([80]) {
            marks(&mut queue, at(ms), true);
        }
        assert_eq!(queue.readings().utilisation, Some(0.125 * 0.75 * 0.75 * 0.75));
    }

    /// The link is busy all the time: eta is unknown, rho is 1. Then lone packets: eta is 1.
    #[test]
    fn each_bit_follows_its_own_average() {
        let rho = thresholds([("rho_min", 0.9), ("rho_max", 1.0), ("eta_min", 1.0), ("eta_max", 1.0)]);
        let eta = thresholds([("rho_min", 1.0), ("rho_max", 1.0), ("eta_min", 0.5), ("eta_max", 0.9)]);
        for (settings, when_busy, when_lone) in [
            (rho, Marks { congestion: true, burstiness: false }, Marks::NONE),
            (eta, Marks::NONE, Marks { congestion: false, burstiness: true }),
        ] {
            let mut queue = tdqm(&settings);
            let busy = (0..60).map(|ms| marks(&mut queue, at(ms), true)).last();
            assert_eq!(busy, Some(Some(when_busy)));
            let lone = (70..200).step_by(2).map(|ms| marks(&mut queue, at(ms), true)).last();
            assert_eq!(lone, Some(Some(when_lone)));
        }
    }

    #[test]
    fn only_the_rho_marker_drops_incapable_packets() {
        let both = thresholds([("rho_min", 0.0), ("rho_max", 0.4), ("eta_min", 0.5), ("eta_max", 0.9)]);
        let mut queue = tdqm(&both);
        let verdicts: alloc::vec::Vec<_> = (0..100).step_by(2).map(|ms| marks(&mut queue, at(ms), false)).collect();
        assert_eq!(verdicts[11], None, "the first window was busy for half of its time");
        let eta = thresholds([("rho_min", 1.0), ("rho_max", 1.0), ("eta_min", 0.5), ("eta_max", 0.9)]);
        let mut queue = tdqm(&eta);
        assert!((0..100).step_by(2).all(|ms| marks(&mut queue, at(ms), false) == Some(Marks::NONE)));
    }

    /// Two packets per millisecond for 40 ms offer twice what the link carries, as far as the buffer allows.
    #[test]
    fn offered_work_may_exceed_the_link() {
        let mut settings = thresholds(NEITHER);
        settings.push(("load", Setting::Word("offered".into())));
        let mut queue = tdqm(&settings);
        for half_ms in 0..41 {
            queue.enqueue(at(0) + Span::from_micros(500 * half_ms), Packet::new(0, Bytes::new(1000), 0));
        }
        assert_eq!(queue.readings().utilisation, Some(2.0));
    }

    /// The link never rests: without provisional values eta stays unknown.
    #[test]
    fn an_endless_busy_period_counts_with_provisional() {
        for (provisional, known) in [(false, None), (true, Some(4))] {
            let mut settings = thresholds(NEITHER);
            settings.push(("provisional", Setting::Switch(provisional)));
            let mut queue = tdqm(&settings);
            (0..100).for_each(|ms| {
                marks(&mut queue, at(ms), true);
            });
            assert_eq!(queue.readings().burstiness_mean.map(|(_, count)| count), known);
        }
    }

    #[test]
    fn an_unlimited_buffer_needs_a_window() {
        let setup = Setup { rate: Rate::from_mbps(8), limit: Limit::Unlimited, packet: Bytes::new(1000), seed: 5 };
        let error = Tdqm::<()>::build(&setup, &Settings::new()).expect_err("refused");
        assert!(matches!(error, SettingError::Invalid { name: "window", .. }), "{error:?}");
        let settings = Settings::from([("window".into(), Setting::Span(Span::from_millis(20)))]);
        assert!(Tdqm::<()>::build(&setup, &settings).is_ok());
    }
}
