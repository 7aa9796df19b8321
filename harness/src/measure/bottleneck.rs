//! The traffic that the measured link carried, and its waiting times.

use crate::measure::bins::Bins;
use crate::measure::capacity::LinkCapacity;
use crate::measure::contenders::Contenders;
use crate::measure::owners::Account;
use crate::measure::period::Period;
use crate::measure::presence::Presence;
use crate::measure::windows::Windows;
use experiment::scenario::Experiment;
use packetscale_models::units::{Span, Time};

/// Intervals in which start-up is judged: this many per base round trip, up to a limit.
const STARTUP_PER_RTT: u64 = 8;
const STARTUP_INTERVALS: usize = 1024;

/// The account of the measured link.
#[derive(Clone, Debug)]
pub(crate) struct Bottleneck {
    period: Period,
    /// Its number.
    pub(crate) link: usize,
    pub(crate) capacity: LinkCapacity,
    /// Bytes of all that left it after the warm-up, and of these, those of flows.
    pub(crate) all_bytes: u64,
    pub(crate) flow_bytes: u64,
    /// Bytes of traffic that arrived there after the warm-up.
    pub(crate) offered_bytes: u64,
    /// Packets at it.
    pub(crate) present: Presence,
    pub(crate) wait_sum_ps: u128,
    pub(crate) waited: u64,
    /// Start-up, in fine intervals from the start of the last flow: bytes of flows, bytes of traffic.
    pub(crate) startup: (Bins, Bins),
    /// Where several controllers meet. In a run of several phases these have them until its end.
    pub(crate) contenders: Option<Box<Contenders>>,
    pub(crate) windows: Option<Box<Windows>>,
}

impl Bottleneck {
    /// `last`: when the last flow starts.
    pub(crate) fn new(experiment: &Experiment, last: Time, base_rtt: Option<Span>) -> Bottleneck {
        let period = Period::of(experiment);
        let fine = base_rtt.map_or(Span::ZERO, |rtt| rtt / STARTUP_PER_RTT).max(Span::from_micros(1));
        let bins = || Bins::new(last, fine, STARTUP_INTERVALS);
        Bottleneck {
            period,
            link: experiment.bottleneck,
            capacity: LinkCapacity::of(&experiment.links[experiment.bottleneck]),
            all_bytes: 0,
            flow_bytes: 0,
            offered_bytes: 0,
            present: Presence::new(period.warm, period.end),
            wait_sum_ps: 0,
            waited: 0,
            startup: (bins(), bins()),
            contenders: Contenders::of(experiment),
            windows: Windows::new(&experiment.record.windows, period.warm, period.end),
        }
    }

    /// Traffic enters the path.
    #[inline]
    pub(crate) fn entered(&mut self, now: Time, bytes: u64) {
        if let Some(windows) = &mut self.windows {
            windows.entered(now, bytes);
        }
    }

    /// Traffic arrives.
    #[inline]
    pub(crate) fn arrives(&mut self, now: Time, bytes: u64) {
        if now > self.period.warm {
            self.offered_bytes += bytes;
        }
        self.startup.1.add(now, bytes);
    }

    /// A packet leaves, in the run.
    #[inline]
    pub(crate) fn served(&mut self, account: Account, bytes: u64, wait: Span, departs: Time) {
        if departs > self.period.warm {
            self.all_bytes += bytes;
            self.wait_sum_ps += u128::from(wait.picos());
            self.waited += 1;
            if let Some(contenders) = &mut self.contenders {
                contenders.waited(account, wait);
            }
        }
        if let Some(windows) = &mut self.windows {
            windows.left(departs, bytes);
        }
        if account.is_responsive() {
            self.flow_bytes += if departs > self.period.warm { bytes } else { 0 };
            self.startup.0.add(departs, bytes);
        }
    }
}
