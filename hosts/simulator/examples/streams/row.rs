//! One line per stream.

use crate::condition::{Condition, Spacing};
use crate::path::Carried;
use estimation::{Method, Stream};
use rapid::gaps::{FEATURES, Gaps};
use std::io::{self, Write};

/// What reads each stream beside the features.
pub struct Readers([Method; 3]);

/// Columns of the readers: the best reading of BASS, the dissertation's reading as printed, and receive against send rate.
const READERS: [(&str, &str); 3] = [
    ("bass_bps", "normalise+bass+window(part=0.375)+multi-rate"),
    ("thesis_bps", "multi-pass-bass+multi-rate(reading=below, batched-epsilon=100 ns)"),
    ("receive_bps", "bass+receive-rate"),
];

impl Readers {
    pub fn new() -> Readers {
        Readers(READERS.map(|(_, text)| text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))))
    }
}

pub fn header(out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "run,cross,receiver,coalescing,delayed_ack,capacity_bps,load,packet,length,levels,range,together,aim,lost,"
    )?;
    write!(out, "rate_bps,low_bps,high_bps,truth_bps")?;
    READERS.iter().try_for_each(|(name, _)| write!(out, ",{name}"))?;
    (0..FEATURES).try_for_each(|i| write!(out, ",f{i}"))?;
    writeln!(out)
}

pub fn write(
    out: &mut impl Write,
    readers: &Readers,
    run: (u64, u64),
    condition: &Condition,
    carried: &Carried,
) -> io::Result<()> {
    let Condition { cross, load, packet, length, levels, range, capacity_bps, .. } = condition;
    let Carried { lost, rate_bps, low_bps, high_bps, truth_bps, .. } = carried;
    let (receiver, coalescing) = condition.receiver.name();
    let together = u8::from(condition.spacing == Spacing::Together);
    write!(
        out,
        "{}-{},{cross},{receiver},{coalescing},{},{capacity_bps:.0},{load:.3},",
        run.0, run.1, condition.delayed_ack
    )?;
    write!(
        out,
        "{packet},{length},{levels},{range},{together},{:.3},{lost},",
        rate_bps / (capacity_bps * (1.0 - load))
    )?;
    write!(out, "{rate_bps:.0},{low_bps:.0},{high_bps:.0},{truth_bps:.0}")?;
    let stream = Stream::of(&carried.send, &carried.receive, carried.size);
    let whole = *lost == 0;
    for reader in &readers.0 {
        let value = if whole { reader.estimate(stream.clone()).map_or(0, |found| found.value.bps()) } else { 0 };
        write!(out, ",{value}")?;
    }
    let features = if whole { Gaps::new(&carried.send, &carried.receive).features() } else { None };
    for i in 0..FEATURES {
        match features {
            Some(features) => write!(out, ",{}", features[i])?,
            None => write!(out, ",")?,
        }
    }
    writeln!(out)
}

/// As `packetscale estimate` reads it.
pub fn record(out: &mut impl Write, id: &str, carried: &Carried) -> io::Result<()> {
    if carried.lost > 0 {
        return Ok(());
    }
    writeln!(out, "{id},0,,,{}", carried.size.get())?;
    for (i, (send, receive)) in carried.send.iter().zip(&carried.receive).enumerate() {
        writeln!(out, "{id},{},{},{},{}", i + 1, send.nanos(), receive.nanos(), carried.size.get())?;
    }
    Ok(())
}
