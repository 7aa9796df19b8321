//! What this kernel is too old for.

use super::*;
use linux::qdisc::{self, Qlbp};
use packetscale_models::units::{Packets, Rate};

#[test]
fn a_kernel_without_queues_in_bpf_says_what_they_need() {
    if !able() || qdisc::readiness().is_ok() {
        return;
    }
    let rates = [Rate::from_mbps(5), Rate::from_mbps(50)];
    let qlbp = Qlbp { rate_min: rates[0], rate_max: rates[1], q_max: Packets::new(60), limit: Packets::new(100) };
    let refused = qdisc::load("lo", &qlbp).expect_err("too old").to_string();
    assert!(refused.contains("6.16") && refused.contains("CONFIG_NET_SCH_BPF"), "{refused}");
    assert_eq!(qdisc::status().expect("nothing"), []);
    assert!(!std::path::Path::new("/run/packetscale").exists());
}
