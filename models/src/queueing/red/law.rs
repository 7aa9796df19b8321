//! The integer law of `law/include/queueing/red.h` against this file's form in floating point, packet by packet.

use super::*;
use crate::queueing::contract::Limit;
use crate::queueing::law_error::{AverageError, Q24, Q31, quantised};
use crate::settings::Setting;
use crate::units::{Ecn, Rate};
use packetscale_law::queueing::{self, RedParams};

/// Packets of all cases together.
const PACKETS: u64 = 1_000_000;
/// 8 Mbit/s: a packet of 1000 bytes takes 1 ms.
const SERVICE_NS: u64 = 1_000_000;
const CASES: [Case; 5] = [
    Case { weight: 0.002, max_p: 0.1, gentle: true, spread: true, mark_above: false, idle_time: true },
    Case { weight: 0.02, max_p: 0.5, gentle: false, spread: true, mark_above: true, idle_time: true },
    Case { weight: 0.25, max_p: 0.02, gentle: true, spread: false, mark_above: true, idle_time: true },
    Case { weight: 1.0, max_p: 0.1, gentle: true, spread: true, mark_above: true, idle_time: false },
    Case { weight: 0.001, max_p: 1.0, gentle: false, spread: false, mark_above: false, idle_time: false },
];

#[derive(Clone, Copy, Debug)]
struct Case {
    weight: f64,
    max_p: f64,
    gentle: bool,
    spread: bool,
    mark_above: bool,
    idle_time: bool,
}

/// The reading and the law, which see the same packets, and the same random bits.
struct Both {
    reading: Red<()>,
    law: queueing::Red,
    params: RedParams,
    error: AverageError,
    in_service_until: Option<u64>,
    /// Packets spared, drawn, and chosen for sure; and those on which the two differ within their rounding.
    choices: [u64; 3],
    differences: u64,
}

impl Both {
    fn new(case: Case) -> Both {
        let limit = Limit::Packets(Packets::new(200));
        let setup = Setup { rate: Rate::from_mbps(8), limit, packet: Bytes::new(1000), seed: 7 };
        let switches = [("gentle", case.gentle), ("spread", case.spread), ("mark_above", case.mark_above)];
        let switches = switches.into_iter().chain([("idle_time", case.idle_time)]);
        let settings = switches.map(|(name, on)| (name.into(), Setting::Switch(on))).collect();
        let mut reading = Red::build(&setup, &settings).expect("valid settings");
        let (weight, exact) = quantised(case.weight);
        reading.average = Average::new(exact);
        let (max_p, exact_p) = quantised(case.max_p);
        reading.ramp.max_p = exact_p;
        let ramp = queueing::Ramp {
            min: (reading.ramp.min / Q24) as u64,
            max: (reading.ramp.max / Q24) as u64,
            max_p,
            gentle: case.gentle.into(),
            spread: case.spread.into(),
            ..queueing::Ramp::default()
        };
        let params = RedParams {
            ramp,
            service_ns: SERVICE_NS,
            weight,
            mark_above: case.mark_above.into(),
            idle_time: case.idle_time.into(),
            ..RedParams::default()
        };
        let error = AverageError::new(exact);
        let law = queueing::Red::default();
        Both { reading, law, params, error, in_service_until: None, choices: [0; 3], differences: 0 }
    }

    /// The link works until `now`.
    fn serve(&mut self, now: u64) {
        while let Some(until) = self.in_service_until.filter(|until| *until <= now) {
            let end = Time::from_nanos(until);
            self.reading.departed(end, Bytes::new(1000));
            self.law.on_departure(until, self.queued());
            self.in_service_until = self.reading.dequeue(end).map(|_| until + SERVICE_NS);
        }
    }

    fn queued(&self) -> u64 {
        self.reading.length().0.get()
    }

