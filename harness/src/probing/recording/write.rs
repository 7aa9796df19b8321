//! Writes streams with known truth as a recording, with columns for the truth.

use super::COLUMNS;
use crate::probing::{ProbeStream, SweepPoint};
use std::io::{self, Write};

/// Columns in addition to those of a recording; streams with equal `run` and `point` met the same traffic.
const ADDED: &str = "truth_bps,lowest_bps,highest_bps,mean_bps,run,point";

/// One row per packet that arrived. Streams are numbered through all points and runs.
///
/// # Errors
/// An error of writing.
pub fn write(out: &mut dyn Write, points: &[SweepPoint]) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    writeln!(out, "{},{ADDED}", COLUMNS.join(","))?;
    let mut id = 0u64;
    for point in points {
        let named: Vec<String> = point.params.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        for (run, probes) in point.runs.iter().enumerate() {
            for probe in probes {
                rows(&mut out, probe, id, run, &named.join("; "))?;
                id += 1;
            }
        }
    }
    out.flush()
}

fn rows(out: &mut impl Write, probe: &ProbeStream, id: u64, run: usize, point: &str) -> io::Result<()> {
    let stream = probe.stream();
    let size = stream.gaps.first().map_or(0, |gap| gap.size.get());
    let beside = format!(
        "{},{},{},{},{run},\"{}\"",
        probe.truth.bps(),
        probe.lowest.bps(),
        probe.highest.bps(),
        probe.mean_rate.bps(),
        point.replace('"', "\"\"")
    );
    let Some(first) = probe.packets.first() else { return Ok(()) };
    writeln!(out, "{id},{},,,{size},1,{beside}", first.number)?;
    for (packet, gap) in probe.packets[1..].iter().zip(&stream.gaps) {
        let ns = |span: packetscale_models::units::Span| format!("{}.{:03}", span.nanos(), span.picos() % 1000);
        let (send, receive) = (ns(gap.send), ns(gap.receive));
        writeln!(out, "{id},{},{send},{receive},{size},{},{beside}", packet.number, u8::from(gap.acked))?;
    }
    Ok(())
}
