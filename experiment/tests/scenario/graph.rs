//! Links between named nodes, and routes over them.

use crate::support::{assert_refused, experiment, read, refusal, try_spoilt};
use packetscale_models::units::Span;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::path::Path;

/// `A -> B -> C -> D`, and a link straight from `D` to `A`.
const RING: &str = r#"[[link]]
name = "ab"
from = "A"
to = "B"
rate = "20 Mbit/s"
delay = "1 ms"

[[link]]
name = "bc"
from = "B"
to = "C"
rate = "10 Mbit/s"
delay = "2 ms"

[[link]]
name = "cd"
from = "C"
to = "D"
rate = "10 Mbit/s"
delay = "4 ms"

[[link]]
name = "da"
from = "D"
to = "A"
rate = "1 Mbit/s"
delay = "8 ms"

[[flow]]
controller = "newreno"
from = "A"
to = "D"
"#;

#[test]
fn a_flow_takes_the_shortest_way_and_its_acknowledgments_the_shortest_back() {
    let ring = experiment(RING);
    assert_eq!((&ring.flows[0].route, &ring.flows[0].back), (&vec![0, 1, 2], &vec![3]));
    assert_eq!(ring.flows[0].rtt, Span::from_millis(15), "1 + 2 + 4 there, 8 back");
    // The slowest link that data cross, the first of two; the way back is slower, but only acknowledgments cross it.
    assert_eq!(ring.bottleneck, 1);
}

#[test]
fn acknowledgments_are_only_delayed_where_no_links_lead_back_or_a_flow_says_so() {
    let one_way = RING.replace("from = \"D\"\nto = \"A\"", "from = \"D\"\nto = \"E\"");
    let delayed = RING.to_string() + "back = []\n";
    for text in [one_way, delayed] {
        let flow = &experiment(&text).flows[0];
        assert_eq!((flow.back.as_slice(), flow.rtt), ([].as_slice(), Span::from_millis(14)));
    }
}

#[test]
fn duplex_link_is_two_equal_links() {
    let link = |keys: &str| {
        format!(
            "[[link]]\n{keys}from = \"A\"\nto = \"B\"\nduplex = true\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"9 packets\"\nloss = 0.1\n\
             [[flow]]\ncontroller = \"cubic\"\nfrom = \"B\"\nto = \"A\"\n[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n\
             from = \"A\"\nto = \"B\"\n"
        )
    };
    for (keys, names) in [("", ["A-B", "B-A"]), ("name = \"first\"\n", ["first", "first-back"])] {
        let scenario = read(&link(keys), &[]).unwrap();
        let found = scenario.plan().remove(0);
        assert_eq!(found.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), names);
        let renamed = experiment::scenario::LinkSpec { name: names[1].to_string(), ..found.links[0].clone() };
        assert_eq!(renamed, found.links[1]);
        assert_eq!((&found.flows[0].route, &found.flows[0].back), (&vec![1], &vec![0]));
        assert_eq!((&found.traffic[0].route, found.bottleneck), (&vec![0], 1));
        assert_eq!(experiment(&scenario.to_toml()), found, "what is printed is read back");
    }
}

/// Links between these nodes, and a flow with these keys.
fn joined(links: &[[&str; 2]], keys: &str) -> String {
    let link = |[from, to]: &[&str; 2]| {
        format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"20 Mbit/s\"\ndelay = \"1 ms\"\n")
    };
    format!("{}[[flow]]\ncontroller = \"newreno\"\n{keys}", links.iter().map(link).collect::<String>())
}

