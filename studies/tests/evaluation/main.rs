//! The questions of RFC 9743.

mod resume;
