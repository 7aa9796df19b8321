//! The peer's clock, read from acknowledgments of which some are late: compares `option_clock.h` with the true clock.

use super::page::Page;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// The option carries the low 31 bits of the clock.
const WRAPS: u64 = 1 << 31;
/// Offset of the peer's clock from ours.
const OFFSET: u64 = 5 * SECOND + 7;

struct Ack {
    arrived: u64,
    received: u64,
}

/// 20 Mbit/s in packets of 1500 bytes, `window` of them in flight, 40 ms both ways together, half of them on the way
/// back; acknowledgments that leave in the 20 ms from `spike` on come `late` later, and the others stay behind them.
fn acks(window: usize, spike: u64, late: u64) -> Vec<Ack> {
    let (gap, way, end) = (600_000, 20 * MS, spike + late + 2 * SECOND);
    let mut acks: Vec<Ack> = Vec::new();
    let mut leaves = SECOND;
    while leaves < end {
        let arrived = leaves + way;
        let late = if (spike..spike + 20 * MS).contains(&arrived) { late } else { 0 };
        let received = (arrived + way + late).max(acks.last().map_or(0, |ack| ack.received));
        acks.push(Ack { arrived, received });
        let free = acks.len().checked_sub(window).map_or(0, |oldest| acks[oldest].received);
        leaves = (leaves + gap).max(free);
    }
    acks
}

#[test]
fn spike_between_clock_windows_is_tolerated() {
    let Some(page) = Page::open() else { return };
    // A sender with a full window is silent until the late acknowledgments come: the lag falls from theirs to none at once.
    for late in [500 * MS, SECOND, 1500 * MS] {
        for phase in (0..400).step_by(10) {
            page.ask("forget");
            let mut ahead = None;
            let acks = acks(200, 3 * SECOND + phase * MS, late);
            let clock = |ack: &Ack| ack.arrived + OFFSET;
            let query = |ack: &Ack| format!("clock {} {} {}", ack.received, clock(ack) % WRAPS, 40 * MS);
            for (ack, words) in acks.iter().zip(page.ask_all(acks.iter().map(query))) {
                let words: Vec<u64> = words.split(' ').map(|word| word.parse().expect("a number")).collect();
                // The high bits are arbitrary, but constant.
                let now_ahead = words[0].wrapping_sub(clock(ack));
                assert_eq!(*ahead.get_or_insert(now_ahead), now_ahead, "{late} ns at {phase} ms");
                assert_eq!(words[2], 0, "doubts: {late} ns at {phase} ms");
            }
        }
    }
}

#[test]
fn four_unreadable_options_in_row_trigger_fallback() {
    let Some(page) = Page::open() else { return };
    for (readable, most) in [(0, 4), (9, 5), (99, 6), (128, 7), (199, 15), (249, 111), (256, usize::MAX)] {
        page.ask("forget");
        let trusted = (1..).take(1000).take_while(|_| page.ask(&format!("spoil {readable}")) == "1").count();
        assert_eq!(trusted + 1, most.min(1001), "one after {readable} that can be read");
    }
}
