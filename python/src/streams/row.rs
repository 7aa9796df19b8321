//! Writes one line per stream.

use crate::streams::condition::Condition;
use harness::probing::ProbeStream;
use packetscale_models::estimation::{Abstain, Method, Stream};
use packetscale_models::rapid::gaps::{FEATURES, Gaps};
use packetscale_models::units::Span;
use std::io::{self, Write};

/// The methods that read each stream, in addition to the features.
pub struct Readers {
    methods: [Method; 3],
    rising: Method,
    constant: Method,
}

/// Columns of the readers: the best reading of BASS, the dissertation's reading as printed, and the receive rate
/// compared with the send rate.
const READERS: [(&str, &str); 3] = [
    ("bass_bps", "normalise+bass+window(part=0.375)+multi-rate"),
    ("thesis_bps", "normalise+multi-pass-bass+multi-rate(reading=below, batched-epsilon=100 ns)"),
    ("receive_bps", "normalise+bass+receive-rate"),
];

fn method(text: &str) -> Method {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

impl Readers {
    pub fn new() -> Readers {
        Readers {
            methods: READERS.map(|(_, text)| method(text)),
            rising: method("normalise+learnt"),
            constant: method("normalise+learnt-verdict"),
        }
    }

    /// The stream in the form that the learnt estimator receives; `None` if it cannot read the stream.
    pub fn handed(&self, probe: &ProbeStream, levels: u32) -> Option<Stream> {
        let learnt = if levels == 1 { &self.constant } else { &self.rising };
        let stream = probe.stream();
        let read = matches!(learnt.estimate(stream.clone()), Ok(_) | Err(Abstain::Unsure { .. }));
        let stages = if read { learnt.stages(&stream).ok() } else { None };
        stages.and_then(|mut stages| stages.pop()).map(|(_, stream)| stream)
    }
}

pub fn header(out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "run,cross,receiver,time_ns,frames,gaps,acknowledge,capacity_bps,load,packet,packets,levels,range,pause_ns,"
    )?;
    write!(out, "rate_bps,low_bps,high_bps,truth_bps")?;
    READERS.iter().try_for_each(|(name, _)| write!(out, ",{name}"))?;
    (0..FEATURES).try_for_each(|i| write!(out, ",f{i}"))?;
    writeln!(out)
}

/// Writes a stream's row. An unreadable stream has neither a rate nor features.
pub fn write(
    out: &mut impl Write,
    readers: &Readers,
    run: (u64, u64),
    condition: &Condition,
    probe: &ProbeStream,
) -> io::Result<()> {
    let Condition { experiment, cross, receiver, gaps, load } = condition;
    let (spec, card) = (condition.probe(), experiment.receiver.coalescing);
    write!(out, "{}-{},{cross},{receiver},{},{},{gaps},", run.0, run.1, card.time.nanos(), card.frames)?;
    write!(out, "{},{:.0},{load:.3},{},", spec.acknowledge, condition.capacity_bps(), spec.packet.get())?;
    write!(out, "{},{},{},{},", spec.packets, spec.levels, spec.range.as_f64(), spec.pause.nanos())?;
    let handed = readers.handed(probe, spec.levels);
    let rate = handed.as_ref().map_or(probe.mean_rate, Stream::send_rate);
    write!(out, "{},{},{},{}", rate.bps(), probe.lowest.bps(), probe.highest.bps(), probe.truth.bps())?;
    for reader in &readers.methods {
        write!(out, ",{}", reader.estimate(probe.stream()).map_or(0, |found| found.value.bps()))?;
    }
    let features = handed.and_then(|stream| {
        let (send, receive): (Vec<Span>, Vec<Span>) = stream.gaps.iter().map(|gap| (gap.send, gap.receive)).unzip();
        Gaps::new(&send, &receive).features()
    });
    for i in 0..FEATURES {
        match features {
            Some(features) => write!(out, ",{}", features[i])?,
            None => write!(out, ",")?,
        }
    }
    writeln!(out)
}

pub fn recording_header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes")
}

/// Records the stream that the learnt estimator receives, to the picosecond, in the format that `packetscale estimate`
/// reads.
pub fn record(out: &mut impl Write, id: &str, stream: &Stream) -> io::Result<()> {
    let ns = |span: Span| format!("{}.{:03}", span.nanos(), span.picos() % 1000);
    for (i, gap) in stream.gaps.iter().enumerate() {
        if i == 0 {
            writeln!(out, "{id},0,,,{}", gap.size.get())?;
        }
        writeln!(out, "{id},{},{},{},{}", i + 1, ns(gap.send), ns(gap.receive), gap.size.get())?;
    }
    Ok(())
}
