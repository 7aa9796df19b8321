//! The path: hosts, the devices between them, the bottleneck.
//!
//! ```text
//!  sender  s0 ──── r0 ┐                                ┌ (no delay, no loss)  d0 receiver
//!                     ├ router ── r1: TBF, drop-tail ──┤
//!  cross   c0 ──── r2 ┘                                └ w0 wire w1 ── delay line ── d0 receiver
//! ```
//!
//! Without delay and loss, `r1` leads directly to the receiver. Otherwise a host in between, the wire, takes packets from the
//! bottleneck. Its TUN device `w1` passes them to the [`delay_line`](crate::lab::delay_line), whose other end is the
//! receiver's `d0`. With [`Means::Qdiscs`], `w1` and `d0` are a veth pair, and the kernel's own queue disciplines delay
//! packets on the wire ([`qdiscs`](crate::lab::qdiscs)).
//!
//! The [`bottleneck`](crate::lab::bottleneck) is the router's device towards the receiver.

pub(crate) use crate::lab::devices::{HEADER, Means};

use crate::lab::bottleneck::{Bottleneck, DEVICE};
use crate::lab::delay_line::{DEVICE_QUEUE, DelayLine, Tun};
use crate::lab::devices::{pair, up};
use crate::lab::error::LabError;
use crate::lab::namespace::Namespace;
use crate::lab::rates::{Carried, MOST_BUCKET, NUDGE_MTU, Nudge};
use crate::lab::steps::{Afterwards, Steps};
use crate::lab::{disciplines, qdiscs, rates};
use experiment::results::CHANGES_LET_THROUGH;
use experiment::scenario::{Buffer, Experiment, LinkSpec};
use packetscale_models::units::{Bytes, Rate, Time};

pub(crate) const RECEIVER: &str = "10.0.3.1";

/// This controller also has a receiver part, which reports every mark (RFC 8257, section 3.2) and lets the packets that open a
/// connection be ECN-capable. Other receivers use the kernel's default controller.
pub(crate) const DCTCP: &str = "dctcp";

/// The receiver's device, with or without a delay line in front of it.
pub(crate) const RECEIVING_DEVICE: &str = "d0";

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
        path.router.tc(&path.bottleneck(experiment).made()?)?;
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
    pub fn start_delay_steps(&self, experiment: &Experiment, zero_ns: u64) -> Result<Option<Steps>, LabError> {
        let Some(wire) = self.wire.as_ref().filter(|_| self.means == Means::Qdiscs) else { return Ok(None) };
        Steps::start(&wire.host, qdiscs::steps(experiment, full(experiment), zero_ns), None)
    }

    /// Starts what makes the bottleneck carry this, if it changes.
    pub fn start_rate_steps(
        &self,
        experiment: &Experiment,
        carried: &[(Time, Carried)],
        zero_ns: u64,
    ) -> Result<Option<Steps>, LabError> {
        let bottleneck = self.bottleneck(experiment);
        let steps = bottleneck.steps(carried, zero_ns);
        if steps.is_empty() || bottleneck.largest_bucket(carried) > MOST_BUCKET {
            return Steps::start(&self.router, steps, None);
        }
        self.router.ip(&[format!("link set dev {DEVICE} mtu {NUDGE_MTU}")])?;
        let nudge = self.router.inside(|| Nudge::new(DEVICE).map_err(LabError::doing("the token bucket's nudge")))?;
        let then = Afterwards { written_by: "qdisc show dev r0".to_string(), act: Box::new(move || nudge.give()) };
        Steps::start(&self.router, steps, Some(then))
    }

    /// Puts the policer before the bottleneck, if there is one: behind the program that sees what arrives.
    pub fn police(&self, experiment: &Experiment) -> Result<(), LabError> {
        self.router.tc(&self.bottleneck(experiment).policed())
    }

    fn bottleneck<'a>(&self, experiment: &'a Experiment) -> Bottleneck<'a> {
        let (link, packet) = (&experiment.links[experiment.bottleneck], full(experiment));
        Bottleneck { link, packet, means: self.means }
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
        // DCTCP enables ECN itself.
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
}

/// Returns the path's MTU: the largest frame of the flows and the traffic, without its Ethernet header.
pub(crate) fn mtu(experiment: &Experiment) -> u64 {
    let flows = experiment.flows.iter().map(|flow| flow.packet);
    let traffic = experiment.traffic.iter().map(|source| source.packet);
    flows.chain(traffic).max().unwrap_or(Bytes::new(1_514)).get().saturating_sub(HEADER)
}

/// How much more than its rates the bottleneck carries, where its rate changes: in the run of which that is most.
pub(crate) fn changes_let_through(plan: &[Experiment], means: Means) -> Option<String> {
    let shares = plan.iter().filter_map(|experiment| {
        let (link, packet) = (&experiment.links[experiment.bottleneck], full(experiment));
        let capacity = &link.service.variation.as_ref()?.capacity;
        let amount = capacity.amount(Time::ZERO, Time::ZERO + experiment.duration);
        Some(Bottleneck { link, packet, means }.let_through(&rates::of(experiment), amount))
    });
    let most = shares.fold(0.0, f64::max);
    (most > 0.0).then(|| format!("{CHANGES_LET_THROUGH}: {:.2} % of the rates' capacity at most", most * 100.0))
}

/// The size of the largest frame.
fn full(experiment: &Experiment) -> Bytes {
    Bytes::new(mtu(experiment) + HEADER)
}

/// Whether the bottleneck's queue lets packets of one flow overtake those of another.
pub(crate) fn shares_between_flows(experiment: &Experiment) -> bool {
    disciplines::is_fair(&experiment.links[experiment.bottleneck].queue)
}

/// Returns the time to send a full buffer and one more packet; [`u64::MAX`] where the rate changes.
pub(crate) fn full_buffer_ns(experiment: &Experiment) -> u64 {
    let link = &experiment.links[experiment.bottleneck];
    let bytes = match link.buffer {
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => Bytes::new(packets.get().saturating_mul(full(experiment).get())),
        Buffer::Unlimited => return u64::MAX,
    };
    match link.service.variation {
        Some(_) => u64::MAX,
        None => service_rate(link).time_for(bytes + full(experiment)).nanos(),
    }
}

/// The rate that the bottleneck has for a long queue, where it does not change: that of its shaper, if that is lower.
pub(crate) fn service_rate(link: &LinkSpec) -> Rate {
    link.service.shaper.map_or(link.rate, |shaper| shaper.rate.min(link.rate))
}
