//! Many flows of constant rate on one link: the least queue and loss that any congestion control can have.
//!
//! `N` flows send one packet each per period `T = N / U`, in units of the time that one packet takes on the link.
//! The phases stay as the arrivals of the flows left them, so that the queue repeats every period and two periods say
//! everything: the first fills the queue, the second is measured. With the arrival instants `a_n` of `2N` packets,
//!
//! ```text
//! t_1 = 0,  t_i = t_(i-1) + delta_i,  E delta = 1 / U;   a = sorted (t_i mod T), then the same T later
//! w_n = max(0, w'_(n-1) - (a_n - a_(n-1)))     unfinished work that packet n finds, its queueing time in packets
//! w'_n = w_n + 1, or w_n if the packet is lost: when ceil(w_n) >= B, B packets with the one in service
//! ```
//!
//! One period is enough to fill the queue for every `U <= 1`, because the supremum that defines the periodic workload
//! lies within one period; [`Runner::run`] checks that the second period ends as the first did.
//!
//! Renewal arrivals are sorted already but for the few flows beyond `T`, and independent phases are drawn in order
//! (sums of exponential gaps, divided by the last), so the stable sort, which merges runs, takes linear time.
//!
//! Source: M. Podlesny and S. Gorinsky, "Lower Bounds on Queuing and Loss at Highly Multiplexed Links",
//! WUCSE-2007-42: equations (1)-(6), (23), sections II, V and VI.
//!
//! Where this differs from the paper:
//!
//! 1. "Top 1 % packets" is the 99 % quantile of the queue over all packets of all runs, not the mean of the top 1 % and
//!    not a mean of quantiles of runs: the only reading under which the printed 25, 49 and 75 packets come out. It is
//!    decided by the worst few runs, so it comes with a standard error ([`pooled`]).
//! 2. "No queuing" is less than one packet, `q < 1`; `q` is real.
//! 3. Section VI gives the losses at full load as 3 % for 10 packets and 5 % for 20: exchanged.
//! 4. `phases`, independent uniform phases, is not in the paper. It is what random starts of flows give, and another
//!    experiment than the arrivals modulo `T`, with another law ([`laws`]).

mod arrivals;
pub mod bounds;
mod exact;
pub mod laws;
mod plan;
mod pooled;

use crate::Error;
use alloc::format;
use alloc::vec::Vec;

pub use arrivals::Arrivals;
pub use plan::{largest_utilisation, smallest_buffer};
pub use pooled::{Estimate, Tally, pooled};

/// The flows, the link and its buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// How many flows, `N`.
    pub flows: u32,
    /// Load offered by the flows in units of the capacity, `U`.
    pub utilisation: f64,
    /// How their phases come about.
    pub arrivals: Arrivals,
    /// Packets that the buffer holds with the one in service, `B`; `None` is unlimited.
    pub buffer_packets: Option<u32>,
}

/// More flows than this need gigabytes for one run.
const MOST_FLOWS: u32 = 100_000_000;
/// Far below anything of interest, and far above where a period stops being a number.
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

/// Runs one setting again and again, each time with other arrivals.
pub struct Runner {
    setting: Setting,
    phases: Vec<f64>,
}

impl Runner {
    /// A runner for a setting.
    ///
    /// # Errors
    /// As [`Setting::check`].
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

    /// Draws arrivals and returns what each accepted packet of the measured period finds: pairs of the time since the
    /// period began and the queue, both in packets.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn trace(&mut self, random: &mut impl FnMut() -> u64) -> Result<Vec<(f64, f64)>, Error> {
        let period = self.setting.period();
        self.setting.arrivals.draw(self.setting.flows, period, random, &mut self.phases);
        exact::trace(&self.phases, period, self.limit())
    }

    /// Unfinished work with which the buffer is not full yet.
    fn limit(&self) -> f64 {
        self.setting.buffer_packets.map_or(f64::INFINITY, |packets| f64::from(packets) - 1.0)
    }
}
