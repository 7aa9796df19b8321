//! Flows that arrive: when each begins, and how much it sends.
//!
//! ```text
//! poisson    gaps are exponential: P(gap > x) = exp(-x / mean). With a load: mean = mean size / (load * slowest link)
//! requests   each client requests a flow, waits until it is complete, pauses (exponential), and requests the next
//! cdf        size = F^-1(u), F linear between the points of the file
//! ```
//!
//! Arrivals, sizes and pauses have separate generators. So flow after flow has the same size under every controller, and the
//! same start unless clients request it.

use crate::scenario::{ArrivalProcess, Arrivals, Experiment, SizeLaw};
use crate::traffic::bounded::BoundedPareto;
use crate::traffic::chance::{Purpose, seed};
use crate::traffic::draw::Draws;
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// The flows of one table, drawn one by one.
#[derive(Clone, Debug)]
pub struct Drawn {
    process: Process,
    sizes: Sizes,
    start: Time,
    stop: Time,
    arrivals: Draws,
    amounts: Draws,
    pauses: Draws,
}

#[derive(Clone, Debug)]
enum Process {
    /// The mean gap, and when the last flow arrived.
    Poisson(Span, Time),
    /// Future arrivals, the next last. A size, if the file has one.
    Listed(Vec<(Time, Option<Bytes>)>),
    /// Number of clients, and their mean pause.
    Requests(u32, Span),
}

/// A flow that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// How much it sends, as bytes on the wire.
    pub size: Bytes,
}

impl Drawn {
    /// The flows of the `index`-th entry of an experiment's arrivals.
    pub fn new(experiment: &Experiment, index: usize) -> Drawn {
        let arrivals = &experiment.arrivals[index];
        let seed = seed(experiment.seed, Purpose::Arrivals, index);
        let sizes = Sizes::new(&arrivals.size);
        let process = match &arrivals.process {
            ArrivalProcess::Poisson(every) => Process::Poisson(*every, arrivals.start),
            ArrivalProcess::Load(load) => {
                let gap_s = sizes.mean() * 8.0 / (load.as_f64() * slowest(experiment, arrivals).bps() as f64);
                Process::Poisson(Span::from_secs_f64(gap_s).max(Span::from_picos(1)), arrivals.start)
            }
            ArrivalProcess::Times(times) => Process::Listed(times.iter().rev().map(|at| (*at, None)).collect()),
            ArrivalProcess::Listed { flows, .. } => {
                Process::Listed(flows.iter().rev().map(|(at, size)| (*at, Some(*size))).collect())
            }
            ArrivalProcess::Requests { clients, think } => Process::Requests(*clients, *think),
        };
        Drawn {
            process,
            sizes,
            start: arrivals.start,
            stop: arrivals.stop.min(Time::ZERO + experiment.duration),
            arrivals: Draws::new(seed, 0),
            amounts: Draws::new(seed, 1),
            pauses: Draws::new(seed, 2),
        }
    }

    /// The next flow of an open-loop table; `None` after the last, or if clients request flows.
    pub fn next_arrival(&mut self) -> Option<Arrival> {
        let (at, size) = match &mut self.process {
            Process::Poisson(gap, last) => {
                *last = last.saturating_add(self.arrivals.exponential(*gap));
                (*last, None)
            }
            Process::Listed(flows) => {
                while flows.pop_if(|(at, _)| *at < self.start).is_some() {}
                flows.pop()?
            }
            Process::Requests(..) => return None,
        };
        let size = size.unwrap_or_else(|| self.sizes.draw(&mut self.amounts));
        (at < self.stop).then_some(Arrival { at, size })
    }

    /// The first flows that clients request: each after a pause.
    pub fn first_requests(&mut self) -> Vec<Arrival> {
        let Process::Requests(clients, _) = self.process else { return Vec::new() };
        (0..clients).filter_map(|_| self.request(self.start)).collect()
    }

    /// The next flow of a client with a flow completed at `now`; `None`: it makes no more requests.
    pub fn request(&mut self, now: Time) -> Option<Arrival> {
        let Process::Requests(_, think) = self.process else { return None };
        let at = now.saturating_add(self.pauses.exponential(think));
        let size = self.sizes.draw(&mut self.amounts);
        (at < self.stop).then_some(Arrival { at, size })
    }
}

/// The rate of the slowest link of a route.
fn slowest(experiment: &Experiment, arrivals: &Arrivals) -> Rate {
    let rates = arrivals.flow.route.iter().map(|link| {
        let link = &experiment.links[*link];
        link.within_buckets(link.rate)
    });
    rates.min().unwrap_or(Rate::ZERO)
}

