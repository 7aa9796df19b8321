//! Traffic over TCP connections: recorded or drawn conversations, and users of the web.

use super::FlowSpec;
use crate::scenario::canonical;
use packetscale_models::units::{Bytes, Rate, Span};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// TCP connections between initiators and acceptors. Both sides send, each after it has received or waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connections {
    /// What they send, and when.
    pub source: ConnectionSource,
    /// The settings that their senders share. Each connection has its own start, round trip and route.
    pub flow: FlowSpec,
    /// Links that the acceptors' data cross; the initiators' data cross the route of the source.
    pub back: Vec<usize>,
}

/// Where connections come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ConnectionSource {
    /// A file of connection vectors (Tmix).
    Vectors(#[serde(with = "canonical::file")] PathBuf),
    /// Drawn.
    Drawn(Sessions),
}

/// Connections that begin as a Poisson process. Each has a short request and an answer. The connection's receive window
/// stretches the answer to a duration of bounded Pareto law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// Mean rate of all answers, headers included.
    pub rate: Rate,
    /// Rate of one answer.
    pub peak: Rate,
    /// Mean base round-trip time; each connection draws its own, from a half to one and a half of it.
    pub rtt: Span,
    /// Shortest answer.
    pub shortest: Span,
    /// Longest answer.
    pub longest: Span,
    /// Tail index of the lengths, between 1 and 2.
    pub shape: f64,
}

/// Users who fetch pages and pause. Each copy of the source is a pair of hosts: servers behind one link, and `users`
/// users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Web {
    /// Users of one copy.
    pub users: u32,
    /// The settings that the servers' senders share. Each connection has its own start, size, round trip and route.
    pub flow: FlowSpec,
    /// Rate of the link that the servers of one copy share; `None`: infinite.
    pub access: Option<Rate>,
    /// Bounds of the base round-trip times; each connection draws its own uniformly.
    pub rtt: (Span, Span),
    /// Receive window of a connection.
    pub window: Bytes,
    /// Connections of one user at a time.
    pub parallel: u32,
    /// Whether the files of a page share connections.
    pub persistent: bool,
    /// Whether the path changes what users send. If not, the packets of users on an otherwise empty path are
    /// replayed.
    pub responsive: bool,
    /// Sizes of files.
    pub size: FileSizes,
    /// Files of a page.
    pub objects: Objects,
    /// Pauses between pages.
    pub think: Think,
    /// Pauses between the files of a page.
    pub parse: Parse,
}

/// Lognormal sizes below `tail_from`, bounded Pareto sizes above it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSizes {
    /// Median of the lognormal law, before it is cut.
    pub median: Bytes,
    /// Standard deviation of its logarithm.
    pub sigma: f64,
    /// Share of the files in the tail.
    pub tail: f64,
    /// Where the tail begins.
    pub tail_from: Bytes,
    /// Its index.
    pub tail_shape: f64,
    /// Where it ends.
    pub most: Bytes,
}

/// Number of files: Pareto from 1, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objects {
    /// Tail index.
    pub shape: f64,
    /// Most files of a page.
    pub most: u32,
}

/// Bounded Pareto pauses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Think {
    /// The shortest.
    pub least: Span,
    /// Tail index, above 1.
    pub shape: f64,
    /// The longest.
    pub most: Span,
}

/// Weibull pauses, cut at the longest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parse {
    /// Scale.
    pub scale: Span,
    /// Shape.
    pub shape: f64,
    /// The longest; zero: no pauses.
    pub most: Span,
}
