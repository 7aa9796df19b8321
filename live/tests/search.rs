//! The search for the available bandwidth on links computed by hand: a FIFO of constant rate (Lindley's recursion) with
//! other traffic of known rate. The available bandwidth is the difference.

use live::probe::{Found, Next, Plan, Read, Search, Unsure};
use packetscale_models::estimation::{Gap, Stream};
use packetscale_models::units::{Bytes, Random, Rate, Span};

const SIZE: u64 = 1500;
/// The pause between two streams, in seconds.
const PAUSE: f64 = 0.05;

/// Other traffic, in packets of 1500 bytes.
#[derive(Clone, Copy, Debug)]
enum Cross {
    None,
    Constant(f64),
    Poisson(f64),
    /// Alternately twice the rate and zero, each for an exponential time with a mean of 20 ms.
    OnOff(f64),
}

/// A FIFO link. `free_at` is when it has sent what it holds.
struct Link {
    capacity: f64,
    cross: Cross,
    random: Random,
    next_cross: f64,
    /// Remaining time with other traffic.
    on: f64,
    free_at: f64,
    now: f64,
    /// Bytes that pass at line rate before `capacity` holds: a token bucket.
    bucket: f64,
    line: f64,
    tokens: f64,
    filled: f64,
}

impl Link {
    fn new(capacity: f64, cross: Cross, seed: u64) -> Link {
        Link {
            capacity,
            cross,
            random: Random::new(seed),
            next_cross: 0.0,
            on: 0.0,
            free_at: 0.0,
            now: 1.0,
            bucket: 0.0,
            line: capacity,
            tokens: 0.0,
            filled: 0.0,
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.random.uniform()).ln() * mean
    }

    fn gap(&mut self) -> f64 {
        const ON_OFF: f64 = 0.02;
        let bits = SIZE as f64 * 8.0;
        match self.cross {
            Cross::None => f64::INFINITY,
            Cross::Constant(rate) => bits / rate,
            Cross::Poisson(rate) => self.exponential(bits / rate),
            Cross::OnOff(rate) => {
                let gap = bits / (2.0 * rate);
                self.on -= gap;
                let pause = if self.on > 0.0 { 0.0 } else { self.exponential(ON_OFF) };
                if self.on <= 0.0 {
                    self.on = self.exponential(ON_OFF);
                }
                gap + pause
            }
        }
    }

    /// Serves a packet that arrives at `at`; returns when it has left. A bucket lets it leave when it holds as much.
    fn serve(&mut self, at: f64) -> f64 {
        let begins = at.max(self.free_at);
        let bits = SIZE as f64 * 8.0;
        if self.bucket == 0.0 {
            self.free_at = begins + bits / self.capacity;
            return self.free_at;
        }
        self.tokens = (self.tokens + (begins - self.filled) * self.capacity).min(self.bucket * 8.0);
        let waits = (bits - self.tokens).max(0.0) / self.capacity;
        self.tokens += waits * self.capacity - bits;
        self.filled = begins + waits;
        self.free_at = self.filled + bits / self.line;
        self.free_at
    }

    fn pass(&mut self, at: f64) -> f64 {
        while self.next_cross <= at {
            let cross = self.next_cross;
            if !matches!(self.cross, Cross::None) {
                self.serve(cross);
            }
            self.next_cross += self.gap();
        }
        self.serve(at)
    }

    /// Sends a stream with gap errors of up to 2 us; arrivals are up to 5 us late.
    fn send(&mut self, plan: &Plan) -> Read {
        self.now += PAUSE;
        let bits = SIZE as f64 * 8.0;
        let (low, high) = (plan.lowest.bps() as f64, plan.highest.bps() as f64);
        let levels = f64::from(plan.levels.saturating_sub(1).max(1));
        let mut times = Vec::new();
        for packet in 0..plan.packets {
            let level = f64::from(packet * u32::from(plan.levels) / plan.packets);
            self.now += bits / (low * (high / low).powf(level / levels)) + self.random.uniform() * 2e-6;
            let seen = self.pass(self.now) + self.random.uniform() * 5e-6;
            times.push((self.now, seen));
        }
        let span = |seconds: f64| Span::from_nanos((seconds.max(0.0) * 1e9) as u64);
        let gap = |pair: &[(f64, f64)]| Gap {
            send: span(pair[1].0 - pair[0].0),
            receive: span(pair[1].1 - pair[0].1),
            size: Bytes::new(SIZE),
            acked: true,
        };
        Read::Stream(Stream::new(times.windows(2).map(gap).collect()))
    }
}

