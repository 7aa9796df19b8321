//! Runs the stamp program over crafted packets: checks what it records, and that it passes every packet unchanged.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;

use libbpf_rs::{MapCore, MapFlags, ProgramInput};

use super::net::{Cgroup, Namespace};
use super::programs::{Programs, STAMPS, WANTS};
use super::sequence::{self, Queue};
use super::{alone, needs_programs};

/// TC_ACT_UNSPEC: the packet continues as without the program.
const UNSPECIFIED: u32 = u32::MAX;

const PAYLOAD: usize = 600;

/// A connection over our own loopback device, and the programs.
struct Host {
    namespace: Namespace,
    programs: Programs,
    client: SocketAddr,
    server: SocketAddr,
    /// The socket where the data arrives; its storage holds the stamps.
    receiver: TcpStream,
    _sender: TcpStream,
}

/// An arrival in the ring of `stamp.h`.
#[derive(Debug, PartialEq, Eq)]
struct Noted {
    start: u32,
    end: u32,
    segments: u16,
}

impl Host {
    fn new(address: &str) -> Host {
        let namespace = Namespace::new().expect("a namespace");
        let cgroup = Cgroup::new("crafted").expect("a cgroup");
        let programs = Programs::load(STAMPS | WANTS);
        let link = programs.attach_option(&cgroup);
        let (sender, receiver) = cgroup.with(|| {
            namespace.inside(|| {
                let listener = TcpListener::bind((address, 0)).expect("loopback");
                let mut sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
                sender.write_all(b"x").expect("sends");
                (sender, listener.accept().expect("connected").0)
            })
        });
        drop(link);
        let [client, server] = [receiver.peer_addr(), receiver.local_addr()].map(|a| a.expect("connected"));
        Host { namespace, programs, client, server, receiver, _sender: sender }
    }

    fn storage(&self) -> Vec<u8> {
        let stamps = self.programs.option.maps().find(|m| m.name() == "stamps").expect("the map");
        let key = self.receiver.as_raw_fd().to_ne_bytes();
        stamps.lookup(&key, MapFlags::ANY).expect("a lookup").expect("the connection has stamps")
    }

    /// The sequence number that the receiver waits for.
    fn next(&self) -> u32 {
        sequence::next(&self.receiver, Queue::Receive)
    }

    /// Runs the program over an Ethernet frame and returns the arrival that it records. Panics if it changes the frame.
    fn run(&self, frame: &[u8], merged: u32) -> Option<Noted> {
        self.run_sized(frame, merged, if merged > 0 { 100 } else { 0 })
    }

    /// The same, merged of segments of `size` bytes.
    fn run_sized(&self, frame: &[u8], merged: u32, size: u32) -> Option<Noted> {
        let word = |bytes: &[u8], at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let before = word(&self.storage(), 0);
        let program = self.programs.stamp.progs_mut().find(|p| p.name() == "stamp_arrival").expect("the program");
        // Of `struct __sk_buff`: gso_segs, gso_size.
        let mut context = [0u8; 192];
        context[164..168].copy_from_slice(&merged.to_ne_bytes());
        context[176..180].copy_from_slice(&size.to_ne_bytes());
        let mut out = vec![0u8; frame.len() + 64];
        let (verdict, left) = self.namespace.inside(|| {
            let input = ProgramInput {
                data_in: Some(frame),
                data_out: Some(&mut out),
                context_in: Some(&mut context),
                ..ProgramInput::default()
            };
            let output = program.test_run(input).expect("runs");
            (output.return_value, output.data.map(|data| data.to_vec()))
        });
        assert_eq!(verdict, UNSPECIFIED, "the packet's way was changed");
        assert_eq!(left.as_deref(), Some(frame), "the packet was changed");
        let storage = self.storage();
        let after = word(&storage, 0);
        (after != before).then(|| {
            assert_eq!(after, before.wrapping_add(1));
            let slot = (before % 128) as usize;
            let entry = 304 + 16 * slot;
            let segments = u16::from_ne_bytes([storage[44 + 2 * slot], storage[45 + 2 * slot]]);
            Noted { start: word(&storage, entry + 8), end: word(&storage, entry + 12), segments }
        })
    }

    fn frame(&self) -> Frame {
        Frame::new(self.client, self.server, self.next())
    }
}

