//! Which controller steers a connection, and what a connection loses when Rapid falls back.

use super::flow::{Flow, Set, set_control};
use super::namespaces::{Bottleneck, Path, printed, run};
use super::{EmptyCgroup, Loaded, able, alone, clang};
use linux::tcp::{self, Options, Source};
use nix::sys::socket::{getsockopt, sockopt};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

#[test]
#[ignore = "long: make test-long"]
fn peer_without_arrivals_gets_cubics_speed() {
    if !able() {
        return;
    }
    let _alone = alone();
    let empty = EmptyCgroup::new("handover");
    let rapid = Loaded::new("hand", Options { flows: 4, cgroup: Some(empty.0.clone()), ..Options::default() });
    let path = Path::new("hand", &Bottleneck { mbit: 50, limit: 375_000 });
    path.delay(60);
    for set in [Set::BeforeConnect, Set::AfterConnect] {
        for bytes in [100_000, 1_000_000, 4_000_000] {
            let [cubic, steered] =
                ["cubic", &rapid.name].map(|control| Flow::open(&path, control, set).complete(bytes).as_secs_f64());
            eprintln!("{set:?}, {bytes} B: rapid {steered:.3} s, cubic {cubic:.3} s");
            assert!(steered < 1.05 * cubic, "{set:?}, {bytes} B: rapid {steered:.3} s, cubic {cubic:.3} s");
        }
    }
    let fallen = tcp::status(&rapid.name).expect("loaded").fallen;
    assert_eq!(fallen.len(), 6, "and status reports it: {fallen:?}");
}

/// A sender whose fallback controller is not in the kernel.
pub fn orphan() -> Vec<u8> {
    clang::compiled("tests/tcp/orphan.bpf.c", &[])
}

#[test]
fn reno_takes_over_without_cubic() {
    if !clang::is_installed() || !able() {
        return;
    }
    let _alone = alone();
    let empty = EmptyCgroup::new("orphan");
    let options = Options { flows: 4, cgroup: Some(empty.0.clone()), sender: Some(orphan()), ..Options::default() };
    let rapid = Loaded::new("orphan", options);
    let path = Path::new("orphan", &Bottleneck { mbit: 50, limit: 375_000 });
    path.delay(60);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    let (steered, name) = (flow.complete(1_000_000), getsockopt(&flow.stream, sockopt::TcpCongestion));
    let reno = Flow::open(&path, "reno", Set::BeforeConnect).complete(1_000_000);
    assert_eq!(name.expect("a name").to_str().map(|name| name.trim_end_matches('\0')), Some("reno"));
    assert!(steered.as_secs_f64() < 1.1 * reno.as_secs_f64(), "1 MB: {steered:?}, by reno {reno:?}");
}

#[test]
fn pacing_limit_survives_handover_to_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let empty = EmptyCgroup::new("limit");
    let rapid = Loaded::new("keep", Options { flows: 4, cgroup: Some(empty.0.clone()), ..Options::default() });
    let path = Path::new("keep", &Bottleneck { mbit: 50, limit: 375_000 });
    path.delay(20);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.limit(500_000);
    flow.bulk(Duration::from_secs(1));
    let rate = flow.bulk(Duration::from_secs(1)) * 8.0 / 1e6;
    eprintln!("a limit of 4 Mbit/s: {rate:.2} Mbit/s after the hand-over");
    assert_eq!(tcp::status(&rapid.name).expect("loaded").fallen.len(), 1);
    assert!(rate > 3.4 && rate < 4.2, "{rate:.2} Mbit/s, the limit is 4.00");
}

#[test]
#[ignore = "long: make test-long"]
fn controller_set_after_connect_gets_arrivals() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("late", &Bottleneck { mbit: 50, limit: 100_000 });
    path.delay(20);
    for set in [Set::AfterConnect, Set::WhileConnecting, Set::AtBothEnds] {
        let mut flow = Flow::open(&path, &rapid.name, set);
        let reached = flow.bulk(Duration::from_secs(2)) * 8.0 / 1e6;
        let status = tcp::status(&rapid.name).expect("loaded");
        eprintln!("{set:?}: {reached:.1} Mbit/s, fallen {:?}", status.fallen);
        let sender = status.connections.iter().max_by_key(|report| report.delivered);
        let report = sender.unwrap_or_else(|| panic!("CUBIC has it: {:?}", status.fallen));
        assert!(status.fallen.is_empty(), "{set:?}: {:?}", status.fallen);
        assert_eq!(report.source(), Source::Option);
        assert!(10 * report.stamped > 9 * report.delivered, "{} of {} reported", report.stamped, report.delivered);
    }
}

