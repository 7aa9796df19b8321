//! Shared by hosts in real time: the clock, waiting until an instant, priorities, and the cost of both.
//!
//! | module | what it does |
//! |---|---|
//! | [`clock`] | reads CLOCK_MONOTONIC and sleeps until one of its instants |
//! | [`priority`] | makes a thread urgent, so that other programs do not decide when packets leave |
//! | [`lateness`] | measures how late this machine wakes a thread |
//! | [`processors`] | measures the processor time that a run costs |
#![allow(unsafe_code, reason = "calls of libc that nix does not wrap")]

pub mod clock;
pub mod lateness;
pub mod priority;
pub mod processors;
