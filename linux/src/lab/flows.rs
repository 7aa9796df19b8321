//! The flows. For each connection, one thread writes ([`sender`](crate::lab::sender)) and one reads.

#![expect(unsafe_code, reason = "a descriptor that accept4 has just made gets its owner")]

use crate::lab::error::LabError;
use crate::lab::namespace::{Namespace, spawn};
use crate::lab::owner::FIRST_FLOW_PORT;
use crate::lab::path::{DCTCP, HEADER, Path};
use crate::lab::sender::{Offers, Sender, Supply};
use crate::lab::sockets::{Connection, DCTCP_PORT, PORT, drain, kernel_names, stream, stream_with};
use experiment::scenario::{Experiment, FlowSpec, Shared, Size};
use harness::realtime::priority::Urgency;
use nix::libc;
use nix::sys::socket::{self, Backlog, Shutdown, SockFlag, SockaddrIn, sockopt};
use packetscale_models::units::Time;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// IP and TCP headers with the time-stamp option, which Linux sends with every packet.
const HEADERS: u64 = 20 + 32;

/// Explains which version a scenario's `bbr` is on a kernel with these controllers, if the plan uses it.
pub(crate) fn which_bbr(plan: &[Experiment], has: impl Fn(&str) -> bool) -> Option<String> {
    let named = plan.iter().flat_map(|run| &run.flows).any(|flow| flow.controller.kind == "bbr");
    let output = "\"bbr\" is the kernel's, version 1; in the simulator \"bbr\" is version 3 and \"bbr1\" version 1";
    (named && !has("bbr1")).then(|| output.to_string())
}

/// All flows of a run.
pub(crate) struct Flows {
    pub connections: Vec<Arc<Connection>>,
    senders: Vec<JoinHandle<io::Result<()>>>,
    listeners: Vec<Listener>,
    over: Arc<AtomicBool>,
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

impl Flows {
    /// Starts the threads. Each flow connects at its time from `zero_ns` of CLOCK_MONOTONIC on, and sends what `offers` has
    /// for it.
    pub fn start(
        path: &Path,
        specs: &[Shared<FlowSpec>],
        starts: &[Time],
        mut offers: Vec<Option<Offers>>,
        zero_ns: u64,
    ) -> Result<Flows, LabError> {
        let over = Arc::new(AtomicBool::new(false));
        let mut listeners = vec![Listener::start(&path.receiver, PORT, None)?];
        if specs.iter().any(|spec| spec.controller.kind == DCTCP) {
            listeners.push(Listener::start(&path.receiver, DCTCP_PORT, Some(DCTCP))?);
        }
        offers.resize_with(specs.len(), || None);
        let mut flows = Flows { connections: Vec::new(), senders: Vec::new(), listeners, over };
        for (((number, spec), start), offers) in (0u16..).zip(specs).zip(starts).zip(offers) {
            let connection = Arc::new(Connection::default());
            let at = |time: Time| zero_ns.saturating_add(time.nanos());
            let sender = Sender {
                controller: spec.controller.kind.clone(),
                port: FIRST_FLOW_PORT + number,
                segment: spec.packet.get() - HEADER - 40,
                payload: payload(spec),
                supply: offers.map_or_else(|| supply(spec), Supply::Offered),
                zero_ns,
                start_ns: at(*start),
                stop_ns: spec.stop.map_or(u64::MAX, at),
                connection: Arc::clone(&connection),
                over: Arc::clone(&flows.over),
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
        self.over.store(true, Ordering::Release);
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

/// Payload of a flow's full segment.
fn payload(spec: &FlowSpec) -> u64 {
    spec.packet.get() - HEADER - HEADERS
}

/// Data of a flow without an application: as many packets as the simulator's flow would send.
fn supply(spec: &FlowSpec) -> Supply {
    match spec.size {
        Size::Unlimited => Supply::Endless,
        Size::Bytes(bytes) => Supply::Amount(bytes.packets_of(spec.packet).get() * payload(spec)),
    }
}

fn listen(port: u16, controller: Option<&str>) -> io::Result<OwnedFd> {
    let listener = controller.map_or_else(stream, stream_with)?;
    socket::setsockopt(&listener, sockopt::ReuseAddr, &true)?;
    socket::bind(listener.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, port))?;
    socket::listen(&listener, Backlog::MAXCONN)?;
    Ok(listener)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_kernel_controllers_by_scenario_names() {
        let has = |names: &[&str]| available(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        let names = has(&["reno", "cubic", "bbr"]);
        let mut names: Vec<&str> = names.split(", ").collect();
        names.sort_unstable();
        assert_eq!(names, ["bbr", "bbr1", "cubic", "newreno"]);
        assert_eq!(has(&["nobody"]), "");
    }
}
