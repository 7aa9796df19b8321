//! SHA-256, in hexadecimal.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// SHA-256 as something to write to.
#[derive(Default)]
pub struct Hash(Sha256);

impl Hash {
    /// Of all that was written.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The size of a file's content, and its digest.
///
/// # Errors
/// The file cannot be read.
pub fn of_file(file: &Path) -> io::Result<(u64, String)> {
    let mut hash = Hash::default();
    let size = io::copy(&mut File::open(file)?, &mut hash)?;
    Ok((size, hash.hex()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha256() {
        // FIPS 180-2, appendix B.1.
        let mut hash = Hash::default();
        hash.write_all(b"abc").expect("written");
        assert_eq!(hash.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
