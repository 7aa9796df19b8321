//! Connections whose application decides when to send, and their received bytes.

use super::connection::{Sample, listen, sample};
use super::namespaces::{Path, RECEIVER};
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long anything here may wait before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);
const BLOCK: usize = 16 << 10;

/// When the controller is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    BeforeConnect,
    AfterConnect,
    /// On a socket that does not block, before the handshake has ended.
    WhileConnecting,
    /// After connecting, and on the accepted socket: as `iperf3 -C` does.
    AtBothEnds,
}

/// A connection from the sender's namespace to the receiver's, which reads all that comes while `reads` is set.
pub struct Flow {
    pub stream: TcpStream,
    began: Instant,
    received: Arc<AtomicU64>,
    reads: Arc<AtomicBool>,
    answers: Arc<AtomicBool>,
}

pub fn set_control(stream: &impl std::os::fd::AsFd, control: &str) {
    setsockopt(stream, sockopt::TcpCongestion, &OsString::from(control)).expect("the controller is registered");
}

impl Flow {
    pub fn open(path: &Path, control: &str, set: Set) -> Flow {
        let listener = listen(path);
        let port = listener.local_addr().expect("an address").port();
        let (received, reads) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
        let (count, may) = (Arc::clone(&received), Arc::clone(&reads));
        let answers = Arc::new(AtomicBool::new(false));
        let requested = Arc::clone(&answers);
        let accepted = (set == Set::AtBothEnds).then(|| control.to_string());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            if let Some(control) = accepted {
                set_control(&stream, &control);
            }
            let (over, mut back) = (Arc::new(AtomicBool::new(false)), stream.try_clone().expect("the same socket"));
            let ended = Arc::clone(&over);
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    if requested.load(Ordering::Relaxed) && back.write_all(&[0; 100]).is_err() {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let mut block = vec![0; 65536];
            loop {
                while !may.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                match stream.read(&mut block) {
                    Ok(n) if n > 0 => count.fetch_add(n as u64, Ordering::Relaxed),
                    _ => break,
                };
            }
            ended.store(true, Ordering::Relaxed);
        });
        let stream = path.inside("a", || {
            let waits = set != Set::WhileConnecting;
            let flags = if waits { SockFlag::empty() } else { SockFlag::SOCK_NONBLOCK };
            let socket = socket(AddressFamily::Inet, SockType::Stream, flags, SockProtocol::Tcp).expect("a socket");
            if set == Set::BeforeConnect {
                set_control(&socket, control);
            }
            let connected = connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(RECEIVER, port)));
            assert_eq!(connected, if waits { Ok(()) } else { Err(Errno::EINPROGRESS) });
            if set != Set::BeforeConnect {
                set_control(&socket, control);
            }
            let stream = TcpStream::from(socket);
            while stream.peer_addr().is_err() {
                std::thread::sleep(Duration::from_millis(1));
            }
            stream.set_nonblocking(false).expect("may wait");
            stream
        });
        stream.set_write_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        stream.set_nodelay(true).expect("an option");
        Flow { stream, began: Instant::now(), received, reads, answers }
    }

    /// Limits TCP's pacing rate, in bytes per second.
    pub fn limit(&self, rate: libc::c_ulong) {
        let (value, size) = ((&raw const rate).cast(), size_of_val(&rate) as libc::socklen_t);
        // SAFETY: the kernel reads one word.
        let failed = unsafe {
            libc::setsockopt(self.stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, value, size)
        };
        assert_eq!(failed, 0);
    }

    /// Lets the receiver read, or not.
    pub fn read(&self, reads: bool) {
        self.reads.store(reads, Ordering::Relaxed);
    }

    /// Lets the receiver send a little, always.
    pub fn answer(&self, answers: bool) {
        self.answers.store(answers, Ordering::Relaxed);
    }

    pub fn sample(&self) -> Sample {
        sample(&self.stream, self.began)
    }

    /// Writes all that the socket takes for the time `long`. Returns the bytes acknowledged meanwhile, per second.
    pub fn bulk(&mut self, long: Duration) -> f64 {
        let (before, block) = (self.sample(), vec![0; BLOCK]);
        let until = Instant::now() + long;
        while Instant::now() < until {
            let _ = self.stream.write(&block);
        }
        let after = self.sample();
        (after.bytes_acked - before.bytes_acked) as f64 / (after.at - before.at).as_secs_f64()
    }

    /// Waits until something is acknowledged; returns how long that took.
    pub fn wait_for_ack(&self) -> Duration {
        let (began, before) = (Instant::now(), self.sample().bytes_acked);
        while self.sample().bytes_acked == before {
            assert!(began.elapsed() < PATIENCE, "nothing is acknowledged");
            std::thread::sleep(Duration::from_millis(1));
        }
        began.elapsed()
    }

    /// Writes a little now and then.
    pub fn trickle(&mut self, bytes: usize, every: Duration, long: Duration) {
        let until = Instant::now() + long;
        while Instant::now() < until {
            self.stream.write_all(&vec![0; bytes]).expect("there is room for little");
            std::thread::sleep(every);
        }
    }

    /// Waits until the receiver has all that was written.
    pub fn settle(&self) {
        let written = self.written();
        let began = Instant::now();
        while self.received.load(Ordering::Relaxed) < written {
            assert!(
                began.elapsed() < PATIENCE,
                "the receiver has {} of {written} B",
                self.received.load(Ordering::Relaxed)
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn written(&self) -> u64 {
        let mut queued: libc::c_int = 0;
        // SAFETY: the kernel writes one integer. SIOCOUTQ: bytes not yet acknowledged.
        let failed = unsafe { libc::ioctl(self.stream.as_raw_fd(), libc::TIOCOUTQ, &mut queued) };
        assert_eq!(failed, 0);
        // TCP counts its SYN as a byte.
        self.sample().bytes_acked - 1 + queued as u64
    }

    /// Sends `bytes`; returns how long it took until the receiver had them all.
    pub fn complete(&mut self, bytes: usize) -> Duration {
        let (began, block, mut left) = (Instant::now(), vec![0; BLOCK], bytes);
        let target = self.received.load(Ordering::Relaxed) + bytes as u64;
        while left > 0 {
            left -= self.stream.write(&block[..left.min(BLOCK)]).unwrap_or(0);
            assert!(began.elapsed() < PATIENCE, "{left} of {bytes} B are not written");
        }
        while self.received.load(Ordering::Relaxed) < target {
            assert!(began.elapsed() < PATIENCE, "not all of {bytes} B arrive");
            std::thread::sleep(Duration::from_micros(200));
        }
        began.elapsed()
    }
}

impl Drop for Flow {
    /// Data that is still in the socket need not arrive.
    fn drop(&mut self) {
        self.reads.store(true, Ordering::Relaxed);
        let _ = setsockopt(&self.stream, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
    }
}
