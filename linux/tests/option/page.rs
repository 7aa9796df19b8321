//! Compiles the page of `wire.h`, the ring of `stamp.h` and the clock of `option_clock.h` for user space with sanitizers,
//! and compares them with a reading in Rust.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::clang;
use super::wire::{Run, unpack};

/// Requests on their way at once: they, and their answers, fit into the 64 KiB of a pipe.
const AT_ONCE: usize = 256;

/// The C program, which takes one request per line.
pub struct Page {
    child: Child,
    pipes: RefCell<Option<(ChildStdin, BufReader<ChildStdout>)>>,
}

impl Page {
    /// Starts it; `None` where there is no compiler with sanitizers.
    pub fn open() -> Option<Page> {
        static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
        let Some(program) = PROGRAM.get_or_init(compile) else {
            eprintln!("skipped: cc is not installed");
            return None;
        };
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
        let requests = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        Some(Page { child, pipes: RefCell::new(Some((requests, answers))) })
    }

    pub fn ask(&self, request: &str) -> String {
        let mut pipes = self.pipes.borrow_mut();
        let (requests, answers) = pipes.as_mut().expect("open");
        writeln!(requests, "{request}").expect("the C side is alive");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("the C side is alive");
        assert!(!answer.is_empty(), "the C side stopped at: {request}");
        answer.trim_end().to_owned()
    }

    /// Sends many requests at once, which saves a context switch for each: replies do not wait for the next request.
    pub fn ask_all(&self, requests: impl Iterator<Item = String>) -> Vec<String> {
        let mut pipes = self.pipes.borrow_mut();
        let (to, from) = pipes.as_mut().expect("open");
        let mut answers = Vec::new();
        for some in requests.collect::<Vec<_>>().chunks(AT_ONCE) {
            to.write_all((some.join("\n") + "\n").as_bytes()).expect("the C side is alive");
            answers
                .extend(BufRead::lines(&mut *from).take(some.len()).map(|answer| answer.expect("the C side is alive")));
        }
        answers
    }

    fn put(&self, run: &Run) -> Vec<u8> {
        let gaps: String = run.gap_ns.iter().map(|g| format!(" {g}")).collect();
        let hex = self.ask(&format!("put {} {} {}{gaps}", run.newest_ns, u8::from(run.beside), run.gap_ns.len()));
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
    }

    fn get(&self, option: &[u8]) -> Option<Run> {
        let hex: String = option.iter().map(|b| format!("{b:02x}")).collect();
        said(&self.ask(&format!("get {} {hex}", option.len())))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.pipes.take();
        let status = self.child.wait().expect("a child");
        assert!(std::thread::panicking() || status.success(), "the sanitizers found something: {status}");
    }
}

/// `page.c`, compiled; `None` where there is no compiler.
fn compile() -> Option<PathBuf> {
    clang::program("tests/option/page.c", &["-Wextra", "-Wconversion"])
}

fn said(answer: &str) -> Option<Run> {
    if answer == "no" {
        return None;
    }
    let numbers: Vec<u32> = answer.split(' ').map(|n| n.parse().expect("a number")).collect();
    Some(Run { newest_ns: numbers[0], beside: numbers[1] == 1, gap_ns: numbers[2..].to_vec() })
}

fn check<S: Strategy>(cases: u32, inputs: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let held = TestRunner::new(conformance::fuzz::config(cases)).run(&inputs, law);
    held.unwrap_or_else(|e| panic!("{e}"));
}

const GAP_MAX_NS: u32 = 134_201_344;

fn runs() -> impl Strategy<Value = Run> {
    // The width in bits is drawn first, so that each order of magnitude is equally likely.
    let gap = (0u32..28, any::<u32>()).prop_map(|(bits, x)| (x & ((1 << bits) - 1)).min(GAP_MAX_NS));
    let gaps = proptest::collection::vec(gap, 0..=10);
    (0u32..1 << 31, any::<bool>(), gaps).prop_map(|(newest_ns, beside, gap_ns)| Run { newest_ns, beside, gap_ns })
}

