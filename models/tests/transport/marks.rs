//! Marks: set on the way, counted by the receiver, reported to the controller.

use super::*;
use packetscale_models::congestion::{AckSample, Decision, Loss, Marked, Needs, Timeout};
use packetscale_models::transport::MarkCounts;

const RTT: Span = Span::from_millis(100);
const CONGESTION: Marks = Marks { congestion: true, burstiness: false };
const BURSTINESS: Marks = Marks { congestion: false, burstiness: true };

fn capable(transfer: Transfer) -> SenderParams {
    SenderParams { ecn: true, ..sender_params(transfer, RTT) }
}

fn segment(sequence: u64, marks: Marks) -> Segment {
    Segment { sequence, transmission: sequence, size: PACKET, retransmission: false, ecn: Ecn::Ect0, marks }
}

fn marked(congestion: u64, burstiness: u64) -> MarkCounts {
    MarkCounts { congestion, burstiness }
}

/// A sender with ten packets in flight.
fn sender_of_ten() -> Sender<Scripted> {
    let mut sender = Sender::new(capable(Transfer::Unlimited), Scripted::new(10), Time::ZERO);
    while sender.poll_transmit(at(0)).is_some() {}
    sender
}

/// A transfer of sixty packets, of which one is lost.
fn losing(ecn: bool) -> Path<Scripted> {
    let params = SenderParams { ecn, ..sender_params(Transfer::Sized(PACKET * 60), RTT) };
    let sender = Sender::new(params, Scripted::new(10), Time::ZERO);
    let mut path = Path::new(sender, Receiver::new(receiver_params()), RTT);
    path.segment_fate = Box::new(|_, s| if s.transmission == 2 { dropped() } else { arrives() });
    path
}

/// Acknowledges everything below `next`, then sends what may leave.
fn acknowledge(sender: &mut Sender<Scripted>, ms: u64, next: u64, counts: MarkCounts) {
    sender.on_ack(at(ms), &Ack { marked: counts, ..Ack::plain(next, next - 1, 1000) });
    while sender.poll_transmit(at(ms)).is_some() {}
}

fn answers(sender: &Sender<Scripted>) -> Vec<(u32, u32, bool)> {
    let reports = sender.controller().reports.iter().filter_map(|reports| match *reports {
        Report::Marked { congestion, burstiness, answer } => Some((congestion, burstiness, answer)),
        _ => None,
    });
    reports.collect()
}

#[test]
fn a_receiver_reports_each_bit_with_its_packets() {
    let mut receiver = Receiver::new(ReceiverParams { delayed_ack: 2, ..receiver_params() });
    let both = Marks { congestion: true, burstiness: true };
    assert!(receiver.on_segment(at(0), &segment(0, CONGESTION)).is_none());
    assert_eq!(receiver.on_segment(at(0), &segment(1, both)).map(|ack| ack.marked), Some(marked(2, 1)));
    receiver.on_segment(at(1), &segment(2, Marks::NONE));
    assert_eq!(receiver.on_segment(at(1), &segment(3, BURSTINESS)).map(|ack| ack.marked), Some(marked(2, 2)));
    // Above a hole, and a duplicate: marks count there too.
    assert_eq!(receiver.on_segment(at(2), &segment(5, CONGESTION)).map(|ack| ack.marked), Some(marked(3, 2)));
    assert_eq!(receiver.on_segment(at(2), &segment(5, CONGESTION)).map(|ack| ack.marked), Some(marked(4, 2)));
}

#[test]
fn new_marks_precede_their_acknowledgment_event() {
    let mut sender = sender_of_ten();
    for (at_ms, next, counts) in [(100, 2, (0, 0)), (101, 4, (2, 1)), (102, 6, (2, 1)), (103, 8, (2, 3))] {
        acknowledge(&mut sender, at_ms, next, marked(counts.0, counts.1));
    }
    let reports = sender.controller().reports.iter().map(|reports| match reports {
        Report::Marked { congestion, burstiness, .. } => Some((*congestion, *burstiness)),
        _ => None,
    });
    assert_eq!(reports.collect::<Vec<_>>(), [None, Some((2, 1)), None, None, Some((0, 2)), None]);
}

