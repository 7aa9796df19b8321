//! How an interface of a pcapng file counts time: the options if_tsresol and if_tsoffset.

const PS_PER_S: i128 = 1_000_000_000_000;

/// A clock of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    tick: Tick,
    offset_s: i64,
}

/// A tick of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tick {
    /// This number of picoseconds.
    Picoseconds(u64),
    /// This fraction of a second, where that is not a whole number of picoseconds.
    PartOfSecond(u128),
}

impl Clock {
    /// The clock of an interface with these options. `resolution`: a negative power of ten, or of two if the highest bit
    /// is set. `None`: finer than 10^-38 s.
    pub(super) fn of(resolution: u8, offset_s: i64) -> Option<Clock> {
        let power = u32::from(resolution & 0x7f);
        let parts = if resolution & 0x80 == 0 { 10u128.checked_pow(power) } else { 1u128.checked_shl(power) }?;
        let tick = if (PS_PER_S as u128).is_multiple_of(parts) {
            Tick::Picoseconds((PS_PER_S as u128 / parts) as u64)
        } else {
            Tick::PartOfSecond(parts)
        };
        Some(Clock { tick, offset_s })
    }

    /// Picoseconds since the epoch.
    pub(super) fn at_ps(&self, ticks: u64) -> i128 {
        let since_epoch = match self.tick {
            Tick::Picoseconds(ps) => i128::from(ticks) * i128::from(ps),
            Tick::PartOfSecond(parts) => (u128::from(ticks) * PS_PER_S as u128 / parts) as i128,
        };
        since_epoch + i128::from(self.offset_s) * PS_PER_S
    }
}
