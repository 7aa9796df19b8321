//! Values of maps as bytes.

/// A value that a map exchanges between user space and the kernel.
///
/// # Safety
/// The type must be `#[repr(C)]` and have no padding, and any bytes must be a valid value of it.
pub unsafe trait Plain: Copy {}

// SAFETY: words.
unsafe impl Plain for u32 {}

/// Returns the bytes of a value.
pub fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: a `Plain` value has no padding, and a byte needs no alignment.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Returns the value at the start of `bytes`; `None` when there are too few.
pub fn value_of<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() < size_of::<T>() {
        return None;
    }
    // SAFETY: there are enough bytes, and any bytes are a `Plain` value.
    Some(unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) })
}
