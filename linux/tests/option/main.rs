//! Compares the option's C headers with implementations in Rust. Compiles the C for user space, with sanitizers.

#[path = "../clang/mod.rs"]
#[allow(dead_code, reason = "what only eBPF programs need")]
mod clang;
mod clock;
mod page;
#[path = "../wire/mod.rs"]
#[allow(dead_code, reason = "what only captures need")]
mod wire;
