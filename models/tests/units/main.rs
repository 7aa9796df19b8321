//! The laws that quantities obey.

mod capacity;
mod laws;
