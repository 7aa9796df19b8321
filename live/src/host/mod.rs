//! Real paths as a host among others: a scenario's flows go to a server (`packetscale live serve`), by the same sender, receiver and
//! controllers as in the simulator.

mod accept;
mod figures;
mod running;

use crate::probe::{Client, ProbeError};
use crate::socket::Stamped;
use crate::stream::overhead;
use crate::transfer::{Ends, MOST_DELAYED, SessionError};
use crate::wire::{Begin, Grant, Keys, LEAST_SIZE, Purpose};
use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use harness::runner::{Clock, Host, Refusal, Unfit};
use packetscale_models::units::{Span, Time};
use running::Running;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Length of a session beyond the run: handshake and last acknowledgments.
const AROUND: Span = Span::from_secs(10);
/// Time without a packet from the server after which a run ends.
const PATIENCE: Span = Span::from_secs(10);

/// Conditions of every run.
const CONDITIONS: [&str; 6] = [
    "the path is real: path.rate, path.delay, path.buffer and rtt of the scenario do not describe it and have no effect",
    "queueing delay is the one-way delay less the smallest of the run, by the clocks of both ends",
    "losses are those that the sender detected",
    "packets are IP packets, with UDP",
    "rapid counts no round trip below 20 ms, as in Linux TCP, unless the scenario sets shortest_round_trip",
    "cpu_s is the processor time of the sending end",
];

/// Destination server.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its address.
    pub address: SocketAddr,
    /// Its keys, if required.
    pub keys: Keys,
}

/// The host for real paths.
pub struct Live {
    /// The server; `None`: not given.
    pub to: Option<Destination>,
}

impl Host for Live {
    fn name(&self) -> &'static str {
        "live"
    }

    fn summary(&self) -> &'static str {
        "A real path to a server (--to HOST)"
    }

    fn label(&self) -> HostLabel {
        HostLabel {
            name: self.name().to_string(),
            badge: "measured: a real path, real time".to_string(),
            about: "This page shows a measurement over a real path, by a user-space sender. The path's links, \
                its queues and its other users are unknown. Delays are those of packets, less the smallest of the run; the \
                scheduling of both machines is part of them."
                .to_string(),
            path_unknown: true,
        }
    }

    fn ability(&self) -> Result<String, String> {
        let bound = Stamped::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Duration::from_millis(1));
        let made = "as an ordinary user, to a server of packetscale: --to HOST";
        bound.map(|_| made.to_string()).map_err(|error| format!("no socket with the kernel's times: {error}"))
    }

    fn clock(&self) -> Clock {
        Clock::Real
    }

    fn tools(&self) -> Result<Vec<String>, Refusal> {
        // Runs to different servers are different runs.
        Ok(vec![format!("server {}", self.destination()?.address)])
    }

    fn accept(&self, plan: &[Experiment]) -> Result<(), Unfit> {
        plan.iter().try_for_each(accept::accept)
    }

    fn check(&self, plan: &[Experiment]) -> Result<Vec<String>, Refusal> {
        self.accept(plan)?;
        let to = self.destination()?;
        let mut conditions: Vec<String> = CONDITIONS.iter().map(|line| line.to_string()).collect();
        conditions.push(format!("the server is {}", to.address));
        Ok(conditions)
    }

    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal> {
        self.run_watched(experiment, &|_| {})
    }

    fn run_watched(&self, experiment: &Experiment, watch: &(dyn Fn(Span) + Sync)) -> Result<Run, Refusal> {
        let to = self.destination()?;
        let mut client = opened(to, experiment)?;
        let rtt = Span::from_nanos(client.base_rtt_ns().map_err(refused)?);
        let begun = flows(&mut client, experiment)?;
        let filling = client.filling();
        let mut running =
            Running::new(experiment, begun, rtt, (client.data_overhead(), &filling), client.is_busy(), watch)
                .map_err(|error| Refusal::Input(error.to_string()))?;
        let cpu = cpu_time::ThreadTime::now();
        client.drive(PATIENCE, &mut running).map_err(|ends| ended(&ends, client.grant))?;
        Ok(figures::figures(experiment, running, rtt, cpu.elapsed().as_secs_f64()))
    }
}

