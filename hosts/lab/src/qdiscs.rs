//! The path by the kernel's own queue disciplines: netem delays what crosses the wire, the programs at the wire's entry
//! lose and mark packets (`bpf/bottleneck.bpf.c`), and the bottleneck may have any discipline that the kernel has.
//!
//! On the wire towards the receiver, netem holds each packet for the link's delay. Marked packets are late: a second netem
//! holds them for longer. On the way back, there is one netem for each different delay, and a filter by the flow's port.
//! Neighbours are fixed, so that address resolution, which netem would delay too, does not happen.

use crate::devices::{HEADER, pair, up};
use crate::error::LabError;
use crate::namespace::Namespace;
use crate::owner::FIRST_FLOW_PORT;
use scenario::{Buffer, Experiment, LinkSpec};
use units::{Bytes, Span};

/// Packets that netem holds at most: more than any scenario has under way.
const NETEM_LIMIT: u32 = 10_000_000;

/// Bands of `tc-prio` (`TCQ_PRIO_BANDS`): different delays on the way back.
pub(crate) const MOST_DELAYS: usize = 16;

/// Disciplines that the bottleneck can have by `tc`, beside the drop-tail FIFO. A scenario can name those that the
/// simulator knows too.
pub const KNOWN: [&str; 7] = ["codel", "fq_codel", "pie", "fq_pie", "cake", "fq", "dualpi2"];

/// Those that let flows overtake each other.
pub(crate) const FAIR: [&str; 5] = ["fq_codel", "fq_pie", "cake", "fq", "dualpi2"];

/// The discipline of the bottleneck that a kernel may not have.
pub(crate) fn needed(experiment: &Experiment) -> Option<&str> {
    let kind = experiment.links[experiment.bottleneck].queue.kind.as_str();
    KNOWN.contains(&kind).then_some(kind)
}

/// Returns the bottleneck's discipline with its limit, as `tc` writes it; `None` for the drop-tail FIFO.
pub(crate) fn queue(link: &LinkSpec, packet: Bytes) -> Option<String> {
    let kind = KNOWN.iter().find(|known| **known == link.queue.kind)?;
    let (bytes, packets) = match link.buffer {
        Buffer::Bytes(bytes) => (bytes.get(), bytes.get().div_ceil(packet.get())),
        Buffer::Packets(packets) => (packets.get().saturating_mul(packet.get()), packets.get()),
        Buffer::Unlimited => (u64::from(u32::MAX / 2), u64::from(NETEM_LIMIT)),
    };
    Some(match *kind {
        // Cake would shape by itself; here the token bucket does.
        "cake" => format!("cake unlimited memlimit {bytes}"),
        other => format!("{other} limit {packets}"),
    })
}

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

fn netem(device: &str, place: &str, delay: Span) -> String {
    // In microseconds with three digits: not every tc reads "ns".
    let (us, ns) = (delay.nanos() / 1_000, delay.nanos() % 1_000);
    format!("qdisc add dev {device} {place} netem limit {NETEM_LIMIT} delay {us}.{ns:03}us")
}

fn bands(device: &str, number: usize) -> String {
    // All priorities go to the first band; filters choose the others.
    let map = ["0"; 16].join(" ");
    format!("qdisc add dev {device} root handle 1: prio bands {} priomap {map}", number.max(2))
}

/// Towards the receiver.
fn there(experiment: &Experiment, packet: Bytes) -> Vec<String> {
    let link = &experiment.links[experiment.bottleneck];
    let Some(reorder) = link.impairments.reorder else {
        return vec![netem("w1", "root", link.delay)];
    };
    let longer = link.rate.time_for(Bytes::new(reorder.packets.saturating_mul(packet.get())));
    vec![
        bands("w1", 2),
        netem("w1", "parent 1:1", link.delay),
        netem("w1", "parent 1:2", link.delay + longer),
        "filter add dev w1 parent 1: protocol ip handle 1 fw flowid 1:2".to_string(),
    ]
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
        return vec![netem("w0", "root", delays.first().copied().unwrap_or(there))];
    }
    let mut lines = vec![bands("w0", delays.len())];
    lines.extend((1..).zip(&delays).map(|(band, delay)| netem("w0", &format!("parent 1:{band:x}"), *delay)));
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
    use scenario::Scenario;
    use std::path::Path;

    fn experiment(path: &str, flows: &str) -> Experiment {
        let text = format!(
            "run = {{ duration = \"2 s\", warmup = \"1 s\" }}\n\
             path = {{ rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"40 packets\"{path} }}\nflow = [{flows}]\n"
        );
        Scenario::parse(&text, Path::new("test.toml"), &[]).expect("a scenario").plan().remove(0)
    }

    #[test]
    fn one_round_trip_takes_one_netem_each_way() {
        let experiment = experiment("", "{ controller = \"cubic\" }");
        let limit = format!("netem limit {NETEM_LIMIT}");
        let lines = [there(&experiment, Bytes::new(1_250)), back(&experiment)];
        let expected = ["w1", "w0"].map(|device| vec![format!("qdisc add dev {device} root {limit} delay 5000.000us")]);
        assert_eq!(lines, expected);
    }

    #[test]
    fn flows_with_other_round_trips_have_bands_of_their_own_on_the_way_back() {
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
    fn late_packets_wait_for_those_that_overtake_them() {
        let experiment =
            experiment(", reorder = { share = 0.1, packets = 3 }", "{ controller = \"cubic\", packet = \"1250 B\" }");
        let lines = there(&experiment, Bytes::new(1_250));
        // Three packets of 1250 B at 10 Mbit/s take 3 ms.
        assert!(lines[2].ends_with("delay 8000.000us") && lines[3].ends_with("handle 1 fw flowid 1:2"), "{lines:?}");
    }
}
