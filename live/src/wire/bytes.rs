//! Integers in network byte order, and in LEB128. Reading never panics.

/// Reads fields from the front of a datagram. `None`: it is too short, or a number is too long.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Unsigned LEB128 of at most 64 bits.
    pub fn leb(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number in LEB128, by zigzag: 0, -1, 1, -2 are written 0, 1, 2, 3.
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.leb()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

pub(super) fn put_leb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A signed number as [`Fields::signed`] reads it.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The length of a number in LEB128.
pub(super) fn leb_length(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()).max(1).div_ceil(7) as usize
}

/// Text from the network as one line that is safe to print on a terminal.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if experiment::scenario::is_hidden(c) { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leb128_matches_dwarf_examples() {
        // DWARF 5, section 7.6, table 7.7: examples of unsigned LEB128.
        for (value, bytes) in [(2, &[2u8][..]), (127, &[127]), (128, &[0x80, 1]), (12857, &[0xb9, 0x64])] {
            let mut out = Vec::new();
            put_leb(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(leb_length(value), bytes.len());
            assert_eq!(Fields(bytes).leb(), Some(value));
        }
        assert_eq!(Fields(&[0xff; 10]).leb(), None);
        assert_eq!(Fields(&[0x80]).leb(), None);
    }

    #[test]
    fn zigzag_keeps_small_numbers_small() {
        assert_eq!([0, -1, 1, -2, i64::MIN].map(zigzag), [0, 1, 2, 3, u64::MAX]);
    }
}
