//! Responsive flows.

use super::{ControllerSpec, TrafficKind, TrafficSpec};
use packetscale_models::units::{Bytes, Rate, Span, Time};
use serde::{Deserialize, Serialize};

/// One responsive flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowSpec {
    /// Its controller.
    pub controller: ControllerSpec,
    /// Wire size of its packets.
    pub packet: Bytes,
    /// When it starts.
    pub start: Start,
    /// From this time on it has nothing new to send; `None`: it sends until the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// What it sends.
    pub size: Size,
    /// When its application has packets to send, counted from the start of the flow; `None`: always.
    pub application: Option<TrafficKind>,
    /// Base round-trip time: propagation only.
    pub rtt: Span,
    /// Links it crosses, as indices.
    pub route: Vec<usize>,
    /// Links that its acknowledgments cross; none: they are only delayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<usize>,
    /// Rate of its sender's network card; `None`: infinite.
    pub access: Option<Rate>,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Pacing of window-based controllers, in percent of a window per smoothed round trip; 0: none.
    pub pacing_percent: u32,
    /// Whether its handshake waits in the queues that it meets: then its first round trip is longer than `rtt`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handshake_waits: bool,
    /// Least retransmission timeout.
    pub min_rto: Span,
    /// Whether its window restarts after an idle time.
    #[serde(default = "restarts", skip_serializing_if = "is_usual")]
    pub slow_start_after_idle: bool,
    /// Whether its packets may be marked instead of dropped, if its controller reads marks.
    pub ecn: bool,
}

/// Flows of plans that name no choice restart their windows.
fn restarts() -> bool {
    true
}

fn is_usual(restart: &bool) -> bool {
    *restart == restarts()
}

/// When something starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// At this time.
    At(Time),
    /// Drawn uniformly, from the run's seed.
    Uniform(Time, Time),
}

/// How much a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// As long as the run lasts.
    Unlimited,
    /// This amount.
    Bytes(Bytes),
}

impl FlowSpec {
    /// Returns the application as a source of packets. It offers its sender the packets that traffic would put on a
    /// link.
    pub fn offered(&self) -> Option<TrafficSpec> {
        let source = |kind: &TrafficKind| TrafficSpec {
            kind: kind.clone(),
            packet: self.packet,
            start: Time::ZERO,
            stop: Time::MAX,
            route: Vec::new(),
            copies: 1,
            shaper: None,
        };
        self.application.as_ref().map(source)
    }
}
