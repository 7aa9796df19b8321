//! What this program is.

use harness::runner::Program;

/// This program, as results and finished runs know it.
pub static PROGRAM: Program = Program::new(env!("CARGO_PKG_VERSION"), option_env!("PACKETSCALE_COMMIT"));
