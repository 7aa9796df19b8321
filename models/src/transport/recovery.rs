//! Recovery episodes, and the evidence that one was needless.
//!
//! Fast recovery begins with the first packet declared lost and ends when everything sent before that is acknowledged
//! (RFC 6675, section 5). A timeout begins an episode with the same end. An episode is undone when
//!
//! * after a timeout, the first acknowledgment that covers the timed-out packet echoes a transmission from before the
//!   timeout (Eifel detection, RFC 3522, section 3.2);
//! * in fast recovery, every packet that was declared lost is proven to have arrived: it was acknowledged before it
//!   was sent again, its acknowledgment echoes an earlier transmission, or its retransmission arrived as a duplicate
//!   (RFC 3708).
//!
//! A retransmission that arrives as a duplicate is usually reported after recovery. Such evidence therefore counts as
//! long as it concerns the last episode. Packets that left during an episode and were lost too begin the next one when
//! it ends.
//!
//! Deviations:
//! 1. RFC 3522 would undo fast recovery on the first packet proven. When other packets are truly lost, the reduction
//!    must remain, so every packet needs its proof.
//! 2. A timeout during fast recovery is never undone: the earlier reduction had its own reason. An episode that begins
//!    with losses of the previous one is not undone either.

use crate::units::Time;

use crate::transport::scoreboard::Coverage;
use crate::transport::wire::Ack;

/// More losses than can ever be proven needless.
const NEVER_PROVEN: u32 = u32::MAX / 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    FastRecovery,
    AfterTimeout,
}

#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    phase: Phase,
    /// The episode ends when every packet before this one is acknowledged.
    point: u64,
    /// First transmission number of the episode.
    began_at: u64,
    /// First transmission number after the episode.
    ended_at: u64,
    /// Fast recovery: packets declared lost and not proven delivered.
    unproven: u32,
    /// Fast recovery: packets proven by their echo, with retransmissions that will still arrive as duplicates.
    duplicates_awaited: u32,
    /// After a timeout: the packet that timed out and when it had left, until its acknowledgment reveals the cause.
    suspect: Option<(u64, Time)>,
}

impl Recovery {
    pub fn new() -> Recovery {
        Recovery {
            phase: Phase::Open,
            point: 0,
            began_at: 0,
            ended_at: 0,
            unproven: 0,
            duplicates_awaited: 0,
            suspect: None,
        }
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// `lost` packets were declared lost; 0 if the previous episode declared the loss. Returns whether fast recovery
    /// begins.
    pub fn on_loss(&mut self, lost: u32, next_unsent: u64, next_transmission: u64) -> bool {
        let enters = self.phase == Phase::Open;
        if enters {
            *self = Recovery {
                phase: Phase::FastRecovery,
                point: next_unsent,
                began_at: next_transmission,
                ended_at: u64::MAX,
                unproven: if lost == 0 { NEVER_PROVEN } else { 0 },
                duplicates_awaited: 0,
                suspect: None,
            };
        }
        self.unproven = self.unproven.saturating_add(lost);
        enters
    }

    /// The timer expired. `head` is the packet at the left edge; it left at `sent`.
    pub fn on_timeout(&mut self, head: u64, sent: Time, retransmitted: bool, next_unsent: u64, next_transmission: u64) {
        let again = self.phase == Phase::AfterTimeout && self.suspect.is_some_and(|(suspect, _)| suspect == head);
        if !again {
            let clear = self.phase != Phase::FastRecovery && !retransmitted;
            self.suspect = clear.then_some((head, sent));
            self.began_at = next_transmission;
        }
        self.phase = Phase::AfterTimeout;
        self.point = next_unsent;
        self.unproven = NEVER_PROVEN;
    }

    /// After a timeout: returns when the packet had left, if `ack` proves the timeout needless.
    pub fn needless_timeout(&mut self, ack: &Ack) -> Option<Time> {
        let (head, sent) = self.suspect?;
        if ack.next_expected <= head {
            return None;
        }
        self.suspect = None;
        (ack.echo < self.began_at).then_some(sent)
    }

    /// Collects what `ack` proves about the current fast recovery, or about the last one. Returns whether all of it
    /// was needless.
    pub fn needless_recovery(&mut self, ack: &Ack, coverage: &Coverage) -> bool {
        if self.unproven == 0 {
            return false;
        }
        let mut proven = coverage.exonerated;
        if coverage.original_was_late() {
            proven += 1;
            self.duplicates_awaited += 1;
        }
        if ack.duplicate && (self.began_at..self.ended_at).contains(&ack.echo) {
            if self.duplicates_awaited > 0 {
                self.duplicates_awaited -= 1;
            } else {
                proven += 1;
            }
        }
        self.unproven = self.unproven.saturating_sub(proven);
        proven > 0 && self.unproven == 0
    }

    /// Whether everything sent before the episode is acknowledged.
    pub fn is_over(&self, first_unacknowledged: u64) -> bool {
        first_unacknowledged >= self.point
    }

    pub fn end(&mut self, next_transmission: u64) {
        self.phase = Phase::Open;
        self.ended_at = next_transmission;
        self.suspect = None;
    }
}