impl Live {
    fn destination(&self) -> Result<&Destination, Refusal> {
        let missing =
            || Refusal::Input("--to: found nothing; expected the address of a packetscale live serve".to_string());
        self.to.as_ref().ok_or_else(missing)
    }
}

fn refused(error: ProbeError) -> Refusal {
    Refusal::Machine(error.to_string())
}

fn ended(ends: &Ends, grant: Grant) -> Refusal {
    let Grant { bytes, duration_ms, .. } = grant;
    match ends {
        Ends::Closed(crate::wire::Reason::Limit) => Refusal::Machine(format!(
            "{ends}: it grants {bytes} bytes and {duration_ms} ms; packetscale live serve has --bytes and --duration"
        )),
        other => Refusal::Machine(other.to_string()),
    }
}

/// A session with limits large enough for a run.
fn opened(to: &Destination, experiment: &Experiment) -> Result<Client, Refusal> {
    let headers = u64::from(overhead(to.address));
    let largest = experiment.flows.iter().map(|flow| flow.packet.get()).max().unwrap_or(0);
    let size = u16::try_from(largest.saturating_sub(headers)).unwrap_or(u16::MAX).max(LEAST_SIZE as u16);
    let duration_ms = ((experiment.duration + AROUND).nanos() / 1_000_000).min(u64::from(u32::MAX)) as u32;
    // Request the maximum, for the duration of the run.
    let request = Grant { size, rate_bps: u64::MAX, bytes: u64::MAX, duration_ms };
    let client = Client::open_patiently(to.address, &to.keys, request).map_err(refused)?;
    let grant = client.grant;
    if u64::from(grant.size) + headers < largest {
        let taken = u64::from(grant.size) + headers;
        let message = format!("{} takes packets of {taken} B; the scenario's have {largest} B (packet)", to.address);
        return Err(Refusal::Machine(message));
    }
    if grant.duration_ms < duration_ms {
        let granted = Span::from_millis(u64::from(grant.duration_ms));
        let needed = Span::from_millis(u64::from(duration_ms));
        let message = format!(
            "the server grants sessions of {granted}; a run needs {needed} (packetscale live serve --duration)"
        );
        return Err(Refusal::Machine(message));
    }
    Ok(client)
}

/// Begins all flows ahead of their start times, so that none waits for a round trip. Returns their numbers and windows.
fn flows(client: &mut Client, experiment: &Experiment) -> Result<Vec<(u32, u64)>, Refusal> {
    let receiver = &experiment.receiver;
    let header_bytes = client.data_overhead() as u64;
    let begin = |packet: u64| Begin {
        size: (packet - header_bytes) as u16,
        delayed_ack: receiver.delayed_ack.min(MOST_DELAYED) as u16,
        delayed_ack_us: (receiver.delayed_ack_timeout.nanos() / 1000).min(u64::from(u32::MAX)) as u32,
        window: receiver.window.get().min(u64::from(u32::MAX)) as u32,
        // Figures need arrival times even if the controller does not.
        stamps: true,
        purpose: Purpose::Measure,
    };
    let begun = experiment.flows.iter().map(|flow| client.begin(begin(flow.packet.get())));
    let begun: Result<Vec<_>, SessionError> = begun.collect();
    let begun = begun.map_err(|error| Refusal::Machine(error.to_string()))?;
    Ok(begun.into_iter().map(|(number, begun)| (number, u64::from(begun.window))).collect())
}

/// Time after the end of a run for its last acknowledgments.
fn grace(rtt: Span, experiment: &Experiment) -> Time {
    Time::ZERO + experiment.duration + rtt * 2 + experiment.receiver.delayed_ack_timeout + Span::from_millis(100)
}
