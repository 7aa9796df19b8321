//! Receivers with a clock of another rate than the sender's, and acknowledgments that cover many packets.

use super::*;

const RTT: Span = Span::from_millis(30);
const FROM: u64 = 3000;
const LONG: Span = Span::from_secs(4);
/// Packets of 1500 B that 1 Gbit/s carries in a round trip.
const WINDOW: u64 = 2500;
/// What may be lost by either, as a part of the path.
const FIVE_POINTS: f64 = 0.05;

/// One flow alone from 3 s to 7 s: the part of the path that it uses, its drops since it began, and the wait of 99 % of its packets.
fn used(path: &Path) -> (f64, u64, Span) {
    let mut net = Bottleneck::new(path.clone()).flow(&Params::new(Bytes::new(1500)), RTT, Time::ZERO);
    net.run_until(ms(FROM));
    let drops = net.drops;
    net.clear();
    net.run_until(ms(FROM) + LONG);
    (net.utilisation(LONG), drops + net.drops, net.wait(0.99))
}

/// Asserts that a flow alone loses at most five points of utilisation. Returns its drops, and the wait of 99 % of its packets.
fn loses_little(what: &str, path: &Path, right: f64) -> (u64, Span) {
    let (part, drops, wait) = used(path);
    eprintln!("{what}: {part:.3} of {right:.3}, drops {drops}, wait {wait}");
    assert!(part > right - FIVE_POINTS, "{what}: {part}, {right} without");
    (drops, wait)
}

#[test]
fn a_skewed_clock_costs_less_than_5_points() {
    for mbps in [10, 100, 1000] {
        let path = Path::new(Rate::from_mbps(mbps), RTT);
        let (right, _, usual) = used(&path);
        for skew_ppm in [-80_000, -40_000, -20_000, -10_000, -5_000, -500, 500, 5_000, 10_000, 20_000, 40_000, 80_000] {
            let what = format!("{mbps} Mbit/s, {skew_ppm:+} ppm");
            let (drops, wait) = loses_little(&what, &Path { skew_ppm, ..path.clone() }, right);
            assert_eq!(drops, 0, "{what}");
            assert!(wait < usual * 2, "{what}: {wait}, {usual} with a clock that is right");
        }
    }
}

/// A fast clock makes the first chirp end start-up at ten packets per round trip, of 417. The pace is known after some ten round trips,
/// and five lead from there to the end of the path with a clock that is right.
#[test]
fn repeats_a_start_that_a_fast_clock_ended() {
    let rtt = Span::from_millis(100);
    for skew_ppm in [30_000, 40_000, 80_000] {
        let path = Path { skew_ppm, ..Path::new(Rate::from_mbps(50), rtt) };
        let mut net = Bottleneck::new(path).flow(&Params::new(Bytes::new(1500)), rtt, Time::ZERO);
        let part = net.between(ms(2000), ms(4000));
        assert!(part > 0.9, "{skew_ppm:+} ppm: {part} used in the third and fourth second");
    }
}

#[test]
fn a_clock_slewed_for_1s_costs_less_than_5_points() {
    for skew_ppm in [-80_000, -40_000, 40_000, 80_000] {
        let path = Path::new(Rate::from_mbps(100), RTT);
        let (right, ..) = used(&path);
        let what = format!("{skew_ppm:+} ppm for a second");
        let (drops, _) = loses_little(&what, &Path { skew_ppm, skewed: (ms(4000), ms(5000)), ..path }, right);
        assert_eq!(drops, 0, "{what}");
    }
}

#[test]
fn flows_share_across_receiver_clocks() {
    // Both of a pair use the same receiver here; what they share is the queue that one clock rate or the other invents.
    for skew_ppm in [0, 40_000, -40_000] {
        let path = Path { skew_ppm, ..Path::new(Rate::from_mbps(200), RTT) };
        let params = Params::new(Bytes::new(1500));
        let mut net = Bottleneck::new(path).flow(&params, RTT, Time::ZERO).flow(&params, RTT, ms(500));
        net.between(ms(6000), ms(8000));
        let (jain, part) = (net.jain(), net.utilisation(Span::from_secs(2)));
        eprintln!("{skew_ppm:+} ppm: Jain {jain:.3}, {part:.3}, drops {}", net.drops);
        assert!(jain > 0.97 && part > 0.93, "{skew_ppm:+} ppm: Jain {jain}, {part} used");
    }
}

#[test]
fn acknowledgments_of_44_and_88_packets_cost_less_than_5_points() {
    let path = Path { delayed_ack: 2, stamps: 2, ..Path::new(Rate::from_gbps(1), RTT) };
    let (usual, ..) = used(&path);
    // The number of stamps in the simulator's acknowledgments, and in the kernel's.
    for stamps in [8, 11] {
        for delayed_ack in [16, 44, 88] {
            let what = format!("the newest {stamps} of {delayed_ack}");
            let (drops, _) = loses_little(&what, &Path { delayed_ack, stamps, ..path.clone() }, usual);
            assert_eq!(drops, 0, "{what}");
        }
    }
}

#[test]
fn segments_merged_by_44_and_88_cost_less_than_5_points() {
    let path = Path::new(Rate::from_gbps(1), RTT);
    let (usual, ..) = used(&path);
    for packets in [44, 88] {
        // The card waits for the time of this many packets; all get its time, and the newest eleven are reported.
        let coalescing = path.rate.time_for(Bytes::new(1500)) * (packets - 1);
        let merged = Path { coalescing, delayed_ack: packets, stamps: 11, ..path.clone() };
        let (drops, _) = loses_little(&format!("{packets} merged"), &merged, usual);
        // Start-up may lose what slow start may: a window.
        assert!(drops < WINDOW, "{packets} merged: {drops} drops");
    }
}

#[test]
fn a_clock_of_coarse_ticks_costs_less_than_5_points() {
    for mbps in [10, 100, 1000] {
        let path = Path::new(Rate::from_mbps(mbps), RTT);
        let (fine, ..) = used(&path);
        for micros in [2, 20, 50, 200] {
            for skew_ppm in [0, 40_000] {
                let what = format!("{mbps} Mbit/s, ticks of {micros} us, {skew_ppm:+} ppm");
                loses_little(&what, &Path { tick: Span::from_micros(micros), skew_ppm, ..path.clone() }, fine);
            }
        }
    }
}