#[test]
fn run_round_trips_within_one_in_4096() {
    let Some(page) = Page::open() else { return };
    check(2000, runs(), |run| {
        let option = page.put(&run);
        prop_assert_eq!(option.len(), 8 + 2 * run.gap_ns.len());
        let read = Run::read(&option).expect("an option");
        prop_assert_eq!(page.get(&option), Some(read.clone()), "the two readings of the page");
        prop_assert_eq!((read.newest_ns, read.beside), (run.newest_ns, run.beside));
        for (&gap, &reported) in run.gap_ns.iter().zip(&read.gap_ns) {
            prop_assert!(reported <= gap && (gap - reported) * 4096 <= gap, "{} was encoded as {}", gap, reported);
            prop_assert!(gap >= 8192 || reported == gap, "{} was encoded as {}", gap, reported);
        }
        Ok(())
    });
}

#[test]
fn every_gap_has_one_encoding() {
    let Some(page) = Page::open() else { return };
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for packed in all.chunks(10) {
        let run = Run { newest_ns: 0, beside: false, gap_ns: packed.iter().map(|&p| unpack(p)).collect() };
        let expected: Vec<u8> = packed.iter().flat_map(|p| p.to_be_bytes()).collect();
        assert_eq!(page.put(&run)[8..], expected, "{run:?}");
    }
}

#[test]
fn unrepresentable_gap_ends_run() {
    let Some(page) = Page::open() else { return };
    let reported =
        |gap_ns: Vec<u32>| Run::read(&page.put(&Run { newest_ns: 7, beside: false, gap_ns })).expect("an option");
    assert_eq!(reported(vec![5, GAP_MAX_NS, 6]).gap_ns, [5, GAP_MAX_NS, 6]);
    assert_eq!(reported(vec![5, GAP_MAX_NS + 1, 6]).gap_ns, [5]);
}

#[test]
fn refuses_garbage_options_without_overread() {
    let Some(page) = Page::open() else { return };
    let anything = proptest::collection::vec(any::<u8>(), 0..=40);
    // Only garbage that passes the first checks tests the reading.
    let head = proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(2), Just(3), Just(4)], 4);
    check(3000, (anything, head), |(mut option, kept)| {
        let length = option.len() as u8;
        for (i, right) in [254, length, 0x52, 0x41].into_iter().enumerate() {
            if i < option.len() && kept[i] != 0 {
                option[i] = right;
            }
        }
        prop_assert_eq!(page.get(&option), Run::read(&option), "{:?}", option);
        Ok(())
    });
}

#[test]
fn fuzz_options() {
    let Some(page) = Page::open() else { return };
    let runs = [vec![], vec![5], vec![0, 8191, 8192, GAP_MAX_NS], vec![120; 10]];
    let valid = runs.map(|gap_ns| page.put(&Run { newest_ns: 0x7fff_fff0, beside: gap_ns.len() % 2 == 1, gap_ns }));
    conformance::fuzz::mutated(3000, &valid, |option| {
        prop_assert_eq!(page.get(option), Run::read(option), "the two readings of the page");
        Ok(())
    });
}

#[test]
fn refuses_truncated_option() {
    let Some(page) = Page::open() else { return };
    check(300, runs(), |run| {
        let option = page.put(&run);
        for length in 0..option.len() {
            let mut cut = option[..length].to_vec();
            prop_assert_eq!(page.get(&cut), None);
            if length >= 8 && length % 2 == 0 {
                cut[1] = length as u8;
                let read = page.get(&cut).expect("the newer arrivals");
                prop_assert_eq!(read.newest_ns, run.newest_ns);
                prop_assert_eq!(read.gap_ns.len(), length / 2 - 4);
            }
        }
        Ok(())
    });
}

