//! The burstiness of Poisson traffic compared with busy periods drawn one by one.

use packetscale_models::theory::tdqm::{
    eta_accumulated, eta_of_length, eta_per_packet, eta_per_period, length_probability,
};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// One busy period of M/D/1 with service 1: its packets and the integral of the unfinished work.
fn busy_period(load: f64, random: &mut Pcg64Mcg) -> (u32, f64) {
    let (mut work, mut packets, mut area) = (1.0f64, 1, 0.0);
    loop {
        let uniform = ((random.next_u64() >> 11) as f64 + 0.5) / 2f64.powi(53);
        let gap = -uniform.ln() / load;
        let served = gap.min(work);
        area += served * (work - 0.5 * served);
        if gap >= work {
            return (packets, area);
        }
        work += 1.0 - gap;
        packets += 1;
    }
}

fn busy_periods(load: f64, count: usize) -> Vec<(f64, f64)> {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    (0..count).map(|_| busy_period(load, &mut random)).map(|(n, area)| (f64::from(n), 2.0 * area)).collect()
}

/// By hand: a lone packet is a triangle. The second of two packets arrives uniformly within the service of the first,
/// at `u`: the area is 1/2 + (1 - u) + 1/2 over 2^2 / 2, on average 3/4.
#[test]
fn burstiness_of_one_packet_is_one_and_of_two_three_quarters() {
    assert_eq!(eta_of_length(1), Ok(1.0));
    assert_eq!(eta_of_length(2), Ok(0.75));
    assert!(eta_of_length(0).is_err());
}

#[test]
fn the_sum_meets_its_expansion_at_the_changeover() {
    let (sum, expansion) = (eta_of_length(1000).unwrap(), eta_of_length(1001).unwrap());
    // eta falls like 1 / sqrt(n): half a thousandth from one n to the next.
    assert!((expansion / sum - (1000.0f64 / 1001.0).sqrt()).abs() < 2e-5, "{sum} {expansion}");
}

#[test]
fn burstiness_given_the_length_is_independent_of_load() {
    for load in [0.3, 0.8] {
        let periods = busy_periods(load, 200_000);
        for n in [2u32, 3, 5] {
            let etas: Vec<f64> = periods.iter().filter(|p| p.0 == f64::from(n)).map(|p| p.1 / (p.0 * p.0)).collect();
            let count = etas.len() as f64;
            let mean = etas.iter().sum::<f64>() / count;
            let error = (etas.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / count / count).sqrt();
            let exact = eta_of_length(n).unwrap();
            assert!((mean - exact).abs() < 4.0 * error, "{load} {n}: {mean} +- {error}, {exact}");
        }
    }
}

#[test]
fn means_match_randomly_drawn_busy_periods() {
    for load in [0.2, 0.5, 0.8] {
        let periods = busy_periods(load, 300_000);
        let count = periods.len() as f64;
        let per_period = periods.iter().map(|p| p.1 / (p.0 * p.0)).sum::<f64>() / count;
        let per_packet = periods.iter().map(|p| p.1 / p.0).sum::<f64>() / periods.iter().map(|p| p.0).sum::<f64>();
        // The standard deviation per period is at most 0.3, and long periods weigh more per packet.
        assert!((per_period - eta_per_period(load).unwrap()).abs() < 4.0 * 0.3 / count.sqrt(), "{load} {per_period}");
        assert!((per_packet - eta_per_packet(load).unwrap()).abs() < 0.01, "{load} {per_packet}");
    }
}

/// The closed forms sum the burstiness of each length over Borel's law.
#[test]
fn the_closed_means_are_sums_over_the_lengths() {
    for load in [1e-5, 0.1, 0.5, 0.7] {
        let sum = |weight: fn(f64) -> f64| -> f64 {
            (1..2000u32)
                .map(|n| {
                    let probability = length_probability(n, load).unwrap();
                    probability * weight(f64::from(n)) * eta_of_length(n).unwrap()
                })
                .sum()
        };
        assert!((sum(|_| 1.0) - eta_per_period(load).unwrap()).abs() < 1e-8, "{load}");
        assert!((sum(|n| n) * (1.0 - load) - eta_per_packet(load).unwrap()).abs() < 1e-8, "{load}");
    }
}

#[test]
fn many_joined_periods_appear_smooth() {
    let (load, packets) = (0.5, 500.0);
    let (mut busy, mut area, mut etas) = (0.0, 0.0, Vec::new());
    for (n, twice_area) in busy_periods(load, 200_000) {
        busy += n;
        area += twice_area;
        if busy > packets {
            etas.push(area / (busy * busy));
            (busy, area) = (0.0, 0.0);
        }
    }
    let mean = etas.iter().sum::<f64>() / etas.len() as f64;
    let formula = eta_accumulated(load, packets).unwrap().unwrap();
    assert!((mean / formula - 1.0).abs() < 0.03, "{mean} {formula}");
    assert_eq!(eta_accumulated(load, 3.0), Ok(None));
}

#[test]
fn a_load_of_one_is_refused() {
    assert!(eta_per_period(1.0).unwrap_err().to_string().starts_with("load"));
}
