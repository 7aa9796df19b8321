//! Flows that arrive, flows that stop and ways back: how they are read, and what is refused.

use crate::support::{assert_refused, plan, read, try_refusal};
use experiment::scenario::{ArrivalProcess, Experiment, Size, SizeLaw};
use packetscale_models::units::{Bytes, Span, Time};

fn text(path: &str, flow: &str) -> String {
    format!(
        "run = {{ duration = \"10 s\" }}\npath = {{ rate = \"8 Mbit/s\", delay = \"10 ms\"{path} }}\n\
         [[flow]]\ncontroller = \"newreno\"\n{flow}\n"
    )
}

fn experiment(path: &str, flow: &str) -> Experiment {
    let scenario = read(&text(path, flow), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan(&scenario.to_toml()), scenario.plan(), "what is printed is the same scenario");
    scenario.plan().remove(0)
}

#[test]
fn flows_that_arrive_are_no_flows_of_the_whole_run() {
    let one = experiment("", "size = \"20 kB\"\nstop = \"5 s\"\narrivals = { kind = \"poisson\", every = \"10 ms\" }");
    assert!(one.flows.is_empty());
    let arrivals = &one.arrivals[0];
    assert_eq!(arrivals.process, ArrivalProcess::Poisson(Span::from_millis(10)));
    assert_eq!(arrivals.size, SizeLaw::Fixed(Bytes::new(20_000)));
    assert_eq!((arrivals.start, arrivals.stop), (Time::ZERO, Time::ZERO + Span::from_secs(5)));
    let requests = experiment("", "size = \"1 kB\"\narrivals = { kind = \"requests\" }");
    assert_eq!(requests.arrivals[0].process, ArrivalProcess::Requests { clients: 1, think: Span::ZERO });
    assert_eq!(requests.arrivals[0].stop, Time::ZERO + Span::from_secs(10));
}

#[test]
fn flows_stop_at_their_stop_time() {
    let one = experiment("", "size = \"2 MB\"\nstop = \"4 s\"");
    assert_eq!(
        (one.flows[0].size, one.flows[0].stop),
        (Size::Bytes(Bytes::new(2_000_000)), Some(Time::ZERO + Span::from_secs(4)))
    );
}

#[test]
fn a_comparison_puts_its_controllers_into_flows_that_arrive() {
    let text = "path = { rate = \"8 Mbit/s\", delay = \"10 ms\" }\ncompare = { controllers = [\"cubic\", \"bbr\"] }\n\
        flow = [{ size = \"1 kB\", arrivals = { kind = \"poisson\", load = 0.1 } }]\n";
    let plan = plan(text);
    let kinds: Vec<&str> = plan.iter().map(|run| run.arrivals[0].flow.controller.kind.as_str()).collect();
    assert_eq!(kinds, ["cubic", "bbr"]);
}

#[test]
fn return_link_carries_data_only_on_request() {
    let one = experiment(", return = { rate = \"1 Mbit/s\", delay = \"5 ms\" }", "");
    let names: Vec<&str> = one.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!((names, one.bottleneck), (vec!["bottleneck", "return"], 0));
    let flow = &one.flows[0];
    assert_eq!((&flow.route[..], &flow.back[..], flow.rtt), (&[0][..], &[1][..], Span::from_millis(15)));
    let back = experiment(", return = { rate = \"1 Mbit/s\" }", "direction = \"back\"");
    let flow = &back.flows[0];
    assert_eq!((&flow.route[..], &flow.back[..], flow.rtt), (&[1][..], &[0][..], Span::from_millis(20)));
}

#[test]
fn refuses_invalid_arrivals_and_return_links() {
    assert_refused("arrivals", |row| try_refusal(&text(&row["path"], &row["flow"]), &[]));
}
