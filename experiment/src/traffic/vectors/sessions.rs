//! Drawn connections with a self-similar aggregate.
//!
//! Connections begin as a Poisson process. The initiator sends a short request, and the acceptor a long answer. The
//! initiator's receive window limits the answer to the rate `peak`, and its duration follows a bounded Pareto law:
//!
//! ```text
//! P(length > x) = (x^-a - longest^-a) / (shortest^-a - longest^-a)       a: tail index, between 1 and 2
//! window = peak * round-trip time
//! ```
//!
//! The number of answers under way is then that of M/G/infinity. The Allan variance of its counts grows as the window
//! to the power 3 - a between `shortest` and `longest`: H = (3 - a) / 2, 0.95 for a = 1.1 (D. R. Cox, "Long-range
//! dependence: a review", 1984; W. Willinger et al., IEEE/ACM ToN 5(1), 1997). Because of the bound, the law has a mean
//! that a run of some hours meets.
//!
//! It begins in the stationary state: a Poisson number of answers is under way, each with the remainder of a length
//! that is drawn in proportion to itself.

use super::{After, Message, Vector};
use crate::scenario::Sessions;
use crate::traffic::bounded::BoundedPareto;
use crate::traffic::draw::{Draws, times};
use packetscale_models::units::{Bytes, Span};

/// A request.
const REQUEST: Bytes = Bytes::new(300);
/// Headers in every packet.
const HEADERS: u64 = 40;

/// Returns the connections of a run of this length, in order of start. Answers use packets of this size.
pub fn draw(sessions: &Sessions, packet: Bytes, seed: u64, duration: Span) -> Vec<Vector> {
    let mut draws = Draws::new(seed, 0);
    let law = law(sessions);
    // The mean number of answers under way, and the mean time between beginnings.
    let under_way = sessions.rate.bps() as f64 / sessions.peak.bps() as f64;
    let gap = times(Span::from_secs_f64(law.mean()), 1.0 / under_way);
    let mut vectors = Vec::new();
    let mut at = draws.exponential(Span::from_secs(1));
    while at < times(Span::from_secs(1), under_way) {
        let left = times(Span::from_secs_f64(law.found(&mut draws)), draws.uniform());
        vectors.push(vector(sessions, packet, Span::ZERO, left, &mut draws));
        at += draws.exponential(Span::from_secs(1));
    }
    let mut start = draws.exponential(gap);
    while start < duration {
        let length = Span::from_secs_f64(law.draw(&mut draws));
        vectors.push(vector(sessions, packet, start, length, &mut draws));
        start += draws.exponential(gap);
    }
    vectors
}

fn vector(sessions: &Sessions, packet: Bytes, start: Span, length: Span, draws: &mut Draws) -> Vector {
    let rtt = sessions.rtt / 2 + draws.below(sessions.rtt);
    let data = |span: Span| {
        let wire = sessions.peak.amount_in(span).get();
        Bytes::new((u128::from(wire) * u128::from(packet.get() - HEADERS) / u128::from(packet.get())) as u64 + 1)
    };
    Vector {
        start,
        windows: [data(rtt), Bytes::MAX],
        rtt,
        messages: [
            vec![Message { after: After::Start, wait: Span::ZERO, size: REQUEST }],
            vec![Message { after: After::Received(1), wait: Span::ZERO, size: data(length) }],
        ],
    }
}

/// Returns the law of the lengths, in seconds.
fn law(sessions: &Sessions) -> BoundedPareto {
    BoundedPareto {
        shape: sessions.shape,
        least: sessions.shortest.as_secs_f64(),
        most: sessions.longest.as_secs_f64(),
    }
}
