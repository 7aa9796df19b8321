//! The header and its mirror in Rust have the same layout, as the C compiler of this machine sees it.

use packetscale_controller::abi;
use std::fmt::Write;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

/// One size, offset or constant: its C expression and its value in Rust.
struct Pair {
    c: String,
    rust: usize,
}

macro_rules! pairs {
    ($($c:literal = $rust:ident { $($field:ident),* };)*) => {
        vec![$(
            Pair { c: format!("sizeof(struct {})", $c), rust: size_of::<abi::$rust>() },
            $(Pair {
                c: format!("offsetof(struct {}, {})", $c, stringify!($field)),
                rust: offset_of!(abi::$rust, $field),
            },)*
        )*]
    };
}

macro_rules! constants {
    ($($name:ident),*) => {
        vec![$(Pair { c: format!("PACKETSCALE_{}", stringify!($name)), rust: abi::$name as usize },)*]
    };
}

fn all() -> Vec<Pair> {
    let mut all = pairs! {
        "packetscale_setting" = Setting { name, doc, preset, least, most, kind, reserved };
        "packetscale_setup" = Setup { now_ps, packet_bytes, handshake_rtt_ps, seed, settings, initial_window_packets, reserved };
        "packetscale_sent" = Sent { now_ps, transmission, size_bytes, in_flight_packets, app_limited, retransmission };
        "packetscale_arrival" = Arrival { transmission, arrived_ps };
        "packetscale_rate_sample" = RateSample { delivered_packets, interval_ps, prior_delivered_packets, lost_packets, tx_in_flight_packets, app_limited };
        "packetscale_ack" = Ack { now_ps, rtt_ps, srtt_ps, min_rtt_ps, next_unacked, next_unsent, arrivals, rate_sample, arrivals_count, delivered_packets, cumulative_packets, prior_in_flight_packets, in_flight_packets, window_limited, in_recovery };
        "packetscale_lost_flight" = LostFlight { sequence, lost_packets, tx_in_flight_packets, app_limited };
        "packetscale_loss" = Loss { now_ps, srtt_ps, transmissions, flights, transmissions_count, flights_count, lost_packets, prior_in_flight_packets, enters_recovery, reserved };
        "packetscale_mark" = Mark { now_ps, srtt_ps, congestion_packets, burstiness_packets, answer, reserved };
        "packetscale_timeout" = Timeout { now_ps, in_flight_packets, first };
        "packetscale_undo" = Undo { now_ps };
        "packetscale_rate_feedback" = RateFeedback { now_ps, rate_bps };
        "packetscale_decision" = Decision { departure_ps, rate_bps, window_packets, threshold_packets };
        "packetscale_controller" = Table { abi, struct_bytes, name, summary, settings, settings_count, needs, state_bytes, state_align, start, on_ack, on_loss, on_timeout, on_sent, on_mark, on_undo, on_offer, on_available };
    };
    all.extend(constants!(
        ABI,
        NONE,
        NO_THRESHOLD,
        TIME_PS,
        FRACTION_Q32,
        RATE_BPS,
        PACKETS,
        BYTES,
        INTEGER,
        SWITCH,
        NEEDS_ARRIVALS,
        NEEDS_RATE_SAMPLES,
        NEEDS_AVAILABLE,
        NEEDS_OFFERS,
        SENDS_ECT0,
        SENDS_ECT1,
        OWN_WINDOW
    ));
    all
}

#[test]
fn layout_matches_the_c_header() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut text = "#include <stddef.h>\n#include <packetscale/controller.h>\n".to_string();
    let all = all();
    for Pair { c, rust } in &all {
        writeln!(text, "_Static_assert({c} == {rust}ull, \"{c}\");").expect("written");
    }
    let file = folder.path().join("layout.c");
    std::fs::write(&file, text).expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Wpadded", "-Werror", "-ffreestanding", "-c", "-o", "/dev/null", "-I"]);
    match cc.arg(include).arg(&file).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped: no C compiler (cc: {error})"),
    }
}