    fn verdict(&self, choice: Choice, capable: bool) -> u32 {
        match choice {
            Choice::Spared => queueing::PASS,
            Choice::Drawn if capable => queueing::MARK,
            Choice::Every if capable && self.reading.mark_above => queueing::MARK,
            _ => queueing::DROP,
        }
    }

    fn arrives(&mut self, now: u64, capable: bool) {
        self.serve(now);
        let (before, queued) = (self.reading.clone_of_marker(), self.queued());
        let idle = now - self.reading.idle_since.nanos();
        let (count, sample) = match queued {
            0 if self.reading.idle_time => (idle / SERVICE_NS, 0.0),
            queued => (1, queued as f64),
        };
        self.error.step((self.reading.average.value - sample).abs(), count, 0.0);
        let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
        let packet = Packet { ecn, ..Packet::new(0, Bytes::new(1000), ()) };
        let passed = self.reading.enqueue(Time::from_nanos(now), packet) == Verdict::Queued;
        let draw = (before.1.clone().bits() >> 32) as u32;
        let found = self.law.on_arrival(&self.params, now, queued, capable, draw);
        let average = self.reading.average.value;
        let apart = (self.law.average as f64 * Q24 - average).abs();
        assert!(apart <= self.error.bound(), "{average}: apart by {apart}, bound {}", self.error.bound());
        self.compare_choice(before, average, found, capable, passed);
        if self.in_service_until.is_none() && self.reading.dequeue(Time::from_nanos(now)).is_some() {
            self.in_service_until = Some(now + SERVICE_NS);
        }
    }

    /// The choice falls with the average. So the law must choose as the reading does for some average within the bound, which is
    /// widened by what four roundings of a probability (2^-31 each) are on the ramp.
    fn compare_choice(&mut self, before: (Ramp, Random), average: f64, found: u32, capable: bool, passed: bool) {
        let ramp = &self.reading.ramp;
        let slope = ramp.max_p / (ramp.max - ramp.min);
        let margin = self.error.bound() + 4.0 * Q31 / slope;
        let at = |average: f64| before.0.clone().choose(average, &mut before.1.clone());
        let (least, reading, most) = (at(average - margin), at(average), at(average + margin));
        let expected = [least, reading, most].map(|choice| self.verdict(choice, capable));
        assert!(expected.contains(&found), "{average}: {found}, expected one of {expected:?}");
        assert_eq!(passed, expected[1] != queueing::DROP);
        self.choices[reading as usize] += 1;
        self.differences += u64::from(found != expected[1]);
        let since = self.reading.ramp.count.map_or(0, |count| count + 1);
        let alike = found == expected[1] && (average - self.reading.ramp.min).abs() > margin;
        assert!(
            !alike || self.law.since == since,
            "{average}: {} since the last choice, expected {since}",
            self.law.since
        );
        self.law.since = since;
    }
}

impl Red<()> {
    fn clone_of_marker(&self) -> (Ramp, Random) {
        (self.ramp, self.random.clone())
    }
}

/// Loads that swing between a tenth and twice the link's rate, so that averages cross the ramp and queues run empty.
#[test]
fn the_integer_law_chooses_the_packets_that_the_reading_chooses() {
    let mut random = Random::new(2);
    for case in CASES {
        let (mut both, mut now) = (Both::new(case), 0);
        for number in 0..PACKETS / CASES.len() as u64 {
            let mean =
                if (number / 2000).is_multiple_of(2) { SERVICE_NS / 2 } else { SERVICE_NS * (1 + number / 2000 % 10) };
            now += random.bits() % (2 * mean);
            both.arrives(now, random.bits().is_multiple_of(2));
        }
        assert!(both.choices.iter().all(|count| *count > 100), "{case:?}: {:?}", both.choices);
        // On a ramp of max_p over 10 packets a draw falls into the margin with less than margin max_p / 10.
        let chance = both.error.bound() * case.max_p / 10.0 + 4.0 * Q31;
        assert!(both.differences as f64 <= 5.0 + 20.0 * chance * PACKETS as f64, "{case:?}: {}", both.differences);
    }
}
