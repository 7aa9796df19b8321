//! A persistent connection: responses with pauses between them, over a path with a first-in-first-out queue.

use super::*;

const RTT: Span = Span::from_millis(40);

struct Kept {
    law: Law,
    rate: Rate,
    now: Time,
    busy_until: Time,
    sent: u64,
    /// When it left, when its acknowledgment arrives, its number, and when it arrived.
    flying: VecDeque<(Time, Time, u64, Time)>,
    longest_wait: Span,
}

impl Kept {
    fn new(rate: Rate) -> Kept {
        let law = Law::new(&Params::new(PACKET), Time::ZERO, RTT, 1);
        let (sent, flying, longest_wait) = (0, VecDeque::new(), Span::ZERO);
        Kept { law, rate, now: Time::ZERO, busy_until: Time::ZERO, sent, flying, longest_wait }
    }

    fn hear_until(&mut self, until: Time) {
        while let Some(&(departure, heard, number, arrival)) = self.flying.front().filter(|flying| flying.1 <= until) {
            self.flying.pop_front();
            self.law.on_rtt(heard.since(departure));
            self.law.on_arrival(heard, number, arrival);
            self.now = self.now.max(heard);
        }
    }

    /// Sends a response of this many packets; returns how long its last one took to arrive, without the path's delay.
    fn answer(&mut self, packets: u64) -> Span {
        let began = self.now;
        let mut arrived = began;
        for number in 0..packets {
            let departure = loop {
                let departure = self.law.departure().max(self.now);
                match self.flying.front() {
                    Some(flying) if flying.1 <= departure => self.hear_until(flying.1),
                    _ => break departure,
                }
            };
            let paused = number == 0 && self.law.is_overdue(departure);
            self.now = departure;
            self.law.on_sent(departure, self.sent, PACKET, paused);
            let from = self.busy_until.max(departure);
            self.busy_until = from + self.rate.time_for(PACKET);
            self.longest_wait = self.longest_wait.max(from.since(departure));
            arrived = self.busy_until + RTT / 2;
            self.flying.push_back((departure, arrived + RTT / 2, self.sent, arrived));
            self.sent += 1;
        }
        arrived.since(began) - RTT / 2
    }

    fn pause(&mut self, pause: Span) {
        let until = self.now + pause;
        self.hear_until(until);
        self.now = until;
    }

    /// How much longer an answer takes than one that leaves at once, as a part of that with its round trip.
    fn excess(&mut self, packets: u64, pause: Span) -> f64 {
        let took = self.answer(packets).as_secs_f64();
        self.pause(pause);
        let least = self.rate.time_for(PACKET).as_secs_f64() * packets as f64;
        (took - least) / (least + RTT.as_secs_f64())
    }

    /// The worst of this many responses.
    fn worst(&mut self, answers: u32, packets: u64, pause: Span) -> f64 {
        (0..answers).map(|_| self.excess(packets, pause)).fold(0.0, f64::max)
    }
}

/// Tries the sizes of answers, the capacities and the pauses that are tried.
fn for_all(judge: impl Fn(Kept, u64, Span, &str)) {
    for mbps in [5, 20, 50, 200] {
        for packets in [3, 7, 10, 14, 21, 41, 83] {
            for pause in [20, 60, 100, 300] {
                let case = format!("{packets} packets every {pause} ms over {mbps} Mbit/s");
                judge(Kept::new(Rate::from_mbps(mbps)), packets, Span::from_millis(pause), &case);
            }
        }
    }
}

/// The margin takes 3 % of what the path has.
#[test]
fn responses_come_to_leave_at_the_path_rate() {
    for_all(|mut kept, packets, pause, case| {
        // Of answers with pauses of less than a round trip the first chirps learn less.
        let learns = if pause < RTT { 16 } else { 6 };
        kept.worst(learns, packets, pause);
        let worst = kept.worst(16, packets, pause);
        assert!(worst < 0.05, "{case}: {worst:.3} too long");
    });
}

#[test]
fn then_they_meet_no_queue_of_their_own() {
    for_all(|mut kept, packets, pause, case| {
        kept.worst(16, packets, pause);
        kept.longest_wait = Span::ZERO;
        kept.worst(16, packets, pause);
        let most = kept.rate.time_for(PACKET) * 3;
        assert!(kept.longest_wait <= most, "{case}: waits {} us", kept.longest_wait.as_secs_f64() * 1e6);
    });
}

/// Eight packets and more form a stream; fewer do not.
#[test]
fn after_a_collapse_streams_of_short_responses_restore_the_rate() {
    for_all(|mut kept, packets, pause, case| {
        if packets < 8 || pause < RTT {
            return;
        }
        kept.worst(10, packets, pause);
        (0..2).for_each(|_| kept.law.on_timeout());
        kept.worst(20, packets, pause);
        let then = kept.excess(packets, pause);
        assert!(then < 0.05, "{case}: {then:.3} too long");
    });
}

/// Each answer loses its last packets.
fn rate_after_losses(packets: u64, lost: usize) -> (f64, f64) {
    let pause = Span::from_millis(100);
    let mut kept = Kept::new(Rate::from_mbps(50));
    kept.worst(16, packets, pause);
    let before = kept.law.rate().bps() as f64;
    for _ in 0..100 {
        kept.answer(packets);
        // At a low rate the first are acknowledged before the last leaves.
        let gone = kept.flying.split_off(kept.flying.len().saturating_sub(lost));
        kept.pause(pause);
        gone.into_iter().for_each(|(_, _, number, _)| kept.law.on_lost(kept.now, number));
    }
    (before, kept.law.rate().bps() as f64)
}

#[test]
fn short_responses_give_way_at_a_third_lost() {
    for (packets, lost) in [(7, 3), (7, 4), (6, 4), (4, 3), (10, 4), (8, 3)] {
        let (before, after) = rate_after_losses(packets, lost);
        assert!(after < before / 16.0, "{lost} of {packets}: {before} and then {after}");
    }
}

#[test]
fn short_responses_ignore_occasional_losses() {
    let (before, after) = rate_after_losses(7, 1);
    assert!(after > before / 2.0, "{before} and then {after}");
}