/// A law of sizes, in bytes.
#[derive(Clone, Debug)]
enum Sizes {
    Fixed(f64),
    Exponential(f64),
    Pareto(BoundedPareto),
    Points(Vec<(f64, f64)>),
}

impl Sizes {
    fn new(law: &SizeLaw) -> Sizes {
        let bytes = |bytes: &Bytes| bytes.get() as f64;
        match law {
            SizeLaw::Fixed(size) => Sizes::Fixed(bytes(size)),
            SizeLaw::Exponential(mean) => Sizes::Exponential(bytes(mean)),
            SizeLaw::Pareto { least, most, shape } => {
                Sizes::Pareto(BoundedPareto { shape: *shape, least: bytes(least), most: bytes(most) })
            }
            SizeLaw::Cdf { points, .. } => {
                Sizes::Points(points.iter().map(|(size, share)| (bytes(size), *share)).collect())
            }
            SizeLaw::Listed => Sizes::Fixed(0.0),
        }
    }

    fn draw(&self, draws: &mut Draws) -> Bytes {
        let size = match self {
            Sizes::Fixed(size) => *size,
            Sizes::Exponential(mean) => -mean * libm::log(draws.uniform()),
            Sizes::Pareto(law) => law.draw(draws),
            Sizes::Points(points) => quantile(points, draws.uniform()),
        };
        // The conversion turns values that are too large into the largest.
        Bytes::new(((size + 0.5) as u64).max(1))
    }

    fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(mean) | Sizes::Exponential(mean) => *mean,
            Sizes::Pareto(law) => law.mean(),
            Sizes::Points(points) => {
                let first = points.first().map_or(0.0, |(size, share)| size * share);
                let uniform = points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
                first + uniform.sum::<f64>()
            }
        }
    }
}

/// The smallest size that at least this share of the flows does not exceed.
fn quantile(points: &[(f64, f64)], share: f64) -> f64 {
    let above = points.partition_point(|point| point.1 < share).min(points.len() - 1);
    let to = points[above];
    let Some(from) = above.checked_sub(1).map(|below| points[below]) else { return to.0 };
    from.0 + (to.0 - from.0) * (share - from.1) / (to.1 - from.1)
}

/// The mean size of a law, in bytes on the wire; zero where a file lists the flows.
pub fn mean_size(law: &SizeLaw) -> f64 {
    Sizes::new(law).mean()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    fn drawn_mean(sizes: &Sizes) -> f64 {
        let mut draws = Draws::new(1, 0);
        (0..DRAWS).map(|_| sizes.draw(&mut draws).get() as f64).sum::<f64>() / f64::from(DRAWS)
    }

    /// A quarter are 10 B, the others uniform from 10 to 30 B: mean 0.25 * 10 + 0.75 * 20 = 17.5, and at 0.625 the
    /// middle, 20 B.
    #[test]
    fn a_distribution_of_points_is_uniform_between_them() {
        let points = vec![(10.0, 0.25), (30.0, 1.0)];
        assert_eq!([0.1, 0.25, 0.625, 1.0].map(|share| quantile(&points, share)), [10.0, 10.0, 20.0, 30.0]);
        let sizes = Sizes::Points(points);
        assert_eq!(sizes.mean(), 17.5);
        // Deviation below 8 B: a standard error of 0.018; five of them.
        assert!((drawn_mean(&sizes) - 17.5).abs() < 0.09);
    }

    /// Shape 1.5 from 1 to 100 kB: a / (a - 1) * l * (1 - (l/h)^0.5) / (1 - (l/h)^1.5) = 3000 * 0.9 / 0.999 = 2702.7 B.
    #[test]
    fn distributions_have_their_nominal_means() {
        let pareto = SizeLaw::Pareto { least: Bytes::new(1000), most: Bytes::new(100_000), shape: 1.5 };
        let mean = mean_size(&pareto);
        assert!((mean - 2702.7).abs() < 0.1, "{mean}");
        // Second moment 3 * 1000^1.5 * (100000^0.5 - 1000^0.5) / 0.999 = 2.70e7: deviation 4440 B, standard error 9.9.
        assert!((drawn_mean(&Sizes::new(&pareto)) - mean).abs() < 50.0);
        let exponential = Sizes::Exponential(20_000.0);
        assert!((drawn_mean(&exponential) - 20_000.0).abs() < 225.0, "five standard errors");
    }
}
