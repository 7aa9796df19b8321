//! placeholder

pub mod traffic;
