//! Properties of every queue, for any arrivals.

mod any_arrivals;
