//! Lost, late and repeated packets, one behaviour per test. The round-trip time is 100 ms and the window ten packets.
//! Every packet is acknowledged: what leaves at 0 ms is acknowledged at 100 ms.

use super::*;
use path::arrives_late;

const RTT: Span = Span::from_millis(100);

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// A transfer of `packets` packets with a window of ten, paced at `pacing_percent` of a window per round trip.
fn path(packets: u64, pacing_percent: u32, fate: impl FnMut(Time, &Segment) -> Fate + 'static) -> Path<Scripted> {
    let transfer = Transfer::Sized(Bytes::new(1000 * packets));
    let params = SenderParams { pacing_percent, ..sender_params(transfer, RTT) };
    let sender = Sender::new(params, Scripted::new(10), Time::ZERO);
    let receiver = Receiver::new(ReceiverParams { delayed_ack: 1, ..receiver_params() });
    let mut path = Path::new(sender, receiver, RTT);
    path.segment_fate = Box::new(fate);
    path
}

/// The same, run to its end.
fn ran(packets: u64, pacing_percent: u32, fate: impl FnMut(Time, &Segment) -> Fate + 'static) -> Path<Scripted> {
    run(path(packets, pacing_percent, fate))
}

fn run(mut path: Path<Scripted>) -> Path<Scripted> {
    path.run(Time::ZERO + Span::from_secs(100));
    assert!(path.sender.is_done());
    path
}

/// Loses these transmissions.
fn lose(transmissions: &'static [u64]) -> impl FnMut(Time, &Segment) -> Fate {
    |_, segment| if transmissions.contains(&segment.transmission) { dropped() } else { arrives() }
}

/// Returns the time in milliseconds and the number of every packet that left.
fn sent(path: &Path<Scripted>) -> Vec<(u64, u64)> {
    path.sent.iter().map(|(time, segment)| (time.nanos() / 1_000_000, segment.sequence)).collect()
}

/// Returns every time at which this packet left, in milliseconds.
fn departures(path: &Path<Scripted>, packet: u64) -> Vec<u64> {
    sent(path).into_iter().filter(|(_, sequence)| *sequence == packet).map(|(time, _)| time).collect()
}

fn loss(lost: u32, enters_recovery: bool) -> Report {
    Report::Loss { lost, enters_recovery, transmissions: Vec::new() }
}

/// Packet 2 is lost. Packets 0 and 1 release 10 and 11; 3 and 4, above the hole, release 12 and 13 (limited transmit);
/// 5 is the third, and 2 leaves again. With a target of 5 and ten in flight, every second delivery then releases one.
#[test]
fn the_third_packet_above_a_hole_triggers_retransmission() {
    let path = ran(30, 0, lose(&[2]));
    let at_100: Vec<_> = sent(&path).into_iter().filter(|(time, _)| *time == 100).map(|(_, packet)| packet).collect();
    assert_eq!(at_100, [10, 11, 12, 13, 2, 14, 15]);
    assert_eq!(path.sender.controller().losses(), [&loss(1, true)]);
    assert_eq!(path.sender.counters().timeouts, 0);
}

#[test]
fn a_lost_retransmission_is_repeated_after_an_rtt() {
    let mut lost = 0;
    let path = ran(60, 0, move |_, segment| {
        lost += u32::from(segment.sequence == 2);
        if segment.sequence == 2 && lost <= 2 { dropped() } else { arrives() }
    });
    assert_eq!(departures(&path, 2), [0, 100, 200]);
    assert_eq!(path.sender.controller().losses(), [&loss(1, true), &loss(1, false)], "one episode, one reduction");
    assert_eq!(path.sender.counters().timeouts, 0);
}

#[test]
fn fills_every_hole_of_a_window_in_one_rtt() {
    let path = ran(60, 0, lose(&[1, 3]));
    for packet in [1, 3] {
        assert_eq!(departures(&path, packet), [0, 100]);
    }
    assert_eq!(path.sender.counters().recoveries, 1);
}

/// Paced 10 ms apart, a packet 15 ms late is overtaken by one or two: too few to be declared lost before it arrives.
#[test]
fn mild_reordering_causes_no_retransmission() {
    let path = ran(60, 100, |_, segment| if segment.sequence % 7 == 3 { arrives_late(ms(15)) } else { arrives() });
    assert_eq!(path.sender.counters().retransmitted, 0);
    assert_eq!(path.sender.counters().lost, 0);
}

