//! The window-based laws of Linux compared with Linux's own code in ns-2 (`Agent/TCP/Linux`, Debian package `ns2`), in one
//! table: 100 Mbit/s, base round trip 60 ms, a quarter of the bandwidth-delay product as buffer, no random loss, 1e-4
//! and 1e-3.
//!
//! In each cell the means over seeds differ by no more than 10 %, plus twice the standard error of their difference.
//! Where ns-2 cannot be the judge, the cell names another, and is compared with that:
//! * Vegas under loss has no queue, so it grows by one packet per round trip and halves: it is NewReno. ns-2's Vegas
//!   grows by one packet in two round trips.
//! * Scalable at 1e-3 grows here by one packet per 100 acknowledged, as in Linux since 2020; in ns-2 by one per 50.
//!   Growth and reduction are equal, 1 / w = p w / 8, at sqrt(8 / p) packets.
//! * Illinois under loss has no queue, so alpha = 10 and beta = 1/8. Its mean window is that of an additive increase
//!   and multiplicative decrease, sqrt(alpha (2 - beta) / (2 beta p)), or what it gets without loss if that is less.
//!   ns-2's Illinois falls to some ten packets after losses, which is no reduction of this law; the cause is not known.

mod path;
mod peers;

use packetscale_models::units::Span;
use path::{apart, assert_none_apart, flow, mean, replicate, single, without};
use rayon::prelude::*;

const PACKET: u64 = 1500;
const WARMUP_S: u64 = 10;
const SECONDS: u64 = 110;
const LAWS: [&str; 10] =
    ["bic", "highspeed", "scalable", "hybla", "vegas", "htcp", "illinois", "yeah", "westwood", "veno"];

/// Each row: one loss in this many packets (0: none), and the runs to average in ns-2 and here.
const LOSSES: [(u64, u64, u64); 3] = [(0, 1, 1), (10_000, 2, 6), (1000, 4, 6)];

fn here(name: &str, one_in: u64, seeds: u64) -> Vec<f64> {
    let flow = flow(name, PACKET, Span::from_millis(60));
    // ns-2's code is older than that change of Linux.
    let flow = if name == "bic" { without(flow, &["sacks_count"]) } else { flow };
    let experiment = single(flow, one_in, WARMUP_S, SECONDS);
    replicate(&experiment, seeds).iter().map(|run| run.summary.throughput_bps.unwrap()).collect()
}

fn in_ns2(name: &str, one_in: u64, seeds: u64) -> Vec<f64> {
    let loss = if one_in == 0 { 0.0 } else { 1.0 / one_in as f64 };
    let one = |seed: u64| {
        let numbers = [125.0, loss, seed as f64, WARMUP_S as f64, SECONDS as f64, 0.0, 1.0];
        let packets = peers::ns2::packets(name, &numbers);
        packets * (8 * PACKET) as f64 / (SECONDS - WARMUP_S) as f64
    };
    (1..=seeds).into_par_iter().map(one).collect()
}

/// Returns the reference of a cell, and its value in bit/s with its standard error.
fn judge(name: &str, one_in: u64, ns2_seeds: u64) -> (&'static str, (f64, f64)) {
    let of_window = |window: f64| window * (8 * PACKET) as f64 / 0.060;
    let per_loss = one_in as f64;
    match (name, one_in) {
        ("vegas", 1..) => ("newreno here", mean(&here("newreno", one_in, 8))),
        ("scalable", 1000) => ("closed form", (of_window((8.0 * per_loss).sqrt()), 0.0)),
        ("illinois", 1..) => {
            let (alpha, beta) = (10.0, 0.125);
            let free: f64 = of_window((alpha * (2.0 - beta) / (2.0 * beta) * per_loss).sqrt());
            ("closed form", (free.min(mean(&in_ns2(name, 0, 1)).0), 0.0))
        }
        _ => ("ns-2", mean(&in_ns2(name, one_in, ns2_seeds))),
    }
}

#[test]
fn laws_of_linux_match_ns2() {
    let cells: Vec<(&str, (u64, u64, u64))> =
        LAWS.iter().flat_map(|name| LOSSES.iter().map(move |loss| (*name, *loss))).collect();
    let row = |(name, (one_in, there_seeds, here_seeds)): (&str, (u64, u64, u64))| {
        let (here, here_error) = mean(&here(name, one_in, here_seeds));
        let (reference, (there, there_error)) = judge(name, one_in, there_seeds);
        let far = apart((here, here_error), (there, there_error));
        let numbers = [here, here_error, there, there_error].map(|bps| bps / 1e6);
        let [a, b, c, d] = numbers;
        let line =
            format!("{name} | {one_in} | {a:.2} +- {b:.2} | {reference} | {c:.2} +- {d:.2} | {:.2}", here / there);
        (line, far)
    };
    assert_none_apart(cells.into_par_iter().map(row).collect());
}