#[test]
fn controller_set_after_accept_gets_arrivals() {
    if !able() {
        return;
    }
    let _alone = alone();
    // The server is on the side whose packets cross the bottleneck.
    let (rapid, path) = Loaded::over("acc", &Bottleneck { mbit: 50, limit: 100_000 });
    let listener = path.inside("a", || TcpListener::bind("10.88.1.1:0").expect("a port"));
    let to = listener.local_addr().expect("an address");
    let mut client = path.inside("b", || std::net::TcpStream::connect(to).expect("connects"));
    let (mut server, _) = listener.accept().expect("a connection");
    set_control(&server, &rapid.name);
    let reader = std::thread::spawn(move || {
        let (mut all, mut block) = (0, vec![0; 65536]);
        while all < 3_000_000 {
            match client.read(&mut block) {
                Ok(n) if n > 0 => all += n,
                _ => break,
            }
        }
        (all, client)
    });
    server.write_all(&vec![0; 3_000_000]).expect("sends");
    let (read, _client) = reader.join().expect("no panic");
    assert_eq!((rapid.report().source(), read), (Source::Option, 3_000_000));
}

/// How often `fq` held a packet back for the pacing of its connection.
fn throttled(path: &Path) -> u64 {
    let shown = printed(&format!("tc -n {} -s qdisc show dev out", path.host("a")));
    // Flows that are held back now come first.
    let after = shown.rsplit("throttled ").next().unwrap_or_else(|| panic!("no fq: {shown}"));
    after.split(|c: char| !c.is_ascii_digit()).next().and_then(|word| word.parse().ok()).expect("a number")
}

/// An accepted connection, so that `fq` reports pacing only after the controller was selected. Each reply is larger than the
/// buffer, which holds paced packets but not bursts.
#[test]
fn fq_paces_after_handover_to_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let empty = EmptyCgroup::new("paced");
    let rapid = Loaded::new("paced", Options { flows: 4, cgroup: Some(empty.0.clone()), ..Options::default() });
    let took = ["cubic", &rapid.name].map(|control| {
        let path = Path::new("paced", &Bottleneck { mbit: 50, limit: 30_000 });
        path.delay(40);
        run(&format!("tc -n {} qdisc replace dev out root fq", path.host("a")));
        let listener = path.inside("a", || TcpListener::bind("10.88.1.1:0").expect("a port"));
        set_control(&listener, control);
        let to = listener.local_addr().expect("an address");
        let mut client = path.inside("b", || TcpStream::connect(to).expect("connects"));
        let (mut server, _) = listener.accept().expect("a connection");
        let mut block = vec![0; 60_000];
        let answers: Vec<f64> = (0..20)
            .map(|_| {
                let began = Instant::now();
                std::thread::scope(|scope| {
                    scope.spawn(|| server.write_all(&vec![0; 60_000]).expect("sends"));
                    client.read_exact(&mut block).expect("arrives");
                });
                let took = began.elapsed();
                std::thread::sleep(Duration::from_millis(100));
                took.as_secs_f64()
            })
            .collect();
        assert!(throttled(&path) > 0, "{control}");
        answers.iter().sum::<f64>() / 20.0
    });
    let [cubic, fallen] = took;
    eprintln!("answers of 60 kB through fq: cubic {cubic:.4} s, fallen {fallen:.4} s");
    assert_eq!(tcp::status(&rapid.name).expect("loaded").fallen.len(), 1);
    assert!(fallen < 1.1 * cubic, "cubic {cubic:.4} s, fallen {fallen:.4} s");
}

/// TCP takes a limit of 0 for none.
#[test]
fn limit_of_zero_means_none() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("zero");
    let rates = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        flow.bulk(Duration::from_secs(1));
        flow.limit(0);
        flow.bulk(Duration::from_secs(3))
    });
    assert!(rates[1] > 0.9 * rates[0], "bytes per second, cubic's and rapid's: {rates:?}");
}
