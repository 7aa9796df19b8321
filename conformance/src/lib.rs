//! Why we believe it. Everything is in `tests/` and `claims/`; `README.md` says what is checked against what.
