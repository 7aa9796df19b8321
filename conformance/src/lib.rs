//! Evidence for the simulator and the laws: `tests/`, `claims/` and `regressions/`. `README.md` lists the references.

pub mod fuzz;
