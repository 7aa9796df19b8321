//! Many flows of constant rate on one link: the least queue and loss that any congestion control can have.
//!
//! `N` flows send one packet each per period `T = N / U`, in units of the time that one packet takes on the link.
//! The arrivals of the flows fix the phases, so the queue repeats every period, and two periods are enough: the first
//! fills the queue, the second is measured. With the arrival instants `a_n` of `2N` packets,
//!
//! ```text
//! t_1 = 0,  t_i = t_(i-1) + delta_i,  E delta = 1 / U;   a = sorted (t_i mod T), then the same T later
//! w_n = max(0, w'_(n-1) - (a_n - a_(n-1)))     unfinished work that packet n finds, its queueing time in packets
//! w'_n = w_n + 1, or w_n if the packet is lost: when ceil(w_n) >= B, B packets with the one in service
//! ```
//!
//! One period is enough to fill the queue for every `U <= 1`, because the supremum that defines the periodic workload
//! is within one period. [`Runner::run`] checks that the second period ends as the first did.
//!
//! Renewal arrivals are already sorted except for the few flows beyond `T`, and independent phases are drawn in order
//! (sums of exponential gaps, divided by the last). The stable sort, which merges runs, therefore takes linear time.
//!
//! Source: M. Podlesny and S. Gorinsky, "Lower Bounds on Queuing and Loss at Highly Multiplexed Links",
//! WUCSE-2007-42: equations (1)-(6), (23), sections II, V and VI.
//!
//! Where this differs from the paper:
//!
//! 1. "Top 1 % packets" is the 99 % quantile of the queue over all packets of all runs, not the mean of the top 1 % and
//!    not a mean of quantiles of runs. Only this reading gives the printed 25, 49 and 75 packets. The worst few runs
//!    decide it, so it has a standard error ([`pooled`]).
//! 2. "No queuing" is less than one packet, `q < 1`; `q` is real.
//! 3. Section VI gives the losses at full load as 3 % for 10 packets and 5 % for 20; the two are exchanged.
//! 4. `phases`, independent uniform phases, is not in the paper. Random starts of flows give such phases. It is a
//!    different experiment from the arrivals modulo `T`, with a different law ([`laws`]).

mod arrivals;
pub mod bounds;
mod exact;
pub mod laws;
mod plan;
mod pooled;

use crate::theory::Error;
use alloc::format;
use alloc::vec::Vec;

pub use arrivals::Arrivals;
pub use plan::{largest_utilisation, smallest_buffer};
pub use pooled::{Estimate, Tally, pooled};

/// The flows, the link and its buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Number of flows, `N`.
    pub flows: u32,
    /// Load that the flows offer, in units of the capacity, `U`.
    pub utilisation: f64,
    /// How their phases arise.
    pub arrivals: Arrivals,
    /// Packets that the buffer holds, the one in service included, `B`; `None` is unlimited.
    pub buffer_packets: Option<u32>,
}

/// More flows than this need gigabytes for one run.
const MOST_FLOWS: u32 = 100_000_000;
/// Far below any load of interest, and far above the load at which a period is no longer a number.
const LEAST_LOAD: f64 = 1e-9;

impl Setting {
    /// Checks the domain of the method.
    ///
    /// # Errors
    /// [`Error::Input`] for no flows or more than 100 million, a utilisation outside `(0, 1]`, an empty buffer, or a
    /// Pareto index of 1 or less.
    pub fn check(&self) -> Result<(), Error> {
        if !(1..=MOST_FLOWS).contains(&self.flows) {
            return Err(Error::input("flows", format!("{}", self.flows), format!("1 to {MOST_FLOWS}")));
        }
        if !(LEAST_LOAD..=1.0).contains(&self.utilisation) {
            return Err(Error::input("utilisation", format!("{}", self.utilisation), "above 0 and at most 1"));
        }
        if self.buffer_packets == Some(0) {
            return Err(Error::input("buffer", "0", "at least 1 packet, the one in service"));
        }
        self.arrivals.check()
    }

    /// The time between two packets of one flow, in packets.
    pub fn period(&self) -> f64 {
        f64::from(self.flows) / self.utilisation
    }
}

/// Runs one setting repeatedly, each time with new arrivals.
pub struct Runner {
    setting: Setting,
    phases: Vec<f64>,
}

impl Runner {
    /// Returns a runner for a setting.
    ///
    /// # Errors
    /// The errors of [`Setting::check`].
    pub fn new(setting: Setting) -> Result<Runner, Error> {
        setting.check()?;
        Ok(Runner { setting, phases: Vec::with_capacity(setting.flows as usize) })
    }

    /// Draws arrivals from 64 random bits at a time and adds what their packets find to the tally.
    ///
    /// # Errors
    /// [`Error::NotPeriodic`] if the second period does not end with the work that the first ended with.
    pub fn run(&mut self, random: &mut impl FnMut() -> u64, tally: &mut Tally) -> Result<(), Error> {
        let period = self.setting.period();
        self.setting.arrivals.draw(self.setting.flows, period, random, &mut self.phases);
        exact::measure(&self.phases, period, self.limit(), tally)
    }

    /// Draws arrivals. Returns what each accepted packet of the measured period finds: pairs of the time since the
    /// period began and the queue, both in packets.
    ///
    /// # Errors
    /// The errors of [`Runner::run`].
    pub fn trace(&mut self, random: &mut impl FnMut() -> u64) -> Result<Vec<(f64, f64)>, Error> {
        let period = self.setting.period();
        self.setting.arrivals.draw(self.setting.flows, period, random, &mut self.phases);
        exact::trace(&self.phases, period, self.limit())
    }

    /// The most unfinished work with which the buffer is not yet full.
    fn limit(&self) -> f64 {
        self.setting.buffer_packets.map_or(f64::INFINITY, |packets| f64::from(packets) - 1.0)
    }
}
