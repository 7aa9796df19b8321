//! Transfers over a link that is computed: sender, session and server are those of real paths, the clock is the link's.

mod link;

use link::{HEADERS, Link, Measured, Shape};
use live::serve::Limits;
use live::transfer::{Driven, Ends, Outgoing, drive};
use live::wire::{Acknowledgment, Begin, Body, Came, Grant, Keys, Packet, Purpose, SEGMENT_HEAD};
use packetscale_models::congestion::{AnyController, Setup, find};
use packetscale_models::settings::Settings;
use packetscale_models::transport::{SenderParams, Transfer};
use packetscale_models::units::{Bytes, Rate, Span, Time};
use std::sync::mpsc;

const PACKET: Bytes = Bytes::new(1500);
const RTT: Span = Span::from_millis(20);
const SHAPE: Shape = Shape { rate: Rate::from_mbps(20), rtt: RTT, buffer: 40, packet: PACKET, one_in: 0 };
const REQUEST: Grant = Grant { size: 1472, rate_bps: 1_000_000_000, bytes: 1 << 40, duration_ms: 100_000 };
const PATIENCE: Span = Span::from_secs(10);

fn limits() -> Limits {
    Limits { grant: REQUEST, ..Limits::DEFAULT }
}

fn controller(name: &str, seed: u64) -> AnyController {
    let setup = Setup { now: Time::ZERO, packet: PACKET, handshake_rtt: RTT, initial_window: 10, seed };
    (find(name).expect("registered").build)(&setup, &Settings::new()).expect("no settings")
}

fn params() -> SenderParams {
    SenderParams {
        packet: PACKET,
        transfer: Transfer::Unlimited,
        initial_window: 10,
        handshake_rtt: RTT,
        handshake_window: 1 << 14,
        min_rto: Span::from_millis(200),
        pacing_percent: 0,
        tick: Span::ZERO,
        slow_start_after_idle: true,
        ecn: false,
    }
}

fn outgoing(params: SenderParams, controller: AnyController) -> Outgoing {
    Outgoing::new(params, controller, Time::ZERO, true, true)
}

fn measure(delayed_ack: u16) -> Begin {
    Begin {
        size: (PACKET.get() as usize - HEADERS - SEGMENT_HEAD) as u16,
        delayed_ack,
        delayed_ack_us: 40_000,
        window: 1 << 14,
        stamps: true,
        purpose: Purpose::Measure,
    }
}

/// Flows with these controllers, for this number of seconds.
fn run(link: &mut Link, names: &[&str], delayed_ack: u16, seconds: u64) -> (Measured, Result<Driven, Ends>) {
    let flows = names.iter().zip(3..).map(|(name, seed)| outgoing(params(), controller(name, seed)));
    carry(link, flows.collect(), delayed_ack, seconds)
}

fn carry(link: &mut Link, flows: Vec<Outgoing>, delayed_ack: u16, seconds: u64) -> (Measured, Result<Driven, Ends>) {
    let grant = link.open(REQUEST);
    for number in (3..).take(flows.len()) {
        link.begin(number, measure(delayed_ack)).expect("begun");
    }
    let mut flows = Measured { flows: (3..).zip(flows).collect(), until: Time::ZERO + Span::from_secs(seconds) };
    let keys = Keys::default();
    let session = link.session(&keys, grant, PATIENCE);
    let driven = drive(link, session, &mut flows);
    (flows, driven)
}

/// A link to a server that changes its acknowledgments.
fn lying(shape: Shape, mut lie: impl FnMut(&mut Acknowledgment) + 'static) -> Link {
    let mut link = Link::new(shape, limits());
    link.lie = Some(Box::new(move |packet: &mut Packet| {
        if let Body::Ack(ack) = &mut packet.body {
            lie(ack);
        }
    }));
    link
}

/// Mbit/s of packets that arrived in the last half of the run.
fn mbps(outgoing: &mut Outgoing, seconds: u64) -> f64 {
    let from = Time::ZERO + Span::from_secs(seconds / 2);
    let late = outgoing.take_records().0.into_iter().filter(|delivery| delivery.left >= from);
    late.map(|delivery| delivery.size.get() as f64 * 8e-6).sum::<f64>() / (seconds - seconds / 2) as f64
}

