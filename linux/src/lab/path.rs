//! The path: hosts, the devices between them, the bottleneck.
//!
//! ```text
//!  sender  s0 ──── r0 ┐                                ┌ (no delay, no loss)  d0 receiver
//!                     ├ router ── r1: TBF, drop-tail ──┤
//!  cross   c0 ──── r2 ┘                                └ w0 wire w1 ── delay line ── d0 receiver
//! ```
//!
//! Where the scenario has neither delay nor loss, `r1` leads directly to the receiver. Otherwise a host in between, the
//! wire, takes packets from the bottleneck. Its TUN device `w1` gives them to the [`delay_line`](crate::lab::delay_line),
//! whose other end is the receiver's `d0`. With [`Means::Qdiscs`], `w1` and `d0` are a veth pair, and the kernel's own
//! queue disciplines delay what crosses the wire ([`qdiscs`](crate::lab::qdiscs)).
//!
//! The bottleneck is a token bucket (`tc-tbf`) with a byte- or packet-limited FIFO, on the router's device towards the
//! receiver. The bucket is small against the buffer but large enough for late timers: it holds `BUCKET` of time at the
//! rate, and at least two packets. A full bucket passes in a burst, so a probe stream whose excess over the link's
//! rate fits into the bucket leaves no trace. Where the clock is exact, the bucket holds one packet and `EXACT_BUCKET` of
//! time. Sizes are those of frames, the Ethernet header included, as the token
//! bucket counts.

pub(crate) use crate::lab::devices::HEADER;

use crate::lab::delay_line::{DEVICE_QUEUE, DelayLine, Tun};
use crate::lab::delay_steps::DelaySteps;
use crate::lab::devices::{pair, up};
use crate::lab::error::LabError;
use crate::lab::namespace::Namespace;
use crate::lab::{disciplines, qdiscs};
use experiment::scenario::{Buffer, Experiment, LinkSpec};
use packetscale_models::units::{Bytes, Span};

pub(crate) const RECEIVER: &str = "10.0.3.1";

/// Of this controller the receiver has a part: it says of each packet whether it was marked (RFC 8257, section 3.2), and
/// accepts that the packets that open a connection may be marked. Other receivers keep the kernel's default controller.
pub(crate) const DCTCP: &str = "dctcp";

/// The receiver's device, with or without a delay line in front of it.
pub(crate) const RECEIVING_DEVICE: &str = "d0";

/// Time at the link's rate that the bucket holds.
const BUCKET: Span = Span::from_micros(160);

/// The same, where timers are late by less than 2 us.
const EXACT_BUCKET: Span = Span::from_micros(20);

/// What delays, loses and reorders packets behind the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// A thread between two TUN devices, for kernels without a queue discipline for it.
    DelayLine,
    /// The kernel's own queue disciplines, on a clock that is never late.
    Qdiscs,
}

/// The hosts and the links between them.
pub(crate) struct Path {
    pub sender: Namespace,
    pub cross: Namespace,
    pub router: Namespace,
    pub receiver: Namespace,
    means: Means,
    wire: Option<Wire>,
}

/// The host that delays packets.
struct Wire {
    host: Namespace,
    /// Both ends of the delay line, until it is started.
    ends: Option<(Tun, Tun)>,
}

impl Path {
    /// Builds the path for this experiment, with or without a wire that delays packets.
    pub fn build(experiment: &Experiment, means: Means, with_wire: bool) -> Result<Path, LabError> {
        let wire = if with_wire { Some(Wire { host: Namespace::new("wire")?, ends: None }) } else { None };
        let mut path = Path {
            sender: Namespace::new("sender")?,
            cross: Namespace::new("cross")?,
            router: Namespace::new("router")?,
            receiver: Namespace::new("receiver")?,
            means,
            wire,
        };
        let mtu = mtu(experiment);
        path.before_bottleneck(mtu, experiment)?;
        path.behind_bottleneck(mtu, experiment)?;
        path.bottleneck(&experiment.links[experiment.bottleneck], Bytes::new(mtu + HEADER))?;
        Ok(path)
    }

    /// Returns the host and the device that receive packets from the bottleneck.
    pub fn behind(&self) -> (&Namespace, &'static str) {
        self.wire.as_ref().map_or((&self.receiver, "d0"), |wire| (&wire.host, "w0"))
    }

    /// Starts the delay line, if there is one.
    pub fn start_delay_line(&mut self, experiment: &Experiment, zero_ns: u64) -> Result<Option<DelayLine>, LabError> {
        let Some(wire) = &mut self.wire else { return Ok(None) };
        let Some((near, far)) = wire.ends.take() else { return Ok(None) };
        DelayLine::start(experiment, &wire.host, near, far, zero_ns).map(Some)
    }

    /// Starts what changes the delay of the kernel's wire, if it changes.
    pub fn start_delay_steps(&self, experiment: &Experiment, zero_ns: u64) -> Result<Option<DelaySteps>, LabError> {
        let Some(wire) = self.wire.as_ref().filter(|_| self.means == Means::Qdiscs) else { return Ok(None) };
        let packet = Bytes::new(mtu(experiment) + HEADER);
        DelaySteps::start(&wire.host, qdiscs::steps(experiment, packet, zero_ns))
    }

