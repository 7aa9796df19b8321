//! Papers as data.

mod curves;
mod figures;
mod library;
mod outcomes;
mod traces;
mod wrong_law;
