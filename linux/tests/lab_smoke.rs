//! One short run on this machine's own kernel, in real time. It judges only what a busy machine does not change; the lab is
//! judged in virtual time (`linux/tests/in_a_machine.rs`). Needs root.

use experiment::scenario::Scenario;
use linux::lab::{self, Draws};
use packetscale_models::units::Time;
use std::path::Path;

const SCENARIO: &str = r#"
    run = { duration = "500 ms" }
    path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "50 packets" }
    flow = [{ controller = "cubic", packet = "1514 B" }]
"#;

#[test]
fn real_time_run_completes_or_reports_busy_machine() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return;
    }
    let plan = Scenario::parse(SCENARIO, Path::new("test.toml"), &[]).expect("a scenario").plan();
    let run = match lab::run(&plan[0], Draws { starts: vec![Time::ZERO], ..Draws::default() }) {
        Ok(run) => run,
        Err(error) => {
            assert!(error.to_string().contains("this machine was too busy"), "{error}");
            return eprintln!("not judged: {error}");
        }
    };
    // Twice 5 ms: a late machine adds to it. The bucket passes two packets above 10 Mbit/s: 24 kbit of 5 Mbit.
    let flow = &run.flows[0];
    assert!(flow.base_rtt_s >= 0.010, "{} s", flow.base_rtt_s);
    let throughput_bps = flow.throughput_bps.expect("it sent");
    assert!(throughput_bps > 0.0 && throughput_bps <= 10.05e6, "{throughput_bps} bit/s");
}
