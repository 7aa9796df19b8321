//! The flows. For each connection, one thread writes and one reads, in blocks of `BLOCK`. The blocks are small, because
//! the kernel defers pacing timers while a program holds the socket in a long `write`.

#![expect(unsafe_code, reason = "a descriptor that accept4 has just made gets its owner")]

use crate::lab::error::LabError;
use crate::lab::namespace::{Namespace, spawn};
use crate::lab::owner::FIRST_FLOW_PORT;
use crate::lab::path::{DCTCP, HEADER, Path, RECEIVER};
use crate::lab::tcp_info::TcpInfo;
use experiment::scenario::{Experiment, FlowSpec, Shared, Size};
use harness::realtime::clock::{monotonic_ns, sleep_until};
use harness::realtime::priority::Urgency;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{self, AddressFamily, Backlog, Shutdown, SockFlag, SockType, SockaddrIn, sockopt};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

const BLOCK: usize = 16 * 1024;

/// Ports of the receiver: of most flows, and of those whose receiver must have the sender's controller.
const PORT: u16 = 5_000;
const DCTCP_PORT: u16 = 5_001;

/// IP and TCP headers with the time-stamp option, which Linux sends with every packet.
const HEADERS: u64 = 20 + 32;

/// Returns Linux's names of a controller; the first that the kernel has is meant. Mainline's `bbr` is BBR version 1.
/// Kernels with version 3 call it `bbr` and version 1 `bbr1`, as scenarios do (github.com/google/bbr, branch v3).
pub(crate) fn kernel_names(controller: &str) -> Vec<&str> {
    match controller {
        "newreno" => vec!["reno"],
        "bbr1" => vec!["bbr1", "bbr"],
        other => vec![other],
    }
}

/// Says which version a scenario's `bbr` is on a kernel with these controllers, if it names it.
pub(crate) fn which_bbr(plan: &[Experiment], has: impl Fn(&str) -> bool) -> Option<String> {
    let named = plan.iter().flat_map(|run| &run.flows).any(|flow| flow.controller.kind == "bbr");
    let said = "\"bbr\" is the kernel's, version 1; in the simulator \"bbr\" is version 3 and \"bbr1\" version 1";
    (named && !has("bbr1")).then(|| said.to_string())
}

/// A flow under way, as seen from outside.
#[derive(Default)]
pub(crate) struct Connection {
    socket: OnceLock<OwnedFd>,
    completed_ns: AtomicU64,
}

impl Connection {
    /// Returns the kernel's `TCP_INFO` of it; `None` before it has begun.
    pub fn info(&self) -> Option<TcpInfo> {
        TcpInfo::of(self.socket.get()?.as_fd()).ok()
    }

    /// Returns when everything was delivered; `None` if the flow has no end or did not reach it.
    pub fn completed_ns(&self) -> Option<u64> {
        Some(self.completed_ns.load(Ordering::Acquire)).filter(|ns| *ns > 0)
    }
}

/// All flows of a run.
pub(crate) struct Flows {
    pub connections: Vec<Arc<Connection>>,
    senders: Vec<JoinHandle<io::Result<()>>>,
    listeners: Vec<Listener>,
    stop: Arc<AtomicBool>,
}

/// A port of the receiver, and the thread that accepts connections there.
struct Listener {
    socket: Arc<OwnedFd>,
    acceptor: Option<JoinHandle<io::Result<()>>>,
}

impl Listener {
    /// Listens; connections get this controller, or the kernel's default.
    fn start(place: &Namespace, port: u16, controller: Option<&str>) -> Result<Listener, LabError> {
        let socket = place.inside(|| {
            listen(port, controller).map_err(LabError::doing(format!("the receiver cannot listen at port {port}")))
        })?;
        let socket = Arc::new(socket);
        let (host, shared) = (place.clone(), Arc::clone(&socket));
        let accepting = move || {
            while let Ok(descriptor) = socket::accept4(shared.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
                // SAFETY: accept4 has just made this descriptor, and nothing else owns it.
                let connection = unsafe { OwnedFd::from_raw_fd(descriptor) };
                // The reader ends with its connection.
                spawn(&host, Urgency::Application, move || drain(&connection))?;
            }
            Ok(())
        };
        let acceptor = spawn(place, Urgency::Application, accepting).map_err(LabError::doing("no thread to run on"))?;
        Ok(Listener { socket, acceptor: Some(acceptor) })
    }

