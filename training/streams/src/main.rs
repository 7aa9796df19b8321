//! Generates probe streams with their true available bandwidth, on which the learnt estimator is trained and judged.
//!
//!     cargo run --release -p packetscale-streams -- OUT.csv runs=1500 seed=1 [key=value]...
//!
//! A *run* is one path, one piece of cross traffic, a sending and a receiving host, all drawn from the seed and the
//! run's number; a few dozen streams cross it. Streams of one run share their traffic, so a learner must split them by
//! run, never by stream. A key fixes a value that would be drawn (see [`condition::Condition::draw`]). `gaps-file=FILE`
//! also writes the streams themselves, in the format that `packetscale estimate` reads.
//!
//! Each run is an experiment with a table `[probe]`. Its streams are those that `packetscale estimate --from-simulator`
//! would send: `simulator::probe` has link, hosts, traffic and truth.

mod condition;
mod draws;
mod fixed;
mod receiver;
mod row;
mod sender;
mod traffic;

use condition::Condition;
use fixed::Fixed;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("expected: OUT.csv [key=value]...")?;
    let mut fixed = Fixed::parse(arguments)?;
    let (runs, seed) = (fixed.number("runs", 100)?, fixed.number("seed", 1)?);
    let gaps = fixed.take("gaps-file");
    let mut rows = BufWriter::new(File::create(format!("{out}.part"))?);
    let mut recording = gaps.as_ref().map(|name| File::create(name).map(BufWriter::new)).transpose()?;
    row::header(&mut rows)?;
    if let Some(recording) = &mut recording {
        writeln!(recording, "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes")?;
    }
    let readers = row::Readers::new();
    for run in 0..runs {
        let condition = Condition::draw(seed, run, &fixed)?;
        fixed.all_used()?;
        for probe in simulator::probe(&condition.experiment)? {
            row::write(&mut rows, &readers, (seed, run), &condition, &probe)?;
            if let (Some(recording), Some(stream)) = (&mut recording, readers.handed(&probe, condition.probe().levels))
            {
                row::record(recording, &format!("{seed}-{run}-{}", probe.number), &stream)?;
            }
        }
    }
    rows.into_inner()?.sync_all()?;
    std::fs::rename(format!("{out}.part"), &out)?;
    Ok(())
}