#[test]
fn every_controller_fills_a_link() {
    for name in ["newreno", "cubic", "bbr", "rapid"] {
        let mut link = Link::new(SHAPE, limits());
        let (mut flows, driven) = run(&mut link, &[name], 2, 10);
        driven.expect("driven");
        let got = mbps(&mut flows.flows[0].1, 10);
        // Of 20 Mbit/s.
        assert!((18.0..=20.1).contains(&got), "{name}: {got}");
        assert_eq!(link.server.counters().dropped, 0, "{name}");
    }
}

/// A packet takes fifty round trips of this path at its bottleneck. As `send` builds its controllers, little is sent again.
#[test]
fn wastes_little_when_rtt_is_below_serialization_time() {
    let short = Shape { rtt: Span::from_micros(12), ..SHAPE };
    for name in ["rapid", "cubic"] {
        let setup = Setup { now: Time::ZERO, packet: PACKET, handshake_rtt: short.rtt, initial_window: 10, seed: 1 };
        let controller = live::send::controller(name, &setup).expect("registered");
        let flow = outgoing(SenderParams { handshake_rtt: short.rtt, ..params() }, controller);
        let (mut flows, driven) = carry(&mut Link::new(short, limits()), vec![flow], 2, 10);
        driven.expect("driven");
        let outgoing = &mut flows.flows[0].1;
        let counters = *outgoing.sender().counters();
        let got = mbps(outgoing, 10);
        eprintln!("{name}: {} of {} sent again, {got} Mbit/s", counters.retransmitted, counters.sent);
        assert!(counters.retransmitted * 50 < counters.sent, "{name}: {counters:?}");
        assert!((17.0..=20.1).contains(&got), "{name}: {got}");
    }
}

#[test]
fn flows_of_one_session_share_link() {
    let mut link = Link::new(SHAPE, limits());
    let (mut flows, driven) = run(&mut link, &["cubic", "cubic"], 2, 30);
    driven.expect("driven");
    let got: Vec<f64> = flows.flows.iter_mut().map(|(_, outgoing)| mbps(outgoing, 30)).collect();
    assert!((18.0..=20.1).contains(&(got[0] + got[1])), "{got:?}");
    assert!(got.iter().all(|one| *one > 5.0), "{got:?}");
}

/// One acknowledgment for 32 segments, four times as many as the transport's has arrivals for: Rapid still reads its streams.
#[test]
fn thinned_acknowledgments_report_every_arrival() {
    let mut link = Link::new(SHAPE, limits());
    let (mut flows, driven) = run(&mut link, &["rapid"], 32, 10);
    driven.expect("driven");
    let outgoing = &mut flows.flows[0].1;
    let (sent, in_flight) = (outgoing.sender().counters().sent, outgoing.sender().in_flight());
    let got = mbps(outgoing, 10);
    assert!((17.0..=20.1).contains(&got), "{got}");
    let seen = outgoing.seen(None);
    let (streams, unusable) = seen.streams.expect("it probes");
    assert!(streams > 20 && unusable * 4 < streams, "{unusable} of {streams}");
    assert!(sent > 10_000 && u64::from(in_flight) < sent, "{sent}");
}

/// The current and the repeated arrivals of such an acknowledgment do not both fit into a packet.
#[test]
fn ack_of_256_segments_fits_into_packet() {
    let fast = Shape { rate: Rate::from_mbps(200), buffer: 400, ..SHAPE };
    let (reported, most) = mpsc::channel();
    let mut link = lying(fast, move |ack| reported.send(ack.came.len()).expect("open channel"));
    let (flows, driven) = run(&mut link, &["cubic"], 256, 10);
    driven.expect("driven");
    assert_eq!(link.too_large, 0);
    assert!(most.try_iter().max() >= Some(256), "it never reaches 256");
    let counters = flows.flows[0].1.sender().counters();
    assert_eq!(counters.timeouts, 0);
    // Three quarters of 200 Mbit/s for 10 s.
    assert!(counters.delivered > 125_000, "{}", counters.delivered);
}

