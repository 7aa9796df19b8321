//! Traffic that connects: recorded or drawn conversations, and users of the web.

use super::FlowSpec;
use crate::canonical;
use serde::Serialize;
use std::path::PathBuf;
use units::{Bytes, Rate, Span};

/// TCP connections between initiators and acceptors: both sides send, each when it has received or waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connections {
    /// What they send, and when.
    pub source: ConnectionSource,
    /// What their senders have in common. Its start, round trip and route are each connection's own.
    pub flow: FlowSpec,
    /// Links that the acceptors' data cross; the initiators' cross the route of the source.
    pub back: Vec<usize>,
}

/// Where connections come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ConnectionSource {
    /// A file of connection vectors (Tmix).
    Vectors(#[serde(serialize_with = "canonical::file")] PathBuf),
    /// Drawn.
    Drawn(Sessions),
}

/// Connections that begin as a Poisson process: a short request, and an answer that the receive window of the
/// connection stretches to a length of bounded Pareto law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sessions {
    /// Mean rate of all answers, headers included.
    pub rate: Rate,
    /// Rate of one.
    pub peak: Rate,
    /// Mean base round-trip time; each draws its own, from a half to one and a half of it.
    pub rtt: Span,
    /// Shortest answer.
    pub shortest: Span,
    /// Longest.
    pub longest: Span,
    /// Tail index of the lengths, between 1 and 2.
    pub shape: f64,
}

/// Users who fetch pages and pause. Each copy of the source is a pair of hosts: servers behind one link, users that
/// many.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Web {
    /// Users of one copy.
    pub users: u32,
    /// What the servers' senders have in common. Start, size, round trip and route are each connection's own.
    pub flow: FlowSpec,
    /// Rate of the link that the servers of one copy share; `None`: infinite.
    pub access: Option<Rate>,
    /// Bounds of the base round-trip times; each connection draws its own uniformly.
    pub rtt: (Span, Span),
    /// Receive window of a connection.
    pub window: Bytes,
    /// Connections of one user at a time.
    pub parallel: u32,
    /// The files of a page share connections.
    pub persistent: bool,
    /// Whether what the path does to its packets changes what is sent. If not, they are those of users who had the path
    /// to themselves, replayed.
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Objects {
    /// Tail index.
    pub shape: f64,
    /// Most files of a page.
    pub most: u32,
}

/// Bounded Pareto pauses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Think {
    /// The shortest.
    pub least: Span,
    /// Tail index, above 1.
    pub shape: f64,
    /// The longest.
    pub most: Span,
}

/// Weibull pauses, cut at the longest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parse {
    /// Scale.
    pub scale: Span,
    /// Shape.
    pub shape: f64,
    /// The longest; zero: no pauses.
    pub most: Span,
}
