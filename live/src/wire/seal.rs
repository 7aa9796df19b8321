//! Shared keys. A client's control packet with a key ends with a time and an HMAC-SHA256 (RFC 2104) over all bytes before it.
//! It authenticates the writer and proves that the packet is at most a few seconds old.
//!
//! Segments are frequent: they end with the first bytes of a keyed BLAKE3 hash instead, under a key derived from the shared
//! one. They carry no time of their own; the session does.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;

/// Length of the time and the code.
pub const TRAILER: usize = 8 + TAG;
const TAG: usize = 32;
/// Length of a segment's tag.
pub const SEGMENT_TAG: usize = 16;
/// Context of the tags' key derivation (BLAKE3, section 2.3: an application-specific constant).
const CONTEXT: &str = "packetscale 2026-11-23 wire format 2, tags of segments";

/// Maximum difference of the writer's clock from the reader's, in milliseconds (as in RFC 9946).
pub const TOLERANCE_MS: u64 = 5_000;

/// Minimum key length, in bytes: half the output of HMAC-SHA256 (RFC 2104, section 3, discourages shorter ones than 32).
const SHORTEST: usize = 16;

/// A shared key, and the derived key of tags.
#[derive(Clone)]
struct Key {
    shared: Vec<u8>,
    tags: [u8; blake3::KEY_LEN],
}

/// Keys by their ids.
#[derive(Clone, Default)]
pub struct Keys(BTreeMap<u16, Key>);

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Keys {
    /// Parses lines of an id from 1 to 65535 and a key in hexadecimal digits. `#` begins a comment.
    ///
    /// # Errors
    /// The line, found and expected. Messages never contain a key.
    pub fn parse(text: &str) -> Result<Keys, String> {
        let mut keys = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (id, key) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let id = id.parse::<u16>().ok().filter(|id| *id > 0);
            let id = id.ok_or(format!("{number}: expected an id from 1 to 65535 at the line's start"))?;
            let key = hexadecimal(key.trim()).filter(|key| key.len() >= SHORTEST);
            let least = 2 * SHORTEST;
            let key = key.ok_or(format!("{number}: expected {least} hexadecimal digits or more behind the id"))?;
            let tags = blake3::derive_key(CONTEXT, &key);
            if keys.insert(id, Key { shared: key, tags }).is_some() {
                return Err(format!("{number}: found the id {id} again, expected each once"));
            }
        }
        match keys.is_empty() {
            true => Err("1: found no key, expected lines of an id and a key in hexadecimal digits".to_string()),
            false => Ok(Keys(keys)),
        }
    }

    /// The lowest id.
    pub fn first(&self) -> Option<u16> {
        self.0.keys().next().copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the trailer. Appends nothing without that key.
    pub fn seal(&self, id: u16, now_ms: u64, datagram: &mut Vec<u8>) {
        let Some(Key { shared: key, .. }) = self.0.get(&id) else { return };
        datagram.extend(now_ms.to_be_bytes());
        let tag = code(key, &[datagram]);
        datagram.extend(tag);
    }

    /// Whether a datagram ends with a trailer of this key, written within [`TOLERANCE_MS`] of `now_ms`.
    pub fn is_sealed(&self, id: u16, now_ms: u64, datagram: &[u8]) -> bool {
        let Some(Key { shared: key, .. }) = self.0.get(&id) else { return false };
        let Some((signed, tag)) = datagram.split_last_chunk::<TAG>() else { return false };
        let Some((_, time)) = signed.split_last_chunk::<8>() else { return false };
        u64::from_be_bytes(*time).abs_diff(now_ms) <= TOLERANCE_MS && is_code(key, &[signed], tag)
    }

    /// The tag of a segment with its data. Without that key there is none.
    pub fn tag(&self, id: u16, segment: &[u8]) -> Option<[u8; SEGMENT_TAG]> {
        let hash = blake3::keyed_hash(&self.0.get(&id)?.tags, segment);
        hash.as_bytes().first_chunk().copied()
    }

    /// Whether a segment ends with its tag. Hashes are compared in constant time.
    pub fn is_tagged(&self, id: u16, datagram: &[u8]) -> bool {
        let Some((segment, found)) = datagram.split_last_chunk::<SEGMENT_TAG>() else { return false };
        let whole = |tag: [u8; SEGMENT_TAG]| {
            let mut bytes = [0; blake3::OUT_LEN];
            bytes[..SEGMENT_TAG].copy_from_slice(&tag);
            blake3::Hash::from_bytes(bytes)
        };
        self.tag(id, segment).is_some_and(|tag| whole(tag) == whole(*found))
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| mac.update(part));
    Some(mac)
}

