//! Connections whose application decides when to send, and what became of the bytes at the other end.

use super::connection::{Look, listen, look, set_control};
use super::namespaces::{Path, RECEIVER};
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, connect, getsockopt, setsockopt, socket, sockopt,
};
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{sleep, spawn};
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

/// A receiver, which reads all that comes while `reads` is set.
struct Far {
    received: AtomicU64,
    reads: AtomicBool,
    answers: AtomicBool,
    over: AtomicBool,
}

impl Far {
    /// Serves one connection to its end; `control`: on its socket.
    fn serve(self: Arc<Far>, listener: &TcpListener, control: Option<String>) {
        let (mut stream, _) = listener.accept().expect("a connection");
        if let Some(control) = control {
            set_control(&stream, &control).expect("it is registered");
        }
        let (answering, mut back) = (Arc::clone(&self), stream.try_clone().expect("the same socket"));
        spawn(move || {
            while !answering.over.load(Ordering::Relaxed) {
                if answering.answers.load(Ordering::Relaxed) && back.write_all(&[0; 100]).is_err() {
                    break;
                }
                sleep(Duration::from_millis(10));
            }
        });
        let mut block = vec![0; 65536];
        loop {
            while !self.reads.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(5));
            }
            match stream.read(&mut block) {
                Ok(n @ 1..) => self.received.fetch_add(n as u64, Ordering::Relaxed),
                _ => break,
            };
        }
        self.over.store(true, Ordering::Relaxed);
    }
}

/// A connection from the sender's namespace to the receiver's.
pub struct Flow {
    pub stream: TcpStream,
    began: Instant,
    far: Arc<Far>,
}

impl Flow {
    /// The controller is set before it connects.
    pub fn open(path: &Path, control: &str) -> Flow {
        Flow::open_and(path, control, Set::BeforeConnect)
    }

    pub fn open_and(path: &Path, control: &str, set: Set) -> Flow {
        let listener = listen(path);
        let port = listener.local_addr().expect("an address").port();
        let no = || AtomicBool::new(false);
        let far = Far { received: AtomicU64::new(0), reads: AtomicBool::new(true), answers: no(), over: no() };
        let far = Arc::new(far);
        let (serving, accepted) = (Arc::clone(&far), (set == Set::AtBothEnds).then(|| control.to_string()));
        spawn(move || serving.serve(&listener, accepted));
        let stream = path.inside("a", || {
            let waits = set != Set::WhileConnecting;
            let flags = if waits { SockFlag::empty() } else { SockFlag::SOCK_NONBLOCK };
            let socket = socket(AddressFamily::Inet, SockType::Stream, flags, SockProtocol::Tcp).expect("a socket");
            if set == Set::BeforeConnect {
                set_control(&socket, control).expect("it is registered");
            }
            let connected = connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(RECEIVER, port)));
            assert_eq!(connected, if waits { Ok(()) } else { Err(Errno::EINPROGRESS) });
            if set != Set::BeforeConnect {
                set_control(&socket, control).expect("it is registered");
            }
            let stream = TcpStream::from(socket);
            while stream.peer_addr().is_err() {
                sleep(Duration::from_millis(1));
            }
            stream.set_nonblocking(false).expect("may wait");
            stream
        });
        stream.set_write_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        stream.set_nodelay(true).expect("an option");
        Flow { stream, began: Instant::now(), far }
    }

    /// What the kernel says steers it.
    pub fn steered_by(&self) -> String {
        let name = getsockopt(&self.stream, sockopt::TcpCongestion).expect("a name");
        name.to_string_lossy().trim_end_matches('\0').to_string()
    }

    /// Asks TCP to send no faster than this, in bytes per second.
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
        self.far.reads.store(reads, Ordering::Relaxed);
    }

    /// Lets the receiver send a little, always.
    pub fn answer(&self, answers: bool) {
        self.far.answers.store(answers, Ordering::Relaxed);
    }

    pub fn look(&self) -> Look {
        look(&self.stream, self.began)
    }

    /// Writes all that the socket takes for the time `long`. Returns the bytes acknowledged meanwhile, per second.
    pub fn bulk(&mut self, long: Duration) -> f64 {
        let (before, block) = (self.look(), vec![0; BLOCK]);
        let until = Instant::now() + long;
        while Instant::now() < until {
            let _ = self.stream.write(&block);
        }
        let after = self.look();
        (after.bytes_acked - before.bytes_acked) as f64 / (after.at - before.at).as_secs_f64()
    }

    /// The same in Mbit/s.
    pub fn mbps(&mut self, long: Duration) -> f64 {
        self.bulk(long) * 8.0 / 1e6
    }

    /// Waits until something is acknowledged; returns how long that took.
    pub fn heard(&self) -> Duration {
        let (began, before) = (Instant::now(), self.look().bytes_acked);
        while self.look().bytes_acked == before {
            assert!(began.elapsed() < PATIENCE, "nothing is acknowledged");
            sleep(Duration::from_millis(1));
        }
        began.elapsed()
    }

    /// Writes a little now and then.
    pub fn trickle(&mut self, bytes: usize, every: Duration, long: Duration) {
        let until = Instant::now() + long;
        while Instant::now() < until {
            self.stream.write_all(&vec![0; bytes]).expect("there is room for little");
            sleep(every);
        }
    }

    /// Waits until the receiver has all that was written.
    pub fn settle(&self) {
        self.wait_for(self.written());
    }

    /// Waits until the receiver has so many bytes.
    fn wait_for(&self, bytes: u64) {
        let (began, has) = (Instant::now(), || self.far.received.load(Ordering::Relaxed));
        while has() < bytes {
            assert!(began.elapsed() < PATIENCE, "the receiver has {} of {bytes} B", has());
            sleep(Duration::from_micros(200));
        }
    }

    fn written(&self) -> u64 {
        let mut queued: libc::c_int = 0;
        // SAFETY: the kernel writes one integer. SIOCOUTQ: bytes not yet acknowledged.
        let failed = unsafe { libc::ioctl(self.stream.as_raw_fd(), libc::TIOCOUTQ, &mut queued) };
        assert_eq!(failed, 0);
        // TCP counts its SYN as a byte.
        self.look().bytes_acked - 1 + queued as u64
    }

    /// Sends `bytes`; returns how many seconds it took until the receiver had them all.
    pub fn complete(&mut self, bytes: usize) -> f64 {
        let (began, block, mut left) = (Instant::now(), vec![0; BLOCK], bytes);
        let target = self.far.received.load(Ordering::Relaxed) + bytes as u64;
        while left > 0 {
            left -= self.stream.write(&block[..left.min(BLOCK)]).unwrap_or(0);
            assert!(began.elapsed() < PATIENCE, "{left} of {bytes} B are not written");
        }
        self.wait_for(target);
        began.elapsed().as_secs_f64()
    }
}

impl Drop for Flow {
    /// Data that is still in the socket need not arrive.
    fn drop(&mut self) {
        self.read(true);
        let _ = setsockopt(&self.stream, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
    }
}