/// Packet 2 is overtaken by seven others: it is declared lost, sent again, and arrives after all. The second time, for
/// packet 30, the sender knows that the path reorders, and waits a quarter of a round trip.
#[test]
fn reordering_is_undone_once_and_then_waited_for() {
    let late = |segment: &Segment| [2, 30].contains(&segment.transmission);
    let path = ran(60, 0, move |_, segment| if late(segment) { arrives_late(ms(10)) } else { arrives() });
    assert_eq!(path.sender.controller().losses(), [&loss(1, true), &Report::Undo]);
    assert_eq!(path.sender.controller().window, 10);
    assert_eq!(path.sender.counters().retransmitted, 1);
}

/// Packet 2 was only late, packet 3 was lost: the reduction was right, and remains.
#[test]
fn an_episode_with_one_true_loss_is_not_undone() {
    let path = ran(60, 0, |_, segment| match segment.transmission {
        2 => arrives_late(ms(10)),
        3 => dropped(),
        _ => arrives(),
    });
    assert_eq!(path.sender.counters().undone, 0);
    assert_eq!(path.sender.controller().window, 5);
}

/// Packet 2 is 20 ms late, and the acknowledgment that it causes is lost. The only evidence left is the report, after
/// the end of recovery, that its retransmission arrived as a duplicate.
#[test]
fn a_duplicate_report_proves_a_retransmission_spurious() {
    let mut path = path(60, 0, |_, segment| if segment.transmission == 2 { arrives_late(ms(20)) } else { arrives() });
    path.ack_fate = Box::new(|_, ack| if ack.echo == 2 { dropped() } else { arrives() });
    assert_eq!(run(path).sender.counters().undone, 1);
}

/// From the handshake RTO = 100 + max(4 * 50, 200) = 300 ms, then 600, 1200: the packet leaves at 0, 300, 900, 2100.
#[test]
fn timeouts_back_off() {
    let path = ran(10, 0, |now, _| if now < Time::ZERO + Span::from_secs(2) { dropped() } else { arrives() });
    assert_eq!(departures(&path, 0), [0, 300, 900, 2100]);
    let timeout = |in_flight, first| Report::Timeout { in_flight, first };
    let expected =
        [timeout(10, true), loss(10, false), timeout(1, false), loss(1, false), timeout(1, false), loss(1, false)];
    assert_eq!(path.sender.controller().losses(), expected.iter().collect::<Vec<_>>());
}

/// Nothing gets through for 400 ms, so the timer expires at 300 ms. At 500 ms the acknowledgment of the original
/// arrives and echoes it: nothing else is sent again, and the window is what it was.
#[test]
fn undoes_a_spurious_timeout_before_it_does_harm() {
    let held_until = Time::ZERO + ms(400);
    let path = ran(60, 0, move |now, _| arrives_late(held_until.saturating_since(now)));
    assert_eq!(
        path.sender.controller().losses(),
        [&Report::Timeout { in_flight: 10, first: true }, &loss(10, false), &Report::Undo]
    );
    assert_eq!(path.sender.counters().retransmitted, 1);
    assert_eq!(path.sender.controller().window, 10);
}

#[test]
fn a_true_timeout_is_not_undone() {
    let path = ran(60, 0, |now, _| if now == Time::ZERO { dropped() } else { arrives() });
    assert_eq!((path.sender.counters().timeouts, path.sender.counters().undone), (1, 0));
    assert_eq!(path.sender.counters().retransmitted, 10);
}

/// Packet 2, its retransmission (transmission 14) and packet 14, which left after the reduction (transmission 15), are
/// lost. When the second retransmission of packet 2 ends the episode, packet 14 is still missing: a second episode.
#[test]
fn a_loss_among_packets_of_recovery_begins_another_episode() {
    let path = ran(60, 0, lose(&[2, 14, 15]));
    assert_eq!(path.sender.counters().recoveries, 2);
    assert_eq!(path.sender.controller().window, 2);
}

/// The eighth of ten packets is lost. Only two packets above the hole arrive, not three, but it is sent again
/// 100 + 100/4 ms after it left.
#[test]
fn fills_a_hole_near_the_end_after_a_quarter_rtt() {
    let path = ran(10, 0, lose(&[7]));
    assert_eq!(departures(&path, 7), [0, 125]);
    assert_eq!(path.sender.counters().timeouts, 0);
}

/// Every acknowledgment gives the 100 ms of the path, also the acknowledgment of a retransmission.
#[test]
fn a_retransmission_gives_a_true_round_trip_sample() {
    let path = ran(60, 0, lose(&[2, 9]));
    let reports = &path.sender.controller().reports;
    assert!(
        reports.iter().all(|report| !matches!(report, Report::Ack { rtt, .. } if *rtt != Some(RTT))),
        "{reports:?}"
    );
    assert_eq!(path.sender.rtt(), (RTT, RTT));
}
