//! Estimators on streams with known answers.

mod batches;
mod denoisers;
mod exact;
mod learnt;
mod methods;
mod path;
mod trend;
mod whole;
