//! Linux TCP as a host.
//!
//! [`tcp`] puts Rapid into this machine's TCP: eBPF programs (`bpf/`, compiled objects in `objects/`), loaded, checked and
//! taken out again. [`lab`] runs scenarios over real TCP connections between network namespaces of its own.

pub mod lab;
pub mod tcp;
