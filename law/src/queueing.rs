//! The laws of queues in `include/queueing/`: QLBP, RED and TDQM, as a kernel runs them.
//!
//! States and parameters are plain numbers, mirrored here; the headers state units. A caller hands in the time and random bits.

/// `struct queueing_ramp`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Ramp {
    pub min: u64,
    pub max: u64,
    pub max_p: u32,
    pub gentle: u8,
    pub spread: u8,
    pub off: u8,
    pub reserved: u8,
}

/// `struct qlbp_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct QlbpParams {
    pub mu_min: u64,
    pub mu_max: u64,
    pub q_max: u32,
    pub reserved: u32,
}

/// `struct qlbp`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Qlbp {
    last_ns: u64,
    pub next_ns: u64,
    size: u32,
    pub reserved: u32,
}

/// `struct red_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RedParams {
    pub ramp: Ramp,
    pub service_ns: u64,
    pub weight: u32,
    pub mark_above: u8,
    pub idle_time: u8,
    pub reserved: u16,
}

/// `struct red`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Red {
    pub average: u64,
    idle_since_ns: u64,
    pub since: u32,
    pub reserved: u32,
}

/// `struct meter_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MeterParams {
    pub rate: u64,
    pub shortest_ns: u64,
    pub unfinished: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    times: [u64; 3],
    remainder: u64,
    area: u64,
    joined: [u64; 2],
    exponent: u32,
    busy: u32,
}

/// `struct tdqm_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TdqmParams {
    pub rho: Ramp,
    pub eta: Ramp,
    pub meter: MeterParams,
    pub window_ns: u64,
    pub rho_weight: u32,
    pub eta_weight: u32,
    pub offered: u32,
    pub reserved: u32,
}

/// `struct tdqm`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Tdqm {
    meter: Meter,
    pub rho: u64,
    pub eta: u64,
    window: [u64; 3],
    pub rho_since: u32,
    pub eta_since: u32,
}

pub const PASS: u32 = 0;
pub const MARK: u32 = 1;
pub const DROP: u32 = 2;

pub const TDQM_CONGESTION: u32 = 1;
pub const TDQM_BURSTINESS: u32 = 2;
pub const TDQM_DROP: u32 = 4;

unsafe extern "C" {
    fn queueing_face_sizes(sizes: *mut [u64; 6]);
    fn queueing_face_qlbp_on_arrival(qlbp: *mut Qlbp, params: *const QlbpParams, waiting: u64);
    fn queueing_face_qlbp_on_departure(qlbp: *mut Qlbp, params: *const QlbpParams, now: u64, size: u32, waiting: u64);
    fn queueing_face_red_on_arrival(
        red: *mut Red,
        params: *const RedParams,
        now: u64,
        queued: u64,
        capable: u32,
        random: u32,
    ) -> u32;
    fn queueing_face_red_on_departure(red: *mut Red, now: u64, queued: u64);
    fn queueing_face_tdqm_begin(tdqm: *mut Tdqm, params: *const TdqmParams, now: u64);
    fn queueing_face_tdqm_on_arrival(
        tdqm: *mut Tdqm,
        params: *const TdqmParams,
        now: u64,
        capable: u32,
        rho_random: u32,
        eta_random: u32,
    ) -> u32;
    fn queueing_face_tdqm_on_queued(tdqm: *mut Tdqm, params: *const TdqmParams, now: u64, size: u32);
}

/// Sizes of the structs in C, in this file's order of parameters and states.
pub fn sizes() -> [u64; 6] {
    let mut sizes = [0; 6];
    // SAFETY: the call writes six words, and keeps no pointer.
    unsafe { queueing_face_sizes(&mut sizes) };
    sizes
}

// SAFETY of all calls below: both references are valid for the call, the C code keeps neither, and the layouts agree
// (`law/tests/queueing.rs` compares them).
impl Qlbp {
    /// A packet has been queued; `waiting` counts it.
    pub fn on_arrival(&mut self, params: &QlbpParams, waiting: u64) {
        unsafe { queueing_face_qlbp_on_arrival(self, params, waiting) }
    }

    /// A packet leaves at `now`, and leaves `waiting` behind.
    pub fn on_departure(&mut self, params: &QlbpParams, now: u64, size: u32, waiting: u64) {
        unsafe { queueing_face_qlbp_on_departure(self, params, now, size, waiting) }
    }
}

impl Red {
    /// A packet arrives and finds `queued`. Returns [`PASS`], [`MARK`] or [`DROP`].
    pub fn on_arrival(&mut self, params: &RedParams, now: u64, queued: u64, capable: bool, random: u32) -> u32 {
        unsafe { queueing_face_red_on_arrival(self, params, now, queued, u32::from(capable), random) }
    }

    /// A packet has left, and leaves `queued` behind.
    pub fn on_departure(&mut self, now: u64, queued: u64) {
        unsafe { queueing_face_red_on_departure(self, now, queued) }
    }
}

impl Tdqm {
    /// The first window begins at `now`.
    pub fn begin(params: &TdqmParams, now: u64) -> Tdqm {
        let mut tdqm = Tdqm::default();
        unsafe { queueing_face_tdqm_begin(&mut tdqm, params, now) };
        tdqm
    }

    /// A packet arrives. Returns bits: [`TDQM_CONGESTION`], [`TDQM_BURSTINESS`], [`TDQM_DROP`].
    pub fn on_arrival(&mut self, params: &TdqmParams, now: u64, capable: bool, randoms: [u32; 2]) -> u32 {
        let [rho, eta] = randoms;
        unsafe { queueing_face_tdqm_on_arrival(self, params, now, u32::from(capable), rho, eta) }
    }

    /// It has been queued, too.
    pub fn on_queued(&mut self, params: &TdqmParams, now: u64, size: u32) {
        unsafe { queueing_face_tdqm_on_queued(self, params, now, size) }
    }
}