/// A packet under construction. Every part can be made wrong.
#[derive(Clone)]
struct Frame {
    client: SocketAddr,
    server: SocketAddr,
    tags: Vec<u16>,
    seq: u32,
    protocol: u8,
    ip_options: usize,
    fragment: u16,
    /// IPv6 extension headers, by number.
    extensions: Vec<u8>,
    flags: u8,
    data_offset: u8,
    payload: usize,
    /// Added to the length in the IP header.
    lie: i32,
}

impl Frame {
    fn new(client: SocketAddr, server: SocketAddr, seq: u32) -> Frame {
        Frame {
            client,
            server,
            tags: vec![],
            seq,
            protocol: 6,
            ip_options: 0,
            fragment: 0x4000,
            extensions: vec![],
            flags: 0x18,
            data_offset: 8,
            payload: PAYLOAD,
            lie: 0,
        }
    }

    fn tcp(&self) -> Vec<u8> {
        let mut tcp = [self.client.port().to_be_bytes(), self.server.port().to_be_bytes()].concat();
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend([0, 0, 0, 0, self.data_offset << 4, self.flags, 1, 0, 0, 0, 0, 0]);
        tcp.extend(vec![1; (usize::from(self.data_offset) * 4).saturating_sub(20)]);
        tcp.extend(vec![0x5a; self.payload]);
        tcp
    }

    fn build(&self) -> Vec<u8> {
        let mut frame = vec![0x02; 12];
        for tag in &self.tags {
            frame.extend(tag.to_be_bytes());
            frame.extend([0, 7]);
        }
        let tcp = self.tcp();
        match (self.client.ip(), self.server.ip()) {
            (std::net::IpAddr::V4(from), std::net::IpAddr::V4(to)) => {
                frame.extend([0x08, 0x00]);
                let total = 20 + self.ip_options + tcp.len();
                frame.extend([0x45 + (self.ip_options / 4) as u8, 0]);
                frame.extend((total as i32 + self.lie).to_be_bytes()[2..].iter());
                frame.extend([0, 1]);
                frame.extend(self.fragment.to_be_bytes());
                frame.extend([64, self.protocol, 0, 0]);
                frame.extend(from.octets().iter().chain(&to.octets()));
                frame.extend(vec![1; self.ip_options]);
            }
            (std::net::IpAddr::V6(from), std::net::IpAddr::V6(to)) => {
                frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
                let total = self.extensions.len() * 16 + tcp.len();
                frame.extend((total as i32 + self.lie).to_be_bytes()[2..].iter());
                frame.extend([self.extensions.first().copied().unwrap_or(self.protocol), 64]);
                frame.extend(from.octets().iter().chain(&to.octets()));
                for (i, _) in self.extensions.iter().enumerate() {
                    // Sixteen bytes each: one unit beyond the first eight, filled with options that have no effect.
                    frame.extend([self.extensions.get(i + 1).copied().unwrap_or(self.protocol), 1]);
                    frame.extend([0; 14]);
                }
            }
            _ => unreachable!("both ends are of one family"),
        }
        frame.extend(tcp);
        frame
    }
}

/// All of a frame's data, by the sequence numbers of its host.
fn whole(host: &Host, segments: u16) -> Option<Noted> {
    let start = host.next();
    Some(Noted { start, end: start.wrapping_add(PAYLOAD as u32), segments })
}

#[test]
fn records_negotiated_data_and_passes_it_unchanged() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for address in ["127.0.0.1", "::1"] {
        let host = Host::new(address);
        let plain = host.frame();
        assert_eq!(host.run(&plain.build(), 0), whole(&host, 0), "{address}");
        assert_eq!(host.run(&plain.build(), 6), whole(&host, 6), "merged of six");
        let options = Frame { data_offset: 15, ..plain.clone() };
        assert_eq!(host.run(&options.build(), 0), whole(&host, 0), "40 bytes of TCP options");
        for tags in [vec![0x8100], vec![0x88a8, 0x8100]] {
            let tagged = Frame { tags, ..plain.clone() };
            assert_eq!(host.run(&tagged.build(), 0), whole(&host, 0), "{address}, tags {:x?}", tagged.tags);
        }
    }
}

#[test]
fn counts_segments_of_merged_packets() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let host = Host::new("127.0.0.1");
    // As virtio-net and TUN hand them over: a size, and no number.
    assert_eq!(host.run_sized(&host.frame().build(), 0, 100), whole(&host, 6));
    assert_eq!(host.run_sized(&host.frame().build(), 0, 250), whole(&host, 3), "250, 250, 100");
}

