//! Test transfers of a user's controller before it is registered: over the loopback device of a network namespace that ends
//! with the trial, compared with CUBIC over the same path.
//!
//! 1. 5 ms each way (if the kernel has netem), no loss: everything must arrive, and the window must grow if CUBIC's does.
//! 2. One packet in a hundred lost (netem, again): everything must arrive.

use crate::tcp::{Error, trial_socket};
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{setsockopt, sockopt};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::time::{Duration, Instant};

/// Bytes of a transfer: some seven hundred packets.
const AMOUNT: usize = 1_000_000;
const BLOCK: usize = 16 << 10;
/// How long a transfer may take. CUBIC takes a tenth of a second, or a second where packets are lost.
const PATIENCE: Duration = Duration::from_secs(8);
const POLL: Duration = Duration::from_millis(50);
/// Packets that a connection begins with (RFC 6928).
const FIRST_WINDOW: u32 = 10;
/// The path of each transfer: what netem does to it.
const PATHS: [&str; 2] = ["delay 5ms limit 10000", "delay 5ms limit 10000 loss 1%"];

/// How one transfer went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Bytes that arrived.
    pub bytes: usize,
    /// Until the last of them, or until patience was over.
    pub took: Duration,
    /// The widest window seen, packets.
    pub window: u32,
}

/// How the controller and CUBIC went over one path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The controller.
    pub tried: Transfer,
    /// CUBIC.
    pub cubic: Transfer,
}

/// Results of a user controller's trial.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Over a path without loss.
    pub clean: Pair,
    /// Over one that loses packets, where the kernel has netem.
    pub lossy: Option<Pair>,
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::machine("the trial", error)
}

/// Tests the controller registered as `name`.
///
/// # Errors
/// Why it fails.
pub fn try_out(name: &str) -> Result<Tried, Error> {
    std::thread::scope(|scope| {
        let trial = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(failed)?;
            // Netem drops whole super-packets: send single packets.
            done("ip link set dev lo gso_max_segs 1 up")?;
            let delays = path(PATHS[0]);
            let clean = pair(name)?;
            judge(&clean, true)?;
            let lossy = match delays && path(PATHS[1]) {
                true => Some(pair(name)?),
                false => None,
            };
            lossy.iter().try_for_each(|pair| judge(pair, false))?;
            Ok(Tried { clean, lossy })
        });
        trial.join().unwrap_or_else(|_| Err(failed("the thread panicked")))
    })
}

fn done(line: &str) -> Result<(), Error> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output();
    let output = output.map_err(|error| failed(format!("{line}: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

/// Makes the path so. Returns whether the kernel can.
fn path(netem: &str) -> bool {
    done(&format!("tc qdisc replace dev lo root netem {netem}")).is_ok()
}

fn judge(pair: &Pair, grows: bool) -> Result<(), Error> {
    let Pair { tried, cubic } = pair;
    if tried.bytes < AMOUNT {
        return Err(Error::Machine(format!(
            "it stalls: in {} s, {} of {AMOUNT} bytes arrived{}; with CUBIC {} bytes took {:.2} s",
            PATIENCE.as_secs(),
            tried.bytes,
            if grows { "" } else { ", where one packet in a hundred is lost" },
            cubic.bytes,
            cubic.took.as_secs_f64()
        )));
    }
    if grows && tried.window <= FIRST_WINDOW && cubic.window > FIRST_WINDOW {
        return Err(Error::Machine(format!(
            "its window does not grow: {} packets at most; CUBIC's grew to {} over the same path",
            tried.window, cubic.window
        )));
    }
    Ok(())
}

fn pair(name: &str) -> Result<Pair, Error> {
    Ok(Pair { cubic: transfer("cubic")?, tried: transfer(name)? })
}

fn transfer(control: &str) -> Result<Transfer, Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let SocketAddr::V4(address) = listener.local_addr().map_err(failed)? else { return Err(failed("no IPv4")) };
    let began = Instant::now();
    let stream = trial_socket::connected(control, address).map_err(failed)?;
    let (mut peer, _) = listener.accept().map_err(failed)?;
    peer.set_read_timeout(Some(POLL)).map_err(failed)?;
    stream.set_write_timeout(Some(POLL)).map_err(failed)?;
    let in_time = || began.elapsed() < PATIENCE;
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (mut block, mut read) = (vec![0; 4 * BLOCK], 0);
            while read < AMOUNT && in_time() {
                // A timed-out read is no failure.
                read += peer.read(&mut block).unwrap_or(0);
            }
            (read, began.elapsed())
        });
        let (block, mut left, mut window, mut writer) = (vec![0; BLOCK], AMOUNT, 0, &stream);
        while !reader.is_finished() {
            match left {
                0 => std::thread::sleep(Duration::from_millis(1)),
                _ => left -= writer.write(&block[..left.min(BLOCK)]).unwrap_or(0),
            }
            window = window.max(trial_socket::info(&stream).map_err(failed)?.tcpi_snd_cwnd);
        }
        let (bytes, took) = reader.join().map_err(|_| failed("the reader panicked"))?;
        // Data that have not arrived are not needed any more.
        setsockopt(&stream, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 }).map_err(failed)?;
        Ok(Transfer { bytes, took, window })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_controller_that_stalls_or_never_grows() {
        let good = Transfer { bytes: AMOUNT, took: Duration::from_millis(90), window: 300 };
        let pair = |tried| Pair { tried, cubic: good };
        assert!(judge(&pair(good), true).is_ok());
        let narrow = Transfer { window: FIRST_WINDOW, ..good };
        assert!(judge(&pair(narrow), true).is_err());
        // After losses a narrow window is right.
        assert!(judge(&pair(narrow), false).is_ok());
        let stalled = Transfer { bytes: AMOUNT - 1, ..good };
        assert!(judge(&pair(stalled), true).is_err() && judge(&pair(stalled), false).is_err());
        // Without growth of CUBIC's window there is no verdict.
        assert!(judge(&Pair { tried: narrow, cubic: narrow }, true).is_ok());
    }
}
