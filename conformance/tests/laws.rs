//! Laws for the whole registry of controllers. Registering a new controller is enough for all of them to apply to it.

#[path = "laws/controllers.rs"]
mod controllers;
#[path = "laws/fused.rs"]
mod fused;
#[path = "laws/impairments.rs"]
mod impairments;
#[path = "laws/links.rs"]
mod links;
mod path;
#[path = "laws/repeatable.rs"]
mod repeatable;

use scenario::FlowSpec;
use units::Span;

/// Returns one flow per controller of the registry.
fn contenders(packet: u64, rtt: Span) -> Vec<(String, FlowSpec)> {
    let flow = |name: &str| (name.to_string(), path::flow(name, packet, rtt));
    congestion::registry().iter().map(|entry| flow(entry.name)).collect()
}
