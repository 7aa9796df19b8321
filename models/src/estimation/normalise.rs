//! Normalisation under delayed acknowledgments: one observation of several packets becomes one observation for each.
//!
//! A receiver that acknowledges every other packet gives one receive gap for two send gaps. Send and receive gaps are
//! summed between acknowledged packets and divided equally among the packets in between.
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", Algorithm 6. Deviations:
//!  1. Line 8 of the print (`sum_rcvgap = seqno - last_acked`, the arrival since the last acknowledged packet) names a
//!     sequence number, but means the receive gap.
//!  2. The first acknowledged packet closes a gap that began in the previous stream: it has the receive time of two
//!     gaps over one send gap. It is left out. So are packets after the last acknowledged one.
//!  3. A stream in which every packet is acknowledged is not changed.
//!  4. Sums are preserved: a remainder of the division goes to the last gap of the group.

use crate::estimation::contract::{Abstain, Denoiser};
use crate::estimation::stream::{Gap, Stream};
use crate::settings::{Parameters, SettingError, Settings};
use crate::units::Span;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// No settings.
pub const PARAMETERS: Parameters = &[];

/// Normalisation, Algorithm 6.
pub struct Normalise;

impl Normalise {
    pub fn build(_: &Settings) -> Result<Box<dyn Denoiser>, SettingError> {
        Ok(Box::new(Normalise))
    }
}

impl Denoiser for Normalise {
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain> {
        if stream.gaps.iter().all(|gap| gap.acked) {
            return Ok(stream);
        }
        let mut gaps = Vec::with_capacity(stream.gaps.len());
        let mut groups = stream.gaps.chunk_by(|before, _| !before.acked);
        groups.next();
        for group in groups {
            if group.last().is_some_and(|gap| gap.acked) {
                share(group, &mut gaps);
            }
        }
        Ok(Stream { gaps, ..stream })
    }

    fn restores(&self) -> bool {
        true
    }
}

/// Divides the gaps of one acknowledgment equally among its packets.
fn share(group: &[Gap], gaps: &mut Vec<Gap>) {
    let count = group.len() as u64;
    let sent: Span = group.iter().map(|gap| gap.send).sum();
    let received = group[group.len() - 1].receive;
    let (send, receive) = (sent / count, received / count);
    gaps.extend(group.iter().map(|gap| Gap { send, receive, size: gap.size, acked: true }));
    if let Some(last) = gaps.last_mut() {
        last.send = sent - send * (count - 1);
        last.receive = received - receive * (count - 1);
    }
}
