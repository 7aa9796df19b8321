//! The dissertation's reading of a single stream: for estimators, and for tests by hand.

use crate::rapid::memory::sizes;
use crate::units::{Bytes, Rate, Span};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use packetscale_law as ffi;

/// Runs of this many congested gaps are congestion: L of Algorithm 1, as in the law.
pub const RUN: u32 = 4;

/// Most gaps in a stream.
pub const MOST_GAPS: usize = 512;

/// Numbers that a learnt estimator sees of a stream (`features.h`).
pub const FEATURES: usize = 59;

/// One, as the trees of the learnt estimator have it (`learnt.h`).
pub const LEARNT_ONE: i32 = 1 << 18;

/// Send and receive gaps of one probe stream, in step: gap `i` is between packets `i` and `i + 1`. Stored in 1/1024 ns.
#[derive(Clone, Debug)]
pub struct Gaps {
    /// The C struct. The words after the gaps of a stream are never written, and never read.
    words: Vec<MaybeUninit<u64>>,
}

/// Words of the struct that hold gaps: as they came and smoothed, sent and received.
const GAP_WORDS: usize = 4 * MOST_GAPS;

/// In 1/1024 ns.
fn q10(span: Span) -> u64 {
    (span.picos().min(1 << 50) * 128).div_ceil(125)
}

/// Back, in whole picoseconds.
fn span(q10: u64) -> Span {
    Span::from_picos(q10 * 125 / 128)
}

impl Gaps {
    /// From gaps in step; what is beyond [`MOST_GAPS`], or has no partner, is left out.
    pub fn new(send: &[Span], receive: &[Span]) -> Gaps {
        Gaps::of(send.iter().copied().zip(receive.iter().copied()))
    }

    /// From pairs of a send and a receive gap; what is beyond [`MOST_GAPS`] is left out.
    pub fn of(pairs: impl ExactSizeIterator<Item = (Span, Span)>) -> Gaps {
        let count = pairs.len().min(MOST_GAPS);
        let (mut send, mut receive) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (s, r) in pairs.take(count) {
            send.push(q10(s));
            receive.push(q10(r));
        }
        let size = sizes(&ffi::Calls::THESIS).gaps;
        let mut words: Vec<MaybeUninit<u64>> = Vec::with_capacity(size.max(GAP_WORDS));
        // SAFETY: the capacity is at least this, and the words need no value.
        unsafe { words.set_len(GAP_WORDS) };
        words.resize(size, MaybeUninit::new(0));
        let mut gaps = Gaps { words };
        // SAFETY: the C side reads `send.len()` words of each, and the buffer is as long as its struct.
        unsafe { ffi::rapid_face_set_gaps(gaps.as_mut_ptr(), send.as_ptr(), receive.as_ptr(), send.len() as u32) };
        gaps
    }

    fn as_mut_ptr(&mut self) -> *mut u64 {
        self.words.as_mut_ptr().cast()
    }

    fn as_ptr(&self) -> *const u64 {
        self.words.as_ptr().cast()
    }

    /// Multi-pass BASS, then a sliding window of `window` gaps (1: none).
    pub fn denoise(&mut self, window: u32) {
        // SAFETY: the buffer belongs to `self`.
        unsafe { ffi::rapid_face_denoise(self.as_mut_ptr(), window) };
    }

    /// One pass of BASS. Returns whether there was a spike.
    pub fn smooth(&mut self, spike_up: Span, spike_down: Span) -> bool {
        // SAFETY: the buffer belongs to `self`.
        unsafe { ffi::rapid_face_smooth(self.as_mut_ptr(), q10(spike_up), q10(spike_down)) != 0 }
    }

    /// Algorithm 1: the available bandwidth; `None` with fewer than eight gaps. `epsilon` is for a mean gap of 7.2 us.
    pub fn search(&self, packet: Bytes, epsilon: Span) -> Option<Rate> {
        self.search_runs(packet, epsilon, RUN)
    }

    /// [`Gaps::search`] with runs of at least `least` gaps; `None` with fewer than two such runs' gaps, or `least` 0.
    pub fn search_runs(&self, packet: Bytes, epsilon: Span, least: u32) -> Option<Rate> {
        let packet = packet.get().clamp(1, u64::from(u16::MAX)) as u32;
        let epsilon = u32::try_from(epsilon.nanos()).unwrap_or(u32::MAX);
        // SAFETY: the buffer belongs to `self`.
        let rate = unsafe { ffi::rapid_face_search(self.as_ptr(), packet, epsilon, least) };
        (rate != 0).then(|| Rate::from_bps(rate.saturating_mul(8)))
    }

    /// The gaps as they are now: send, receive.
    pub fn get(&self) -> Vec<(Span, Span)> {
        let (mut send, mut receive) = (Vec::with_capacity(MOST_GAPS), Vec::with_capacity(MOST_GAPS));
        // SAFETY: the C side writes `count` words to each, at most `MOST_GAPS`.
        unsafe {
            let count = ffi::rapid_face_get_gaps(self.as_ptr(), send.as_mut_ptr(), receive.as_mut_ptr()) as usize;
            send.set_len(count);
            receive.set_len(count);
        }
        send.into_iter().zip(receive).map(|(s, r): (u64, u64)| (span(s), span(r))).collect()
    }

    /// The features for a learnt estimator; `None` with fewer than eight gaps, with no interrupt between
    /// its packets, or with more than 4 s.
    pub fn features(&mut self) -> Option<[i16; FEATURES]> {
        let mut features = [0; FEATURES];
        // SAFETY: the buffer belongs to `self`, and the C side writes `FEATURES` numbers.
        let batches = unsafe { ffi::rapid_face_features(self.as_mut_ptr(), features.as_mut_ptr()) };
        (batches > 0).then_some(features)
    }

    /// The trees' reading of a stream of several rates, after [`Gaps::features`]: its available bandwidth in mean
    /// rates, and the expected relative error. Both in 1/[`LEARNT_ONE`].
    pub fn learnt_value(&self) -> (i32, i32) {
        let (mut value, mut spread) = (0, 0);
        // SAFETY: the buffer belongs to `self`; a null pointer is not written.
        unsafe { ffi::rapid_face_learnt(self.as_ptr(), &mut value, &mut spread, core::ptr::null_mut()) };
        (value, spread)
    }

    /// The same for a stream of one rate: log-odds that it was too fast, in 16/[`LEARNT_ONE`].
    pub fn learnt_verdict(&self) -> i32 {
        let mut verdict = 0;
        let null = core::ptr::null_mut();
        // SAFETY: the buffer belongs to `self`; a null pointer is not written.
        unsafe { ffi::rapid_face_learnt(self.as_ptr(), null, null, &mut verdict) };
        verdict
    }
}
