//! Who steers a connection, and what a connection loses where Rapid cannot.

use super::connection::set_control;
use super::flow::{Flow, Set};
use super::namespaces::{Path, run, said};
use super::{Loaded, Nobody, SECOND, alone, clang, few, judge};
use linux::tcp::{Options, Source};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Rapid for connections of which none agrees on arrivals.
fn deaf(test: &str, sender: Option<Vec<u8>>) -> (Nobody, Loaded) {
    let nobody = Nobody::new(test);
    let rapid = Loaded::new(test, Options { cgroup: Some(nobody.0.clone()), sender, ..few("", 4) });
    (nobody, rapid)
}

fn path(test: &str, limit: u32, delay_ms: u32) -> Path {
    let path = Path::new(test, 50, limit);
    path.delay(delay_ms);
    path
}

#[test]
#[ignore = "long: make test-long"]
fn peer_that_tells_no_arrivals_gets_its_data_as_fast_as_from_cubic() {
    let Some(_alone) = alone() else { return };
    let (_nobody, rapid) = deaf("hand", None);
    let path = path("hand", 375_000, 60);
    for set in [Set::BeforeConnect, Set::AfterConnect] {
        for bytes in [100_000, 1_000_000, 4_000_000] {
            let [cubic, steered] =
                ["cubic", &rapid.name].map(|control| Flow::open_and(&path, control, set).complete(bytes));
            let found = format!("{set:?}, {bytes} B: rapid {steered:.3} s, cubic {cubic:.3} s");
            judge(steered < 1.05 * cubic, found);
        }
    }
    assert_eq!(rapid.reasons().len(), 6, "and status says so: {:?}", rapid.reasons());
}

/// A sender whose successor is not in the kernel.
pub fn orphan() -> Vec<u8> {
    clang::compiled("tests/tcp/orphan.bpf.c", &[])
}

#[test]
fn reno_takes_over_where_there_is_no_cubic() {
    let Some(_alone) = alone() else { return };
    let (_nobody, rapid) = deaf("orphan", Some(orphan()));
    let path = path("orphan", 375_000, 60);
    let mut flow = rapid.flow(&path);
    let (steered, name) = (flow.complete(1_000_000), flow.steered_by());
    let reno = Flow::open(&path, "reno").complete(1_000_000);
    judge(name == "reno" && steered < 1.1 * reno, format_args!("1 MB by {name}: {steered:.3} s, by reno {reno:.3} s"));
}

#[test]
fn limit_of_the_application_outlives_the_hand_over() {
    let Some(_alone) = alone() else { return };
    let (_nobody, rapid) = deaf("keep", None);
    let path = path("keep", 375_000, 20);
    let mut flow = rapid.flow(&path);
    flow.limit(500_000);
    flow.bulk(SECOND);
    let rate = flow.mbps(SECOND);
    assert_eq!(rapid.reasons().len(), 1);
    judge(rate > 3.4 && rate < 4.2, format_args!("a limit of 4 Mbit/s: {rate:.2} Mbit/s after the hand-over"));
}

#[test]
#[ignore = "long: make test-long"]
fn controller_set_after_connecting_hears_of_arrivals() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("late", 50, 100_000);
    path.delay(20);
    for set in [Set::AfterConnect, Set::WhileConnecting, Set::AtBothEnds] {
        let mut flow = Flow::open_and(&path, &rapid.name, set);
        let reached = flow.mbps(2 * SECOND);
        let status = rapid.status();
        eprintln!("{set:?}: {reached:.1} Mbit/s, fallen {:?}", status.fallen);
        let sender = status.connections.iter().max_by_key(|report| report.delivered);
        let report = sender.unwrap_or_else(|| panic!("CUBIC has it: {:?}", status.fallen));
        assert!(status.fallen.is_empty(), "{set:?}: {:?}", status.fallen);
        assert_eq!(report.source(), Source::Option);
        assert!(10 * report.stamped > 9 * report.delivered, "{} of {} told", report.stamped, report.delivered);
    }
}

#[test]
fn controller_set_on_an_accepted_socket_hears_of_arrivals() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("acc", 50, 100_000);
    let (mut server, mut client) = answering(&path, |_| ());
    set_control(&server, &rapid.name).expect("it is registered");
    let reader = std::thread::spawn(move || {
        client.read_exact(&mut vec![0; 3_000_000]).expect("arrives");
        client
    });
    server.write_all(&vec![0; 3_000_000]).expect("sends");
    let _client = reader.join().expect("no panic");
    assert_eq!(rapid.report().source(), Source::Option);
}

/// A server at the side whose packets cross the bottleneck, and its client.
fn answering(path: &Path, prepare: impl Fn(&TcpListener)) -> (TcpStream, TcpStream) {
    let listener = path.inside("a", || TcpListener::bind("10.88.1.1:0").expect("a port"));
    prepare(&listener);
    let to = listener.local_addr().expect("an address");
    let client = path.inside("b", || TcpStream::connect(to).expect("connects"));
    (listener.accept().expect("a connection").0, client)
}

/// How often `fq` held a packet back for the pacing of its connection.
fn throttled(path: &Path) -> u64 {
    let shown = said(&format!("tc -n {} -s qdisc show dev out", path.host("a")));
    // Flows that are held back now come first.
    let after = shown.rsplit("throttled ").next().unwrap_or_else(|| panic!("no fq: {shown}"));
    after.split(|c: char| !c.is_ascii_digit()).next().and_then(|word| word.parse().ok()).expect("a number")
}

/// An accepted connection, so that `fq` says that it paces only after the controller was chosen. Each answer is larger than the
/// buffer, which holds what is paced and not what leaves at once.
#[test]
fn fq_paces_what_cubic_has_taken_over() {
    let Some(_alone) = alone() else { return };
    let (_nobody, rapid) = deaf("paced", None);
    let [cubic, fallen] = ["cubic", &rapid.name].map(|control| {
        let path = self::path("paced", 30_000, 40);
        run(&format!("tc -n {} qdisc replace dev out root fq", path.host("a")));
        let choose = |listener: &TcpListener| set_control(listener, control).expect("it is registered");
        let (mut server, mut client) = answering(&path, choose);
        let mut answer = || {
            let began = Instant::now();
            std::thread::scope(|scope| {
                scope.spawn(|| server.write_all(&vec![0; 60_000]).expect("sends"));
                client.read_exact(&mut vec![0; 60_000]).expect("arrives");
            });
            let took = began.elapsed();
            std::thread::sleep(Duration::from_millis(100));
            took.as_secs_f64()
        };
        let answers: Vec<f64> = (0..20).map(|_| answer()).collect();
        assert!(throttled(&path) > 0, "{control}");
        answers.iter().sum::<f64>() / 20.0
    });
    assert_eq!(rapid.reasons().len(), 1);
    judge(fallen < 1.1 * cubic, format_args!("60 kB through fq: cubic {cubic:.4} s, fallen {fallen:.4} s"));
}

/// TCP takes a limit of 0 for none.
#[test]
fn limit_of_zero_is_none() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("zero");
    let rates = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control);
        flow.bulk(SECOND);
        flow.limit(0);
        flow.mbps(3 * SECOND)
    });
    judge(rates[1] > 0.9 * rates[0], format_args!("cubic's and rapid's Mbit/s: {rates:.2?}"));
}