#[test]
fn does_not_record_data_that_tcp_rejects() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let host = Host::new("127.0.0.1");
    let plain = host.frame();
    let at = |ahead: u32| Frame { seq: plain.seq.wrapping_add(ahead), ..plain.clone() };
    // The window of a new connection is 64 kB at most (RFC 7323 scales only those that follow).
    for (what, ahead) in [("half the space ahead", 1 << 31), ("16 MB ahead", 16 << 20), ("old", 0u32.wrapping_sub(600))]
    {
        assert_eq!(host.run(&at(ahead).build(), 0), None, "{what}");
    }
    assert!(host.run(&at(1200).build(), 0).is_some(), "behind a hole");
    assert_eq!(host.run(&plain.build(), 0), whole(&host, 0));
}

#[test]
fn skips_ip_options_and_extension_headers() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let host = Host::new("127.0.0.1");
    let frame = Frame { ip_options: 40, ..host.frame() };
    assert_eq!(host.run(&frame.build(), 0), whole(&host, 0));
    let host = Host::new("::1");
    for extensions in [vec![0], vec![60], vec![0, 43, 60]] {
        let frame = Frame { extensions, ..host.frame() };
        assert_eq!(host.run(&frame.build(), 0), whole(&host, 0), "extensions {:?}", frame.extensions);
    }
}

#[test]
fn does_not_record_unrelated_packets() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for address in ["127.0.0.1", "::1"] {
        let host = Host::new(address);
        let plain = host.frame();
        let mut stranger = plain.clone();
        stranger.client.set_port(plain.client.port() ^ 1);
        let length = plain.tcp().len() as i32 + if plain.client.is_ipv4() { 20 } else { 0 };
        let others = [
            ("another connection", stranger),
            ("a pure acknowledgment", Frame { payload: 0, ..plain.clone() }),
            ("a SYN", Frame { flags: 0x02, ..plain.clone() }),
            ("a RST", Frame { flags: 0x14, ..plain.clone() }),
            ("UDP", Frame { protocol: 17, ..plain.clone() }),
            ("three tags", Frame { tags: vec![0x88a8, 0x88a8, 0x8100], ..plain.clone() }),
            ("a TCP header of 16 bytes", Frame { data_offset: 4, ..plain.clone() }),
            ("an IP packet that ends before TCP does", Frame { lie: -(PAYLOAD as i32) - 20, ..plain.clone() }),
            ("an IP packet of no length", Frame { lie: -length, ..plain.clone() }),
        ];
        for (what, frame) in others {
            assert_eq!(host.run(&frame.build(), 0), None, "{address}: {what}");
        }
        assert_eq!(host.run(&plain.build(), 0), whole(&host, 0), "{address}: and yet the next one is");
    }
}

#[test]
fn fragments_are_not_noted() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let host = Host::new("127.0.0.1");
    for fragment in [0x2000, 0x0001, 0x20b9] {
        assert_eq!(host.run(&Frame { fragment, ..host.frame() }.build(), 0), None, "{fragment:#x}");
    }
    let host = Host::new("::1");
    for extensions in [vec![44], vec![0, 44], vec![50], vec![0; 5]] {
        let frame = Frame { extensions, ..host.frame() };
        assert_eq!(host.run(&frame.build(), 0), None, "extensions {:?}", frame.extensions);
    }
}

#[test]
fn truncated_packet_passes_unchanged() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for (address, headers) in [("127.0.0.1", 14 + 20 + 20), ("::1", 14 + 40 + 20)] {
        let host = Host::new(address);
        let frame = Frame { tags: vec![0x8100], ..host.frame() }.build();
        for length in 14..headers + 10 {
            // A whole TCP header behind the tag is enough; TCP judges the rest.
            let expected = if length < headers + 4 { None } else { whole(&host, 0) };
            assert_eq!(host.run(&frame[..length], 0), expected, "{address}: {length} bytes");
        }
    }
}

#[test]
fn noise_passes_unchanged() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let host = Host::new("127.0.0.1");
    let good = host.frame().build();
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    for _ in 0..400 {
        let mut frame = good.clone();
        for _ in 0..=next() % 6 {
            // Anywhere in the headers.
            let at = 12 + next() as usize % 60;
            frame[at] = next() as u8;
        }
        host.run(&frame, 0);
    }
}
