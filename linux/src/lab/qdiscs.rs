//! The path by the kernel's own queue disciplines: netem delays what crosses the wire, the programs at the wire's entry
//! lose and mark packets (`bpf/bottleneck.bpf.c`), and the bottleneck may have a discipline of the kernel's
//! ([`disciplines`](crate::lab::disciplines)).
//!
//! On the wire towards the receiver, netem holds each packet for the link's delay. Marked packets are late: a second netem
//! holds them for longer. On the way back, there is one netem for each different delay, and a filter by the flow's port.
//! Jitter is netem's: uniform, around the middle. Neighbours are fixed, so that address resolution, which netem would delay
//! too, does not happen.

use crate::lab::devices::{HEADER, pair, up};
use crate::lab::error::LabError;
use crate::lab::namespace::Namespace;
use crate::lab::owner::FIRST_FLOW_PORT;
use crate::lab::steps::Step;
use experiment::scenario::{Experiment, Jitter, JitterLaw};
use packetscale_models::units::{Bytes, Span};

/// Packets that netem holds at most: more than any scenario has under way.
const NETEM_LIMIT: u32 = 10_000_000;

/// The rate of a netem that keeps the order of packets, as `tc` writes it. Netem lets packets overtake where its delay
/// falls. But where it has a rate, each packet's time counts from that of the packet before it, if that is later
/// (`netem_enqueue` of sch_netem.c): a FIFO. At this rate a packet adds about a nanosecond.
const RATE: &str = "10tbit";

/// Bands of `tc-prio` (`TCQ_PRIO_BANDS`): different delays on the way back.
pub(crate) const MOST_DELAYS: usize = 16;

/// Builds the wire between the bottleneck and the receiver.
pub(crate) fn wire(
    experiment: &Experiment,
    mtu: u64,
    router: &Namespace,
    wire: &Namespace,
    receiver: &Namespace,
) -> Result<(), LabError> {
    let quick = u32::from(experiment.receiver.delayed_ack == 1);
    router.ip(&[pair("r1", "w0", wire)])?;
    wire.ip(&[pair("w1", "d0", receiver)])?;
    wire.sysctl("ipv4/ip_forward", "1")?;
    let known = |address: &str, device: &str, owner: &str| {
        format!("neigh replace {address} lladdr {} dev {device} nud permanent", hardware(owner))
    };
    let place = |device: &str, address: &str| {
        let [link, addressed] = up(device, address, mtu, &format!("address {}", hardware(device)));
        vec![link, addressed]
    };
    router.ip(&place("r1", "10.0.4.254/24"))?;
    wire.ip(&[place("w0", "10.0.4.1/24"), place("w1", "10.0.3.254/24")].concat())?;
    receiver.ip(&place("d0", "10.0.3.1/24"))?;
    router.ip(&[known("10.0.4.1", "r1", "w0"), "route add 10.0.3.0/24 via 10.0.4.1".to_string()])?;
    wire.ip(&[
        known("10.0.4.254", "w0", "r1"),
        known("10.0.3.1", "w1", "d0"),
        "route add default via 10.0.4.254".to_string(),
    ])?;
    receiver.ip(&[known("10.0.3.254", "d0", "w1"), format!("route add default via 10.0.3.254 quickack {quick}")])?;
    wire.tc(&there(experiment, Bytes::new(mtu + HEADER)))?;
    wire.tc(&back(experiment))
}

/// A hardware address for each device of the wire.
fn hardware(device: &str) -> &'static str {
    match device {
        "r1" => "02:00:00:00:00:01",
        "w0" => "02:00:00:00:00:02",
        "w1" => "02:00:00:00:00:03",
        _ => "02:00:00:00:00:04",
    }
}

/// Netem with further settings `more`.
fn netem(order: &str, device: &str, place: &str, delay: Span, more: &str) -> String {
    format!("qdisc {order} dev {device} {place} netem limit {NETEM_LIMIT} delay {}{more}", micros(delay))
}

/// A time in microseconds with three digits: not every tc reads "ns".
fn micros(time: Span) -> String {
    format!("{}.{:03}us", time.nanos() / 1_000, time.nanos() % 1_000)
}

fn bands(device: &str, number: usize) -> String {
    // All priorities go to the first band; filters choose the others.
    let map = ["0"; 16].join(" ");
    format!("qdisc add dev {device} root handle 1: prio bands {} priomap {map}", number.max(2))
}

/// Towards the receiver.
fn there(experiment: &Experiment, packet: Bytes) -> Vec<String> {
    let delay = experiment.links[experiment.bottleneck].delay;
    let mut lines = delays_there("add", experiment, delay, packet);
    if lines.len() > 1 {
        lines.insert(0, bands("w1", 2));
        lines.push("filter add dev w1 parent 1: protocol ip handle 1 fw flowid 1:2".to_string());
    }
    lines
}

/// The steps of the delay towards the receiver, in a run that begins at `zero_ns`.
pub(crate) fn steps(experiment: &Experiment, packet: Bytes, zero_ns: u64) -> Vec<Step> {
    let steps = &experiment.links[experiment.bottleneck].impairments.delay_steps;
    let lines = |delay: &Span| delays_there("change", experiment, *delay, packet);
    steps.iter().map(|(at, delay)| (zero_ns + at.nanos(), lines(delay))).collect()
}

