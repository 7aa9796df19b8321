//! `make bench`: CPU time per packet to read a probe stream, for every estimator alone and with BASS before it.
//!
//! The streams have 64 packets of 9000 B at 10 Gbit/s, as a receiver that coalesces interrupts sees them: a spike every
//! 16 packets, dips in between. It runs on one core and takes the median of five rounds. Every reading first copies a
//! stream. The time of that copy has its own row, and is included in the others.

use cpu_time::ProcessTime;
use packetscale_models::estimation::{Method, Stream};
use packetscale_models::units::{Bytes, Span};
use std::hint::black_box;

const PACKETS: u64 = 64;
const STREAMS: u64 = 5_000;
const ROUNDS: usize = 5;

/// A stream with rates that rise by a quarter in four levels, or with a constant rate.
fn stream(rising: bool) -> Stream {
    let send: Vec<Span> =
        (0..PACKETS).map(|i| Span::from_nanos(if rising { 9000 - 600 * (i / 16) } else { 8000 })).collect();
    let receive: Vec<Span> =
        (0..PACKETS).map(|i| Span::from_nanos(if i % 16 == 3 { 125_000 + 900 * i } else { 200 })).collect();
    Stream::of(&send, &receive, Bytes::new(9000))
}

/// Returns the nanoseconds per packet that `read` takes on a copy of `stream`.
fn cost(stream: &Stream, read: impl Fn(Stream)) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = ProcessTime::now();
            (0..STREAMS).for_each(|_| read(black_box(stream.clone())));
            start.elapsed().as_secs_f64() * 1e9 / (STREAMS * PACKETS) as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn main() {
    println!("Probe streams of {PACKETS} packets, one core; ns of CPU time per packet, median of {ROUNDS}.\n");
    println!("| method | found | target |");
    println!("|---|---|---|");
    println!("| a copy of the stream | {:.1} | - |", cost(&stream(true), |stream| drop(black_box(stream))));
    let methods = [
        ("bass+multi-rate", true, "40"),
        (Method::DEFAULT, true, "-"),
        ("multi-pass-bass+multi-rate", true, "-"),
        ("bass+receive-rate", false, "40"),
        ("pathload", false, "-"),
        ("imr-average", false, "-"),
        ("imr-wavelet", false, "-"),
        ("learnt", true, "60"),
        ("learnt-verdict", false, "60"),
    ];
    for (text, rising, target) in methods {
        let method: Method = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let stream = stream(rising);
        let read = |stream| {
            let _ = black_box(method.estimate(stream));
        };
        println!("| {text} | {:.1} | {target} |", cost(&stream, read));
    }
}
