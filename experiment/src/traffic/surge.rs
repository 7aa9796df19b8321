//! Draws the behaviour of a web user: SURGE (P. Barford, M. Crovella, "Generating representative web workloads for
//! network and server performance evaluation", SIGMETRICS 1998, tables 1 and 2).
//!
//! ```text
//! file size     lognormal (mu 9.357, sigma 1.318) below 133 kB, 93 % of the files; above it Pareto (index 1.1)
//! files/page    Pareto (from 1, index 2.43), rounded down
//! parse         pause before each file of a page but the first: Weibull (scale 1.46 s, shape 0.382), below 1 s
//! think         pause between pages: Pareto (from 1 s, index 1.5)
//! ```
//!
//! Deviations:
//! 1. Files are drawn one by one. Requests do not choose from a set of files on a server, with popularity and locality,
//!    because no cache here would show the difference.
//! 2. Sizes and thinking times have upper bounds (100 MB, 100 s). Without bounds, no run would meet the mean size: a
//!    tail of index 1.1 has a tenth of it in files above 10^15 B.
//! 3. The Weibull law describes pauses below a threshold of one second, and is cut there.

use crate::scenario::Web;
use crate::traffic::bounded::BoundedPareto;
use crate::traffic::draw::{Draws, times};
use packetscale_models::units::{Bytes, Span};

/// The laws of one source.
#[derive(Clone, Copy, Debug)]
pub struct Surge {
    median: f64,
    sigma: f64,
    tail: f64,
    large: BoundedPareto,
    objects: f64,
    most_objects: u32,
    think: BoundedPareto,
    parse: crate::scenario::Parse,
}

impl Surge {
    /// Returns the laws of a scenario's source.
    pub fn new(web: &Web) -> Surge {
        let (size, think) = (&web.size, &web.think);
        let bytes = |bytes: Bytes| bytes.get() as f64;
        Surge {
            median: bytes(size.median),
            sigma: size.sigma,
            tail: size.tail,
            large: BoundedPareto { shape: size.tail_shape, least: bytes(size.tail_from), most: bytes(size.most) },
            objects: web.objects.shape,
            most_objects: web.objects.most,
            think: BoundedPareto {
                shape: think.shape,
                least: think.least.as_secs_f64(),
                most: think.most.as_secs_f64(),
            },
            parse: web.parse,
        }
    }

    /// Draws the size of a file.
    pub fn size(&self, draws: &mut Draws) -> Bytes {
        if draws.uniform() <= self.tail {
            return Bytes::new(self.large.draw(draws) as u64);
        }
        loop {
            let size = self.median * libm::exp(self.sigma * draws.normal());
            if size < self.large.least {
                return Bytes::new((size as u64).max(1));
            }
        }
    }

    /// Draws the number of files of a page, at least one.
    pub fn objects(&self, draws: &mut Draws) -> u32 {
        let files = libm::pow(draws.uniform(), -1.0 / self.objects);
        // The conversion turns values that are too large into the largest.
        (files as u32).clamp(1, self.most_objects)
    }

    /// Draws a pause between pages.
    pub fn think(&self, draws: &mut Draws) -> Span {
        Span::from_secs_f64(self.think.draw(draws))
    }

    /// Draws the rest of a pause that is under way.
    pub fn thinking(&self, draws: &mut Draws) -> Span {
        times(Span::from_secs_f64(self.think.found(draws)), draws.uniform())
    }

    /// Draws a pause before a file of the same page.
    pub fn parse(&self, draws: &mut Draws) -> Span {
        let (scale, shape) = (self.parse.scale.as_secs_f64(), self.parse.shape);
        let below = -libm::expm1(-libm::pow(self.parse.most.as_secs_f64() / scale, shape));
        times(self.parse.scale, libm::pow(-libm::log1p(-below * draws.uniform()), 1.0 / shape)).min(self.parse.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scenario, TrafficKind};

    const DRAWS: usize = 200_000;

    fn surge() -> (Surge, Draws) {
        let text = "path = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n[[traffic]]\nkind = \"web\"\nusers = 1\n";
        let plan = Scenario::parse(text, std::path::Path::new("web.toml"), &[]).unwrap().plan();
        let TrafficKind::Web(web) = &plan[0].traffic[0].kind else { panic!("another kind") };
        (Surge::new(web), Draws::new(1, 0))
    }

    fn share(what: impl Fn(&Surge, &mut Draws) -> bool) -> f64 {
        let (surge, mut draws) = surge();
        (0..DRAWS).filter(|_| what(&surge, &mut draws)).count() as f64 / DRAWS as f64
    }

    /// Allows three standard errors of a share of 200 000: 0.0034 at most.
    fn is(share: f64, expected: f64) {
        assert!((share - expected).abs() < 0.0034, "{share} instead of {expected}");
    }

    /// exp(9.357) is 11 579 B. The body is cut where its logarithm is (ln 133000 - 9.357) / 1.318 = 1.8521 standard
    /// deviations up; 0.96800 of it lie below. So 0.93 * 0.5 / 0.96800 of all files are below the median.
    #[test]
    fn sizes_are_lognormal_below_133_kb_and_7_percent_above() {
        is(share(|surge, draws| surge.size(draws).get() < 11_579), 0.93 * 0.5 / 0.96800);
        is(share(|surge, draws| surge.size(draws).get() > 133_000), 0.07);
        // Bounded at 100 MB: (t^-1.1 - 1e8^-1.1) / (133000^-1.1 - 1e8^-1.1) at 1.33 MB is 0.07880.
        is(share(|surge, draws| surge.size(draws).get() > 1_330_000), 0.07 * 0.07880);
    }

    /// P(n files or more) = n^-2.43.
    #[test]
    fn pages_have_pareto_numbers_of_files() {
        is(share(|surge, draws| surge.objects(draws) == 1), 1.0 - 2f64.powf(-2.43));
        is(share(|surge, draws| surge.objects(draws) >= 5), 5f64.powf(-2.43));
    }

    /// F(0.1) / F(1) of the Weibull law: (1 - exp(-(0.1/1.46)^0.382)) / (1 - exp(-(1/1.46)^0.382)) = 0.52096.
    #[test]
    fn pauses_within_a_page_are_weibull_below_a_second() {
        let parse = |surge: &Surge, draws: &mut Draws| surge.parse(draws).as_secs_f64();
        is(share(|surge, draws| parse(surge, draws) < 0.1), 0.52096);
        is(share(|surge, draws| parse(surge, draws) <= 1.0), 1.0);
    }

    /// P(x > 4) = (4^-1.5 - 100^-1.5) / (1 - 100^-1.5) = 0.12412.
    #[test]
    fn pauses_between_pages_are_pareto() {
        is(share(|surge, draws| surge.think(draws) > Span::from_secs(4)), 0.12412);
        is(share(|surge, draws| surge.think(draws) < Span::from_secs(1)), 0.0);
    }
}