/// The window in flight when the mark arrives ends with packet 13: marks on it are old news. Packet 14 left afterwards.
#[test]
fn a_windows_first_congestion_mark_demands_an_answer() {
    let mut sender = sender_of_ten();
    acknowledge(&mut sender, 100, 4, marked(1, 0)); // 10..14 leave; the window ends with 9
    acknowledge(&mut sender, 110, 10, marked(3, 0)); // sent before: no reaction
    acknowledge(&mut sender, 120, 11, marked(4, 0)); // 10 left after the first 4 were acknowledged, and the reaction
    acknowledge(&mut sender, 130, 12, marked(5, 0));
    assert_eq!(answers(&sender), [(1, 0, true), (2, 0, false), (1, 0, true), (1, 0, false)]);
    assert_eq!(sender.counters().marks_answered, 2);
}

#[test]
fn a_burstiness_mark_alone_demands_no_answer() {
    let mut sender = sender_of_ten();
    acknowledge(&mut sender, 100, 4, marked(0, 4));
    assert_eq!(answers(&sender), [(0, 4, false)]);
}

/// Three acknowledgments: the second is lost, and the first arrives last.
#[test]
fn lost_and_reordered_acknowledgments_neither_lose_nor_repeat_marks() {
    let mut sender = sender_of_ten();
    acknowledge(&mut sender, 100, 6, marked(5, 3));
    acknowledge(&mut sender, 101, 2, marked(1, 0));
    acknowledge(&mut sender, 102, 7, marked(6, 3));
    assert_eq!(answers(&sender), [(5, 3, true), (1, 0, false)]);
}

/// A loss has reduced the window: the sender does not react to marks on what was in flight then.
#[test]
fn no_mark_is_answered_in_recovery() {
    let mut path = losing(true);
    path.marks = Box::new(|s| if (6..12).contains(&s.transmission) { CONGESTION } else { Marks::NONE });
    path.run(at(100_000));
    // The third packet above the hole, 5, proves the loss; 6 to 11 left before that.
    let answered = answers(&path.sender);
    assert!(answered.len() > 2 && answered.iter().all(|(_, _, answer)| !answer), "{answered:?}");
}

#[test]
fn only_first_transmissions_of_a_capable_flow_are_marked() {
    let sent_ecn = |ecn: bool| {
        let mut path = losing(ecn);
        path.run(at(100_000));
        path.sent.iter().map(|(_, segment)| (segment.retransmission, segment.ecn.is_capable())).collect::<Vec<_>>()
    };
    let sent = sent_ecn(true);
    assert!(sent.iter().any(|(retransmission, _)| *retransmission));
    assert!(sent.iter().all(|(retransmission, ecn)| *ecn != *retransmission));
    assert!(sent_ecn(false).iter().all(|(_, ecn)| !ecn));
}

/// A controller that does not read marks.
struct Deaf;

impl Controller for Deaf {
    fn on_ack(&mut self, _ack: &AckSample<'_>) {}
    fn on_loss(&mut self, _loss: &Loss<'_>) {}
    fn on_timeout(&mut self, _timeout: &Timeout) {}
    fn decision(&self) -> Decision {
        Decision { window: 10, departure: Time::ZERO }
    }
}

impl Extras for Deaf {}

#[test]
fn packets_of_a_mark_blind_controller_are_not_capable() {
    let mut sender = Sender::new(capable(Transfer::Unlimited), Deaf, Time::ZERO);
    assert_eq!(sender.poll_transmit(at(0)).map(|segment| segment.ecn), Some(Ecn::NotEct));
}

/// A controller, and its window before and after each mark that it should react to.
struct Watched {
    inner: AnyController,
    answers: Vec<(Time, u32, u32)>,
}

impl Controller for Watched {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.inner.on_ack(ack);
    }
    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.inner.on_loss(loss);
    }
    fn on_timeout(&mut self, timeout: &Timeout) {
        self.inner.on_timeout(timeout);
    }
    fn on_mark(&mut self, marked: &Marked) {
        let before = self.inner.decision().window;
        self.inner.on_mark(marked);
        let after = self.inner.decision().window;
        if marked.answer {
            self.answers.push((marked.now, before, after));
        } else {
            assert_eq!(before, after, "one reaction per window");
        }
    }
    fn needs(&self) -> Needs {
        self.inner.needs()
    }
    fn decision(&self) -> Decision {
        self.inner.decision()
    }
    fn slow_start_threshold(&self) -> u32 {
        self.inner.slow_start_threshold()
    }
}

