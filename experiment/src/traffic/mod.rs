//! Randomness of a run, the same for every host: the packets of traffic ([`open`], [`packets`]), when flows
//! start ([`starts`]) or arrive, and how much those send ([`arrivals`]), when applications offer data
//! ([`Application`]), and the seeds of all of it ([`chance`]).
//!
//! Sources do not respond to what the path does to their packets.
//! [`open`] turns one `[[traffic]]` table of a scenario into one source per copy. A source returns its next packet, an
//! instant and a size, in order of time, until it stops. Sources share nothing else with the network: they do not know
//! the links, and links do not know the kinds of traffic.
//!
//! | kind | file | packets |
//! |---|---|---|
//! | `cbr` | `cbr` | equal gaps |
//! | `on-off` | `on_off` | equal gaps within bursts of one length, one silence between them |
//! | `exponential-on-off` | `exponential` | the same, lengths drawn |
//! | `pareto-on-off` | `pareto` | the same, lengths drawn with a heavy tail |
//! | `poisson` | `poisson` | independent gaps |
//! | `tmix`, `sessions` | `vectors` | those of simulated TCP connections (the host makes them; [`vectors`] defines their messages) |
//! | `web` | `surge` | those of simulated TCP connections (the host makes them; [`surge`] defines the users), or these replayed (`replay`) |
//! | `trace`, `pcap` | `trace` | as recorded, scaled, repeated |
//!
//! A source may be behind a token bucket (`shaper`).
//!
//! The same seed gives the same packets on every machine: the generator is PCG-64, seeded per copy, and logarithms and
//! powers are those of the `libm` crate, not the machine's. Rates and sizes count bytes on the wire (with the Ethernet
//! header, without the frame check sequence).

mod application;
pub mod arrivals;
mod bounded;
mod cbr;
pub mod chance;
mod draw;
mod error;
mod exponential;
mod meter;
mod offered;
mod on_off;
mod pareto;
mod plan;
mod poisson;
mod replay;
mod shaper;
mod superposition;
pub mod surge;
#[cfg(test)]
mod tests;
mod trace;
pub mod vectors;

pub use application::Application;
pub use draw::Draws;
pub use error::TrafficError;
pub use meter::{Burstiness, Meter};
pub use offered::{cross_traffic, packets, start, starts, warnings};
pub use plan::{available_steps, planned_rate};
pub use superposition::Superposition;
pub use trace::{Capture, Captured, Flaws, Survey, survey};

use crate::scenario::{TrafficKind, TrafficSpec};
use cbr::Cbr;
use exponential::Exponential;
use on_off::{OnOff, Periodic, Stationary};
use packetscale_models::units::{Bytes, Rate, Span, Time};
use pareto::Pareto;
use poisson::Poisson;
use replay::Replay;
use shaper::Shaped;
use trace::Trace;

/// One packet of a traffic source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossPacket {
    /// When its first bit is offered to the first link of its route.
    pub at: Time,
    /// Its size on the wire.
    pub size: Bytes,
}

/// A stream of packets in order of time.
pub trait Source {
    /// Returns the next packet, no earlier than the one before; `None` when the source has stopped for good.
    fn next(&mut self) -> Option<CrossPacket>;
}

/// A source of any kind.
#[derive(Debug)]
pub struct AnySource {
    generator: Generator,
    shaped: Option<Shaped>,
}

#[derive(Debug)]
enum Generator {
    Cbr(Cbr),
    OnOff(OnOff<Periodic>),
    ExponentialOnOff(OnOff<Stationary<Exponential>>),
    ParetoOnOff(OnOff<Stationary<Pareto>>),
    Poisson(Poisson),
    Trace(Box<Trace>),
    Replay(Replay),
}

impl Source for AnySource {
    fn next(&mut self) -> Option<CrossPacket> {
        match &mut self.shaped {
            Some(shaped) => shaped.next(&mut self.generator),
            None => self.generator.next(),
        }
    }
}

impl Source for Generator {
    fn next(&mut self) -> Option<CrossPacket> {
        match self {
            Generator::Cbr(source) => source.next(),
            Generator::OnOff(source) => source.next(),
            Generator::ExponentialOnOff(source) => source.next(),
            Generator::ParetoOnOff(source) => source.next(),
            Generator::Poisson(source) => source.next(),
            Generator::Trace(source) => source.next(),
            Generator::Replay(source) => source.next(),
        }
    }
}

impl AnySource {
    /// Returns why the source stopped early, if it did: its trace file changed or could not be read during the replay.
    pub fn failure(&self) -> Option<&TrafficError> {
        match &self.generator {
            Generator::Trace(source) => source.failure(),
            _ => None,
        }
    }
}

/// When a source sends: from `start` until just before `end`.
#[derive(Clone, Copy, Debug)]
struct SendingTime {
    start: Time,
    end: Time,
}