#[test]
fn clock_unwraps_to_nearest_time() {
    let Some(page) = Page::open() else { return };
    check(2000, (1u64 << 31..1 << 62, -(1i64 << 30)..1 << 30), |(about, away)| {
        let time = about.wrapping_add_signed(away);
        let said = page.ask(&format!("unwrap {} {about}", time & 0x7fff_ffff));
        prop_assert_eq!(said, time.to_string());
        Ok(())
    });
}

/// Notes segments of 1000 bytes, by number and arrival.
fn note(page: &Page, number: u32, ns: u64) {
    page.ask(&format!("note {ns} {} 1000 1", number.wrapping_mul(1000)));
}

/// Returns what an acknowledgment of all below `number` reports, when its first SACK block ends before `sacked`.
fn acknowledge(page: &Page, number: u32, sacked: u32) -> Option<Run> {
    said(&page.ask(&format!("ack {} {}", number.wrapping_mul(1000), sacked.wrapping_mul(1000))))
}

#[test]
fn reports_every_arrival_despite_late_tcp() {
    let Some(page) = Page::open() else { return };
    // In each step, some packets arrive, TCP takes some of the waiting packets, and then it acknowledges.
    let steps = proptest::collection::vec((0u32..9, 0u32..9, 1u64..200_000), 1..100);
    check(200, steps, |steps| {
        page.ask("forget");
        let (mut now, mut arrived, mut taken, mut times) = (1u64 << 40, 0, 0, Vec::new());
        for (arrive, take, gap_ns) in steps {
            for _ in 0..arrive.min(100 - (arrived - taken)) {
                now += gap_ns;
                note(&page, arrived, now);
                times.push(now);
                arrived += 1;
            }
            let take = take.min(arrived - taken);
            taken += take;
            let Some(run) = acknowledge(&page, taken, taken) else {
                prop_assert_eq!(take, 0, "arrivals were left out");
                continue;
            };
            prop_assert!(take > 0, "no new arrival to report");
            let newest = times[taken as usize - 1];
            prop_assert_eq!(run.newest_ns, (newest & 0x7fff_ffff) as u32);
            // Earlier arrivals are repeated, as far as they fit: that acknowledgment may be lost.
            prop_assert_eq!(run.gap_ns.len() as u32 + 1, taken.min(11));
            for (k, &gap) in run.gap_ns.iter().enumerate() {
                let later = taken as usize - 1 - k;
                prop_assert_eq!(u64::from(gap), times[later] - times[later - 1]);
            }
        }
        Ok(())
    });
}

#[test]
fn segment_above_hole_is_reported_alone() {
    let Some(page) = Page::open() else { return };
    note(&page, 0, 1_000);
    note(&page, 2, 3_000);
    let run = |newest_ns, beside| Some(Run { newest_ns, beside, gap_ns: vec![] });
    assert_eq!(acknowledge(&page, 1, 3), run(3_000, true), "segment 1 is missing");
    note(&page, 1, 9_000);
    assert_eq!(acknowledge(&page, 3, 3), None, "the run up to 3 was reported");
    note(&page, 3, 9_500);
    assert_eq!(acknowledge(&page, 4, 4), run(9_500, false), "segment 1 is not next to it");
}

#[test]
fn merged_segments_share_one_arrival_time() {
    let Some(page) = Page::open() else { return };
    note(&page, 0, 1_000);
    page.ask("note 5000 1000 3000 3");
    let run = acknowledge(&page, 4, 4).expect("a run");
    assert_eq!((run.newest_ns, run.gap_ns), (5_000, vec![0, 0, 4_000]));
}

#[test]
fn overrun_ring_reports_newest() {
    let Some(page) = Page::open() else { return };
    for number in 0..1000 {
        note(&page, number, 1_000 + u64::from(number) * 100);
    }
    assert_eq!(acknowledge(&page, 500, 500), None, "overwritten");
    let run = acknowledge(&page, 1000, 1000).expect("a run");
    assert_eq!((run.newest_ns, run.gap_ns), (100_900, vec![100; 10]));
}
