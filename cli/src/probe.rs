//! `packetscale live probe`: how much of the path to a server, or from it, is free.

use crate::args::live::Probe;
use crate::create::{create, taken};
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use crate::peer::{address, keys};
use live::probe::{Answer, Found, Plan, ProbeError, Question, Row, Unsure, probe as ask, scenario};
use packetscale_models::units::{Bytes, Rate};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn probe(arguments: &Probe) -> Result<(), Failure> {
    // Before anything is sent.
    let mut files = arguments.save.iter().chain(&arguments.as_scenario);
    if let Some(file) = files.find(|file| !arguments.output.replace && file.symlink_metadata().is_ok()) {
        return Err(taken(file));
    }
    let keys = keys(arguments.key.as_deref())?;
    let question = Question {
        server: address(&arguments.host, &keys)?,
        keys,
        reverse: arguments.reverse,
        budget: arguments.bytes,
        fastest: arguments.rate,
        packet: arguments.packet,
        gaps: arguments.gaps,
        mark: arguments.mark,
    };
    // Notify the server between two streams, and forgets the session.
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    ctrlc::set_handler(move || stopping.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Machine(format!("signals cannot be caught: {error}")))?;
    let shown = std::io::stderr().is_terminal() && !arguments.json;
    let answer = ask(&question, &mut |streams, sent, plan| {
        if shown {
            progress(streams, sent, plan);
        }
        !stop.load(Ordering::Relaxed)
    });
    if shown {
        eprint!("\r\x1b[K");
    }
    let answer = answer.map_err(|error: ProbeError| Failure::Machine(format!("{}: {error}", arguments.host)))?;
    if let Some(file) = &arguments.save {
        save(create(file, arguments.output.replace)?, &answer.rows).map_err(|error| unwritable(file, &error))?;
    }
    say(&if arguments.json { format!("{}\n", object(&answer)) } else { text(&answer, arguments.reverse) })?;
    arguments.as_scenario.as_deref().map_or(Ok(()), |file| write_scenario(file, &answer, arguments))?;
    // The path could be asked; this machine could not ask it.
    match answer.found {
        Err(reason @ Unsure::NotMade(..)) if !arguments.reverse => Err(Failure::Machine(format!("{reason}. {BUSY}"))),
        _ => Ok(()),
    }
}

/// What to do on such a machine.
const BUSY: &str = "Other programs use its processors: stop them, or run this one with real-time priority, as root: \
                    chrt -f 1 packetscale live probe ...";

/// Without an answer there is no path to replay: none is written.
fn write_scenario(file: &Path, answer: &Answer, arguments: &Probe) -> Result<(), Failure> {
    let way = if arguments.reverse { "from" } else { "to" };
    let Some(text) =
        scenario(answer, &format!("Measured by `packetscale live probe` on the path {way} {}.", arguments.host))
    else {
        return Err(Failure::Machine(format!(
            "{}: not written: no estimate of the available bandwidth",
            file.display()
        )));
    };
    create(file, arguments.output.replace)?.write_all(text.as_bytes()).map_err(|error| unwritable(file, &error))
}

fn progress(streams: u32, sent: Bytes, plan: &Plan) {
    let _ = write!(
        std::io::stderr(),
        "\r\x1b[K{streams} streams, {sent}; now {} to {}",
        rounded(plan.lowest),
        rounded(plan.highest)
    );
}

/// To the grain of a thousandth of 10 Mbit/s.
fn rounded(rate: Rate) -> Rate {
    const GRAIN_BPS: u64 = 10_000;
    Rate::from_bps((rate.bps() + GRAIN_BPS / 2) / GRAIN_BPS * GRAIN_BPS)
}

fn ms(ns: u64) -> f64 {
    ns as f64 * 1e-6
}

fn text(answer: &Answer, reverse: bool) -> String {
    let mut text = String::new();
    let way = if reverse { "from" } else { "to" };
    let _ = match &answer.found {
        Ok(Found { value, low, high }) => {
            let [value, low, high] = [value, low, high].map(|rate| rounded(*rate));
            writeln!(text, "available         {value} ({low} to {high}), {way} the server")
        }
        Err(reason) => writeln!(text, "available         not known, {way} the server: {reason}"),
    };
    let _ = writeln!(text, "base round trip   {:.3} ms", ms(answer.base_rtt_ns));
    if let Some((sent, received)) = answer.sources {
        let _ = writeln!(
            text,
            "timestamps        departures by the {}, arrivals by the {}",
            sent.words(),
            received.words()
        );
    }
    let observed = &answer.observed;
    let together = 100.0 * observed.together();
    let held = match observed.held_ns() {
        0 => String::new(),
        ns => format!(", held for about {:.3} ms", ms(ns)),
    };
    let _ = writeln!(text, "coalescence       {together:.1} % of packets arrived with the one before{held}");
    let _ = writeln!(
        text,
        "queue             up to {:.3} ms in a stream, {} packets lost",
        ms(observed.queue_ns),
        observed.lost
    );
    if let Some(marks) = answer.marks.filter(|marks| marks.ce + marks.ect1 > 0) {
        let _ = writeln!(text, "marks             {} packets CE, {} ECT(1)", marks.ce, marks.ect1);
    }
    let _ =
        writeln!(text, "sent              {} streams, {}, packets of {} B", answer.streams, answer.sent, answer.packet);
    text
}

fn object(answer: &Answer) -> Value {
    let found = answer.found.as_ref().ok();
    json!({
        "schema": 1,
        "available_bps": found.map(|found| found.value.bps()),
        "low_bps": found.map(|found| found.low.bps()),
        "high_bps": found.map(|found| found.high.bps()),
        "abstain": answer.found.as_ref().err().map(ToString::to_string),
        "base_rtt_ns": answer.base_rtt_ns,
        "departures_by": answer.sources.map(|(sent, _)| sent.words()),
        "arrivals_by": answer.sources.map(|(_, received)| received.words()),
        "batched": answer.observed.together(),
        "held_ns": answer.observed.held_ns(),
        "queue_ns": answer.observed.queue_ns,
        "lost_packets": answer.observed.lost,
        "late_ns": answer.observed.late_ns(),
        "marks_ce": answer.marks.map(|marks| marks.ce),
        "marks_ect1": answer.marks.map(|marks| marks.ect1),
        "gaps_by": answer.gaps.name(),
        "margin_ns": answer.margin_ns,
        "packet_bytes": answer.packet,
        "streams": answer.streams,
        "sent_bytes": answer.sent.get(),
    })
}

fn save(file: File, rows: &[Row]) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(file);
    writeln!(out, "stream_id,pkt,send_gap_ns,recv_gap_ns,size_bytes")?;
    for Row { stream, packet, gaps_ns, size } in rows {
        match gaps_ns {
            None => writeln!(out, "{stream},{packet},,,{size}")?,
            Some((send, receive)) => writeln!(out, "{stream},{packet},{send},{receive},{size}")?,
        }
    }
    out.flush()
}
