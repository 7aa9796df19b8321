//! Loss handling of a sender: it learns of losses from acknowledgments and timers, reports them to its
//! controller, and undoes spurious reductions.

use super::Sender;
use crate::congestion::{Extras, Loss, LossResponse, Undo};
use crate::transport::prr::ProportionalReduction;
use crate::transport::rack::Verdict;
use crate::transport::recovery::Phase;
use crate::transport::scoreboard::{Coverage, Scoreboard, State};
use crate::transport::wire::Ack;
use crate::units::{Span, Time};

impl<C: Extras> Sender<C> {
    /// Handles losses, reordering and duplicates.
    #[cold]
    pub(super) fn recover(&mut self, now: Time, ack: &Ack, coverage: &Coverage, prior_in_flight: u32, advanced: bool) {
        if ack.duplicate {
            self.rack.on_duplicate(ack.echo, self.next_transmission);
        }
        if self.recovery.phase() == Phase::AfterTimeout {
            if let Some(sent) = self.recovery.needless_timeout(ack) {
                self.rtt.sample(now, sent);
                self.undo(now);
            }
        } else if self.recovery.needless_recovery(ack, coverage) {
            self.undo(now);
        }
        let over = !self.recovery.is_open() && self.recovery.is_over(self.board.first());
        if over {
            self.end_recovery();
        } else if self.recovery.is_open() && (self.board.first() > self.reduced_until || self.board.is_empty()) {
            self.prr = None; // the round trip after a mark is over
        }
        let lost = self.detect_losses(now, prior_in_flight);
        if over && lost == 0 && self.board.is_repairing() {
            self.begin_losses();
            self.declare(now, 0, prior_in_flight);
        }
        if let Some(prr) = &mut self.prr {
            prr.on_delivery(coverage.delivered, self.board.in_flight(), advanced && lost == 0);
        }
    }

    fn undo(&mut self, now: Time) {
        self.counters.undone += 1;
        self.board.believe_in_flight();
        self.end_recovery();
        self.controller.on_undo(&Undo { now });
    }

    fn end_recovery(&mut self) {
        self.recovery.end(self.next_transmission);
        self.rack.on_recovered();
        self.prr = None;
    }

    /// Declares lost what RACK considers lost, and reports it to the controller. Returns how many packets that is.
    pub(super) fn detect_losses(&mut self, now: Time, prior_in_flight: u32) -> u32 {
        let window = self.reordering_window();
        self.reordering_deadline = Time::MAX;
        let mut lost = 0;
        for candidate in [Scoreboard::oldest_retransmitted, Scoreboard::oldest_sent_once] {
            while let Some(sequence) = candidate(&mut self.board) {
                match self.rack.judge(now, self.board.record(sequence), window) {
                    Verdict::Lost => {
                        if lost == 0 {
                            self.begin_losses();
                        }
                        lost += 1;
                        self.lose(sequence);
                    }
                    Verdict::LateAfter(late) => {
                        self.reordering_deadline = self.reordering_deadline.min(late);
                        break;
                    }
                    Verdict::Expected => break,
                }
            }
        }
        if lost > 0 {
            self.declare(now, lost, prior_in_flight);
        }
        lost
    }

    fn lose(&mut self, sequence: u64) {
        let transmission = self.board.lose(sequence);
        if let Some(watch) = &mut self.watch {
            watch.on_lost(self.wants, sequence, transmission);
        }
    }

    fn begin_losses(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.begin_losses();
        }
    }

    fn declare(&mut self, now: Time, lost: u32, prior_in_flight: u32) {
        let enters_recovery = self.recovery.on_loss(lost, self.board.next(), self.next_transmission);
        self.counters.lost += u64::from(lost);
        self.counters.recoveries += u64::from(enters_recovery);
        if enters_recovery {
            self.reduced_until = self.board.next();
        }
        self.controller.on_loss(&Loss {
            now,
            transmissions: self.watch.as_ref().map_or(&[], |watch| &watch.lost_transmissions),
            flights: self.watch.as_ref().map_or(&[], |watch| &watch.lost_flights),
            lost,
            enters_recovery,
            prior_in_flight,
            srtt: self.rtt.srtt(),
        });
        if enters_recovery && self.controller.loss_response() == LossResponse::ProportionalReduction {
            let target = self.controller.decision().window;
            self.prr = Some(ProportionalReduction::new(target, prior_in_flight));
        }
    }

    fn reordering_window(&self) -> Span {
        let recovering = !self.recovery.is_open();
        self.rack.reordering_window(recovering, self.board.sacked(), self.rtt.min(), self.rtt.srtt())
    }

    pub(super) fn lose_after_timeout(&mut self, now: Time, prior_in_flight: u32) {
        let window = self.reordering_window();
        let head = self.board.first();
        self.begin_losses();
        let mut lost = 0;
        for sequence in head..self.board.next() {
            let record = self.board.record(sequence);
            let spared = sequence != head && self.rack.may_arrive_after_timeout(now, record, window);
            if record.state == State::InFlight && !spared {
                lost += 1;
                self.lose(sequence);
            }
        }
        self.board.rewind();
        self.reordering_deadline = Time::MAX;
        if lost > 0 {
            self.declare(now, lost, prior_in_flight);
        }
    }
}