    fn close(&mut self) {
        let _ = socket::shutdown(self.socket.as_raw_fd(), Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// The receiver's port for a controller.
fn port_for(controller: &str) -> u16 {
    if controller == DCTCP { DCTCP_PORT } else { PORT }
}

impl Flows {
    /// Starts the threads. Each flow connects at its instant of CLOCK_MONOTONIC.
    pub fn start(path: &Path, specs: &[Shared<FlowSpec>], starts_ns: &[u64]) -> Result<Flows, LabError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut listeners = vec![Listener::start(&path.receiver, PORT, None)?];
        if specs.iter().any(|spec| spec.controller.kind == DCTCP) {
            listeners.push(Listener::start(&path.receiver, DCTCP_PORT, Some(DCTCP))?);
        }
        let mut flows = Flows { connections: Vec::new(), senders: Vec::new(), listeners, stop };
        for ((number, spec), start_ns) in (0u16..).zip(specs).zip(starts_ns) {
            let connection = Arc::new(Connection::default());
            let sender = Sender {
                controller: spec.controller.kind.clone(),
                port: FIRST_FLOW_PORT + number,
                segment: spec.packet.get() - HEADER - 40,
                amount: amount(spec),
                start_ns: *start_ns,
                connection: Arc::clone(&connection),
                stop: Arc::clone(&flows.stop),
            };
            flows.connections.push(connection);
            let sending = spawn(&path.sender, Urgency::Application, move || sender.run());
            flows.senders.push(sending.map_err(LabError::doing("no thread to run on"))?);
        }
        Ok(flows)
    }

    /// Ends all connections and waits for all senders.
    ///
    /// # Errors
    /// A flow could not begin; the first such flow's reason.
    pub fn end(mut self) -> Result<(), LabError> {
        self.close();
        for (number, sender) in std::mem::take(&mut self.senders).into_iter().enumerate() {
            let ended = sender.join().unwrap_or_else(|_| Err(io::Error::other("its thread failed")));
            ended.map_err(LabError::doing(format!("flow {number}")))?;
        }
        Ok(())
    }

    fn close(&mut self) {
        self.stop.store(true, Ordering::Release);
        for socket in self.connections.iter().filter_map(|connection| connection.socket.get()) {
            // Unsent data would keep the connection, and its congestion control, alive for minutes without a path.
            let _ = socket::setsockopt(socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
            let _ = socket::shutdown(socket.as_raw_fd(), Shutdown::Both);
        }
        self.listeners.iter_mut().for_each(Listener::close);
    }
}

impl Drop for Flows {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the payload of a flow: as many packets as the simulator's flow would send.
fn amount(spec: &FlowSpec) -> Option<u64> {
    match spec.size {
        Size::Unlimited => None,
        Size::Bytes(bytes) => Some(bytes.packets_of(spec.packet).get() * (spec.packet.get() - HEADER - HEADERS)),
    }
}

fn listen(port: u16, controller: Option<&str>) -> io::Result<OwnedFd> {
    let listener = controller.map_or_else(stream, stream_with)?;
    socket::setsockopt(&listener, sockopt::ReuseAddr, &true)?;
    socket::bind(listener.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, port))?;
    socket::listen(&listener, Backlog::MAXCONN)?;
    Ok(listener)
}

fn stream() -> io::Result<OwnedFd> {
    Ok(socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?)
}

/// Makes a socket with this controller of a scenario.
pub(crate) fn stream_with(controller: &str) -> io::Result<OwnedFd> {
    let names = kernel_names(controller);
    let first = names.iter().find_map(|name| match stream_with_kernels(name) {
        Err(error) if is_missing(&error) => None,
        tried => Some(tried),
    });
    first.unwrap_or_else(|| Err(io::Error::from_raw_os_error(libc::ENOENT)))
}

/// Makes a socket with the kernel's congestion control of this name.
fn stream_with_kernels(name: &str) -> io::Result<OwnedFd> {
    let socket = stream()?;
    socket::setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(name))?;
    Ok(socket)
}

/// Reads to the end.
fn drain(connection: &OwnedFd) -> io::Result<()> {
    let mut block = vec![0u8; 4 * BLOCK];
    loop {
        match nix::unistd::read(connection, &mut block) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::EINTR) => {}
            // Connections are cut when the run ends.
            Err(_) => return Ok(()),
        }
    }
}