/// A diamond has two ways from `A` to `D`.
#[test]
fn refuses_ambiguous_shortest_routes() {
    let flow = |keys: &str| joined(&[["A", "B"], ["A", "C"], ["B", "D"], ["C", "D"], ["D", "A"]], keys);
    let refused = |keys: &str| refusal(&flow(keys), &[]);
    assert_eq!(
        refused("from = \"A\"\nto = \"D\"\n"),
        "29: flow.0.to: found several shortest routes: [\"A-B\", \"B-D\"] and [\"A-C\", \"C-D\"]; expected the \
         links that it takes instead, like route = [\"A-B\", \"B-D\"]"
    );
    assert_eq!(
        refused("from = \"D\"\nto = \"A\"\n"),
        "29: flow.0.to: found a way with several shortest ways back: [\"A-B\", \"B-D\"] and [\"A-C\", \"C-D\"]; expected \
         the links that it takes instead, like back = [\"A-B\", \"B-D\"]"
    );
    let named = experiment(&flow("route = [\"A-C\", \"C-D\"]\n"));
    assert_eq!((&named.flows[0].route, &named.flows[0].back), (&vec![1, 3], &vec![4]));
    let back = experiment(&flow("from = \"D\"\nto = \"A\"\nback = [\"A-C\", \"C-D\"]\n"));
    assert_eq!((&back.flows[0].route, &back.flows[0].back), (&vec![4], &vec![1, 3]));
}

#[test]
fn connections_cross_links_both_ways() {
    let text =
        RING.replace("[[flow]]\ncontroller = \"newreno\"", "[[traffic]]\nkind = \"sessions\"\nrate = \"1 Mbit/s\"");
    let found = experiment(&text);
    assert_eq!(found.traffic[0].routes().collect::<Vec<_>>(), [&vec![0, 1, 2], &vec![3]]);
    let one_way = text.replace("from = \"D\"\nto = \"A\"", "from = \"D\"\nto = \"E\"");
    assert_eq!(
        refusal(&one_way, &[]),
        "29: traffic.0.back: found no links; expected the names of the links that the acceptors' data cross, \
         like [\"back\"]"
    );
}

#[test]
fn each_mistake_of_nodes_gives_its_message() {
    assert_refused("graph", |row| try_spoilt(RING, &row["right"], &row["wrong"]));
}

/// `A -> X -> Y -> B` and back: both ways cross the link from `X` to `Y`, which has no other way round.
#[test]
fn refuses_return_route_over_data_link_as_written() {
    let flow = |keys: &str| joined(&[["A", "X"], ["X", "Y"], ["Y", "B"], ["B", "X"], ["Y", "A"]], keys);
    let refused = |keys: &str| refusal(&flow(keys), &[]);
    let said = "found a way whose shortest way back, [\"B-X\", \"X-Y\", \"Y-A\"], crosses \"X-Y\", as its data do; expected \
                back = [...] with other links, or back = [], where acknowledgments are only delayed";
    assert_eq!(refused("from = \"A\"\nto = \"B\"\n"), format!("29: flow.0.to: {said}"));
    let route = "route = [\"A-X\", \"X-Y\", \"Y-B\"]\n";
    assert_eq!(refused(route), format!("28: flow.0.route: {said}"));
    let named = format!("{route}back = [\"B-X\", \"X-Y\", \"Y-A\"]\n");
    let found = "29: flow.0.back: found \"X-Y\", which its data cross; expected other links than those of its route";
    assert_eq!(refused(&named), found);
    let delayed = experiment(&flow("from = \"A\"\nto = \"B\"\nback = []\n"));
    assert_eq!((&delayed.flows[0].route, delayed.flows[0].back.len()), (&vec![0, 1, 2], 0));
}

/// Behind a duplex link: the first table has two links, so the third link is that of the second table.
#[test]
fn a_host_refuses_a_key_with_the_line_of_its_table() {
    let duplex = RING.replacen("delay = \"1 ms\"", "delay = \"1 ms\"\nduplex = true", 1);
    for (text, key, place) in [
        (RING, "path.return", "1: link"),
        (&duplex, "link.2.rate", "13: link.1.rate"),
        (&duplex, "link.1.rate", "5: link.0.rate"),
    ] {
        let error = read(text, &[]).unwrap().refuse(Path::new("it.toml"), key, "this", "that");
        assert_eq!(error.to_string(), format!("it.toml:{place}: found this; expected that"));
    }
}

