//! Papers as data.

mod curves;
mod figures;
mod outcomes;
mod traces;
