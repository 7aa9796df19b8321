//! Probing.
