//! The integer law of `law/include/queueing/tdqm.h` against this file's form in floating point, packet by packet.

use super::*;
use crate::queueing::law_error::{Q24, Q31, quantised};
use crate::settings::Setting;
use crate::units::{Ecn, Rate};
use packetscale_law::queueing::{self, MeterParams, TdqmParams};

/// Packets of all cases together.
const PACKETS: u64 = 1_000_000;
/// Seventy packets of 700 bytes, which is the mean.
const BUFFER: u64 = 49_000;

#[derive(Clone, Copy, Debug)]
struct Case {
    rate: Rate,
    offered: bool,
    unfinished: bool,
    shortest: f64,
    weights: [f64; 2],
}

/// A byte takes a whole number of nanoseconds: the law is exact but for the rounding of averages.
const CASES: [Case; 5] = [
    // Busy periods of some 16 s, whose areas exceed 2^62 ns^2.
    Case { rate: Rate::from_bps(500_000), offered: false, unfinished: false, shortest: 0.1, weights: [0.25, 0.25] },
    Case { rate: Rate::from_mbps(8), offered: false, unfinished: false, shortest: 0.025, weights: [0.25, 0.1] },
    Case { rate: Rate::from_mbps(100), offered: true, unfinished: true, shortest: 0.1, weights: [0.1, 0.02] },
    Case { rate: Rate::from_mbps(500), offered: false, unfinished: true, shortest: 0.0, weights: [1.0, 1.0] },
    Case { rate: Rate::from_gbps(8), offered: false, unfinished: false, shortest: 0.5, weights: [0.01, 0.25] },
];

/// What a value of eta may be off: half a unit, and 2^-28 of itself (`meter.h`).
const SAMPLE: f64 = 0.5 * Q24 + 1.0 / 268_435_456.0;

/// An average after any number of samples that are off by `sample`, at a distance of 2 at most: each step rounds by a little more
/// than half a unit, and leaves 1 - weight of the error before; many equal samples bring the error of a power.
fn bound(weight: f64, sample: f64) -> f64 {
    let power = (1.5 / weight + 34.0) * Q31;
    sample + (0.51 * Q24 + 2.0 * power) / weight
}

struct Both {
    reading: Tdqm<()>,
    law: queueing::Tdqm,
    params: TdqmParams,
    rate: Rate,
    in_service_until: Option<(Time, Bytes)>,
    bounds: [f64; 2],
    marks: [u64; 3],
    differences: u64,
}

fn ramp_of(ramp: &mut Option<Ramp>) -> queueing::Ramp {
    let ramp = ramp.as_mut().expect("it is on");
    let (max_p, exact) = quantised(ramp.max_p);
    let units = |value: f64| (value / Q24).round() as u64;
    let (min, max) = (units(ramp.min), units(ramp.max));
    (ramp.min, ramp.max, ramp.max_p) = (min as f64 * Q24, max as f64 * Q24, exact);
    queueing::Ramp { min, max, max_p, spread: ramp.spread.into(), ..queueing::Ramp::default() }
}

impl Both {
    fn new(case: Case, sample: [f64; 2]) -> Both {
        let limit = Limit::Bytes(Bytes::new(BUFFER));
        let setup = Setup { rate: case.rate, limit, packet: Bytes::new(1500), seed: 7 };
        let ratio = |x| Setting::Ratio(Ratio::from_f64(x));
        let word = |on, (yes, no): (&str, &str)| Setting::Word(if on { yes } else { no }.into());
        let settings = [
            ("rho_min", ratio(0.5)),
            ("eta_min", ratio(0.2)),
            ("eta_max", ratio(0.8)),
            ("shortest", ratio(case.shortest)),
            ("spread", Setting::Switch(case.offered)),
            ("load", word(case.offered, ("offered", "busy"))),
            ("delay", word(case.unfinished, ("unfinished", "waiting"))),
        ];
        let settings = settings.map(|(name, value)| (name.into(), value)).into_iter().collect();
        let mut reading = Tdqm::build(&setup, &settings).expect("valid settings");
        let [(rho_weight, rho), (eta_weight, eta)] = case.weights.map(quantised);
        (reading.rho, reading.eta) = (Average::new(rho), Average::new(eta));
        let window = case.rate.time_for(Bytes::new(BUFFER)) / 2;
        let meter = MeterParams {
            rate: case.rate.bps() / 8,
            shortest_ns: window.scale(Ratio::from_f64(case.shortest)).nanos(),
            unfinished: case.unfinished.into(),
            ..MeterParams::default()
        };
        let params = TdqmParams {
            rho: ramp_of(&mut reading.rho_ramp),
            eta: ramp_of(&mut reading.eta_ramp),
            meter,
            window_ns: window.nanos(),
            rho_weight,
            eta_weight,
            offered: case.offered.into(),
            ..TdqmParams::default()
        };
        let bounds = [bound(rho, sample[0]), bound(eta, sample[1])];
        let law = queueing::Tdqm::begin(&params, 0);
        Both { reading, law, params, rate: case.rate, in_service_until: None, bounds, marks: [0; 3], differences: 0 }
    }

    fn serve(&mut self, now: Time) {
        while let Some((until, size)) = self.in_service_until.filter(|(until, _)| *until <= now) {
            self.reading.departed(until, size);
            self.next_into_service(until);
        }
    }

    fn next_into_service(&mut self, now: Time) {
        let next = self.reading.dequeue(now);
        self.in_service_until = next.map(|packet| (now + self.rate.time_for(packet.size), packet.size));
    }

