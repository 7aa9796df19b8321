//! What holds for every queue, whatever arrives.

mod any_arrivals;
