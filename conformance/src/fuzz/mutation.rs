//! How an input is changed.

use proptest::prelude::*;
use proptest::sample::Index;

/// The largest input: beyond it, nothing is added.
const LARGEST: usize = 1 << 16;

/// Numbers at which readers go wrong.
const NUMBERS: [u64; 12] =
    [0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_fffb, 0xffff_ffff, i64::MAX as u64, u64::MAX];

/// The same, and others, as text.
const WORDS: [&str; 14] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "18446744073709551615",
    "18446744073709551616",
    "0.0",
    "\"\"",
    "[]",
    "{}",
    "\u{feff}",
    "\u{20ac}",
];

/// The kinds of mutation.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A bit is turned.
    Bit,
    /// One byte, or two, four or eight in either order, become a number that is near the edge of something.
    Number,
    /// The number of some digits of a text becomes another.
    Word,
    /// Some bytes are removed.
    Remove,
    /// Some bytes are duplicated.
    Repeat,
    /// Some bytes come from another place, perhaps of another input.
    Splice,
    /// A line is removed, duplicated, or swapped with another.
    Line,
    /// The input ends there.
    Cut,
}

/// A change. What does not apply to an input leaves it as it is.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    what: What,
    at: Index,
    from: Index,
    length: usize,
    value: u64,
}

/// All changes; the first are those that failing inputs are reduced to.
pub(crate) fn mutations() -> impl Strategy<Value = Mutation> {
    use What::*;
    let what = prop::sample::select(vec![Bit, Number, Word, Remove, Repeat, Splice, Line, Cut]);
    let length = prop_oneof![3 => 1..9usize, 1 => 9..80usize];
    (what, any::<Index>(), any::<Index>(), length, any::<u64>()).prop_map(|(what, at, from, length, value)| Mutation {
        what,
        at,
        from,
        length,
        value,
    })
}

impl Mutation {
    /// Returns the input, changed.
    pub(crate) fn of(&self, mut input: Vec<u8>, corpus: &[Vec<u8>]) -> Vec<u8> {
        if input.is_empty() {
            return self.from.get(corpus).clone();
        }
        let at = self.at.index(input.len());
        let end = input.len().min(at + self.length);
        match self.what {
            What::Bit => input[at] ^= 1 << (self.value % 8),
            What::Number => self.number(&mut input[at..]),
            What::Word => return self.word(input, at),
            What::Remove => drop(input.drain(at..end)),
            What::Repeat if input.len() < LARGEST => {
                let again = input[at..end].to_vec();
                input.splice(at..at, again);
            }
            What::Splice if input.len() < LARGEST => {
                let other = &corpus[self.value as usize % corpus.len()];
                let from = self.from.index(other.len() + 1);
                let part = &other[from..other.len().min(from + self.length)];
                // Overwrites or inserts.
                let over = if self.value >> 63 == 0 { input.len().min(at + part.len()) } else { at };
                input.splice(at..over, part.iter().copied());
            }
            What::Line => return self.line(&input),
            What::Cut => input.truncate(at),
            What::Repeat | What::Splice => {}
        }
        input
    }

    fn number(&self, bytes: &mut [u8]) {
        let width = [1, 2, 4, 8][self.value as usize % 4].min(bytes.len());
        let number = match self.value >> 2 & 3 {
            0 => self.value >> 32,
            _ => NUMBERS[(self.value >> 4) as usize % NUMBERS.len()],
        };
        let little = number.to_le_bytes();
        bytes[..width].copy_from_slice(&little[..width]);
        if self.value >> 31 & 1 == 1 {
            bytes[..width].reverse();
        }
    }

    /// Replaces the digits, or other signs of a word, at this place.
    fn word(&self, mut input: Vec<u8>, at: usize) -> Vec<u8> {
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
        let begin = input[..at].iter().rposition(|byte| !part(byte)).map_or(0, |before| before + 1);
        let end = input[at..].iter().position(|byte| !part(byte)).map_or(input.len(), |after| at + after);
        let word = WORDS[self.value as usize % WORDS.len()];
        input.splice(begin..end.max(begin), word.bytes());
        input
    }

    fn line(&self, input: &[u8]) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
        let (at, from) = (self.at.index(lines.len()), self.from.index(lines.len()));
        match self.value % 3 {
            0 => drop(lines.remove(at)),
            1 if input.len() < LARGEST => lines.insert(at, lines[from]),
            _ => lines.swap(at, from),
        }
        lines.concat()
    }
}