/// A lost acknowledgment loses no arrival: the next one repeats them.
#[test]
fn arrivals_are_reported_twice() {
    let lossy = Shape { one_in: 50, ..SHAPE };
    let mut link = Link::new(lossy, limits());
    let (mut flows, driven) = run(&mut link, &["newreno"], 2, 10);
    driven.expect("driven");
    let outgoing = &mut flows.flows[0].1;
    let delivered = outgoing.sender().counters().delivered;
    let reported = outgoing.take_records().0.len() as u64;
    // One in 50 acknowledgments is lost, one in 2500 pairs: 2 of 5000 arrivals; spurious retransmissions count here.
    assert!(reported * 1000 >= delivered * 998, "{reported} of {delivered}");
}

#[test]
fn marks_reach_the_controller() {
    let mut link = Link::new(SHAPE, limits());
    link.marks_one_in = 50;
    let flow = outgoing(SenderParams { ecn: true, ..params() }, controller("dctcp", 1));
    let (flows, driven) = carry(&mut link, vec![flow], 2, 5);
    driven.expect("driven");
    let outgoing = &flows.flows[0].1;
    let reported = outgoing.seen(None).marked.expect("marks are read").congestion;
    assert!(reported > 20 && reported <= link.marked && link.marked - reported <= 2, "{reported} of {}", link.marked);
    assert!(outgoing.sender().counters().marks_answered > 10);
}

#[test]
fn session_limits_flows_and_memory() {
    let mut link = Link::new(SHAPE, limits());
    link.open(REQUEST);
    for number in 3..67 {
        let begun = link.begin(number, Begin { window: u32::MAX, ..measure(2) }).expect("begun");
        assert_eq!(begun.window, 16_384);
        let again = link.begin(number, measure(2)).expect("the same flow");
        assert_eq!(again, begun);
    }
    assert!(matches!(link.ask(67, Body::Begin(measure(2))), Body::Close(_)));
    link.open_again(limits());
    link.open(REQUEST);
    assert!(matches!(link.ask(3, Body::Begin(Begin { size: 1437, ..measure(2) })), Body::Close(_)), "it does not fit");
}

#[test]
fn sender_respects_granted_rate() {
    let slow = Limits { grant: Grant { rate_bps: 8_000_000, ..REQUEST }, ..limits() };
    let mut link = Link::new(SHAPE, slow);
    let (mut flows, driven) = run(&mut link, &["cubic"], 2, 10);
    assert!(driven.expect("not cut off").held > 0);
    // 8 Mbit/s of payloads: 1472 of 1500 bytes.
    let got = mbps(&mut flows.flows[0].1, 10);
    assert!((8.0..=8.2).contains(&got), "{got}");
}

#[test]
fn closes_session_at_granted_bytes() {
    let few = Limits { grant: Grant { bytes: 1_000_000, ..REQUEST }, ..limits() };
    let (_, driven) = run(&mut Link::new(SHAPE, few), &["cubic"], 2, 10);
    assert!(matches!(driven, Err(Ends::Closed(live::wire::Reason::Limit))), "{driven:?}");
}

/// The session is alive, but acknowledges no data; or grants none.
#[test]
fn missing_acknowledgments_end_transfer() {
    for window in [0, 1 << 14] {
        let mut link = lying(SHAPE, move |ack| {
            (ack.next, ack.window) = (0, window);
            ack.blocks.clear();
            ack.came.clear();
        });
        let (_, driven) = run(&mut link, &["cubic"], 2, 60);
        assert!(matches!(driven, Err(Ends::Stalled(PATIENCE))), "{driven:?}");
    }
}

#[test]
fn dead_path_ends_transfer_with_few_packets() {
    for name in ["cubic", "bbr", "rapid"] {
        let mut link = Link::new(SHAPE, limits());
        link.dead_from = Time::ZERO + Span::from_secs(2);
        let (flows, driven) = run(&mut link, &[name], 2, 60);
        assert!(matches!(driven, Err(Ends::Silent(_))), "{name}: {driven:?}");
        let outgoing = &flows.flows[0].1;
        let counters = outgoing.sender().counters();
        // A window that was under way, timeouts, and a ping each second.
        assert!(counters.sent < counters.delivered + 600, "{name}: {} of {}", counters.delivered, counters.sent);
    }
}

