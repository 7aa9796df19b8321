//! Whole searches: streams of one rate, one after another, until an interval encloses the available bandwidth.
//!
//! Pathload sends a fleet of streams at one rate, lets them vote, and goes to the middle of the open range. PRC-MT
//! first measures the asymptotic dispersion rate ADR: the rate at which a stream arrives that was sent as fast as
//! possible. It is above the available bandwidth. At that rate PRC-MT finds how long a stream must be (`prc_mt.rs`). It
//! then goes to the middle with single streams of that length. The method decides how one stream is read: IMR-Pathload
//! is Pathload's search with `imr-average` or `imr-wavelet`.
//!
//! Source: M. Jain and C. Dovrolis, "Pathload", PAM 2002; Q. Yin, "TCP RAPID: from theory to practice", sections 2.2 and
//! 5.1.2. Deviations:
//!  1. The sender decides how long to wait between streams. Pathload waits for the result, and at least nine stream
//!     times.
//!  2. A stream that lost more than a tenth of its packets was too fast, as in Pathload. Pathload ends the fleet at
//!     that point; here the others are still sent. A stream that lost fewer packets is refused like any stream with
//!     losses.
//!  3. The text does not define where PRC-MT's search starts. Here it is Pathload's, between the lowest rate and the ADR.

use crate::estimation::contract::{Abstain, Estimate, Verdict};
use crate::estimation::fleet::{Search, of_fleet};
use crate::estimation::method::Method;
use crate::estimation::prc_mt::{LengthError, Tuning, tune_length};
use crate::estimation::stream::Stream;
use crate::units::{Rate, Ratio};

/// The sender of a search's streams.
pub trait Sender {
    /// Sends a stream of `packets` packets, all at this rate, and waits for the result. `None`: it may send no more.
    fn send(&mut self, packets: u32, rate: Rate) -> Option<Stream>;
}

/// Which streams a search sends.
#[derive(Clone, Copy, Debug)]
pub enum Tool {
    /// Fleets of equal streams, which vote.
    Pathload {
        /// Number of streams in a fleet.
        fleet: u32,
        /// Packets in each stream.
        packets: u32,
        /// The part of a fleet that must agree.
        agree: Ratio,
    },
    /// Single streams, of a length that is found first.
    PrcMt(Tuning),
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The open range is down to the resolution.
    Found,
    /// The sender would send no more.
    Stopped,
    /// No stream of a fleet could be read; this is the reason of the last.
    Unread(Abstain),
    /// No stream length gives a repeatable receive rate.
    NoLength(LengthError),
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The available bandwidth is not below this.
    pub low: Rate,
    /// The available bandwidth is not above this.
    pub high: Rate,
    /// The rates in between at which fleets could not agree.
    pub grey: Option<(Rate, Rate)>,
    /// Why it ended.
    pub ended: Ended,
    /// Packets in each stream of the search for a rate; 0 if there was no such search.
    pub packets: u32,
    /// The asymptotic dispersion rate, if it was measured.
    pub adr: Option<Rate>,
}

/// Searches between two rates, down to a resolution.
pub fn find(tool: &Tool, method: &Method, range: (Rate, Rate), resolution: Rate, sender: &mut dyn Sender) -> Found {
    match *tool {
        Tool::Pathload { fleet, packets, agree } => {
            let search = Search::new(range.0, range.1, resolution);
            halve(search, method, Fleet { streams: fleet, packets, agree }, sender)
        }
        Tool::PrcMt(tuning) => prc_mt(&tuning, method, range, resolution, sender),
    }
}

/// The streams that are sent at one rate.
#[derive(Clone, Copy)]
struct Fleet {
    streams: u32,
    packets: u32,
    agree: Ratio,
}

impl Fleet {
    const SINGLE: Fleet = Fleet { streams: 1, packets: 0, agree: Ratio::ONE };
}

/// Tries the middle of the open range until the range is narrow enough.
fn halve(mut search: Search, method: &Method, fleet: Fleet, sender: &mut dyn Sender) -> Found {
    let mut ended = Ended::Found;
    while let Some(rate) = search.next_rate() {
        let mut streams = alloc::vec::Vec::with_capacity(fleet.streams as usize);
        streams.extend((0..fleet.streams).map_while(|_| sender.send(fleet.packets, rate)));
        if streams.len() < fleet.streams as usize {
            ended = Ended::Stopped;
            break;
        }
        match of_fleet(streams.into_iter().map(|stream| read(method, stream, fleet.packets)), fleet.agree) {
            Ok(verdict) => search.report(rate, verdict),
            Err(reason) => {
                ended = Ended::Unread(reason);
                break;
            }
        }
    }
    let Estimate { value, low, high } = search.estimate();
    Found { low, high: high.unwrap_or(value), grey: search.grey(), ended, packets: fleet.packets, adr: None }
}

/// Returns the verdict of one stream on its rate.
fn read(method: &Method, stream: Stream, packets: u32) -> Result<Verdict, Abstain> {
    if stream.lost * 10 > u64::from(packets) {
        return Ok(Verdict::Above);
    }
    match method.estimate(stream) {
        Ok(estimate) if estimate.high.is_some() => Ok(Verdict::Above),
        Ok(_) => Ok(Verdict::NotAbove),
        Err(Abstain::Ambiguous) => Ok(Verdict::Ambiguous),
        Err(reason) => Err(reason),
    }
}

/// Finds the ADR, then the length, then the rate.
fn prc_mt(
    tuning: &Tuning,
    method: &Method,
    (low, high): (Rate, Rate),
    resolution: Rate,
    sender: &mut dyn Sender,
) -> Found {
    let nothing = |ended, adr| Found { low, high, grey: None, ended, packets: 0, adr };
    let Some(adr) = sender.send(tuning.longest, high).map(|stream| stream.receive_rate()) else {
        return nothing(Ended::Stopped, None);
    };
    let mut stopped = false;
    let length = tune_length(adr, tuning, |packets, rate| match sender.send(packets, rate) {
        Some(stream) => stream.receive_rate(),
        None => {
            stopped = true;
            Rate::ZERO
        }
    });
    match length {
        _ if stopped => nothing(Ended::Stopped, Some(adr)),
        Err(error) => nothing(Ended::NoLength(error), Some(adr)),
        Ok(packets) => {
            let search = Search::new(low.min(adr), adr.min(high), resolution);
            Found { adr: Some(adr), ..halve(search, method, Fleet { packets, ..Fleet::SINGLE }, sender) }
        }
    }
}
