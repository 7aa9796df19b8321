//! The compared figure, and how much worse one controller is than the other.
//!
//! ```text
//! times worse = (subject + floor) / (reference + floor)      where less is better
//!             = (reference + floor) / (subject + floor)      where more is better
//! ```
//!
//! The floor keeps ratios of tiny values finite: a share of 0.01 % is no worse than one of 0.1 %.

use experiment::results::Run;

/// Share of the path's capacity below which the reference itself fails: such a path is no evidence against a controller.
pub const LEAST_REFERENCE_SHARE: f64 = 0.1;

/// A figure in which a controller may be bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Throughput.
    Share,
    /// How long packets wait.
    Queue,
    /// Loss at queues.
    Loss,
    /// How long a transfer takes.
    Completion,
    /// Fairness of two flows of it.
    Fairness,
}

/// Measurements of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The figure, in the unit of its metric.
    pub value: f64,
    /// Throughput of the flows.
    pub throughput_bps: f64,
    /// Mean rate of the competing traffic.
    pub traffic_bps: f64,
}

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 5] = [Figure::Share, Figure::Queue, Figure::Loss, Figure::Completion, Figure::Fairness];

    /// Its name, as `--figure` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Share => "share",
            Figure::Queue => "queue",
            Figure::Loss => "loss",
            Figure::Completion => "completion",
            Figure::Fairness => "fairness",
        }
    }

    /// The corresponding figure of a run's summary.
    pub fn metric(self) -> &'static str {
        match self {
            Figure::Share => "throughput_bps",
            Figure::Queue => "queue_delay_mean_s",
            Figure::Loss => "drop_ratio",
            Figure::Completion => "completion_time_mean_s",
            Figure::Fairness => "fairness_jain",
        }
    }

    /// Whether runs are judged from their beginning on.
    pub fn is_of_whole_runs(self) -> bool {
        matches!(self, Figure::Completion)
    }

    /// Reads a run of this length. A transfer that is not done takes at least the run, and two flows that never share
    /// are as uneven as two can be.
    pub fn read(self, run: &Run, duration_s: f64) -> Reading {
        let worst = match self {
            Figure::Share | Figure::Queue | Figure::Loss => 0.0,
            Figure::Completion => duration_s,
            Figure::Fairness => LEAST_JAIN,
        };
        let traffic = run.traffic.iter().filter_map(|source| source.mean_rate_bps);
        Reading {
            value: run.summary.metric(self.metric()).unwrap_or(worst),
            throughput_bps: run.summary.throughput_bps.unwrap_or(0.0),
            traffic_bps: traffic.sum(),
        }
    }

    /// The reference without another controller: the bandwidth that others leave, no queue, no loss, a transfer at the path's rate,
    /// equal shares.
    pub fn bound(self, left_bps: f64, least_completion_s: f64) -> f64 {
        match self {
            Figure::Share => left_bps,
            Figure::Queue | Figure::Loss => 0.0,
            Figure::Completion => least_completion_s,
            Figure::Fairness => 1.0,
        }
    }

    /// The floor, in the unit of [`Figure::badness`].
    pub fn floor(self, capacity_bps: f64) -> f64 {
        match self {
            // A hundredth of the path counts as zero.
            Figure::Share => 0.01 * capacity_bps,
            // Transmission time of one packet of 1500 B at 12 Mbit/s.
            Figure::Queue => 0.001,
            Figure::Loss => 0.001,
            Figure::Completion => 0.001,
            Figure::Fairness => 0.02,
        }
    }

    /// The floor in words: the amount added to both sides.
    pub fn floor_words(self) -> String {
        let floor = self.floor(1.0);
        match self {
            Figure::Share => format!("{} % of the path's capacity", 1e2 * floor),
            Figure::Queue | Figure::Completion => format!("{} ms", 1e3 * floor),
            Figure::Loss => format!("{} %", 1e2 * floor),
            Figure::Fairness => format!("{floor}, what is missing to 1 compared,"),
        }
    }

    /// The value as an amount that grows from zero; for fairness, the difference to 1.
    fn amount(self, value: f64) -> f64 {
        if self == Figure::Fairness { 1.0 - value } else { value }
    }

    /// The value of this amount.
    fn value(self, amount: f64) -> f64 {
        if self == Figure::Fairness { 1.0 - amount } else { amount }
    }

    /// How many times worse the first is than the second.
    pub fn times_worse(self, subject: f64, reference: f64, capacity_bps: f64) -> f64 {
        let floor = self.floor(capacity_bps);
        let (subject, reference) = (self.amount(subject) + floor, self.amount(reference) + floor);
        if self == Figure::Share { reference / subject } else { subject / reference }
    }

    /// The value multiplied by this factor, floor included: the part of a difference that `slack` tolerates.
    pub fn moved(self, value: f64, by: f64, capacity_bps: f64) -> f64 {
        let floor = self.floor(capacity_bps);
        self.value(((self.amount(value) + floor) * by - floor).max(0.0))
    }

    /// Whether a larger value is better.
    pub fn is_better_larger(self) -> bool {
        matches!(self, Figure::Share | Figure::Fairness)
    }

    /// A value in words.
    pub fn words(self, value: f64) -> String {
        match self {
            Figure::Share if value >= 1e6 => format!("{:.2} Mbit/s", value / 1e6),
            Figure::Share => format!("{:.1} kbit/s", value / 1e3),
            Figure::Queue => format!("{:.1} ms", value * 1e3),
            Figure::Loss => format!("{:.2} %", value * 1e2),
            Figure::Completion => format!("{value:.2} s"),
            Figure::Fairness => format!("{value:.3}"),
        }
    }
}

/// Jain's index of two flows of which one has everything.
const LEAST_JAIN: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_run_figures() {
        for figure in Figure::ALL {
            assert!(experiment::results::Summary::metrics().any(|name| name == figure.metric()), "{}", figure.name());
        }
    }

    #[test]
    fn worse_is_more_than_one() {
        let capacity = 10e6;
        let worse = |figure: Figure, subject, reference| figure.times_worse(subject, reference, capacity);
        // (9 + 0.1) / (0.81 + 0.1) Mbit/s.
        assert_eq!(worse(Figure::Share, 0.81e6, 9e6), 10.0);
        assert!((worse(Figure::Queue, 0.099, 0.009) - 10.0).abs() < 1e-9);
        assert!((worse(Figure::Fairness, 0.6, 0.99) - 14.0).abs() < 1e-9);
        for figure in Figure::ALL {
            assert_eq!(worse(figure, 0.7, 0.7), 1.0, "{}", figure.name());
        }
        // Zero against zero is no worse, and zero against a positive value not infinitely.
        assert_eq!(worse(Figure::Share, 0.0, 0.0), 1.0);
        assert_eq!(worse(Figure::Share, 0.0, 10e6), 101.0);
    }

    #[test]
    fn moved_value_includes_floor() {
        for figure in Figure::ALL {
            let (value, capacity) = (0.6, 10e6);
            let moved = figure.moved(value, 1.5, capacity);
            let times = figure.times_worse(moved, value, capacity);
            let times = if figure == Figure::Share { 1.0 / times } else { times };
            assert!((times - 1.5).abs() < 1e-9, "{}: {times}", figure.name());
        }
    }
}
