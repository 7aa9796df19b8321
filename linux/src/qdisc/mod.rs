//! Queue disciplines of papers in this machine's Linux: QLBP, as a BPF program (`linux/bpf/qlbp.bpf.c`).
//!
//! [`load`] puts it on a device, [`status`] says what each queue has done, [`unload`] takes it off. No process runs in between:
//! the kernel holds the registration by a link, whose pin is next to those of [`tcp`](crate::tcp). Linux 6.16 or later with
//! `CONFIG_NET_SCH_BPF`.

mod loader;
mod state;

pub use loader::{load, readiness, unload};
pub use state::{Queue, status};

use packetscale_models::units::{Packets, Rate};

/// The parameters of QLBP on a device, and the most packets that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qlbp {
    /// Rate with nothing waiting.
    pub rate_min: Rate,
    /// Rate with `q_max` packets waiting.
    pub rate_max: Rate,
    /// Number of waiting packets beyond which nothing is paced.
    pub q_max: Packets,
    /// Packets that wait at most.
    pub limit: Packets,
}
