//! Laws over the whole registry of controllers. A new controller is held to all of them by being registered.

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

/// One flow per controller of the registry.
fn contenders(packet: u64, rtt: Span) -> Vec<(String, FlowSpec)> {
    let flow = |name: &str| (name.to_string(), path::flow(name, packet, rtt));
    congestion::registry().iter().map(|entry| flow(entry.name)).collect()
}
