//! A bulk TCP connection over a path, and what TCP itself reports about it.

use super::namespaces::{Path, RECEIVER};
use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// One sample of a connection's state.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
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
    path.inside("a", || {
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), SockProtocol::Tcp)?;
        setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(control))?;
        connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(RECEIVER, to)))?;
        Ok(TcpStream::from(socket))
    })
}

/// Sends in small blocks for the time `long`; samples the connection every 10 ms.
pub fn transfer(path: &Path, control: &str, long: Duration) -> Vec<Sample> {
    let listener = listen(path);
    let port = listener.local_addr().expect("an address").port();
    let receiver = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut block = vec![0; 65536];
        while stream.read(&mut block).is_ok_and(|n| n > 0) {}
    });
    let mut stream = open(path, control, port).expect("connects");
    stream.set_write_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    let (began, block) = (Instant::now(), [0; 4096]);
    let mut samples: Vec<Sample> = Vec::new();
    while began.elapsed() < long {
        let _ = stream.write(&block);
        if samples.last().is_none_or(|sample| began.elapsed() >= sample.at + Duration::from_millis(10)) {
            samples.push(sample(&stream, began));
        }
    }
    // Data that is still in the socket need not arrive.
    socket_reset(&stream);
    drop(stream);
    receiver.join().expect("the receiver ends");
    samples
}

fn socket_reset(stream: &TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    setsockopt(stream, sockopt::Linger, &linger).expect("lingers not");
}

pub fn sample(stream: &TcpStream, began: Instant) -> Sample {
    // SAFETY: plain words; getsockopt fills those that its kernel knows.
    let (info, failed) = unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let at = (&raw mut info).cast();
        let failed = libc::getsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &mut length);
        (info, failed)
    };
    assert_eq!(failed, 0);
    Sample {
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
pub fn goodput(samples: &[Sample], from: Duration) -> f64 {
    let first = samples.iter().find(|sample| sample.at >= from).expect("samples");
    let last = samples.last().expect("samples");
    (last.bytes_acked - first.bytes_acked) as f64 * 8.0 / (last.at - first.at).as_secs_f64()
}

/// Returns the median round trip after `from`, in microseconds.
pub fn round_trip(samples: &[Sample], from: Duration) -> f64 {
    median(samples.iter().filter(|sample| sample.at >= from).map(|sample| f64::from(sample.rtt_us)).collect())
}
