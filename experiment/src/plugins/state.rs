//! The memory of one flow: bytes that only its controller understands.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::{NonNull, copy_nonoverlapping};

/// Bytes of a size and alignment that an object asked for.
#[derive(Debug)]
pub(crate) struct State {
    place: NonNull<u8>,
    layout: Layout,
}

// Safety: the interface demands that a state holds no pointers to what changes, so any thread may use it.
unsafe impl Send for State {}

impl State {
    /// All zeros. The layout is not empty.
    pub fn zeroed(layout: Layout) -> State {
        assert!(layout.size() > 0, "an object's layout has at least a byte");
        // Safety: the size is not zero.
        let place = unsafe { alloc_zeroed(layout) };
        let place = NonNull::new(place).unwrap_or_else(|| handle_alloc_error(layout));
        State { place, layout }
    }

    pub fn pointer(&mut self) -> *mut c_void {
        self.place.as_ptr().cast()
    }
}

impl Clone for State {
    fn clone(&self) -> State {
        let copy = State::zeroed(self.layout);
        // Safety: both have this size, and one is new.
        unsafe { copy_nonoverlapping(self.place.as_ptr(), copy.place.as_ptr(), self.layout.size()) };
        copy
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // Safety: allocated with this layout.
        unsafe { dealloc(self.place.as_ptr(), self.layout) };
    }
}
