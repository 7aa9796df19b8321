//! Mutated inputs for tests of what reads foreign bytes.
//!
//! A target is a test of the crate with the reader. It gives valid inputs and a property: the reader never panics,
//! and more where the format guarantees more. `cargo test` tries the same inputs each time; `make fuzz` tries others,
//! `FUZZ_TIMES` as many, from the seed `FUZZ_SEED`. A failing input is reduced and printed as a Rust literal, to become
//! a separate test.
//!
//! The engine is proptest. Readers are not instrumented: valid inputs, and mutations that follow the form of numbers, lines
//! and lengths, are what leads into them.

mod mutation;

use mutation::{Mutation, mutations};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::fmt;

/// The most mutations of an input.
const MOST: usize = 12;

/// An input, which prints as a literal of Rust.
#[derive(Clone, PartialEq, Eq)]
pub struct Input(pub Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// A number from the environment.
fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: found \"{text}\"; expected a number")))
}

/// The engine's settings: this many cases from seed 1, or as set in the environment.
pub fn config(cases: u32) -> Config {
    Config {
        cases: cases.saturating_mul(number("FUZZ_TIMES").unwrap_or(1)),
        rng_seed: RngSeed::Fixed(number("FUZZ_SEED").unwrap_or(1)),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Tries a property with one of these inputs, mutated, `cases` times.
///
/// # Panics
/// The property fails: it returns an error, or panics.
pub fn mutated(cases: u32, corpus: &[impl AsRef<[u8]>], property: impl Fn(&[u8]) -> Result<(), TestCaseError>) {
    let corpus: Vec<Vec<u8>> = corpus.iter().map(|input| input.as_ref().to_vec()).collect();
    assert!(!corpus.is_empty(), "no valid input to begin with");
    let config = config(cases);
    let seed = config.rng_seed;
    let inputs = (any::<prop::sample::Index>(), prop::collection::vec(mutations(), 0..=MOST));
    let inputs = inputs.prop_map(move |(begin, mutations): (_, Vec<Mutation>)| {
        let begin = begin.get(&corpus).clone();
        Input(mutations.iter().fold(begin, |input, mutation| mutation.of(input, &corpus)))
    });
    let tried = TestRunner::new(config).run(&inputs, |input| property(&input.0));
    match tried {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("{why}\nseed: {seed:?}\ninput: {input:?}"),
        Err(TestError::Abort(why)) => panic!("stopped: {why}"),
    }
}

/// The same for text; bytes that are none are replaced.
///
/// # Panics
/// As [`mutated`].
pub fn mutated_text(cases: u32, corpus: &[impl AsRef<[u8]>], property: impl Fn(&str) -> Result<(), TestCaseError>) {
    mutated(cases, corpus, |input| property(&String::from_utf8_lossy(input)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn inputs() -> Vec<Vec<u8>> {
        let seen = RefCell::new(Vec::new());
        mutated(300, &["12 lines\nof text\n"], |input| {
            seen.borrow_mut().push(input.to_vec());
            Ok(())
        });
        seen.into_inner()
    }

    #[test]
    fn tries_the_same_distinct_inputs_each_time() {
        let (first, mut again) = (inputs(), inputs());
        assert_eq!(first, again);
        again.sort();
        again.dedup();
        assert!(again.len() > 200, "only {} of 300 differ", again.len());
    }

    #[test]
    fn a_failing_input_is_made_small_and_printed() {
        let judged = AssertUnwindSafe(|| {
            mutated(10_000, &["aaaa7aaaa"], |input| {
                prop_assert!(!input.contains(&b'7') || input.len() < 12, "long");
                Ok(())
            })
        });
        let message = catch_unwind(judged).expect_err("a failure");
        let message = message.downcast_ref::<String>().expect("a message");
        assert!(message.contains("seed: Fixed(1)") && message.contains("input: b\""), "{message}");
    }
}