struct Sender {
    controller: String,
    port: u16,
    segment: u64,
    amount: Option<u64>,
    start_ns: u64,
    connection: Arc<Connection>,
    stop: Arc<AtomicBool>,
}

impl Sender {
    fn run(self) -> io::Result<()> {
        sleep_until(self.start_ns);
        let socket = stream_with(&self.controller)?;
        socket::setsockopt(&socket, sockopt::TcpMaxSeg, &(self.segment as u32))?;
        socket::bind(socket.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, self.port))?;
        let socket = self.connection.socket.get_or_init(|| socket);
        let to: std::net::Ipv4Addr = RECEIVER.parse().map_err(io::Error::other)?;
        let connected = socket::connect(
            socket.as_raw_fd(),
            &SockaddrIn::from(std::net::SocketAddrV4::new(to, port_for(&self.controller))),
        );
        match connected.map_err(io::Error::from).and_then(|()| self.write(socket)) {
            // Connections are cut when the run ends, whatever their state.
            Err(_) if self.stop.load(Ordering::Acquire) => Ok(()),
            ended => ended,
        }
    }

    fn write(&self, socket: &OwnedFd) -> io::Result<()> {
        let block = vec![0u8; BLOCK];
        let mut left = self.amount.unwrap_or(u64::MAX);
        while left > 0 && !self.stop.load(Ordering::Relaxed) {
            let size = left.min(BLOCK as u64) as usize;
            let written = socket::send(socket.as_raw_fd(), &block[..size], socket::MsgFlags::MSG_NOSIGNAL)?;
            left -= if self.amount.is_some() { written as u64 } else { 0 };
        }
        if left == 0 {
            socket::shutdown(socket.as_raw_fd(), Shutdown::Write)?;
            // The receiver closes when it has everything.
            drain(socket)?;
            if !self.stop.load(Ordering::Acquire) {
                self.connection.completed_ns.store(monotonic_ns(), Ordering::Release);
            }
        }
        Ok(())
    }
}

/// Returns Linux's names of the controllers that the kernel has loaded.
pub(crate) fn loaded() -> Vec<String> {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(str::to_string).collect()
}

/// Of the controllers that a scenario may name, those that a kernel with these has, for messages.
pub(crate) fn available(loaded: &[String]) -> String {
    let has = |name: &&str| kernel_names(name).iter().any(|kernels| loaded.iter().any(|known| known == kernels));
    packetscale_models::congestion::registry().iter().map(|entry| entry.name).filter(has).collect::<Vec<_>>().join(", ")
}

/// Whether `error` says that the kernel has no controller of that name.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_controllers_are_told_by_the_names_of_scenarios() {
        let has = |names: &[&str]| available(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        let told = has(&["reno", "cubic", "bbr"]);
        let mut told: Vec<&str> = told.split(", ").collect();
        told.sort_unstable();
        assert_eq!(told, ["bbr", "bbr1", "cubic", "newreno"]);
        assert_eq!(has(&["nobody"]), "");
    }
}
