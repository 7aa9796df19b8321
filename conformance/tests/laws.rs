//! Laws for the whole registry of controllers, and for controllers of files. Registering a new controller is enough for all
//! of them to apply to it; so is naming its file in `PACKETSCALE_CONTROLLERS`.

#[path = "laws/controllers.rs"]
mod controllers;
mod files;
#[path = "laws/fused.rs"]
mod fused;
#[path = "laws/impairments.rs"]
mod impairments;
#[path = "laws/links.rs"]
mod links;
mod path;
#[path = "laws/repeatable.rs"]
mod repeatable;

use experiment::scenario::FlowSpec;
use packetscale_models::units::Span;

/// Returns one flow per controller of the registry, and per controller of a file.
fn contenders(packet: u64, rtt: Span) -> Vec<(String, FlowSpec)> {
    let flow = |name: &str| (name.to_string(), path::flow(name, packet, rtt));
    packetscale_models::congestion::registry()
        .iter()
        .map(|entry| flow(entry.name))
        .chain(files::flows(packet, rtt))
        .collect()
}
