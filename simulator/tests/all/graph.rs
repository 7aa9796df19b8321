//! Links between nodes: what happens at each link, by hand, and by accounts that must agree.

use super::*;
use experiment::scenario::Shared;
use proptest::prelude::*;

fn link(from: &str, to: &str, keys: &str) -> String {
    format!("[[link]]\nname = \"{from}{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}\n")
}

fn flow(controller: &str, from: &str, to: &str, keys: &str) -> String {
    let nodes = format!("from = \"{from}\"\nto = \"{to}\"\n");
    format!("[[flow]]\ncontroller = \"{controller}\"\npacket = \"1000 B\"\n{nodes}{keys}\n")
}

/// Links from A to D, and a flow over all of them and one over each, with these keys.
fn parking_lot(head: &str, links: &str, controller: &str, flows: [&str; 4]) -> String {
    let links = ["AB", "BC", "CD"].map(|name| link(&name[..1], &name[1..], links)).concat();
    let ways = [("A", "D"), ("A", "B"), ("B", "C"), ("C", "D")];
    let flows = ways.iter().zip(flows).map(|((from, to), keys)| flow(controller, from, to, keys));
    format!("{head}\n{links}{}", flows.collect::<String>())
}

fn us(time: Time) -> u64 {
    time.nanos() / 1000
}