/// HMAC-SHA256 over consecutive parts, with a key of any length.
pub fn code(key: &[u8], parts: &[&[u8]]) -> [u8; TAG] {
    mac(key, parts).map_or([0; TAG], |mac| mac.finalize().into_bytes().into())
}

/// Whether `tag` is a non-empty prefix of the code, compared in constant time.
pub fn is_code(key: &[u8], parts: &[&[u8]], tag: &[u8]) -> bool {
    mac(key, parts).is_some_and(|mac| mac.verify_truncated_left(tag).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_matches_rfc_4231() {
        // Section 4.2, test case 1.
        let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(code(&[0x0b; 20], &[b"Hi ", b"There"]).to_vec(), hexadecimal(expected).unwrap());
        assert!(is_code(&[0x0b; 20], &[b"Hi There"], &hexadecimal(&expected[..32]).unwrap()));
        assert!(!is_code(&[0x0b; 20], &[b"Hi There"], &[]));
    }

    #[test]
    fn key_file_errors_name_the_line() {
        let key = "00112233445566778899aabbccddeeff";
        assert_eq!(Keys::parse(&format!("# two\n7 {key}\n9 {key} # new\n")).unwrap().first(), Some(7));
        for (text, expected) in [
            ("", "1: found no key"),
            ("0 00", "1: expected an id"),
            ("\n1 0011", "2: expected 32"),
            ("1 001122334455667788zz", "1: expected 32"),
            (&format!("1 {key}\n1 {key}"), "2: found the id 1 again"),
        ] {
            assert!(Keys::parse(text).unwrap_err().starts_with(expected), "{text}");
        }
    }

    #[test]
    fn seal_is_valid_for_five_seconds_and_bytes() {
        let keys = Keys::parse("7 00112233445566778899aabbccddeeff").unwrap();
        let mut datagram = b"words".to_vec();
        keys.seal(7, 10_000, &mut datagram);
        assert_eq!(datagram.len(), 5 + TRAILER);
        let holds = |now_ms, datagram: &[u8]| keys.is_sealed(7, now_ms, datagram);
        assert_eq!([4_999, 5_000, 15_000, 15_001].map(|now| holds(now, &datagram)), [false, true, true, false]);
        assert!(!keys.is_sealed(8, 10_000, &datagram));
        assert!(!keys.is_tagged(7, &datagram));
        for at in 0..datagram.len() {
            let mut other = datagram.clone();
            other[at] ^= 1;
            assert!(!holds(10_000, &other), "byte {at}");
            assert!(!holds(10_000, &datagram[..at]), "cut to {at}");
        }
    }

    #[test]
    fn tag_is_valid_for_bytes_and_key() {
        let keys = Keys::parse("7 00112233445566778899aabbccddeeff\n8 ffeeddccbbaa99887766554433221100").unwrap();
        let mut datagram = b"a head and data".to_vec();
        let tag = keys.tag(7, &datagram).unwrap();
        datagram.extend(tag);
        assert!(keys.is_tagged(7, &datagram) && !keys.is_tagged(8, &datagram) && !keys.is_tagged(9, &datagram));
        for at in 0..datagram.len() {
            let mut other = datagram.clone();
            other[at] ^= 1;
            assert!(!keys.is_tagged(7, &other), "byte {at}");
            assert!(!keys.is_tagged(7, &datagram[..at]), "cut to {at}");
        }
        assert_eq!(keys.tag(9, &datagram), None);
    }
}
