//! Impairments of a wire other than delay and loss ([`experiment::scenario::Impairments`]).
//!
//! Rings of packets are in order of time, so that only their heads need be scheduled. Packets that others overtake
//! take a detour.

use experiment::scenario::{Experiment, GilbertElliott, Impairments, JitterLaw};
use experiment::traffic::Draws;
use experiment::traffic::chance::{self, Purpose};
use packetscale_models::units::{Bytes, Ratio, Span, Time};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A wire with impairments.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    impairments: Impairments,
    /// The delay before the first step.
    delay: Span,
    /// When the last packet in order arrives.
    last: Time,
    /// How late an overtaken packet is.
    hold: Span,
    random: Pcg64Mcg,
    jitter: Draws,
    bursts: Bursts,
}

/// The chain of losses in bursts.
#[derive(Clone, Debug)]
struct Bursts {
    bad: bool,
    random: Pcg64Mcg,
}

impl Bursts {
    /// Whether the next packet is lost.
    fn lose(&mut self, chain: &GilbertElliott) -> bool {
        let (loss, change) = if self.bad { (chain.bad_loss, chain.r) } else { (chain.good_loss, chain.p) };
        let mut happens = |chance: Ratio| self.random.next_u64() >> 32 < chance.q32();
        let (lost, changes) = (happens(loss), happens(change));
        self.bad ^= changes;
        lost
    }
}

/// Draws an added delay.
fn added(law: &JitterLaw, draws: &mut Draws) -> Span {
    match law {
        // To the bound itself: it is a picosecond beyond what is drawn.
        JitterLaw::Uniform(most) => draws.below(*most + Span::from_picos(1)),
        JitterLaw::Normal { mean, sd } => {
            Span::from_picos((mean.picos() as f64 + sd.picos() as f64 * draws.normal()) as u64)
        }
        JitterLaw::File { samples, .. } => {
            let place = draws.below(Span::from_picos(samples.len() as u64)).picos() as usize;
            samples.get(place).copied().unwrap_or(Span::ZERO)
        }
    }
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    /// Arrives at this time, in order.
    Arrives(Time),
    /// Arrives at this time, by the detour: others may overtake it.
    Late(Time),
}

impl Wire {
    /// The wire of a link; `None`: it only delays and loses.
    pub(super) fn new(experiment: &Experiment, index: usize, largest: Bytes) -> Option<Box<Wire>> {
        let spec = &experiment.links[index];
        if spec.impairments == Impairments::default() {
            return None;
        }
        let seed = |purpose| chance::seed(experiment.seed, purpose, index);
        Some(Box::new(Wire {
            delay: spec.delay,
            last: Time::ZERO,
            hold: spec.impairments.reorder.map_or(Span::ZERO, |late| spec.rate.time_for(largest) * late.packets),
            random: Pcg64Mcg::seed_from_u64(seed(Purpose::Reordering)),
            jitter: Draws::new(seed(Purpose::Jitter), 0),
            bursts: Bursts { bad: false, random: Pcg64Mcg::seed_from_u64(seed(Purpose::LossBursts)) },
            impairments: spec.impairments.clone(),
        }))
    }

