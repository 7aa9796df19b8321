//! Decides whether this machine can make the gaps that a controller asks for, from due and actual departure times.

use packetscale_models::units::Span;

/// Gaps per judgement: the length of a short stream.
const GAPS: u32 = 8;
/// Gaps are late if more than 1/8 of their time was lost: the law ignores such a stream (`frame.h` in crate law).
const LATE_PART: u64 = 8;
/// The law compensates lateness of up to half a gap.
const MADE_UP_PART: u64 = 2;
/// Weight 1/64 of a judgement in the moving average of late judgements.
const MEMORY: f64 = 64.0;
/// Share of late judgements above which gaps are too late.
const MOST_LATE: f64 = 0.25;

/// State of a flow's departures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Punctuality {
    gaps: u32,
    planned: Span,
    lost: Span,
    late_share: f64,
}

impl Punctuality {
    /// For a machine whose processors other programs also use: starts half way to the limit.
    pub fn on_a_busy_machine() -> Punctuality {
        Punctuality { late_share: MOST_LATE / 2.0, ..Punctuality::default() }
    }

    /// A packet left this late; the next is due `apart` after the due time of this one.
    ///
    /// With a gap g, the next gap is g if the lateness is compensated, else g / 2 after the packet left: late + g / 2.
    pub fn note(&mut self, late: Span, apart: Span) {
        let lost = (late * MADE_UP_PART).saturating_sub(apart);
        self.gaps += 1;
        self.lost += lost;
        self.planned += apart.saturating_sub(lost);
        if self.gaps < GAPS {
            return;
        }
        let is_late = self.lost * LATE_PART > self.planned;
        let judged = if is_late { 1.0 } else { 0.0 };
        *self =
            Punctuality { late_share: self.late_share + (judged - self.late_share) / MEMORY, ..Punctuality::default() };
    }

    /// Whether gaps are too late.
    pub fn is_too_late(&self) -> bool {
        self.late_share > MOST_LATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Span = Span::from_micros(600);

    /// State after `gaps` gaps of 600 us, of which each `every`-th was late.
    fn after(gaps: u32, every: u32, late: Span) -> Punctuality {
        let mut punctuality = Punctuality::default();
        (1..=gaps).for_each(|number| match number % every {
            0 => punctuality.note(late, GAP.max(late + GAP / 2)),
            _ => punctuality.note(Span::ZERO, GAP),
        });
        punctuality
    }

    // 8 gaps are 4.8 ms, of which an eighth is 0.6 ms; 0.3 ms of each lateness are made up for.

    /// 1 - (63/64)^18 is 0.247, and with 19 it is 0.259.
    #[test]
    fn nineteen_late_judgements_trigger_fallback() {
        let late = Span::from_micros(901);
        assert!(!after(18 * 8, 8, late).is_too_late());
        assert!(after(19 * 8, 8, late).is_too_late());
    }

    #[test]
    fn lateness_of_one_eighth_is_tolerated() {
        assert!(!after(10_000, 8, Span::from_micros(900)).is_too_late());
    }

    #[test]
    fn half_a_gap_of_lateness_is_recovered() {
        assert!(!after(10_000, 1, Span::from_micros(300)).is_too_late());
        // 76 us of each 600 us are lost.
        assert!(after(19 * 8, 1, Span::from_micros(376)).is_too_late());
    }

    /// A fifth of the judgements swings around 0.2 by less than 1/64.
    #[test]
    fn tolerates_one_late_in_five_not_three() {
        assert!(!after(20_000, 5 * 8, Span::from_millis(10)).is_too_late());
        assert!(after(20_000, 3 * 8, Span::from_millis(10)).is_too_late());
    }

    /// 0.25 - 0.125 of 1 - 0.125 is a seventh: (63/64)^9 is 0.868, and (63/64)^10 is 0.854.
    #[test]
    fn busy_machine_needs_ten_late_judgements() {
        let mut busy = Punctuality::on_a_busy_machine();
        (0..8 * 9).for_each(|_| busy.note(Span::from_millis(1), Span::from_micros(1_300)));
        assert!(!busy.is_too_late());
        let mut busy = Punctuality::on_a_busy_machine();
        (0..8 * 10).for_each(|_| busy.note(Span::from_millis(1), Span::from_micros(1_300)));
        assert!(busy.is_too_late());
    }
}
