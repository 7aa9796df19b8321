//! A bulk TCP connection over a path, and what TCP itself reports about it.

use super::flow::Flow;
use super::namespaces::{Path, RECEIVER};
use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::ffi::OsString;
use std::io::Write;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// One sample of a connection's state.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub at: Duration,
    pub rtt_us: u32,
    pub bytes_acked: u64,
    pub bytes_sent: u64,
    pub bytes_in_flight: u64,
    pub retransmitted: u32,
}

/// Opens a listener in the receiver's namespace.
pub fn listen(path: &Path) -> TcpListener {
    path.inside("b", || TcpListener::bind((RECEIVER, 0)).expect("a port"))
}

/// Opens a connection to it from the sender's namespace.
pub fn open(path: &Path, control: &str, to: u16) -> std::io::Result<TcpStream> {
    path.inside("a", || connected(control, to))
}

/// Opens a connection to it from this thread's namespace.
pub fn connected(control: &str, to: u16) -> std::io::Result<TcpStream> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), SockProtocol::Tcp)?;
    set_control(&socket, control)?;
    connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(RECEIVER, to)))?;
    Ok(TcpStream::from(socket))
}

pub fn set_control(socket: &impl AsFd, control: &str) -> nix::Result<()> {
    setsockopt(socket, sockopt::TcpCongestion, &OsString::from(control))
}

/// Sends in small blocks for the time `long`; samples the connection every 10 ms.
pub fn transfer(path: &Path, control: &str, long: Duration) -> Vec<Look> {
    let mut flow = Flow::open(path, control);
    flow.stream.set_nodelay(false).expect("an option");
    let (began, mut looks) = (Instant::now(), Vec::<Look>::new());
    while began.elapsed() < long {
        let _ = flow.stream.write(&[0; 4096]);
        if looks.last().is_none_or(|look| began.elapsed() >= look.at + Duration::from_millis(10)) {
            looks.push(look(&flow.stream, began));
        }
    }
    looks
}

/// What TCP says of a connection.
pub fn tcp_info(stream: &TcpStream) -> libc::tcp_info {
    // SAFETY: plain words; getsockopt fills those that its kernel knows.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let at = (&raw mut info).cast();
        assert_eq!(libc::getsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut length), 0);
        info
    }
}

pub fn look(stream: &TcpStream, began: Instant) -> Look {
    let info = tcp_info(stream);
    Look {
        at: began.elapsed(),
        rtt_us: info.tcpi_rtt,
        bytes_acked: info.tcpi_bytes_acked,
        bytes_sent: info.tcpi_bytes_sent,
        bytes_in_flight: u64::from(info.tcpi_unacked - info.tcpi_sacked - info.tcpi_lost + info.tcpi_retrans)
            * u64::from(info.tcpi_snd_mss),
        retransmitted: info.tcpi_total_retrans,
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the bits per second acknowledged after `from`.
pub fn goodput(looks: &[Look], from: Duration) -> f64 {
    let first = looks.iter().find(|look| look.at >= from).expect("looks");
    let last = looks.last().expect("looks");
    (last.bytes_acked - first.bytes_acked) as f64 * 8.0 / (last.at - first.at).as_secs_f64()
}

/// Returns the median round trip after `from`, in microseconds.
pub fn round_trip(looks: &[Look], from: Duration) -> f64 {
    median(looks.iter().filter(|look| look.at >= from).map(|look| f64::from(look.rtt_us)).collect())
}
