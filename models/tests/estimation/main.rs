//! Estimators on streams whose answer is known.

mod batches;
mod denoisers;
mod exact;
mod learnt;
mod methods;
mod path;
mod trend;
mod whole;