    /// Of a packet that leaves the link at `departs`.
    pub(super) fn fate(&mut self, departs: Time) -> Fate {
        // The chain steps with every packet, those of an outage included.
        if self.impairments.bursts.as_ref().is_some_and(|chain| self.bursts.lose(chain)) {
            return Fate::Lost;
        }
        if self.impairments.outages.iter().any(|(from, to)| *from <= departs && departs < *to) {
            return Fate::Lost;
        }
        let step = self.impairments.delay_steps.iter().rev().find(|(at, _)| *at <= departs);
        let delay = step.map_or(self.delay, |(_, delay)| *delay);
        let (added, overtakes) = match &self.impairments.jitter {
            Some(jitter) => (added(&jitter.law, &mut self.jitter), jitter.reorder),
            None => (Span::ZERO, false),
        };
        let (in_order, out_of_order) = if overtakes { (Span::ZERO, added) } else { (added, Span::ZERO) };
        self.last = self.last.max(departs + delay + in_order);
        match self.impairments.reorder {
            Some(late) if self.random.next_u64() >> 32 < late.share.q32() => {
                Fate::Late(self.last + out_of_order + self.hold)
            }
            _ if overtakes => Fate::Late(self.last + out_of_order),
            _ => Fate::Arrives(self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::{Jitter, Reordering};

    fn wire(impairments: Impairments) -> Wire {
        Wire {
            impairments,
            delay: Span::from_millis(10),
            last: Time::ZERO,
            hold: Span::from_millis(3),
            random: Pcg64Mcg::seed_from_u64(1),
            jitter: Draws::new(2, 0),
            bursts: Bursts { bad: false, random: Pcg64Mcg::seed_from_u64(3) },
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_wire_keeps_its_order_where_its_delay_falls() {
        let steps = vec![(at(100), Span::from_millis(50)), (at(200), Span::from_millis(5))];
        let mut wire = wire(Impairments { delay_steps: steps, ..Impairments::default() });
        let fates = [99, 100, 199, 200, 250].map(|departs| wire.fate(at(departs)));
        assert_eq!(fates, [109, 150, 249, 249, 255].map(|ms| Fate::Arrives(at(ms))));
    }

    #[test]
    fn an_outage_loses_what_leaves_in_it() {
        let mut wire = wire(Impairments { outages: vec![(at(20), at(30))], ..Impairments::default() });
        let fates = [19, 20, 29, 30].map(|departs| wire.fate(at(departs)));
        assert_eq!(fates, [Fate::Arrives(at(29)), Fate::Lost, Fate::Lost, Fate::Arrives(at(40))]);
    }

    #[test]
    fn the_configured_share_is_late_by_the_hold() {
        let reorder = Some(Reordering { share: Ratio::of(1, 4), packets: 3 });
        let mut wire = wire(Impairments { reorder, ..Impairments::default() });
        let late = (0..4000).filter(|ms| wire.fate(at(*ms)) == Fate::Late(at(ms + 13))).count();
        assert!((900..1100).contains(&late), "{late}");
    }

    const PACKETS: u64 = 100_000;

    /// Added delays in milliseconds of packets that leave `apart_ms` after each other, and whether they keep their order.
    fn jitters(law: JitterLaw, reorder: bool, apart_ms: u64) -> (Vec<f64>, bool) {
        let mut wire = wire(Impairments { jitter: Some(Jitter { law, reorder }), ..Impairments::default() });
        let arrivals: Vec<Time> = (0..PACKETS)
            .map(|packet| match (wire.fate(at(apart_ms * packet)), reorder) {
                (Fate::Arrives(at), false) | (Fate::Late(at), true) => at,
                (fate, _) => panic!("{fate:?}"),
            })
            .collect();
        let added = (0..PACKETS)
            .zip(&arrivals)
            .map(|(packet, arrives)| arrives.since(at(apart_ms * packet + 10)).as_secs_f64() * 1e3);
        (added.collect(), arrivals.is_sorted())
    }

    fn mean_and_sd(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    /// Mean and standard deviation within four standard errors, of a mean sd / sqrt(n); of a deviation less than that.
    fn fits(values: &[f64], mean: f64, sd: f64) {
        let (found_mean, found_sd) = mean_and_sd(values);
        let error = 4.0 * sd / (PACKETS as f64).sqrt();
        assert!((found_mean - mean).abs() < error && (found_sd - sd).abs() < error, "{found_mean} {found_sd}");
    }

    #[test]
    fn uniform_jitter_has_mean_and_deviation_of_its_distribution() {
        // Of a uniform distribution from 0 to 6: 3 and 6 / sqrt(12). Packets are too far apart to meet.
        let (added, ordered) = jitters(JitterLaw::Uniform(Span::from_millis(6)), false, 7);
        fits(&added, 3.0, 6.0 / 12f64.sqrt());
        assert!(ordered && added.iter().all(|ms| (0.0..=6.0).contains(ms)));
    }

    #[test]
    fn normal_jitter_has_its_mean_and_deviation() {
        let law = JitterLaw::Normal { mean: Span::from_millis(50), sd: Span::from_millis(5) };
        fits(&jitters(law, false, 200).0, 50.0, 5.0);
    }

    #[test]
    fn normal_jitter_is_never_negative() {
        // Half of the draws are below a mean of almost zero, and count as zero: sd / sqrt(2 pi) on average.
        let law = JitterLaw::Normal { mean: Span::from_picos(1), sd: Span::from_millis(5) };
        let (mean, _) = mean_and_sd(&jitters(law, false, 200).0);
        let expected = 5.0 / std::f64::consts::TAU.sqrt();
        assert!((mean - expected).abs() < 0.05, "{mean} {expected}");
    }

    #[test]
    fn jitter_from_a_file_draws_each_sample_equally() {
        let samples = [0, 0, 1, 9].map(Span::from_millis).to_vec();
        let (added, _) = jitters(JitterLaw::File { file: "x.csv".into(), samples }, false, 10);
        let share = |of: f64| added.iter().filter(|ms| (**ms - of).abs() < 1e-6).count() as f64 / PACKETS as f64;
        for (of, expected) in [(0.0, 0.5), (1.0, 0.25), (9.0, 0.25)] {
            assert!((share(of) - expected).abs() < 0.01, "{of}: {}", share(of));
        }
    }

    #[test]
    fn jitter_overtakes_only_if_asked() {
        let law = || JitterLaw::Uniform(Span::from_millis(6));
        assert!(jitters(law(), false, 1).1, "in order");
        let (added, ordered) = jitters(law(), true, 1);
        assert!(!ordered);
        fits(&added, 3.0, 6.0 / 12f64.sqrt());
    }

    /// Lengths of runs of lost packets, and the share of lost packets.
    fn bursts(chain: GilbertElliott) -> (Vec<usize>, f64) {
        let mut wire = wire(Impairments { bursts: Some(chain), ..Impairments::default() });
        let lost: Vec<bool> = (0..PACKETS).map(|packet| wire.fate(at(packet)) == Fate::Lost).collect();
        let runs = lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(<[bool]>::len).collect();
        (runs, lost.iter().filter(|lost| **lost).count() as f64 / PACKETS as f64)
    }

    #[test]
    fn losses_in_bursts_have_the_share_and_length_of_gilberts_chain() {
        let chain =
            GilbertElliott { p: Ratio::of(1, 100), r: Ratio::of(1, 5), good_loss: Ratio::ZERO, bad_loss: Ratio::ONE };
        let (runs, share) = bursts(chain);
        // p / (p + r) = 0.0476; 1 / r = 5 packets, of deviation sqrt(1 - r) / r = 4.5: about 950 bursts.
        assert!((share - 0.01 / 0.21).abs() < 0.1 * 0.0476, "{share}");
        let mean = runs.iter().sum::<usize>() as f64 / runs.len() as f64;
        assert!((mean - 5.0).abs() < 4.0 * 4.5 / (runs.len() as f64).sqrt(), "{mean} of {}", runs.len());
    }

    #[test]
    fn elliotts_chain_loses_in_both_states() {
        let chain = GilbertElliott {
            p: Ratio::of(1, 10),
            r: Ratio::of(3, 10),
            good_loss: Ratio::of(1, 50),
            bad_loss: Ratio::of(1, 2),
        };
        // 3/4 of packets in the good state, 1/4 in the bad one.
        let (_, share) = bursts(chain);
        assert!((share - (0.75 * 0.02 + 0.25 * 0.5)).abs() < 0.01, "{share}");
    }
}