const FASTEST: Rate = Rate::from_gbps(1);
const BUDGET: u64 = 10_000_000;

/// Result of a search, and the bytes of its streams.
fn run(fastest: Rate, budget: u64, mut send: impl FnMut(&Plan) -> Read) -> (Result<Found, Unsure>, u64) {
    let mut search = Search::new(Bytes::new(SIZE), fastest, Bytes::new(budget)).expect("methods");
    let mut next = search.first();
    for _ in 0..10_000 {
        match next {
            Next::End(found) => return (found, search.sent().1.get()),
            Next::Send(plan) => next = search.report(plan, &send(&plan)),
        }
    }
    panic!("the search does not end");
}

fn found(link: &mut Link) -> (Result<Found, Unsure>, u64) {
    run(FASTEST, BUDGET, |plan| link.send(plan))
}

fn mbps(rate: Rate) -> f64 {
    rate.bps() as f64 / 1e6
}

#[test]
fn estimates_idle_and_constant_traffic_within_ten_percent() {
    for (capacity, load) in [(20e6, 0.0), (20e6, 0.5), (100e6, 0.0), (100e6, 0.3), (100e6, 0.5), (200e6, 0.5)] {
        for seed in 1..=5 {
            let cross = if load == 0.0 { Cross::None } else { Cross::Constant(capacity * load) };
            let (found, sent) = found(&mut Link::new(capacity, cross, seed));
            let truth = capacity * (1.0 - load) / 1e6;
            let answer = found.unwrap_or_else(|error| panic!("{capacity} {load} {seed}: {error}"));
            let error = mbps(answer.value) / truth - 1.0;
            println!("{capacity:>10} {load} {seed}: {:+.1} % with {sent} bytes", error * 100.0);
            assert!(error.abs() <= 0.1, "{capacity} {load} {seed}: {answer:?}");
            assert!(mbps(answer.low) <= 1.05 * truth && mbps(answer.high) >= 0.95 * truth, "{answer:?}");
            assert!(sent <= BUDGET);
        }
    }
}

/// Counts over many searches.
#[derive(Debug, Default)]
struct Counts {
    answered: u32,
    /// Off by more than 10 %: seeds, and by how much.
    far: Vec<(u64, f64)>,
    /// Runs whose truth is outside the reported interval by more than 5 %.
    outside: Vec<(u64, Found)>,
}

impl Counts {
    /// One more, over a link of which `free` Mbit/s are free.
    fn count(&mut self, seed: u64, link: &mut Link, free: f64) {
        let Ok(found) = found(link).0 else { return };
        self.answered += 1;
        let off = mbps(found.value) / free - 1.0;
        if off.abs() > 0.1 {
            self.far.push((seed, off));
        }
        if mbps(found.low) > 1.05 * free || mbps(found.high) < 0.95 * free {
            self.outside.push((seed, found));
        }
    }
}

/// In 95 % of the runs within 10 % or no estimate; in at most 1 % the truth is outside the interval by more than 5 %.
#[test]
fn poisson_estimate_is_within_ten_percent_or_absent() {
    let mut counts = Counts::default();
    for seed in 1..=200 {
        counts.count(seed, &mut Link::new(100e6, Cross::Poisson(50e6), seed), 50.0);
    }
    println!("{counts:?} of 200");
    assert!(counts.answered >= 100 && counts.far.len() <= 10 && counts.outside.len() <= 2, "{counts:?}");
}

/// The truth is the mean rate.
#[test]
fn long_bursts_give_no_wrong_estimate() {
    let mut counts = Counts::default();
    for seed in 1..=200 {
        let rate = if seed % 2 == 0 { 6.0 } else { 10.0 };
        counts.count(seed, &mut Link::new(20e6, Cross::OnOff(rate * 1e6), seed), 20.0 - rate);
    }
    println!("{counts:?} of 200");
    assert!(counts.outside.len() <= 2, "{counts:?}");
}

/// A queue that overflows drops of the streams that are too fast; so they are slowed all the same.
#[test]
fn losses_of_slowed_streams_do_not_bias_estimate() {
    let mut link = Link::new(20e6, Cross::Constant(10e6), 1);
    let (found, _) = run(FASTEST, BUDGET, |plan| match link.send(plan) {
        Read::Stream(stream) if plan.levels == 1 && plan.lowest > Rate::from_mbps(10) => {
            Read::Stream(Stream { lost: 2, ..stream })
        }
        other => other,
    });
    let value = mbps(found.expect("an answer").value);
    assert!((9.0..=11.0).contains(&value), "{value}");
}

