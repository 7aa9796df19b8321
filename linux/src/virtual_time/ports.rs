//! The two ports by which the guest stops its machine. Instructions, so they take effect at an exact point of the
//! program.

use std::arch::asm;
use std::io;

/// `pvpanic`: pauses the machine until the host continues it.
const PAUSE: u16 = 0x505;
/// `isa-debug-exit`: the machine ends.
const END: u16 = 0x501;

/// Gives this process access to the ports.
pub(crate) fn open() -> io::Result<()> {
    for port in [PAUSE, END] {
        // SAFETY: changes this thread's permission bits, nothing else.
        if unsafe { nix::libc::ioperm(port.into(), 1, 1) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Pauses the machine until the host continues it.
pub(crate) fn pause() {
    // Bit 0 of pvpanic's port: "the guest has panicked". The host takes it for "ready".
    out(PAUSE, 1);
}

/// Ends the machine.
pub(crate) fn end() {
    out(END, 0);
}

fn out(port: u16, value: u8) {
    // SAFETY: both ports belong to devices of the emulated machine that touch no memory of the guest.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack, preserves_flags)) };
}
