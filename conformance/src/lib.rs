//! Why we believe it. What is checked is in `tests/`, `claims/` and `regressions/`; `README.md` says against what.

pub mod fuzz;