    /// Compares averages, then the choice of each ramp.
    fn arrives(&mut self, now: Time, size: Bytes, capable: bool) {
        self.serve(now);
        self.reading.learn(now);
        let averages = [self.reading.rho.value, self.reading.eta.value];
        let markers = [self.reading.rho_ramp, self.reading.eta_ramp].map(|ramp| ramp.expect("it is on"));
        let mut random = self.reading.random.clone();
        // A ramp draws only where its choice is open.
        let draws: [Random; 2] = core::array::from_fn(|index| {
            let before = random.clone();
            markers[index].clone().choose(averages[index], &mut random);
            before
        });
        let bits = draws.clone().map(|mut draw| (draw.bits() >> 32) as u32);
        let found = self.law.on_arrival(&self.params, now.nanos(), capable, bits);
        for (law, (reading, bound)) in
            [self.law.rho, self.law.eta].into_iter().zip(averages.into_iter().zip(self.bounds))
        {
            let apart = (law as f64 * Q24 - reading).abs();
            assert!(apart <= bound, "{now:?}: {reading} apart by {apart}, bound {bound}");
        }
        let packet = Packet { ecn: if capable { Ecn::Ect0 } else { Ecn::NotEct }, ..Packet::new(0, size, ()) };
        let queued = self.reading.enqueue(now, packet) == Verdict::Queued;
        if queued {
            self.law.on_queued(&self.params, now.nanos(), size.get() as u32);
        }
        if self.in_service_until.is_none() {
            self.next_into_service(now);
        }
        self.compare_choices(&markers, averages, &draws, found, capable);
        let since = |ramp: &Option<Ramp>| ramp.and_then(|ramp| ramp.count).map_or(0, |count| count + 1);
        (self.law.rho_since, self.law.eta_since) = (since(&self.reading.rho_ramp), since(&self.reading.eta_ramp));
    }

    /// As in RED: the law chooses as the reading does for some average within the bound.
    fn compare_choices(
        &mut self,
        markers: &[Ramp; 2],
        averages: [f64; 2],
        draws: &[Random; 2],
        found: u32,
        capable: bool,
    ) {
        let chosen = |index: usize, sign: f64| {
            let ramp = &markers[index];
            let margin = self.bounds[index] + 4.0 * Q31 * (ramp.max - ramp.min) / ramp.max_p;
            ramp.clone().choose(averages[index] + sign * margin, &mut draws[index].clone()) != Choice::Spared
        };
        let verdict = |rho: bool, eta: bool| match (capable, rho) {
            (false, true) => queueing::TDQM_DROP,
            (false, false) => 0,
            _ => u32::from(rho) * queueing::TDQM_CONGESTION + u32::from(eta) * queueing::TDQM_BURSTINESS,
        };
        let expected: alloc::vec::Vec<u32> = [-1.0, 0.0, 1.0]
            .iter()
            .flat_map(|rho| [-1.0, 0.0, 1.0].map(|eta| verdict(chosen(0, *rho), chosen(1, eta))))
            .collect();
        let reading = verdict(chosen(0, 0.0), chosen(1, 0.0));
        assert!(expected.contains(&found), "{averages:?}: {found}, expected one of {expected:?}");
        self.differences += u64::from(found != reading);
        for (count, bit) in self.marks.iter_mut().zip([1, 2, 4]) {
            *count += u64::from(found & bit != 0);
        }
    }
}

fn run(case: Case, packets: u64, sample: [f64; 2], random: &mut Random) -> Both {
    let mut both = Both::new(case, sample);
    let mut now = Time::ZERO;
    let byte = case.rate.time_for(Bytes::new(1000)).picos() / 1000;
    for number in 0..packets {
        // Loads of 3.5 to 0.35, in spells; some packets come at one instant, some after a long rest.
        let mean = byte * 200 * (1 + number / 500 % 10);
        let gap = match random.bits() % 1000 {
            0 => 1000 * mean,
            1..300 => 0,
            _ => random.bits() % (2 * mean),
        };
        now += Span::from_nanos(gap / 1000);
        both.arrives(now, Bytes::new(40 + random.bits() % 1320), !random.bits().is_multiple_of(4));
    }
    both
}

#[test]
fn the_integer_law_marks_the_packets_that_the_reading_marks() {
    let mut random = Random::new(3);
    let packets = PACKETS / CASES.len() as u64;
    for case in CASES {
        let both = run(case, packets, [0.5 * Q24, SAMPLE], &mut random);
        assert!(both.marks.iter().all(|count| *count > 50), "{case:?}: {:?}", both.marks);
        // Draws within the margins, of two ramps: bound times the slope, which is at most max_p / 0.5.
        let chance = (both.bounds[0] + both.bounds[1]) * 0.1 / 0.5 + 8.0 * Q31;
        assert!(both.differences as f64 <= 5.0 + 20.0 * chance * packets as f64, "{case:?}: {}", both.differences);
    }
}

/// At both ends of a window the law's link may rest a nanosecond early or late, twice over. Nothing is said of eta, whose busy
/// periods may join there.
#[test]
fn remainders_of_service_times_are_carried() {
    let rate = Rate::from_bps(6_999_992);
    let case = Case { rate, offered: false, unfinished: false, shortest: 0.025, weights: [0.25, 0.1] };
    let window_ns = (rate.time_for(Bytes::new(BUFFER)) / 2).nanos() as f64;
    let both = run(case, PACKETS / 10, [0.5 * Q24 + 4.0 / window_ns, 1.0], &mut Random::new(4));
    assert!(both.marks[0] > 100, "{:?}", both.marks);
}