impl Extras for Watched {}

/// One packet in 400 is marked, for two minutes. Each reaction leaves this share of the window, two reactions are at
/// least a round trip apart, and nothing is lost or repeated.
#[test]
fn a_marked_flow_halves_once_per_window_without_loss() {
    for (name, kept) in [("newreno", 0.5), ("cubic", 0.7), ("hybla", 0.5), ("scalable", 0.875)] {
        let params = capable(Transfer::Unlimited);
        let watched = Watched { inner: controller(name, &params, &[]), answers: Vec::new() };
        let mut path = Path::new(Sender::new(params, watched, Time::ZERO), Receiver::new(receiver_params()), RTT);
        let mut dice = Dice(7);
        path.record = false;
        path.marks = Box::new(move |_| if dice.roll() < 0.0025 { CONGESTION } else { Marks::NONE });
        path.run(at(120_000));
        let counters = path.sender.counters();
        assert_eq!((counters.lost, counters.retransmitted, counters.timeouts), (0, 0, 0), "{name}");
        let answers = &path.sender.controller().answers;
        let arrived = path.receiver.marked().congestion;
        assert!(answers.len() > 50 && answers.len() as u64 <= arrived, "{name}: {} of {arrived}", answers.len());
        assert!(answers.windows(2).all(|pair| pair[1].0.since(pair[0].0) >= RTT), "{name}: twice in a round trip");
        for (_, before, after) in answers {
            let left = (f64::from(*before) * kept).max(2.0);
            assert!((f64::from(*after) - left).abs() <= 1.0, "{name}: {before} became {after}");
        }
    }
}

/// Packets that leave at each of this many acknowledgments of one packet. Twenty are in flight, and the first is marked.
fn released(name: &str, acknowledgments: u64) -> Vec<usize> {
    let params = SenderParams { initial_window: 20, ..capable(Transfer::Unlimited) };
    let mut sender = Sender::new(params, controller(name, &params, &[]), Time::ZERO);
    while sender.poll_transmit(at(0)).is_some() {}
    let leaving = (1..=acknowledgments).map(|next| {
        sender.on_ack(at(100 + next), &Ack { marked: marked(1, 0), ..Ack::plain(next, next - 1, 1000) });
        std::iter::from_fn(|| sender.poll_transmit(at(100 + next))).count()
    });
    leaving.collect()
}

/// The window falls from twenty to ten. Of 18 packets that are delivered, every second lets one leave (RFC 6937). Then ten are
/// in flight, and stay so until the first packet that left after the mark is acknowledged, the 21st; ten more make eleven.
#[test]
fn after_a_mark_one_packet_leaves_per_two_delivered() {
    let expected = [[1, 0].repeat(9), vec![0, 1], vec![1; 9], vec![2]].concat();
    for name in ["newreno", "lp"] {
        assert_eq!(released(name, 30), expected, "{name}");
    }
}

/// DCTCP's window holds at once, as in RFC 8257: nothing leaves until ten are in flight, and it grows meanwhile.
#[test]
fn after_a_mark_dctcp_sends_by_its_window() {
    let left = released("dctcp", 12);
    assert_eq!((&left[..9], left.iter().sum::<usize>()), (&[0; 9][..], 3));
}

/// An application offers two packets, then three; the sender is idle in between.
#[test]
fn an_application_limited_sender_never_completes() {
    let mut sender = Sender::new(sender_params(Transfer::Offered, RTT), Scripted::new(10), Time::ZERO);
    assert!(sender.poll_transmit(at(0)).is_none() && !sender.is_done());
    assert_eq!(sender.next_wakeup(), Time::MAX);
    let burst = |sender: &mut Sender<Scripted>, ms| -> Vec<(u64, Bytes)> {
        core::iter::from_fn(|| sender.poll_transmit(at(ms))).map(|s| (s.sequence, s.size)).collect()
    };
    sender.offer(2);
    assert_eq!(burst(&mut sender, 0), [(0, PACKET), (1, PACKET)]);
    sender.on_ack(at(100), &Ack::plain(2, 0, 100));
    assert!(burst(&mut sender, 100).is_empty() && !sender.is_done());
    sender.offer(3);
    assert_eq!(burst(&mut sender, 300).len(), 3);
}