#[test]
fn nodes_need_links_that_join_them() {
    let text = "[path]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\ncontroller = \"newreno\"\nfrom = \"A\"\n";
    assert_eq!(
        refusal(text, &[]),
        "6: flow.0.from: found a node; expected no node, or links [[link]] with \"from\" and \"to\""
    );
}

#[test]
fn a_route_of_more_links_than_hosts_count_is_refused() {
    let link =
        |i: usize| format!("[[link]]\nfrom = \"n{i}\"\nto = \"n{}\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n", i + 1);
    let chain = |links| (0..links).map(link).collect::<String>();
    let to =
        |last: usize| format!("{}[[flow]]\ncontroller = \"newreno\"\nfrom = \"n0\"\nto = \"n{last}\"\n", chain(300));
    assert_eq!(experiment(&to(255)).flows[0].route.len(), 255);
    assert_eq!(refusal(&to(256), &[]), "1501: flow.0.route: found 256 links; expected at most 255 links");
}

/// Links in a row and flows over some of them.
#[derive(Clone, Debug)]
struct Chain {
    links: Vec<(u32, u32, &'static str)>,
    flows: Vec<(usize, usize)>,
    traffic: Vec<(usize, usize)>,
}

fn span(links: usize) -> impl Strategy<Value = (usize, usize)> {
    (0..links).prop_flat_map(move |first| (Just(first), first + 1..=links))
}

fn chains() -> impl Strategy<Value = Chain> {
    let buffer = prop_oneof![Just("1 bdp"), Just("20 packets"), Just("unlimited")];
    prop::collection::vec((20..200u32, 1..50u32, buffer), 1..6).prop_flat_map(|links| {
        let spans = |least| prop::collection::vec(span(links.len()), least..4);
        (Just(links.clone()), spans(1), spans(0)).prop_map(|(links, flows, traffic)| Chain { links, flows, traffic })
    })
}

impl Chain {
    fn text(&self, nodes: bool) -> String {
        let ends = |i: usize| if nodes { format!("from = \"n{i}\"\nto = \"n{}\"\n", i + 1) } else { String::new() };
        let links = self.links.iter().enumerate().map(|(i, (rate, delay, buffer))| {
            let ends = ends(i);
            format!("[[link]]\nname = \"l{i}\"\n{ends}rate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nbuffer = \"{buffer}\"\n")
        });
        let way = |(from, to): &(usize, usize)| {
            let names: Vec<String> = (*from..*to).map(|link| format!("\"l{link}\"")).collect();
            let named = format!("route = [{}]\n", names.join(", "));
            if nodes { format!("from = \"n{from}\"\nto = \"n{to}\"\n") } else { named }
        };
        let flows = self.flows.iter().map(|flow| format!("[[flow]]\ncontroller = \"newreno\"\n{}", way(flow)));
        let source = "[[traffic]]\nkind = \"poisson\"\nrate = \"1 Mbit/s\"\n";
        let traffic = self.traffic.iter().map(|way_of| format!("{source}{}", way(way_of)));
        links.chain(flows).chain(traffic).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    /// An experiment is all that a host gets to know: the same one gives the same bytes. The measured link is named, because
    /// a chain's is the slowest of all links, a graph's the slowest that data cross.
    #[test]
    fn a_chain_written_as_a_graph_is_the_same_experiment(chain in chains()) {
        let record = "[record]\nlink = \"l0\"\n";
        let (row, graph) = (experiment(&(chain.text(false) + record)), experiment(&(chain.text(true) + record)));
        prop_assert_eq!(serde_json::to_string(&row).unwrap(), serde_json::to_string(&graph).unwrap());
    }
}
