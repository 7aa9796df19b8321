//! The safe face.

use crate::rapid::memory::{Ring, sizes};
use crate::rapid::params::{LawParams, Params, ThesisParams};
use crate::rapid::trace::{self, TracedStream};
use crate::units::{Bytes, Rate, Ratio, Span, Time};
use alloc::boxed::Box;
use alloc::vec;
use core::cell::Cell;
use core::ffi::c_void;
use packetscale_law::{self as ffi, Calls, Memory};

/// Rings start small, so that a thousand short flows are cheap ...
const FIRST_RECORDS: usize = 16;
const FIRST_STREAMS: usize = 2;
/// A ring is too large if no more than this part of it is needed: half of what it will have then.
const ROOMY: u64 = 4;
/// ... and stop where only a host that never accounts for its packets would lead them.
const MOST_RECORDS: usize = 1 << 23;
const MOST_STREAMS: usize = 1 << 19;

/// No window is this small: it has a stream of slack.
const UNKNOWN: u32 = 0;

/// One flow's rate law: the default law with [`Params`], the dissertation's with [`ThesisParams`]. Packets are known by their transmission number: 0, 1, 2, ... without holes, retransmissions
/// counted.
///
/// Its layout in memory is this order, the C state included: if it begins with a cache line, a departure touches two of them,
/// and an arrival three more. With a thousand flows none stays in the cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Law<P: LawParams = Params> {
    records: Ring,
    streams: Ring,
    next: u64,
    /// The window, which costs divisions, until an event may change it: a departure never does.
    window: Cell<u32>,
    armed: bool,
    /// With the beginning of the state, the second cache line.
    gaps: Box<[u64]>,
    state: P::State,
    /// A bound of the window for most departures, without a division: with the fields that its owner places behind it, the last line.
    room: ffi::Room,
    traced: Option<Box<TracedStream>>,
}

/// Bytes of a cache line.
const LINE: usize = 64;
/// Index of the next departure in the state: it is read several times per packet, and a call costs more.
const NEXT_NS: usize = 0;
/// And the gap, in 1/1024 ns.
const GAP_Q10: usize = 1;
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    core::mem::offset_of!(Law<Params>, gaps) == LINE
        && core::mem::offset_of!(Law<Params>, state) == LINE + 16
        && core::mem::offset_of!(Law<Params>, room) % LINE == 0
);

/// The law's knowledge of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Mean sending rate aimed at.
    pub rate: Rate,
    /// Last estimate of the available bandwidth; zero before the first.
    pub available: Rate,
    /// Standing queue above the smallest delay of the last seconds.
    pub queue: Span,
    /// Smallest round trip of the last seconds.
    pub min_rtt: Span,
    /// Streams completed.
    pub streams: u64,
    /// Of these, without an estimate.
    pub unusable: u64,
    /// Still starting up.
    pub startup: bool,
}

/// Further state of the default law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The capacity of the path, as far as slopes have shown it.
    pub capacity: Rate,
    /// Average part of packets lost.
    pub loss: Ratio,
    /// Time between the batches of a coalescing receiver; zero without batches.
    pub batch: Span,
}

/// Bytes per second, as the C side has it.
fn rate_of(bytes_per_second: u64) -> Rate {
    Rate::from_bps(bytes_per_second.saturating_mul(8))
}

impl Law<Params> {
    /// State of the default law in addition to [`Law::probe`].
    pub fn envelope(&self) -> Envelope {
        let mut envelope = ffi::Envelope::default();
        // SAFETY: the state is ours and of this law, and `envelope` mirrors the C struct.
        unsafe { ffi::rapid_face_envelope(self.state(), &mut envelope) };
        Envelope {
            capacity: rate_of((1 << 56) / envelope.inverse.max(1)),
            loss: Ratio::from_q32((envelope.loss.max(0) as u64) << 16),
            batch: Span::from_nanos(envelope.batch_ns),
        }
    }
}

