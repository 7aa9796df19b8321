//! Controllers that users bring.

mod files;
