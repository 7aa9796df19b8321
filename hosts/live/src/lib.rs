//! Real paths, as an ordinary user: probe streams over UDP, and the server at the other end.
//!
//! | module | what it does |
//! |---|---|
//! | [`wire`] | the wire format |
pub mod wire;
