//! Estimators on streams whose answer is known.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod batches;
mod denoisers;
mod exact;
mod learnt;
mod methods;
mod path;
mod trend;
mod whole;
