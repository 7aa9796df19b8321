//! Readers of the streams of a plan: methods, and two baselines to compare them with.

use crate::probing::{ProbeStream, ProbingError};
use packetscale_models::estimation::{Abstain, Estimate, Method, MethodError, Reading, Score, Stream};

/// A method that reads streams, or one of the two baselines that do not read them.
pub struct Reader {
    /// As the user or the figure calls it.
    pub name: String,
    reads: Reads,
}

enum Reads {
    Streams(Box<Method>),
    /// The mean of the truth, in hindsight.
    Constant,
    /// The stream's own mean rate.
    MeanRate,
}

/// Names of the two.
const CONSTANT: &str = "constant guess";
const MEAN_RATE: &str = "R_avg, no measurement";

impl Reader {
    /// A method, one of the two baselines, or either with a given name: `NAME: METHOD`.
    ///
    /// # Errors
    /// A method that does not exist, or a setting that it does not take.
    pub fn named(text: &str) -> Result<Reader, ProbingError> {
        let (name, method) = text.split_once(": ").unwrap_or((text, text));
        let reads = match method {
            CONSTANT => Reads::Constant,
            MEAN_RATE => Reads::MeanRate,
            method => Reads::Streams(Box::new(parsed(method)?)),
        };
        Ok(Reader { name: name.to_string(), reads })
    }

    /// The two baselines: no method should do worse.
    pub fn baselines() -> [Reader; 2] {
        [(CONSTANT, Reads::Constant), (MEAN_RATE, Reads::MeanRate)]
            .map(|(name, reads)| Reader { name: name.to_string(), reads })
    }

    /// What reads streams; the baselines do not.
    pub fn reading(&self) -> Option<&Method> {
        match &self.reads {
            Reads::Streams(method) => Some(method),
            Reads::Constant | Reads::MeanRate => None,
        }
    }

    /// Its reading of one stream; none for the baselines.
    pub fn read(&self, probe: &ProbeStream) -> Option<Result<Estimate, Abstain>> {
        self.reading().map(|method| method.estimate(probe.stream()))
    }

    /// The stream after each of its denoisers, by their names.
    ///
    /// # Errors
    /// Why a denoiser gives up.
    pub fn stages(&self, stream: &Stream) -> Result<Vec<(&str, Stream)>, Abstain> {
        self.reading().map_or(Ok(Vec::new()), |method| method.stages(stream))
    }

    /// The stream after all its denoisers; `None` if one gives up, or of the baselines.
    pub(crate) fn denoised(&self, stream: &Stream) -> Option<Stream> {
        let stages = self.reading()?.stages(stream).ok()?;
        Some(stages.into_iter().last().map_or_else(|| stream.clone(), |(_, stream)| stream))
    }

    /// Readings of a run, one per train.
    pub(crate) fn readings(&self, probes: &[ProbeStream]) -> Vec<Reading> {
        let trains = probes.chunk_by(|a, b| a.train == b.train);
        trains.map(|train| self.of_train(train)).collect()
    }

    /// The mean of the estimates of a train, with the mean available rate during it.
    fn of_train(&self, train: &[ProbeStream]) -> Reading {
        let first = &train[0];
        let estimate = match &self.reads {
            Reads::MeanRate => Ok(first.mean_rate.bps() as f64),
            Reads::Constant => Ok(0.0),
            Reads::Streams(method) => mean_of(train.iter().map(|probe| method.estimate(probe.stream()))),
        };
        let range = (first.lowest.bps() as f64, first.highest.bps() as f64);
        Reading { truth: first.train_truth.bps() as f64, range, estimate }
    }

    pub(crate) fn score(&self, readings: &[Reading]) -> Score {
        let score = Score::of(readings);
        if !matches!(self.reads, Reads::Constant) {
            return score;
        }
        let guess = |reading: &Reading| Reading { estimate: Ok(score.mean_truth), ..*reading };
        Score::of(&readings.iter().map(guess).collect::<Vec<_>>())
    }
}

/// The mean of those that could be read; the reason of the last, if none could.
fn mean_of(estimates: impl Iterator<Item = Result<Estimate, Abstain>>) -> Result<f64, Abstain> {
    let (mut sum, mut read, mut refusal) = (0.0, 0.0, Abstain::Ambiguous);
    for estimate in estimates {
        match estimate {
            Ok(estimate) => (sum, read) = (sum + estimate.value.bps() as f64, read + 1.0),
            Err(reason) => refusal = reason,
        }
    }
    if read > 0.0 { Ok(sum / read) } else { Err(refusal) }
}

fn parsed(method: &str) -> Result<Method, ProbingError> {
    method.parse().map_err(|error: MethodError| ProbingError::Method(error.to_string()))
}
