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

use congestion::Setting;
use scenario::FlowSpec;
use units::Span;

/// Returns one flow per controller of the registry, and one per preset that is a separate law.
fn contenders(packet: u64, rtt: Span) -> Vec<(String, FlowSpec)> {
    let mut flows: Vec<(String, FlowSpec)> = congestion::registry()
        .iter()
        .map(|entry| (entry.name.to_string(), path::flow(entry.name, packet, rtt)))
        .collect();
    let mut thesis = path::flow("rapid", packet, rtt);
    thesis.controller.settings.insert("preset".to_string(), Setting::Word("thesis".to_string()));
    flows.push(("rapid, thesis".to_string(), thesis));
    flows
}
