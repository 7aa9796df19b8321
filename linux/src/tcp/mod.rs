//! Rapid in this machine's Linux TCP.
//!
//! [`load`] registers the congestion control, [`status`] returns its connections' measurements, and [`unload`] removes
//! it. No process runs in between: the kernel holds the registration, and [`pins`](self) in a private BPF file system let later
//! commands find it.

mod config;
mod counters;
mod devices;
mod drain;
mod error;
mod filters;
mod list;
mod loader;
mod log;
mod lost;
pub(crate) mod machine;
pub(crate) mod namespaces;
pub(crate) mod objects;
mod options;
pub(crate) mod pins;
mod programs;
pub(crate) mod registration;
mod replace;
mod report;
mod selftest;
mod status;
mod steps;
mod trial_socket;
mod user_controller;
pub(crate) mod wire;

pub use counters::{Counters, counters};
pub use devices::note_arrivals;
pub use drain::{Drained, drain, switch};
pub use error::Error;
pub use list::listable;
#[doc(hidden)]
pub use loader::raw_params;
pub use loader::{load, readiness, unload};
#[doc(hidden)]
pub use log::raw_event;
pub use log::{Event, LawEvent, PacketEvent, Wanted, follow, follow_falls};
pub use options::{Law, Options};
pub use packetscale_models::rapid::SHORTEST_ROUND_TRIP;
pub use replace::{Replaced, replace};
pub use report::{Activity, Address, Fall, Fallen, Limit, Mode, Reason, Report, Source, WINDOW_MOST, WINDOW_USUAL};
pub use selftest::Trial;
pub use status::{Status, flows, memory, now_ns, status, switched};
pub use steps::is_registered;
pub use user_controller::{LoadedFile, Pair, Transfer, Tried, UserController, load_file, user_controller};