/// Two sources of 1000 B every 4 ms meet at `B`. Until there a packet takes 0.8 ms at 10 Mbit/s and 1 ms of delay, so both
/// arrive at 1.8 ms; on to `C` takes 1 ms at 8 Mbit/s. The second waits for the first, arrives at its receiver 1 ms after
/// it, and nothing is left when the next two come.
#[test]
fn constant_rate_packets_are_late_by_the_computed_time() {
    let kind = "kind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket = \"1000 B\"";
    let source = |from| format!("[[traffic]]\n{kind}\nfrom = \"{from}\"\nto = \"C\"\n");
    let text = "[run]\nduration = \"1 s\"\n".to_string()
        + &link("A", "B", "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"")
        + &link("D", "B", "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"")
        + &link("B", "C", "rate = \"8 Mbit/s\"\ndelay = \"2 ms\"")
        + &source("A")
        + &source("D");
    for mode in [Mode::Fused, Mode::Stepped] {
        let log = log(&planned(&text), mode);
        for source in 0..2 {
            let of = |link: usize| {
                let mine = log.iter().filter(move |s| s.owner == u32::MAX - source && s.link == link);
                mine.map(|s| (us(s.arrival), us(s.departure))).collect::<Vec<_>>()
            };
            let (first, last) = (of(source as usize), of(2));
            assert_eq!((first.len(), last.len()), (250, 250));
            for (k, (first, last)) in (0..).zip(first.iter().zip(&last)) {
                let at = 4000 * k;
                assert_eq!(*first, (at, at + 800));
                let wait = 1000 * u64::from(source);
                assert_eq!(*last, (at + 1800, at + 1800 + wait + 1000), "packet {k} of source {source}");
            }
        }
    }
}

/// Without drops every packet crosses each link of its route once, and its acknowledgment each link back: what left a link
/// is the sum of what its flows sent.
#[test]
fn a_links_bytes_are_those_of_its_flows() {
    let links = "duplex = true\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\nbuffer = \"unlimited\"";
    let head = "run = { duration = \"20 s\" }\nrecord = { links = true }\nreceiver = { window = \"30 packets\", delayed_ack = 1 }";
    let experiment = planned(&parking_lot(head, links, "newreno", ["size = \"2 MB\""; 4]));
    let run = run(&experiment);
    assert!(run.flows.iter().all(|flow| flow.completion_s.is_some() && flow.sent_packets == 2000), "{:?}", run.flows);
    for (number, link) in run.links.iter().enumerate() {
        let bytes = |flow: &Shared<FlowSpec>| {
            2_000_000 * u64::from(flow.route.contains(&number)) + 2000 * 40 * u64::from(flow.back.contains(&number))
        };
        let expected: u64 = experiment.flows.iter().map(bytes).sum();
        assert_eq!((link.throughput_bps.unwrap() * 20.0 / 8.0).round() as u64, expected, "{}", link.name);
        assert_eq!((link.packets, link.dropped_packets), (4000, 0), "two flows cross each");
    }
}

/// With constant rates each link's rate is the sum of its flows' at their receivers, to a packet at each end: applications
/// of 1, 2, 3 and 4 Mbit/s on links of 10 Mbit/s.
#[test]
fn every_flow_is_measured_at_its_receiver() {
    let rates = [1, 2, 3, 4].map(|rate| format!("application = {{ kind = \"cbr\", rate = \"{rate} Mbit/s\" }}"));
    let head = "run = { duration = \"60 s\", warmup = \"10 s\" }\nrecord = { links = true }";
    let links = "rate = \"10 Mbit/s\"\ndelay = \"2 ms\"";
    let run = run(&planned(&parking_lot(head, links, "newreno", rates.each_ref().map(String::as_str))));
    let packet_bps = 1000.0 * 8.0 / 50.0;
    for (flow, mbps) in run.flows.iter().zip([1.0, 2.0, 3.0, 4.0]) {
        assert!((flow.throughput_bps.unwrap() - mbps * 1e6).abs() <= 2.0 * packet_bps, "{flow:?}");
    }
    for (link, mbps) in run.links.iter().zip([3.0, 4.0, 5.0]) {
        assert!((link.throughput_bps.unwrap() - mbps * 1e6).abs() <= 4.0 * packet_bps, "{link:?}");
    }
    // Of the measured link AB: flows of 1 and 2 Mbit/s, (1 + 2)^2 / (2 (1 + 4)) = 0.9. All four would have 100/120.
    assert!((run.summary.fairness_jain.unwrap() - 0.9).abs() < 1e-3, "{:?}", run.summary.fairness_jain);
}

#[test]
fn flows_that_share_no_link_are_not_compared() {
    let text = "[run]\nduration = \"20 s\"\nwarmup = \"5 s\"\n".to_string()
        + &link("A", "B", "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"")
        + &link("C", "D", "rate = \"1 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"20 packets\"")
        + &flow("newreno", "A", "B", "")
        + &flow("newreno", "C", "D", "");
    let run = run(&planned(&text));
    assert_eq!(run.summary.fairness_jain, None);
    let found = [run.flows[0].throughput_bps, run.flows[1].throughput_bps, run.summary.throughput_bps];
    // The slower link is measured. The buffer of the other holds no more than its path.
    for (found, (expected, tolerance)) in found.iter().zip([(10e6, 0.05), (1e6, 0.001), (1e6, 0.001)]) {
        assert!((found.unwrap() / expected - 1.0).abs() < tolerance, "{found:?}, not {expected}");
    }
}

/// The same bytes: a chain, and the same links with nodes.
#[test]
fn a_chain_written_as_a_graph_makes_the_same_run() {
    let keys = "rate = \"10 Mbit/s\"\ndelay = \"2 ms\"\nbuffer = \"15 packets\"\nloss = 0.001";
    let graph = parking_lot("run = { duration = \"5 s\" }\nrecord = { links = true }", keys, "cubic", [""; 4]);
    let ends = [("A", "B"), ("B", "C"), ("C", "D")];
    let row = ends.iter().fold(graph.clone(), |text, (from, to)| {
        let nodes = format!("from = \"{from}\"\nto = \"{to}\"\n");
        let (links, flows) = text.split_once("[[flow]]").unwrap();
        format!(
            "{}[[flow]]{}",
            links.replacen(&nodes, "", 1),
            flows.replacen(&nodes, &format!("route = [\"{from}{to}\"]\n"), 1)
        )
    });
    let row = row.replacen("from = \"A\"\nto = \"D\"\n", "", 1);
    assert!(!row.contains("from ="), "{row}");
    let bytes = |text: &str| {
        let mut run = run(&planned(text));
        run.summary.cpu_s = None;
        assert!(run.links.iter().all(|link| link.dropped_packets > 0 && link.lost_packets > 0), "{:?}", run.links);
        format!("{run:?}")
    };
    assert_eq!(bytes(&graph), bytes(&row));
}

/// Nodes `n0` to `n4` in a ring of duplex links, and a chord: two ways between any two nodes, of different length.
fn ring(flows: &[(usize, usize, &str)], rates: &[u32], size: &str, seconds: u32) -> String {
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)];
    let links: String = pairs
        .iter()
        .zip(rates)
        .map(|((a, b), rate)| {
            let keys =
                format!("duplex = true\nrate = \"{rate} Mbit/s\"\ndelay = \"{} ms\"\nbuffer = \"12 packets\"", 1 + a);
            link(&format!("n{a}"), &format!("n{b}"), &keys)
        })
        .collect();
    let flow =
        |(from, to, controller): &(usize, usize, &str)| flow(controller, &format!("n{from}"), &format!("n{to}"), size);
    format!("[run]\nduration = \"{seconds} s\"\n[record]\nlinks = true\n[receiver]\ndelayed_ack = 1\n")
        + &links
        + &flows.iter().map(flow).collect::<String>()
}

/// Pairs of nodes with one shortest way there and back: neighbours, and those with one node between them.
const WAYS: [(usize, usize); 8] = [(0, 1), (1, 0), (2, 0), (4, 0), (1, 3), (3, 1), (4, 1), (1, 4)];

fn flows() -> impl Strategy<Value = Vec<(usize, usize, &'static str)>> {
    let controller = prop_oneof![Just("newreno"), Just("cubic"), Just("rapid"), Just("bbr")];
    let way = prop::sample::select(WAYS.to_vec());
    prop::collection::vec((way, controller).prop_map(|((from, to), controller)| (from, to, controller)), 2..6)
}

/// Key of a packet in the log: owner, whether it is an acknowledgment, transmission.
type Key = (u32, bool, u64);

/// Follows each packet over its route: it arrives at a link when it left the one before, later by its delay, and no link
/// invents or forgets one. Returns how many were dropped.
fn follow(experiment: &Experiment, log: &[Served]) -> usize {
    let mut packets: BTreeMap<Key, Vec<&Served>> = BTreeMap::new();
    let key = |served: &Served| (served.owner, served.acknowledgment, served.transmission);
    log.iter().for_each(|served| packets.entry(key(served)).or_default().push(served));
    let end = Time::ZERO + experiment.duration;
    let (mut dropped, mut under_way) = (0, vec![0usize; experiment.links.len()]);
    for ((owner, acknowledgment, _), mut hops) in packets {
        hops.sort_by_key(|served| served.arrival);
        let flow = &experiment.flows[owner as usize];
        let route = if acknowledgment { &flow.back } else { &flow.route };
        assert_eq!(hops.iter().map(|hop| hop.link).collect::<Vec<_>>(), route[..hops.len()], "in order of its route");
        for pair in hops.windows(2) {
            assert_eq!(pair[1].arrival, pair[0].departure + experiment.links[pair[0].link].delay);
        }
        let last = hops[hops.len() - 1];
        if was_dropped(last) {
            dropped += 1;
        } else if hops.len() < route.len() {
            let next = route[hops.len()];
            let arrives = last.departure + experiment.links[last.link].delay;
            under_way[next] += usize::from(arrives <= end);
        }
    }
    // What has arrived and not left is in the queue at the end: no more than its buffer holds.
    assert!(under_way.iter().all(|queued| *queued <= 12), "{under_way:?}");
    dropped
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_graph_conserves_packets_and_fused_is_stepped(
        flows in flows(),
        rates in prop::collection::vec(2..20u32, 6),
    ) {
        let endless = planned(&ring(&flows, &rates, "", 5));
        prop_assert!(follow(&endless, &same_in_both_modes(&endless, 1)) > 0, "no queue was full");

        // Flows that end: what entered each link has left it or was dropped.
        let ending = planned(&ring(&flows, &rates, "size = \"200 kB\"\n", 60));
        let (run, log) = (run(&ending), log(&ending, Mode::Fused));
        follow(&ending, &log);
        for (number, (flow, spec)) in run.flows.iter().zip(&ending.flows).enumerate() {
            prop_assert!(flow.completion_s.is_some());
            let mine = log.iter().filter(|served| served.owner as usize == number && !served.acknowledgment);
            let (dropped, served): (Vec<&Served>, Vec<&Served>) = mine.partition(|served| was_dropped(served));
            let at = |link: usize| served.iter().filter(|served| served.link == link).count() as u64;
            let gone = |link: usize| dropped.iter().filter(|served| served.link == link).count() as u64;
            let mut entered = flow.sent_packets;
            for link in &spec.route {
                prop_assert_eq!(at(*link) + gone(*link), entered, "link {} of flow {}", link, number);
                entered = at(*link);
            }
            prop_assert_eq!(flow.dropped_packets, dropped.len() as u64);
        }
        for (number, link) in run.links.iter().enumerate() {
            let (dropped, served): (Vec<&Served>, Vec<&Served>) =
                log.iter().filter(|served| served.link == number).partition(|served| was_dropped(served));
            prop_assert_eq!((link.packets, link.dropped_packets), (served.len() as u64, dropped.len() as u64));
        }
    }
}

/// One packet at a time, there and back: every delay and transmission of a route by hand. 1000 B take 0.8 ms at 10 Mbit/s
/// and 8 ms at 1 Mbit/s, their acknowledgments of 40 B 0.32 ms at 1 Mbit/s and 0.032 ms at 10 Mbit/s.
#[test]
fn a_round_trip_is_the_sum_of_its_links() {
    let text = "[run]\nduration = \"10 s\"\n[receiver]\nwindow = \"1 packets\"\ndelayed_ack = 1\n".to_string()
        + &link("A", "B", "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"")
        + &link("B", "C", "duplex = true\nrate = \"1 Mbit/s\"\ndelay = \"2 ms\"")
        + &link("B", "A", "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"")
        + &flow("newreno", "A", "C", "");
    let experiment = planned(&text);
    let run = run(&experiment);
    assert_eq!(experiment.flows[0].rtt, Span::from_millis(1 + 2 + 2 + 5));
    let rtt_ms = 1.0 + 0.8 + 2.0 + 8.0 + 2.0 + 0.32 + 5.0 + 0.032;
    assert!((run.flows[0].rtt_mean_s.unwrap() * 1e3 - rtt_ms).abs() < 1e-6, "{:?}", run.flows[0].rtt_mean_s);
}

/// A fused link knows ahead of time what its wire will lose; flows and links count what was lost up to the end. Twenty flows
/// begin with ten packets each, which take 0.4 ms: after 40 ms about half of the 200 have left, and the fate of all is known.
#[test]
fn flows_and_links_agree_on_what_was_lost() {
    let text = "[run]\nduration = \"40 ms\"\n[record]\nlinks = true\n".to_string()
        + &link("A", "B", "rate = \"20 Mbit/s\"\ndelay = \"2 ms\"\nbuffer = \"2000 packets\"\nloss = 0.2")
        + &flow("newreno", "A", "B", "count = 20");
    let experiment = planned(&text);
    for mode in [Mode::Fused, Mode::Stepped] {
        let run = simulator::run_in(&experiment, mode).unwrap();
        let lost: u64 = run.flows.iter().map(|flow| flow.lost_packets).sum();
        assert!(lost > 0 && (95..=100).contains(&run.links[0].packets), "{:?}", run.links[0]);
        assert_eq!(lost, run.links[0].lost_packets);
    }
}