impl Law<ThesisParams> {
    /// Hands in the available bandwidth, for [`crate::rapid::Estimator::Ideal`].
    pub fn set_available(&mut self, rate: Rate) {
        // SAFETY: the state is ours and of this law.
        unsafe { ffi::rapid_thesis_face_set_available(self.state_mut(), rate.bps() / 8) };
    }
}

impl<P: LawParams> Law<P> {
    const CALLS: Calls<P::Raw> = P::CALLS;

    /// A flow that begins now, on a path whose handshake took `rtt`.
    pub fn new(params: &P, now: Time, rtt: Span, seed: u64) -> Law<P> {
        let size = sizes(&Self::CALLS);
        let state = P::EMPTY;
        assert!(size.law <= state.as_ref().len() && size.next_ns == NEXT_NS, "the C state is as its constants say");
        let mut law = Law {
            state,
            records: Ring::new(size.record, FIRST_RECORDS),
            streams: Ring::new(size.stream, FIRST_STREAMS),
            gaps: vec![0; size.gaps].into_boxed_slice(),
            next: 0,
            armed: false,
            traced: None,
            window: Cell::new(UNKNOWN),
            room: ffi::Room::default(),
        };
        let raw = params.raw();
        // SAFETY: `state` is as long as the C struct and aligned for it; `raw` mirrors the C parameters.
        unsafe { (Self::CALLS.init)(law.state_mut(), &raw, now.nanos(), rtt.nanos(), seed) };
        // SAFETY: the state is of this law.
        unsafe { params.begin(law.state_mut()) };
        law
    }

    /// For an event, which may change the window.
    fn state_mut(&mut self) -> *mut c_void {
        self.window.set(UNKNOWN);
        self.room.packets = 0;
        self.state.as_mut().as_mut_ptr().cast()
    }

    fn state(&self) -> *const c_void {
        self.state.as_ref().as_ptr().cast()
    }

    /// The rings for one call. The C side keeps no pointer.
    #[inline]
    fn memory(&mut self) -> Memory {
        Memory {
            records: self.records.as_mut_ptr(),
            streams: self.streams.as_mut_ptr(),
            gaps: if self.gaps.is_empty() { core::ptr::null_mut() } else { self.gaps.as_mut_ptr() },
            record_mask: self.records.mask(),
            stream_mask: self.streams.mask(),
        }
    }

    /// Packet `transmission` of `size` left at `now`, as really created. `app_limited`: the application
    /// let a time to send pass before it.
    #[inline]
    pub fn on_sent(&mut self, now: Time, transmission: u64, size: Bytes, app_limited: bool) {
        let (now, idle) = (now.nanos(), u32::from(app_limited));
        let size = size.get().min(u64::from(u16::MAX)) as u32;
        if transmission & u64::from(self.records.mask()) == 0 {
            self.begin_turn();
        }
        if app_limited {
            // The stream before may end, and be read.
            self.state_mut();
        }
        let crowded = self.note_sent(now, transmission, size, idle, 0);
        if crowded != 0 {
            self.note_crowded(now, transmission, size, idle, crowded);
        }
        self.next = self.next.max(transmission.saturating_add(1));
    }

    #[inline]
    fn note_sent(&mut self, now: u64, transmission: u64, size: u32, idle: u32, fixed: u32) -> u32 {
        // Not `state_mut`: a departure leaves the window as it is.
        let (memory, state) = (self.memory(), self.state.as_mut().as_mut_ptr().cast());
        // SAFETY: state and rings are ours, as long as the C side takes them to be, and outlive the call.
        unsafe { (Self::CALLS.on_sent)(state, &memory, now, transmission, size, idle, fixed) }
    }

    /// Notes a departure for which a ring is too small.
    #[cold]
    fn note_crowded(&mut self, now: u64, transmission: u64, size: u32, idle: u32, crowded: u32) {
        let mut crowded = crowded;
        while crowded != 0 {
            let fixed = u32::from(!self.make_room(crowded));
            crowded = self.note_sent(now, transmission, size, idle, fixed);
        }
    }

