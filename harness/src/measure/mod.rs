//! From what a host saw to figures: one definition of each, for every host.
//!
//! A host reports to a [`Recorder`] what happens at the measured link, in order of time, and what it knows of its flows
//! at the end ([`Seen`]); it gets a [`experiment::results::Run`]. [`experiment::results::figures`] defines each figure; how it is computed is
//! here and nowhere else. What a host does not know stays `None`, and so do the figures that need it.
//!
//! A whole host, which replays a recording:
//!
//! ```
//! use harness::measure::{FlowSeen, Owner, Recorder, Seen};
//! use packetscale_models::units::{Bytes, Span, Time};
//!
//! # let scenario = r#"
//! #     run = { duration = "2 s", warmup = "1 s" }
//! #     path = { rate = "8 Mbit/s", delay = "5 ms", buffer = "10 kB" }
//! #     flow = [{ controller = "newreno", packet = "1000 B" }]
//! # "#;
//! # let scenario = experiment::scenario::Scenario::parse(scenario, std::path::Path::new("example"), &[]).unwrap();
//! # let experiment = scenario.plan().remove(0);
//! // 1000 packets of a flow, each of 1 ms at 8 Mbit/s, one every 2 ms.
//! let (size, rtt) = (Bytes::new(1000), Span::from_millis(10));
//! let recorded = (0..1000).map(|n| Time::ZERO + Span::from_millis(2 * n));
//!
//! let mut recorder = Recorder::new(&experiment, &[Time::ZERO], Some(rtt));
//! for arrival in recorded {
//!     let departs = arrival + Span::from_millis(1);
//!     recorder.served(Owner::Flow(0), size, arrival, arrival, departs);
//!     recorder.delivered(0, size, departs + rtt / 2);
//! }
//! let flow = FlowSeen { base_rtt: rtt, sent: 1000, ..FlowSeen::default() };
//! let run = recorder.finish(&experiment, Seen { flows: vec![flow], transmissions: true, ..Seen::default() });
//!
//! assert_eq!(run.summary.throughput_bps, Some(4e6));
//! assert_eq!(run.summary.utilisation, Some(0.5));
//! assert_eq!(run.summary.loss_ratio, Some(0.0));
//! assert_eq!(run.summary.queue_mean_packets, Some(0.5));
//! // No round trip was measured.
//! assert_eq!(run.summary.rtt_mean_s, None);
//! ```

mod arriving;
mod bins;
mod bottleneck;
mod capacity;
mod compared;
mod completions;
mod contenders;
mod curves;
mod detail;
mod links;
mod lives;
mod owners;
mod period;
mod phases;
mod presence;
mod receivers;
mod recorder;
mod response;
mod samples;
mod seen;
mod sources;
mod summary;
mod tally;
mod waits;
mod windows;

pub use arriving::ArrivingFlows;
pub use completions::Users;
pub use detail::{FLOW_CURVES, available};
pub use links::Links;
pub use lives::longest;
pub use recorder::Recorder;
pub use samples::Samples;
pub use seen::{ArrivalsSeen, FlowSample, FlowSeen, Marked, Owner, RoundTrips, Seen};
