//! Both formats, and the law of drawn connections.

use super::*;
use crate::scenario::Sessions;
use packetscale_models::units::Rate;
use proptest::prelude::*;
use std::path::Path;

/// The examples of the ns manual (figure 44.2), and the same connections in its other format (figure 44.3).
const ORIGINAL: &str = "\
SEQ 6851 1 21217 555382       # one exchange
w 64800 6432
r 1176194
l 0.000000 0.000000
> 245
t 51257
< 510
t 6304943

CONC 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
c> 222
t> 62436302
c< 726
t< 62400173
c> 16
t> 725
c< 84
t< 130
";
const ALTERNATE: &str = "\
S 6851 1 21217 555382
w 64800 6432
r 1176194
l 0.000000 0.000000
I 0 0 245
A 0 51257 510
A 6304943 0 0

C 1429381 2 2 26876 793318
w 65535 5840
r 36556
l 0.000000 0.000000
I 0 0 222
A 0 0 726
I 62436302 0 16
A 62400173 0 84
I 725 0 0
A 130 0 0
";

fn parsed(text: &str) -> Result<Vec<Vector>, String> {
    reader::parse(text.as_bytes(), Path::new("FILE")).map_err(|error| error.to_string())
}

fn message(after: After, wait_us: u64, size: u64) -> Message {
    Message { after, wait: Span::from_micros(wait_us), size: Bytes::new(size) }
}

#[test]
fn reads_the_examples_of_the_ns_manual_as_documented() {
    let vectors = parsed(ORIGINAL).unwrap();
    assert_eq!(vectors.len(), 2);
    let [sequential, concurrent] = [&vectors[0], &vectors[1]];
    assert_eq!((sequential.start, sequential.rtt), (Span::from_micros(6851), Span::from_micros(1_176_194)));
    assert_eq!(sequential.windows, [Bytes::new(64_800), Bytes::new(6_432)]);
    assert_eq!(sequential.messages[0], [message(After::Start, 0, 245)]);
    assert_eq!(sequential.messages[1], [message(After::Received(1), 51_257, 510)]);
    let initiator = [message(After::Start, 0, 222), message(After::Sent, 62_436_302, 16)];
    let acceptor = [message(After::Start, 0, 726), message(After::Sent, 62_400_173, 84)];
    assert_eq!(concurrent.messages, [initiator.to_vec(), acceptor.to_vec()]);
}

#[test]
fn both_formats_are_equivalent() {
    assert_eq!(parsed(ORIGINAL), parsed(ALTERNATE));
}

#[test]
fn consecutive_messages_of_an_end_wait_between_sendings() {
    let original = "SEQ 0 2 1 1\nr 1000\n> 10\nt 500\n> 20\nt 700\n< 30\nt 900\n> 40\n";
    let alternate = "S 0 2 1 1\nr 1000\nI 0 0 10\nI 500 0 20\nA 0 700 30\nI 0 900 40\n";
    let vectors = parsed(original).unwrap();
    let initiator = [message(After::Start, 0, 10), message(After::Sent, 500, 20), message(After::Received(1), 900, 40)];
    assert_eq!(vectors[0].messages[0], initiator);
    assert_eq!(vectors[0].messages[1], [message(After::Received(2), 700, 30)]);
    assert_eq!(parsed(alternate).unwrap(), vectors);
}

#[test]
fn connections_come_in_order_of_start() {
    let starts: Vec<Span> =
        parsed("S 50 1 1 1\nr 9\nS 20 1 1 1\nr 9\n").unwrap().iter().map(|vector| vector.start).collect();
    assert_eq!(starts, [Span::from_micros(20), Span::from_micros(50)]);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let refused = [
        ("> 245\n", "FILE:1: found \"> 245\"; expected a connection's first line"),
        ("SEQ 1 2 3\n", "FILE:1: found \"SEQ 1 2 3\"; expected 4 whole numbers"),
        ("SEQ 1 1 1 1\nr 10\n> -5\n", "FILE:3: found \"> -5\"; expected 1 whole number"),
        (
            "SEQ 1 1 1 1\nr 10\nc> 5\n",
            "FILE:3: found \"c> 5\"; expected a line of a connection whose messages take turns",
        ),
        (
            "C 1 1 1 1 1\nr 10\n\n> 5\n",
            "FILE:4: found \"> 5\"; expected a line of a connection whose ends send on their own",
        ),
        ("SEQ 1 1 1 1\n> 5\n", "FILE:1: found none; expected a line \"r\""),
        ("S 1 1 1 1\nl 2 0\n", "FILE:2: found \"l 2 0\"; expected two rates of loss from 0 to 1"),
        ("S 1 1 1 1\nx 1\n", "FILE:2: found \"x 1\"; expected a line of a connection vector"),
        ("S 99999999999999 1 1 1\n", "FILE:1: found \"S 99999999999999 1 1 1\"; expected a time of at most"),
    ];
    for (text, message) in refused {
        let error = parsed(text).expect_err(text);
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "((S|C|SEQ|CONC|w|r|l|>|<|t|c>|t<|I|A|#|x) ?([0-9.]{1,9} ?){0,5}\n){0,12}") {
        let _ = parsed(&text);
    }
}

#[test]
fn fuzz_connection_vectors() {
    conformance::fuzz::mutated_text(10_000, &[ORIGINAL, ALTERNATE], |text| {
        match parsed(text) {
            Ok(vectors) => prop_assert!(vectors.len() <= text.len()),
            Err(message) => prop_assert!(message.starts_with("FILE:") && message.contains("; expected "), "{message}"),
        }
        Ok(())
    });
}

const SESSIONS: Sessions = Sessions {
    rate: Rate::from_mbps(16),
    peak: Rate::from_mbps(1),
    rtt: Span::from_millis(100),
    shortest: Span::from_millis(200),
    longest: Span::from_secs(20),
    shape: 1.5,
};

/// The answers that begin in the run bring the mean rate. The ends of those that outlive it are missing; the answers
/// under way at its beginning make up for them.
#[test]
fn drawn_answers_bring_the_mean_rate() {
    let duration = Span::from_secs(4000);
    let vectors = draw(&SESSIONS, Bytes::new(1500), 1, duration);
    let data: f64 = vectors
        .iter()
        .filter(|vector| vector.start > Span::ZERO)
        .map(|vector| vector.messages[1][0].size.bits() as f64)
        .sum();
    let wire = data * 1500.0 / 1460.0 / duration.as_secs_f64();
    // Lengths have mean 0.54 s and standard deviation 0.94 s (from the second moment of the bounded law), and 118 000
    // of them are drawn: the sum scatters by 2 sqrt(1 + (0.94/0.54)^2) / sqrt(118 000) = 0.6 %.
    assert!((wire / 16e6 - 1.0).abs() < 0.025, "{wire}");
}

/// Sixteen at a time on the average: Poisson, with a standard deviation of 4 for each of 200 seeds.
#[test]
fn the_initial_number_of_connections_is_stationary() {
    let counts: Vec<f64> = (0..200)
        .map(|seed| {
            let vectors = draw(&SESSIONS, Bytes::new(1500), seed, Span::from_millis(1));
            vectors.iter().filter(|vector| vector.start == Span::ZERO).count() as f64
        })
        .collect();
    let mean = counts.iter().sum::<f64>() / 200.0;
    assert!((mean - 16.0).abs() < 4.0 * 4.0 / 200f64.sqrt(), "{mean}");
}