/// Opens the sources of one `[[traffic]]` table, one per copy.
///
/// `seed` is the table's own: two tables given the same seed draw the same numbers. Nothing is sent at or after
/// `duration`. A single copy of a kind without chance begins at `start`; several copies each begin at a random point
/// of their period, so that they do not beat together.
///
/// # Errors
/// A setting that no source can follow, or a trace file that cannot be read to its end ([`TrafficError`]). A trace
/// is read through once here, and again while it is replayed.
pub fn open(spec: &TrafficSpec, seed: u64, duration: Span) -> Result<Vec<AnySource>, TrafficError> {
    check(spec)?;
    let sending = SendingTime { start: spec.start, end: spec.stop.min(Time::ZERO.saturating_add(duration)) };
    let alone = spec.copies == 1;
    let size = spec.packet;
    let copies = (0..spec.copies).map(|copy| Draws::new(seed, copy));
    let sources: Vec<Generator> = match &spec.kind {
        TrafficKind::Cbr { rate } => copies
            .map(|mut draws| {
                let offset = if alone { Span::ZERO } else { draws.below(rate.time_for(size)) };
                Generator::Cbr(Cbr::new(*rate, size, sending, offset))
            })
            .collect(),
        TrafficKind::OnOff { on, off, rate } => copies
            .map(|mut draws| {
                let lengths = Periodic::new(*on, *off);
                let opening =
                    if alone { lengths.at_the_beginning() } else { lengths.anywhere(&mut draws, *rate, size) };
                Generator::OnOff(OnOff::new(lengths, opening, *rate, size, sending))
            })
            .collect(),
        TrafficKind::ExponentialOnOff { on, off, rate } => copies
            .map(|draws| Generator::ExponentialOnOff(stationary(Exponential, draws, (*on, *off), *rate, size, sending)))
            .collect(),
        TrafficKind::ParetoOnOff { on, off, rate, shape } => copies
            .map(|draws| {
                Generator::ParetoOnOff(stationary(Pareto::new(*shape), draws, (*on, *off), *rate, size, sending))
            })
            .collect(),
        TrafficKind::Poisson { rate } => {
            copies.map(|draws| Generator::Poisson(Poisson::new(*rate, size, sending, draws))).collect()
        }
        // Their packets come from senders.
        TrafficKind::Connections(_) | TrafficKind::Web(_) => Vec::new(),
        TrafficKind::Trace { file, source, rate } => {
            let pace = trace::Pace::plan(file, *source, *rate, spec.copies)?;
            copies
                .map(|mut draws| {
                    let offset = if alone { Span::ZERO } else { draws.below(pace.period()) };
                    Ok(Generator::Trace(Box::new(Trace::open(file, *source, pace.clone(), sending, offset)?)))
                })
                .collect::<Result<_, TrafficError>>()?
        }
    };
    Ok(behind(spec.shaper, sending.end, sources))
}

/// Returns sources that send recorded packets, one for each copy. They send from the spec's start until just before its
/// stop, and before the run's end at `duration`.
pub fn replay(spec: &TrafficSpec, copies: Vec<Vec<CrossPacket>>, duration: Span) -> Vec<AnySource> {
    let end = spec.stop.min(Time::ZERO.saturating_add(duration));
    let sources = copies.into_iter().map(|packets| Generator::Replay(Replay::new(packets, end))).collect();
    behind(spec.shaper, end, sources)
}

/// Returns the sources, each behind its own token bucket with a `shaper`.
fn behind(shaper: Option<crate::scenario::Shaper>, end: Time, sources: Vec<Generator>) -> Vec<AnySource> {
    let shaped = || shaper.map(|shaper| Shaped::new(shaper, end));
    sources.into_iter().map(|generator| AnySource { generator, shaped: shaped() }).collect()
}

fn stationary<L: on_off::Law>(
    law: L,
    draws: Draws,
    (on, off): (Span, Span),
    rate: Rate,
    size: Bytes,
    sending: SendingTime,
) -> OnOff<Stationary<L>> {
    let mut lengths = Stationary::new(law, draws, on, off);
    let opening = lengths.opening(rate, size);
    OnOff::new(lengths, opening, rate, size, sending)
}

/// Largest packet that a scenario may request; a size near it is a mistake in the scenario.
const MAX_PACKET: Bytes = Bytes::new(1_000_000);

fn check(spec: &TrafficSpec) -> Result<(), TrafficError> {
    let (rate, bursts) = match &spec.kind {
        // The trace knows its sizes; its rate is checked against its length.
        TrafficKind::Trace { .. } | TrafficKind::Connections(_) | TrafficKind::Web(_) => return Ok(()),
        TrafficKind::Cbr { rate } | TrafficKind::Poisson { rate } => (*rate, None),
        TrafficKind::OnOff { on, off, rate }
        | TrafficKind::ExponentialOnOff { on, off, rate }
        | TrafficKind::ParetoOnOff { on, off, rate, .. } => (*rate, Some((*on, *off))),
    };
    if spec.packet == Bytes::ZERO || spec.packet > MAX_PACKET {
        return Err(TrafficError::setting("packet", spec.packet, format!("1 B to {MAX_PACKET}")));
    }
    if rate.time_for(spec.packet) == Span::MAX {
        return Err(TrafficError::setting("rate", rate, "a rate that sends a packet within 213 days"));
    }
    if rate.time_for(spec.packet) == Span::ZERO {
        return Err(TrafficError::setting("rate", rate, "a rate at which a packet lasts 1 ps or more"));
    }
    if let Some((on, off)) = bursts {
        if on == Span::ZERO {
            return Err(TrafficError::setting("on", on, "a burst longer than nothing"));
        }
        if on.picos().checked_add(off.picos()).is_none() {
            return Err(TrafficError::setting("off", off, "a burst and a silence of less than 213 days together"));
        }
    }
    if let TrafficKind::ParetoOnOff { shape, .. } = &spec.kind
        && !(shape.is_finite() && *shape > 1.0)
    {
        return Err(TrafficError::setting("shape", shape, "a number above 1 (at 1 and below there is no mean)"));
    }
    Ok(())
}
