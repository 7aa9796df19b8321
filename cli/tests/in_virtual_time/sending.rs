//! When flows send: until they stop, or when their applications have data.

use super::{Run, able, number, received};

/// A path of 20 Mbit/s with a round trip of 20 ms, and a buffer of as much.
fn scenario(duration_ms: u32, flows: &str) -> String {
    format!(
        "run = {{ duration = \"{duration_ms} ms\" }}\nreceiver = {{ delayed_ack = 1 }}\n\
         path = {{ rate = \"20 Mbit/s\", delay = \"10 ms\", buffer = \"50 kB\" }}\nflow = [{flows}]\n"
    )
}

#[test]
fn a_flow_that_stops_leaves_the_path_to_the_other() {
    let Some(()) = able() else { return };
    let flow = |more: &str| format!("{{ controller = \"newreno\", packet = \"1514 B\"{more} }}");
    let run = Run::of(&scenario(2_000, &[flow(", stop = \"800 ms\""), flow("")].join(", ")));
    assert!(received(&run, "0", 0.2, 0.8).iter().all(|bps| *bps > 1e6));
    // What the kernel holds and a full buffer take 27 ms at 20 Mbit/s. Where the buffer dropped the last packet, a probe follows after
    // two round trips of at most 40 ms (RFC 8985, section 7), and a timeout after one and 200 ms: 0.35 s in all.
    let after = received(&run, "0", 1.2, 2.0);
    assert_eq!(after, vec![0.0; 8]);
    let completion_s = number(&run.table("flows.csv")[0], "completion_s");
    assert!((0.8..1.2).contains(&completion_s), "{completion_s} s");
    // The other has reached the rate within 25 round trips, at one packet each.
    let other = received(&run, "1", 1.5, 2.0);
    // An interval may have a packet more than the rate.
    let most = 20e6 + 1514.0 * 8.0 / 0.1;
    assert!(other.iter().all(|bps| (19e6..=most).contains(bps)), "{other:?}");
}

#[test]
fn an_application_sends_in_its_bursts_and_only_then() {
    let Some(()) = able() else { return };
    let application = "{ kind = \"on-off\", on = \"300 ms\", off = \"300 ms\", rate = \"8 Mbit/s\" }";
    let flow = format!("{{ controller = \"cubic\", packet = \"1514 B\", application = {application} }}");
    let run = Run::of(&scenario(1_800, &flow));
    for began_s in [0.0, 0.6, 1.2] {
        // Packets arrive half a round trip after they are sent, those of the first round trip after the handshake.
        let [burst, silence] =
            [(0.1, 0.3), (0.4, 0.6)].map(|(from, to)| received(&run, "0", began_s + from, began_s + to));
        // 66 packets in a tenth of a second, and one at either edge.
        assert!(burst.iter().all(|bps| (7.8e6..8.6e6).contains(bps)), "{burst:?}");
        assert_eq!(silence, [0.0; 2]);
    }
}

#[test]
fn an_application_draws_what_it_draws_in_the_simulator() {
    let Some(()) = able() else { return };
    let application = "{ kind = \"exponential-on-off\", on = \"20 ms\", off = \"50 ms\", rate = \"10 Mbit/s\" }";
    let flow =
        format!("{{ controller = \"cubic\", packet = \"1514 B\", application = {application}, start = \"50 ms\" }}");
    let scenario = scenario(1_500, &flow);
    let [real, simulated] = ["linux-6.1", "simulator"].map(|host| received(&Run::on(host, &scenario), "0", 0.2, 1.5));
    // A packet more or less at either end of an interval: a microsecond decides.
    let packets = |bps: f64| bps * 0.1 / 8.0 / 1514.0;
    assert!(simulated.iter().any(|bps| *bps > 0.0) && real.len() == simulated.len());
    let near = real.iter().zip(&simulated).all(|(real, simulated)| packets((real - simulated).abs()) < 2.5);
    assert!(near, "{real:?}, simulated {simulated:?}");
}