#[test]
fn streams_stay_within_server_limit() {
    // 500 packets of 1500 bytes at 2 Mbit/s take 3 s.
    let mut link = Link::new(2e6, Cross::None, 1);
    let (found, _) = run(FASTEST, BUDGET, |plan| {
        let seconds = f64::from(plan.packets) * SIZE as f64 * 8.0 / plan.lowest.bps() as f64;
        assert!(seconds <= 2.0, "{plan:?}");
        // The client's question waits behind the stream before, so its queue is gone.
        link.now = link.now.max(link.free_at);
        link.send(plan)
    });
    let value = mbps(found.expect("an answer").value);
    assert!((1.8..=2.2).contains(&value), "{value}");
}

#[test]
fn token_bucket_gives_no_estimate() {
    // 20 Mbit/s, and 150 kB at 100: streams of 64 packets pass at 100, longer ones do not.
    for seed in 1..=5 {
        let mut link = Link { bucket: 150_000.0, line: 100e6, ..Link::new(20e6, Cross::None, seed) };
        // The bucket is full again before each stream.
        let (found, _) = run(FASTEST, BUDGET, |plan| {
            link.now += 0.1;
            link.send(plan)
        });
        let refused = found.expect_err("no answer");
        assert!(matches!(refused, Unsure::Bucket | Unsure::Budget(_)), "{refused}");
    }
}

#[test]
fn unusable_streams_end_search_with_reason() {
    for (read, reason) in [
        (Read::NotMade, Unsure::NotMade(6, 6)),
        (Read::NoTimes, Unsure::NoTimes(6, 6)),
        (Read::Stepped, Unsure::Stepped(6, 6)),
    ] {
        assert_eq!(run(FASTEST, BUDGET, |_| read.clone()).0, Err(reason));
    }
    let mut link = Link::new(20e6, Cross::None, 1);
    let (short, _) = run(FASTEST, BUDGET, |plan| if plan.levels == 1 { Read::NoTimes } else { link.send(plan) });
    assert!(matches!(short, Err(Unsure::NoTimes(6, 12..))), "{short:?}");
    let mut link = Link::new(1e9, Cross::None, 1);
    // Gaps of faster streams than 60 Mbit/s cannot be made.
    let (slow, _) = run(FASTEST, BUDGET, |plan| match plan.highest > Rate::from_mbps(60) {
        true => Read::NotMade,
        false => link.send(plan),
    });
    assert!(matches!(slow, Err(Unsure::Beyond(20_000_000..=60_000_000))), "{slow:?}");
    // The server grants 50 Mbit/s.
    let (limited, _) = run(Rate::from_mbps(50), BUDGET, |plan| {
        assert!(plan.highest <= Rate::from_mbps(50));
        link.send(plan)
    });
    assert!(matches!(limited, Err(Unsure::Beyond(30_000_000..=50_000_000))), "{limited:?}");
}

#[test]
fn search_keeps_to_its_budget() {
    let mut link = Link::new(100e6, Cross::None, 1);
    let (found, sent) = run(FASTEST, 500_000, |plan| link.send(plan));
    assert_eq!(found, Err(Unsure::Budget(500_000)));
    assert!(sent <= 500_000);
}

/// 100 searches on a link of 20 Mbit/s with `taken_percent` constant traffic, behind a bucket of some bytes (0: none).
fn counted(taken_percent: u32, bucket: f64) -> Counts {
    let (capacity, mut counts) = (20e6, Counts::default());
    let taken = capacity * f64::from(taken_percent) / 100.0;
    for seed in 1..=100 {
        let mut link = Link { bucket, line: 1e9, ..Link::new(capacity, Cross::Constant(taken), seed) };
        // The others may have begun at any time.
        link.now += link.random.uniform();
        counts.count(seed, &mut link, (capacity - taken) / 1e6);
    }
    counts
}

/// The bucket is that of `probed`'s path. Without one, streams are slowed the least: by 2 % where a fifth of the link is free.
#[test]
fn low_available_bandwidth_gives_no_wrong_estimate() {
    for (taken, least) in [(0, 100), (30, 100), (50, 100), (60, 100), (65, 90), (70, 80), (75, 90), (80, 0), (90, 0)] {
        for bucket in [0.0, 4000.0] {
            let Counts { answered, far, .. } = counted(taken, bucket);
            println!("{taken} % taken, bucket {bucket}: {answered} of 100 answered, {} far", far.len());
            assert!(far.is_empty() && answered >= least, "{taken} % taken, bucket {bucket}: {answered}, {far:?}");
        }
    }
}
