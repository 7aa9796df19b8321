//! Questions to the theories.

mod questions;