    /// Halves a ring of records that a burst has left too large: each turn passes through all of its memory, of which
    /// nothing would stay in the cache.
    #[cold]
    fn begin_turn(&mut self) {
        let room = self.records.capacity() as u64;
        if room > FIRST_RECORDS as u64 && self.next >= room {
            let memory = self.memory();
            let (first, end) = (self.next - room, self.next - room / ROOMY);
            // SAFETY: as in `on_sent`.
            if unsafe { (Self::CALLS.spare)(&memory, first, end) } != 0 {
                self.records.halve(self.next);
            }
        }
    }

    /// Doubles the rings that would lose something still needed. Returns whether one could be.
    #[cold]
    fn make_room(&mut self, crowded: u32) -> bool {
        let records = crowded & ffi::CROWDED_RECORDS != 0 && self.records.capacity() < MOST_RECORDS;
        let streams = crowded & ffi::CROWDED_STREAMS != 0 && self.streams.capacity() < MOST_STREAMS;
        if records {
            self.records.double(self.next);
        }
        if streams {
            self.streams.double(self.view().stream);
        }
        records || streams
    }

    /// A packet was acknowledged; the receiver saw it at `arrival` on its own clock.
    pub fn on_arrival(&mut self, now: Time, transmission: u64, arrival: Time) {
        let memory = self.memory();
        // SAFETY: as in `on_sent`.
        self.feedback(|state| unsafe {
            (Self::CALLS.on_arrival)(state, &memory, now.nanos(), transmission, arrival.nanos())
        });
    }

    /// A round trip was measured, and one packet acknowledged; the receiver saw it at `arrival` on its own clock. The same as
    /// [`Law::on_rtt`] and then [`Law::on_arrival`], in one call.
    #[inline]
    pub fn on_acked(&mut self, now: Time, rtt: Span, transmission: u64, arrival: Time) {
        if self.armed {
            self.on_rtt(rtt);
            return self.on_arrival(now, transmission, arrival);
        }
        // Not `state_mut`: the call updates `room` itself.
        self.window.set(UNKNOWN);
        let (memory, state) = (self.memory(), self.state.as_mut().as_mut_ptr().cast());
        let (now, rtt, arrival) = (now.nanos(), rtt.nanos(), arrival.nanos());
        // SAFETY: as in `on_sent`; `room` mirrors the C struct.
        unsafe { (Self::CALLS.on_acked)(state, &memory, &mut self.room, now, rtt, transmission, arrival) };
    }

    /// A packet was acknowledged, without an arrival time from the receiver.
    pub fn on_acked_without_stamp(&mut self, now: Time, transmission: u64) {
        let memory = self.memory();
        // SAFETY: as in `on_sent`.
        self.feedback(|state| unsafe { (Self::CALLS.on_unstamped)(state, &memory, now.nanos(), transmission) });
    }

    /// A packet was given up.
    pub fn on_lost(&mut self, now: Time, transmission: u64) {
        let memory = self.memory();
        // SAFETY: as in `on_sent`.
        self.feedback(|state| unsafe { (Self::CALLS.on_lost)(state, &memory, now.nanos(), transmission) });
    }

    /// Runs what may complete a stream, and keeps its trace when one is wanted.
    fn feedback(&mut self, event: impl FnOnce(*mut c_void)) {
        if !self.armed {
            return event(self.state_mut());
        }
        // SAFETY: reads the state, which is ours.
        let before = unsafe { (Self::CALLS.completed)(self.state()) };
        event(self.state_mut());
        // SAFETY: as above.
        if unsafe { (Self::CALLS.completed)(self.state()) } != before {
            self.keep_trace();
        }
    }

    #[cold]
    fn keep_trace(&mut self) {
        let view = self.view();
        let memory = self.memory();
        self.traced = trace::read(&Self::CALLS, self.state(), &memory, &view).map(Box::new);
        self.armed = self.traced.is_none();
    }

