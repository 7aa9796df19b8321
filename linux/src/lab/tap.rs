//! Reads when each packet arrives at the bottleneck and when it departs: the records of `bpf/bottleneck.bpf.c`.
//!
//! Cost: two records of 32 bytes per packet, 0.17 us each, without a system call and without a wake-up; they are
//! read a hundred times a second. Error: a departure is recorded where the next host receives the packet. That is one
//! crossing of a veth pair after the queue: some microseconds, more when the processor is busy elsewhere. The run's
//! least such time, which every packet's time contains, is subtracted.

use crate::lab::disciplines;
use crate::lab::error::LabError;
use crate::lab::path::{Means, Path};
use experiment::scenario::Experiment;
use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, RingBufferBuilder, TC_EGRESS, TC_INGRESS, TcHookBuilder};
use packetscale_models::units::Ratio;
use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd};

const OBJECT: &[u8] = include_bytes!("../../objects/bottleneck.bpf.o");

/// `MOST_OUTAGES` of the programs.
pub(crate) const MOST_OUTAGES: usize = 16;

/// Words of the programs' `struct wire` before its outages.
const WORDS_BEFORE_OUTAGES: usize = 11;

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Before the bottleneck's queue.
    Arrived,
    /// Behind it.
    Departed,
    /// On the wire behind it, which lost it.
    Lost,
}

/// One packet at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Of its arrival: the low half of the time, which identifies the packet.
    pub stamp: u32,
    /// Size of the frame, Ethernet header included.
    pub size: u32,
    /// Its source port.
    pub port: u16,
    /// Protocol of IPv4; 0: something else.
    pub protocol: u8,
    /// Where it was seen.
    pub end: End,
    /// Whether it was marked there: congestion experienced.
    pub marked: bool,
}

/// Flag of a marked packet in a record.
const MARKED: u8 = 0x80;

/// Bytes of a record's fields, without the padding of the C structure.
pub(crate) const RECORD: usize = 20;

impl Record {
    /// Writes the fields as the C structure has them.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.time_ns.to_ne_bytes());
        to.extend(self.stamp.to_ne_bytes());
        to.extend(self.size.to_ne_bytes());
        to.extend(self.port.to_ne_bytes());
        to.extend([self.protocol, self.end as u8 | if self.marked { MARKED } else { 0 }]);
    }

    /// Reads the C structure.
    pub fn parse(bytes: &[u8]) -> Option<Record> {
        let field = |from: usize, to: usize| bytes.get(from..to);
        Some(Record {
            time_ns: u64::from_ne_bytes(field(0, 8)?.try_into().ok()?),
            stamp: u32::from_ne_bytes(field(8, 12)?.try_into().ok()?),
            size: u32::from_ne_bytes(field(12, 16)?.try_into().ok()?),
            port: u16::from_ne_bytes(field(16, 18)?.try_into().ok()?),
            protocol: *bytes.get(18)?,
            marked: bytes.get(19)? & MARKED != 0,
            end: match bytes.get(19)? & !MARKED {
                0 => End::Arrived,
                1 => End::Departed,
                _ => End::Lost,
            },
        })
    }
}

/// Both programs, attached. They vanish with their devices.
pub(crate) struct Tap {
    object: Object,
}

impl Tap {
    /// Attaches the programs at both ends of the bottleneck.
    pub fn attach(path: &Path) -> Result<Tap, LabError> {
        let object = ObjectBuilder::default().open_memory(OBJECT).and_then(libbpf_rs::OpenObject::load);
        let object = object.map_err(refused("the programs that watch the bottleneck cannot be loaded"))?;
        let program = |name: &str| object.progs().find(|program| program.name() == name);
        let (Some(arrives), Some(departs)) = (program("arrives"), program("departs")) else {
            return Err(LabError("the programs that watch the bottleneck are not in their object".to_string()));
        };
        let (before, behind) = (arrives.as_fd(), departs.as_fd());
        path.router.inside(|| hook(before, "r1", TC_EGRESS))?;
        let (host, device) = path.behind();
        host.inside(|| hook(behind, device, TC_INGRESS))?;
        Ok(Tap { object })
    }

    /// Makes the bottleneck's queue know flows and, where no delay line does it, the wire behind it lose and delay packets,
    /// by the run's seed; times count from `zero_ns`.
    pub fn make_wire(&self, experiment: &Experiment, means: Means, zero_ns: u64) -> Result<(), LabError> {
        let link = &experiment.links[experiment.bottleneck];
        let late = link.impairments.reorder.map_or(0, |reorder| reorder.share.q32());
        let outages = &link.impairments.outages;
        let [by, handle, buckets] = disciplines::flow_words(&link.queue);
        let loss = if means == Means::Qdiscs { link.loss.q32() } else { 0 };
        let chain =
            link.impairments.bursts.map(|chain| [chain.good_loss, chain.p, chain.r, chain.bad_loss].map(Ratio::q32));
        let [loss, p, r, bad_loss] = chain.unwrap_or([loss, 0, 0, 0]);
        let (seed, good, outages_here) = (experiment.seed, 0, outages.len() as u64);
        let mut words = vec![by, handle, buckets, seed, loss, late, p, r, bad_loss, good, outages_here];
        words.extend(outages.iter().flat_map(|(from, to)| [zero_ns + from.nanos(), zero_ns + to.nanos()]));
        words.resize(WORDS_BEFORE_OUTAGES + 2 * MOST_OUTAGES, 0);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let set = self.map("wire")?.update(&0u32.to_ne_bytes(), &bytes, MapFlags::ANY);
        set.map_err(refused("cannot configure the qdisc behind the bottleneck"))
    }

    /// Appends every record to `take` while `during` runs. `during` calls its argument to read new records.
    pub fn records(
        &self,
        take: &mut Vec<Record>,
        during: impl FnOnce(&dyn Fn() -> Result<(), LabError>) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let records = self.map("records")?;
        let taken = RefCell::new(take);
        let mut ring = RingBufferBuilder::new();
        let failed = || refused("the records of the bottleneck cannot be read");
        ring.add(&records, |bytes| {
            taken.borrow_mut().extend(Record::parse(bytes));
            0
        })
        .map_err(failed())?;
        let ring = ring.build().map_err(failed())?;
        during(&|| ring.consume().map_err(failed()))
    }

    /// Number of records lost to a full ring since the programs were attached.
    pub fn missed(&self) -> Result<u64, LabError> {
        let value = self.map("missed")?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(refused("the count of missed records cannot be read"))?;
        Ok(value.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?))).unwrap_or(0))
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>, LabError> {
        let map = self.object.maps().find(|map| map.name() == name);
        map.ok_or_else(|| LabError(format!("the programs that watch the bottleneck have no map {name}")))
    }
}

fn hook(program: BorrowedFd<'_>, device: &str, direction: libbpf_rs::TcAttachPoint) -> Result<(), LabError> {
    let index = nix::net::if_::if_nametoindex(device)?;
    let mut hook = TcHookBuilder::new(program).ifindex(index as i32).handle(1).priority(1).hook(direction);
    let attached = hook.create().and_then(|mut hook| hook.attach());
    attached
        .map(|_| ())
        .map_err(refused(format!("the programs that watch the bottleneck cannot be attached to {device}")))
}

fn refused(what: impl std::fmt::Display) -> impl FnOnce(libbpf_rs::Error) -> LabError {
    move |error| LabError(format!("{what}: {error:#}"))
}