/// The netem of packets in their order and, where some come late, the one that these wait in.
fn delays_there(order: &str, experiment: &Experiment, delay: Span, packet: Bytes) -> Vec<String> {
    let link = &experiment.links[experiment.bottleneck];
    let wire = &link.impairments;
    let (jitter, overtakes) = match &wire.jitter {
        Some(Jitter { law: JitterLaw::Uniform(most), reorder }) => (*most / 2, *reorder),
        _ => (Span::ZERO, false),
    };
    let varies = !wire.delay_steps.is_empty() || jitter > Span::ZERO;
    let around = if jitter > Span::ZERO { format!(" {}", micros(jitter)) } else { String::new() };
    let fifo = if varies && !overtakes { format!("{around} rate {RATE}") } else { around };
    let delay = delay + jitter;
    let Some(reorder) = wire.reorder else {
        return vec![netem(order, "w1", "root", delay, &fifo)];
    };
    let longer = link.rate.time_for(Bytes::new(reorder.packets.saturating_mul(packet.get())));
    let bands = [("parent 1:1", delay), ("parent 1:2", delay + longer)];
    bands.map(|(place, delay)| netem(order, "w1", place, delay, &fifo)).to_vec()
}

/// The delays on the way back, each once.
pub(crate) fn delays_back(experiment: &Experiment) -> Vec<Span> {
    let there = experiment.links[experiment.bottleneck].delay;
    let mut delays: Vec<Span> = experiment.flows.iter().map(|flow| flow.rtt.saturating_sub(there)).collect();
    delays.sort_unstable();
    delays.dedup();
    delays
}

/// Towards the sender: the first delay is also that of packets of no flow.
fn back(experiment: &Experiment) -> Vec<String> {
    let there = experiment.links[experiment.bottleneck].delay;
    let delays = delays_back(experiment);
    if delays.len() < 2 {
        return vec![netem("add", "w0", "root", delays.first().copied().unwrap_or(there), "")];
    }
    let mut lines = vec![bands("w0", delays.len())];
    lines.extend((1..).zip(&delays).map(|(band, delay)| netem("add", "w0", &format!("parent 1:{band:x}"), *delay, "")));
    for (number, flow) in (0u16..).zip(&experiment.flows) {
        let delay = flow.rtt.saturating_sub(there);
        let band = delays.iter().position(|known| *known == delay).unwrap_or(0) + 1;
        let port = FIRST_FLOW_PORT + number;
        let matched = format!("u32 match ip dport {port} 0xffff flowid 1:{band:x}");
        lines.push(format!("filter add dev w0 parent 1: protocol ip prio 1 {matched}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;
    use std::path::Path;

    fn experiment(path: &str, flows: &str) -> Experiment {
        let text = format!(
            "run = {{ duration = \"2 s\", warmup = \"1 s\" }}\n\
             path = {{ rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"40 packets\"{path} }}\nflow = [{flows}]\n"
        );
        Scenario::parse(&text, Path::new("test.toml"), &[]).expect("a scenario").plan().remove(0)
    }

    #[test]
    fn one_rtt_uses_one_netem_per_direction() {
        let experiment = experiment("", "{ controller = \"cubic\" }");
        let limit = format!("netem limit {NETEM_LIMIT}");
        let lines = [there(&experiment, Bytes::new(1_250)), back(&experiment)];
        let expected = ["w1", "w0"].map(|device| vec![format!("qdisc add dev {device} root {limit} delay 5000.000us")]);
        assert_eq!(lines, expected);
    }

    #[test]
    fn different_rtts_get_separate_return_bands() {
        let flows = "{ controller = \"cubic\", rtt = \"30 ms\" }, { controller = \"cubic\", rtt = \"10 ms\" }";
        let lines = back(&experiment("", flows));
        let ends = [
            "priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
            "parent 1:1 netem limit 10000000 delay 5000.000us",
            "parent 1:2 netem limit 10000000 delay 25000.000us",
            "match ip dport 10000 0xffff flowid 1:2",
            "match ip dport 10001 0xffff flowid 1:1",
        ];
        assert_eq!(lines.len(), ends.len());
        for (line, end) in lines.iter().zip(ends) {
            assert!(line.ends_with(end), "{line}");
        }
    }

    #[test]
    fn reordered_packets_wait_for_overtakers() {
        let experiment =
            experiment(", reorder = { share = 0.1, packets = 3 }", "{ controller = \"cubic\", packet = \"1250 B\" }");
        let lines = there(&experiment, Bytes::new(1_250));
        // Three packets of 1250 B at 10 Mbit/s take 3 ms.
        assert!(lines[2].ends_with("delay 8000.000us") && lines[3].ends_with("handle 1 fw flowid 1:2"), "{lines:?}");
    }

    #[test]
    fn uniform_jitter_is_half_of_it_around_the_middle() {
        let flow = "{ controller = \"cubic\" }";
        let line = |reorder: bool| {
            let jitter = format!(", jitter = {{ kind = \"uniform\", most = \"3 ms\", reorder = {reorder} }}");
            there(&experiment(&jitter, flow), Bytes::new(1_250)).concat()
        };
        assert!(line(true).ends_with("delay 6500.000us 1500.000us"), "{}", line(true));
        assert!(line(false).ends_with(&format!("delay 6500.000us 1500.000us rate {RATE}")), "{}", line(false));
    }

    #[test]
    fn delay_steps_change_netems_in_order() {
        let experiment = experiment(
            ", delay_steps = [[\"1 s\", \"2 ms\"]], reorder = { share = 0.1, packets = 3 }",
            "{ controller = \"cubic\", packet = \"1250 B\" }",
        );
        let steps = steps(&experiment, Bytes::new(1_250), 7);
        let line = |band: u32, us: u32| {
            format!("qdisc change dev w1 parent 1:{band} netem limit {NETEM_LIMIT} delay {us}.000us rate {RATE}")
        };
        assert_eq!(steps, [(1_000_000_007, vec![line(1, 2_000), line(2, 5_000)])]);
        assert!(there(&experiment, Bytes::new(1_250))[1].ends_with(&format!("delay 5000.000us rate {RATE}")));
    }
}