    fn before_bottleneck(&self, mtu: u64, experiment: &Experiment) -> Result<(), LabError> {
        self.router.sysctl("ipv4/ip_forward", "1")?;
        self.router.ip(&[pair("r0", "s0", &self.sender), pair("r2", "c0", &self.cross)])?;
        self.router.ip(&[up("r0", "10.0.1.254/24", mtu, ""), up("r2", "10.0.2.254/24", mtu, "")].concat())?;
        self.cross.ip(&up("c0", "10.0.2.1/24", mtu, ""))?;
        self.cross.ip(&["route add default via 10.0.2.254".to_string()])?;
        let flow = experiment.flows.first();
        let window = flow.map_or(10, |flow| flow.initial_window);
        let rto_ms = flow.map_or(200, |flow| flow.min_rto.nanos() / 1_000_000).max(1);
        self.sender.ip(&up("s0", "10.0.1.1/24", mtu, "gso_max_segs 1"))?;
        self.sender.ip(&[format!("route add default via 10.0.1.254 initcwnd {window} rto_min {rto_ms}ms")])?;
        // DCTCP says so for itself.
        let marks = experiment.flows.iter().any(|flow| flow.ecn && flow.controller.kind != DCTCP);
        if marks {
            self.sender.sysctl("ipv4/tcp_ecn", "1")?;
        }
        self.sender.sysctl("ipv4/tcp_no_metrics_save", "1")
    }

    fn behind_bottleneck(&mut self, mtu: u64, experiment: &Experiment) -> Result<(), LabError> {
        let quick = u32::from(experiment.receiver.delayed_ack == 1);
        let Some(wire) = &mut self.wire else {
            self.router.ip(&[pair("r1", "d0", &self.receiver)])?;
            self.router.ip(&up("r1", "10.0.3.254/24", mtu, ""))?;
            self.receiver.ip(&up("d0", "10.0.3.1/24", mtu, ""))?;
            return self.receiver.ip(&[format!("route add default via 10.0.3.254 quickack {quick}")]);
        };
        if self.means == Means::Qdiscs {
            return qdiscs::wire(experiment, mtu, &self.router, &wire.host, &self.receiver);
        }
        wire.ends = Some((Tun::new(&wire.host, "w1")?, Tun::new(&self.receiver, "d0")?));
        let queue = format!("txqueuelen {DEVICE_QUEUE}");
        self.router.ip(&[pair("r1", "w0", &wire.host)])?;
        self.router.ip(&up("r1", "10.0.4.254/24", mtu, ""))?;
        self.router.ip(&["route add 10.0.3.0/24 via 10.0.4.1".to_string()])?;
        wire.host.sysctl("ipv4/ip_forward", "1")?;
        wire.host.ip(&[up("w0", "10.0.4.1/24", mtu, ""), up("w1", "10.0.3.254/24", mtu, &queue)].concat())?;
        wire.host.ip(&["route add default via 10.0.4.254".to_string()])?;
        self.receiver.ip(&up("d0", "10.0.3.1/24", mtu, &queue))?;
        self.receiver.ip(&[format!("route add default via 10.0.3.254 quickack {quick}")])
    }

    fn bottleneck(&self, link: &LinkSpec, packet: Bytes) -> Result<(), LabError> {
        let bucket = match self.means {
            Means::DelayLine => link.rate.amount_in(BUCKET).get().max(packet.get() * 2),
            Means::Qdiscs => link.rate.amount_in(EXACT_BUCKET).get() + packet.get(),
        };
        let rate = link.rate.bps();
        let tbf =
            |limit: u64| format!("qdisc add dev r1 root handle 1: tbf rate {rate}bit burst {bucket} limit {limit}");
        // The packet in service counts: it stays in the FIFO until the token bucket has its tokens.
        let mut lines = match link.buffer {
            Buffer::Bytes(bytes) => vec![tbf(bytes.get())],
            Buffer::Packets(packets) => vec![
                tbf(packets.get().saturating_mul(packet.get())),
                format!("qdisc add dev r1 parent 1:1 handle 10: pfifo limit {}", packets.get()),
            ],
            Buffer::Unlimited => vec![tbf(u64::from(u32::MAX / 2))],
        };
        let discipline = disciplines::lines(link, packet, "r1").map_err(|unfit| LabError(unfit.to_string()))?;
        if !discipline.is_empty() {
            lines.truncate(1);
            lines.extend(discipline);
        }
        self.router.tc(&lines)
    }
}

/// Returns the path's MTU: the largest frame of the flows and the traffic, without its Ethernet header.
pub(crate) fn mtu(experiment: &Experiment) -> u64 {
    let flows = experiment.flows.iter().map(|flow| flow.packet);
    let traffic = experiment.traffic.iter().map(|source| source.packet);
    flows.chain(traffic).max().unwrap_or(Bytes::new(1_514)).get().saturating_sub(HEADER)
}

/// Whether the bottleneck's queue lets packets of one flow overtake those of another.
pub(crate) fn shares_between_flows(experiment: &Experiment) -> bool {
    disciplines::is_fair(&experiment.links[experiment.bottleneck].queue)
}

/// Returns the time to send a full buffer and one more packet.
pub(crate) fn full_buffer_ns(experiment: &Experiment) -> u64 {
    let link = &experiment.links[experiment.bottleneck];
    let bytes = match link.buffer {
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => Bytes::new(packets.get().saturating_mul(mtu(experiment) + HEADER)),
        Buffer::Unlimited => return u64::MAX,
    };
    link.rate.time_for(bytes + Bytes::new(mtu(experiment) + HEADER)).nanos()
}
