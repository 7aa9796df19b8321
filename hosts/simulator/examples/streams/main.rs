//! Probe streams with the truth beside them: what the learnt estimator is trained and judged on.
//!
//!     cargo run --release -p packetscale-simulator --example streams -- OUT.csv runs=1500 seed=1 [key=value]...
//!
//! A *run* is one path, one piece of cross traffic and one receiver, all drawn from the seed and the run's number; a few
//! dozen streams cross it. Streams of one run share their traffic, so whoever learns from them splits by run, never by
//! stream. A key fixes what would be drawn (see [`condition::Condition::draw`]); `gaps=FILE` writes the streams themselves
//! too, as `packetscale estimate` reads them.
//!
//! Link, traffic and books are the simulator's: probes enter it as a trace, and `packetscale_simulator::log` tells when each packet
//! of either came and left. The truth is the link's rate less what cross traffic brought between the first and the last
//! packet of a stream. Times are then cut to nanoseconds, as hosts stamp them.

mod condition;
mod path;
mod receiver;
mod row;

use condition::{Condition, Fixed};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("expected: OUT.csv [key=value]...")?;
    let mut fixed = Fixed::parse(arguments)?;
    let (runs, seed) = (fixed.number("runs", 100)?, fixed.number("seed", 1)?);
    let gaps = fixed.take("gaps");
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
        for (number, stream) in path::carry(&condition)?.iter().enumerate() {
            row::write(&mut rows, &readers, (seed, run), &condition, stream)?;
            if let Some(recording) = &mut recording {
                row::record(recording, &format!("{seed}-{run}-{number}"), stream)?;
            }
        }
    }
    rows.into_inner()?.sync_all()?;
    std::fs::rename(format!("{out}.part"), &out)?;
    Ok(())
}
