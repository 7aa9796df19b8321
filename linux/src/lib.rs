//! Real Linux TCP.
//!
//! | module | what it does |
//! |---|---|
//! | [`tcp`] | loads Rapid into this machine's TCP: eBPF programs and their loader |
//! | [`qdisc`] | puts queue disciplines of papers on this machine's devices |
//! | [`lab`] | runs scenarios over real TCP between network namespaces |
//! | [`virtual_time`] | runs the lab inside an emulated machine with an instruction-driven clock |

pub mod lab;
pub mod qdisc;
pub mod tcp;
pub mod virtual_time;