    /// A round trip was measured.
    pub fn on_rtt(&mut self, rtt: Span) {
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.on_rtt)(self.state_mut(), rtt.nanos()) };
    }

    /// A recovery episode began.
    pub fn on_recovery(&mut self) {
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.on_recovery)(self.state_mut()) };
    }

    /// The retransmission timer expired.
    pub fn on_timeout(&mut self) {
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.on_timeout)(self.state_mut()) };
    }

    /// The last timeout was for nothing: acknowledgments were late. `rate` and `startup` are of before it.
    pub fn on_spurious_timeout(&mut self, rate: Rate, startup: bool) {
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.on_spurious_timeout)(self.state_mut(), rate.bps() / 8, u32::from(startup)) };
    }

    /// A packet was marked (RFC 3168): at most one call per round trip.
    pub fn on_marked(&mut self) {
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.on_marked)(self.state_mut()) };
    }

    /// A full packet has another size from now on.
    pub fn set_packet(&mut self, packet: Bytes) {
        let packet = packet.get().min(u64::from(u16::MAX)) as u32;
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.set_packet)(self.state_mut(), packet) };
    }

    /// The next packet may leave no earlier than this.
    #[inline]
    pub fn departure(&self) -> Time {
        Time::from_nanos(self.state.as_ref()[NEXT_NS].min(u64::MAX / 1000))
    }

    /// Whether only a departure changes when the next packet may leave: no stream waits to be read.
    pub fn keeps_departure(&self) -> bool {
        // SAFETY: the state is ours.
        unsafe { (Self::CALLS.keeps_departure)(self.state()) != 0 }
    }

    /// Whether a time to send has passed, by more than the next gap makes up for.
    #[inline]
    pub fn is_overdue(&self, now: Time) -> bool {
        let half_a_gap = self.state.as_ref()[GAP_Q10] >> 11;
        now.nanos() > self.state.as_ref()[NEXT_NS].saturating_add(half_a_gap)
    }

    /// Packets that may be in flight.
    #[inline]
    pub fn window(&self) -> u32 {
        let known = self.window.get();
        if known != UNKNOWN {
            return known;
        }
        // SAFETY: the state is ours.
        let window = unsafe { (Self::CALLS.window)(self.state()) };
        self.window.set(window);
        window
    }

    /// Whether another packet may be in flight in addition to `in_flight`: compares with [`Law::window`].
    #[inline]
    pub fn has_room(&self, in_flight: u32) -> bool {
        u64::from(in_flight) < self.room.packets || in_flight < self.window()
    }

    /// Mean sending rate aimed at.
    pub fn rate(&self) -> Rate {
        // SAFETY: the state is ours.
        rate_of(unsafe { (Self::CALLS.rate)(self.state()) })
    }

    fn view(&self) -> ffi::View {
        let mut view = ffi::View::default();
        // SAFETY: the state is ours and `view` mirrors the C struct.
        unsafe { (Self::CALLS.view)(self.state(), &mut view) };
        view
    }

    /// The law's knowledge of its path.
    pub fn probe(&self) -> Probe {
        let view = self.view();
        Probe {
            rate: rate_of(view.rate),
            available: rate_of(view.available),
            queue: Span::from_nanos(view.queue_ns),
            min_rtt: Span::from_nanos(view.rtt_ns),
            streams: view.streams,
            unusable: view.unusable,
            startup: view.startup != 0,
        }
    }

    /// Keeps a trace of the next stream to complete.
    pub fn arm_trace(&mut self) {
        self.armed = true;
    }

    /// The trace, once.
    pub fn take_trace(&mut self) -> Option<TracedStream> {
        self.traced.take().map(|traced| *traced)
    }

    /// Bytes this flow holds.
    pub fn memory_in_use(&self) -> Bytes {
        let words = self.records.words() + self.streams.words() + self.gaps.len();
        Bytes::new((words * 8 + size_of::<Law<P>>()) as u64)
    }
}
