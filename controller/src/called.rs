//! The functions that a host calls, for any [`Controller`].
//!
//! Safety of every function: the host passes the state of one flow, written by `start` and used by no one else
//! during the call, and an event and a decision that live as long as the call.

use crate::abi::{self, Decision, Table};
use crate::{Ack, Controller, Loss, Refused, Start, given};
use core::ffi::c_void;

/// The table of this controller, as a file defines it.
pub const fn table<C: Controller>() -> Table {
    assert!(size_of::<C>() <= u32::MAX as usize);
    Table {
        abi: abi::ABI,
        struct_bytes: size_of::<Table>() as u32,
        name: C::NAME.as_ptr(),
        summary: C::SUMMARY.as_ptr(),
        settings: C::SETTINGS.as_ptr(),
        settings_count: C::SETTINGS.len() as u32,
        needs: C::NEEDS,
        state_bytes: size_of::<C>() as u32,
        state_align: align_of::<C>() as u32,
        start: Some(start::<C>),
        on_ack: Some(on_ack::<C>),
        on_loss: Some(on_loss::<C>),
        on_timeout: Some(on_timeout::<C>),
        on_sent: if C::WANTS_SENT { Some(on_sent::<C>) } else { None },
        on_mark: Some(on_mark::<C>),
        on_undo: Some(on_undo::<C>),
        on_offer: Some(on_offer::<C>),
        on_available: Some(on_available::<C>),
    }
}

unsafe extern "C" fn start<C: Controller>(
    state: *mut c_void,
    setup: *const abi::Setup,
    decision: *mut Decision,
) -> i32 {
    // Safety: see the head of the file. The host passes one value per setting.
    let (setup, decision) = unsafe { (&*setup, &mut *decision) };
    // Safety: as above.
    let values = unsafe { given(setup.settings, C::SETTINGS.len() as u32) };
    match C::start(&Start { raw: setup, values }, decision) {
        Ok(begun) => {
            // Safety: the state has the size and the alignment that the table declares.
            unsafe { state.cast::<C>().write(begun) };
            0
        }
        Err(Refused(index)) => i32::from(index) + 1,
    }
}

macro_rules! on {
    ($($name:ident($event:ty) $wrap:expr;)*) => {
        $(unsafe extern "C" fn $name<C: Controller>(
            state: *mut c_void,
            event: *const $event,
            decision: *mut Decision,
        ) {
            // Safety: see the head of the file.
            let (state, event, decision) = unsafe { (&mut *state.cast::<C>(), &*event, &mut *decision) };
            C::$name(state, &$wrap(event), decision);
        })*
    };
}

on! {
    on_ack(abi::Ack) Ack;
    on_loss(abi::Loss) Loss;
    on_timeout(abi::Timeout) Clone::clone;
    on_sent(abi::Sent) Clone::clone;
    on_mark(abi::Mark) Clone::clone;
    on_undo(abi::Undo) Clone::clone;
    on_offer(abi::RateFeedback) Clone::clone;
    on_available(abi::RateFeedback) Clone::clone;
}