/// The server reports arrivals close together, whatever the link does, and acknowledges what arrived.
#[test]
fn forged_arrivals_gain_at_most_a_quarter() {
    for name in ["rapid", "rapid-thesis"] {
        // A microsecond apart, as if the link had no limit.
        let mut link = lying(Shape { buffer: 4, ..SHAPE }, |ack| {
            ack.came.iter_mut().for_each(|came| came.ns = 1_000_000_000 + came.transmission * 1_000);
        });
        let (flows, driven) = run(&mut link, &[name], 2, 60);
        driven.expect("driven");
        let counters = flows.flows[0].1.sender().counters();
        let ratio = counters.sent as f64 / counters.delivered as f64;
        assert!(ratio < 1.25, "{name}: {} sent, {} acknowledged", counters.sent, counters.delivered);
    }
}

#[test]
fn random_acknowledgments_do_no_harm() {
    for round in 0..20u64 {
        let mut random = packetscale_models::units::Random::new(round);
        let mut link = lying(SHAPE, move |ack| {
            let mut wild = |value: u64| match random.bits() % 6 {
                0 => random.bits(),
                1 => value.wrapping_add(random.bits() % 1000),
                _ => value,
            };
            ack.next = wild(ack.next);
            ack.echo = wild(ack.echo);
            ack.window = wild(u64::from(ack.window)) as u32;
            ack.blocks = vec![(ack.next.saturating_add(5), ack.next.saturating_add(wild(9)).max(6))];
            ack.blocks.retain(|(start, end)| start < end && *start > ack.next);
            ack.came.iter_mut().for_each(|Came { sequence, transmission, ns }| {
                (*sequence, *transmission, *ns) = (wild(*sequence), wild(*transmission), wild(*ns));
            });
        });
        for name in ["rapid", "bbr", "cubic"] {
            link.open_again(limits());
            let (_, driven) = run(&mut link, &[name], 2, 3);
            assert!(matches!(driven, Ok(_) | Err(Ends::Silent(_))), "{driven:?}");
        }
    }
}

/// Rapid for ten seconds on a machine of which each fourth wait ends 4 ms late; Mbit/s of the last half.
fn on_a_late_machine(flow: Outgoing) -> (Measured, f64) {
    let mut link = Link::new(SHAPE, limits());
    (link.late_one_in, link.late) = (4, Span::from_millis(4));
    let (mut flows, driven) = carry(&mut link, vec![flow], 2, 10);
    driven.expect("driven");
    let got = mbps(&mut flows.flows[0].1, 10);
    (flows, got)
}

#[test]
fn late_gaps_hand_over_to_cubic() {
    let flow = outgoing(params(), controller("rapid", 3)).with_fall_back(false);
    let (flows, got) = on_a_late_machine(flow);
    let flow = &flows.flows[0].1;
    assert!(flow.fell_back().is_some_and(|packets| packets < 1_000), "{:?}", flow.fell_back());
    let remark = flow.seen(None).remark;
    assert_eq!(remark.as_deref(), Some("fell back to cubic: this machine creates gaps too late"));
    // Of 20 Mbit/s.
    assert!((18.0..=20.1).contains(&got), "{got}");
}

#[test]
fn remarks_late_gaps_without_fallback() {
    let (flows, _) = on_a_late_machine(outgoing(params(), controller("rapid", 3)));
    let flow = &flows.flows[0].1;
    assert_eq!(flow.fell_back(), None);
    assert_eq!(flow.seen(None).remark.as_deref(), Some("this machine creates gaps too late"));
}

#[test]
fn good_gaps_keep_rapid_on_busy_machine() {
    let flow = outgoing(params(), controller("rapid", 3)).with_fall_back(true);
    let (flows, driven) = carry(&mut Link::new(SHAPE, limits()), vec![flow], 2, 10);
    driven.expect("driven");
    assert_eq!(flows.flows[0].1.seen(None).remark, None);
}
