//! An independent parser of the format of `wire.h`: the oracle for the C side.

/// Kind, length and experiment identifier of the option.
const KIND: u8 = 254;
const EXPERIMENT: [u8; 2] = [0x52, 0x41];

/// Arrivals of consecutive segments, as one option reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Bits 30-0 of the receiver's clock when the last one arrived.
    pub newest_ns: u32,
    /// The run ends at the first SACK block's right edge, not at the acknowledgment number.
    pub beside: bool,
    /// How much earlier each preceding segment arrived; newest first.
    pub gap_ns: Vec<u32>,
}

impl Run {
    /// Reads an option from all its bytes; `None` where they are not valid.
    pub fn read(option: &[u8]) -> Option<Run> {
        let &[kind, length, x, y, a, b, c, d, ref gaps @ ..] = option else { return None };
        if kind != KIND || usize::from(length) != option.len() || [x, y] != EXPERIMENT || option.len() > 28 {
            return None;
        }
        if gaps.len() % 2 != 0 {
            return None;
        }
        let base = u32::from_be_bytes([a, b, c, d]);
        let gap_ns = gaps.chunks(2).map(|g| unpack(u16::from_be_bytes([g[0], g[1]]))).collect();
        Some(Run { newest_ns: base & 0x7fff_ffff, beside: base >> 31 == 1, gap_ns })
    }
}

/// Unpacks a gap: 4 bits of exponent, 12 of fraction, as in a floating-point number with subnormals.
pub fn unpack(packed: u16) -> u32 {
    let fraction = u32::from(packed & 0xfff);
    match packed >> 12 {
        0 => fraction,
        exponent => (fraction + 4096) * 2u32.pow(u32::from(exponent) - 1),
    }
}

/// Returns the offer in a SYN's option: version and flags.
pub fn offer(option: &[u8]) -> Option<(u8, u8)> {
    match *option {
        [KIND, 6, 0x52, 0x41, version, flags] => Some((version, flags)),
        _ => None,
    }
}

/// Finds our option among a segment's options.
pub fn find(options: &[(u8, Vec<u8>)]) -> Option<&[u8]> {
    options.iter().map(|(_, bytes)| bytes.as_slice()).find(|o| o.len() >= 4 && o[0] == KIND && o[2..4] == EXPERIMENT)
}
