//! Self-test at load, because no kernel guarantees the behaviour that the programs need.
//!
//! It makes a connection over the loopback device of a network namespace that ends with it. TCP counts the packets that it
//! sends. The packet clock must have seen each of them leave, one at a time, and arrival times must have come back.

use crate::tcp::report::{Reason, Report};
use crate::tcp::status::status;
use crate::tcp::{Error, devices, trial_socket};
use nix::sched::{CloneFlags, unshare};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

/// The results of the trial.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Packets that left, by TCP's own count.
    pub packets: u64,
    /// How many of these the packet clock saw.
    pub seen: u64,
    /// How many left together with the packet before.
    pub bursts: u64,
    /// How many were delivered.
    pub delivered: u64,
    /// Delivered with an arrival time.
    pub stamped: u64,
    /// Why this kernel refuses the TCP option, if it does.
    pub without_option: Option<String>,
    /// Why this kernel does not list the connections that CUBIC has taken over, if it does not.
    pub without_list: Option<String>,
}

/// Bytes to send: a few hundred packets.
const AMOUNT: usize = 400_000;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::machine("the trial connection", error)
}

/// Tries the congestion control `name`. `option`: whether the TCP option serves this process.
pub fn try_out(name: &str, option: bool, without_option: Option<String>) -> Result<Trial, Error> {
    let mut trial = std::thread::scope(|scope| {
        let trial = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(failed)?;
            in_own_namespace(name)
        });
        trial.join().unwrap_or_else(|_| Err(failed("the thread panicked")))
    })?;
    judge(&trial, option && without_option.is_none())?;
    trial.without_option = without_option;
    Ok(trial)
}

fn judge(trial: &Trial, option: bool) -> Result<(), Error> {
    let Trial { packets, seen, bursts, delivered, stamped, .. } = *trial;
    // Until arrival reports come, the packet clock is stopped.
    if !option && seen == 0 {
        return Ok(());
    }
    // The clock counts a packet at the call after it, so it may lack the last one.
    if seen + 1 < packets || seen > packets || bursts > packets / 4 {
        return Err(Error::Machine(format!(
            "this kernel does not pace as expected: {packets} packets left, the packet clock saw {seen}, {bursts} of them in bursts"
        )));
    }
    // Delayed acknowledgments leave some arrivals out.
    if option && 8 * stamped < delivered {
        return Err(Error::Machine(format!(
            "arrival times do not come back: on a loopback connection, {stamped} of {delivered} packets had one"
        )));
    }
    Ok(())
}

fn in_own_namespace(name: &str) -> Result<Trial, Error> {
    devices::prepare_loopback(name)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let SocketAddr::V4(address) = listener.local_addr().map_err(failed)? else { return Err(failed("no IPv4")) };
    let stream = trial_socket::connected(name, address).map_err(failed)?;
    let (mut peer, _) = listener.accept().map_err(failed)?;
    let mut writer = &stream;
    stream.set_write_timeout(Some(Duration::from_secs(2))).map_err(failed)?;
    peer.set_read_timeout(Some(Duration::from_secs(2))).map_err(failed)?;
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (mut block, mut read) = ([0; 16384], 0);
            while read < AMOUNT {
                match peer.read(&mut block) {
                    Ok(n) if n > 0 => read += n,
                    _ => break,
                }
            }
        });
        let sent = (0..AMOUNT / 1000).try_for_each(|_| writer.write_all(&[0; 1000]));
        let _ = reader.join();
        sent.map_err(failed)
    })?;
    let port = stream.local_addr().map_err(failed)?.port();
    let status = status(name)?;
    let packets = u64::from(trial_socket::info(&stream).map_err(failed)?.tcpi_data_segs_out);
    if let Some(report) = status.connections.iter().find(|report| report.address.local().port() == port) {
        return Ok(Trial::of(report, packets));
    }
    // Without arrival times, CUBIC takes over after some packets, as it should.
    let fallen = status
        .fallen
        .iter()
        .find(|(address, fallen)| address.local().port() == port && fallen.why() == Reason::NoStamps);
    match fallen {
        Some(_) => Ok(Trial::default()),
        None => Err(failed("Rapid stopped steering it")),
    }
}

impl Trial {
    fn of(report: &Report, packets: u64) -> Trial {
        let Report { packets: seen, bursts, delivered, stamped, .. } = *report;
        Trial { packets, seen, bursts, delivered, stamped, ..Trial::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_kernel_with_bursts_or_missing_arrivals() {
        let good = || Trial { packets: 400, seen: 399, bursts: 9, delivered: 390, stamped: 380, ..Trial::default() };
        assert!(judge(&good(), true).is_ok());
        for bad in [Trial { seen: 300, ..good() }, Trial { bursts: 200, ..good() }, Trial { stamped: 10, ..good() }] {
            assert!(judge(&bad, true).is_err(), "{bad:?}");
        }
        assert!(judge(&Trial { stamped: 0, ..good() }, false).is_ok());
        let waited = Trial { seen: 0, delivered: 0, stamped: 0, ..good() };
        assert!(judge(&waited, false).is_ok() && judge(&waited, true).is_err());
    }
}
