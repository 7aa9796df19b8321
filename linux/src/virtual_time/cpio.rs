//! Writes an archive of the kernel's format for its first file system: cpio, "newc" (Documentation/driver-api/early-userspace/
//! buffer-format.rst of Linux). Entries have no times and no owners, so the same files make the same bytes.

use std::collections::BTreeSet;

/// What an entry is: the kind bits and permissions of `st_mode`.
const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;

/// An archive under way.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    /// Appends a folder, and those that it is in, unless they are there.
    pub fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || self.folders.contains(path) {
            return;
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
        self.folders.insert(path.to_string());
        self.entry(path, FOLDER, (0, 0), &[]);
    }

    /// Appends a file that may be executed, and its folder.
    pub fn file(&mut self, path: &str, content: &[u8]) {
        self.parent(path);
        self.entry(path.trim_matches('/'), FILE, (0, 0), content);
    }

    /// Appends a character device, and its folder.
    pub fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.parent(path);
        self.entry(path.trim_matches('/'), DEVICE, (major, minor), &[]);
    }

    /// Returns the archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn parent(&mut self, path: &str) {
        if let Some((parent, _)) = path.trim_matches('/').rsplit_once('/') {
            self.folder(parent);
        }
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        let (links, size, name_size) = (1, content.len() as u32, name.len() as u32 + 1);
        // Inode, mode, owner, group, links, time, size, device of the file, device that it is, name, check sum.
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, device.0, device.1, name_size, 0];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08x}").bytes()));
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    /// Names and contents end at multiples of four bytes.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpio_entry_matches_kernel_documentation() {
        let mut archive = Archive::default();
        archive.file("/a/b", b"hello");
        let bytes = archive.finish();
        let text = String::from_utf8_lossy(&bytes);
        // The folder: a header of 110 bytes, "a" and its zero, no content: 112 bytes.
        assert!(text.starts_with("07070100000001000041ed"), "{text}");
        let file = &text[112..];
        assert!(file.starts_with("07070100000002000081ed"), "{file}");
        // The size is the seventh field; the content follows the header and "a/b" with its zero, at a multiple of four.
        assert_eq!((&file[54..62], &file[116..121]), ("00000005", "hello"));
        assert_eq!(bytes.len() % 4, 0);
    }
}
