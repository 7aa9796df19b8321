//! Raw records of a run. They can be serialized ([`Raw::to_bytes`]): an emulated machine writes them, and its host makes the
//! figures.

use crate::lab::books::{self, Books};
use crate::lab::delay_line::Loss;
use crate::lab::error::LabError;
use crate::lab::path;
use crate::lab::probes::{self, HeardStream};
use crate::lab::rapid::Steered;
use crate::lab::sampler::Samples;
use crate::lab::summary::{Observed, summarise};
use crate::lab::tap::{RECORD, Record};
use experiment::results::Run;
use experiment::scenario::Experiment;
use serde::{Deserialize, Serialize};

/// The records of a run. Times are nanoseconds of CLOCK_MONOTONIC; `zero_ns` is the run's start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Raw {
    pub(crate) zero_ns: u64,
    pub(crate) starts_ns: Vec<u64>,
    pub(crate) completed_ns: Vec<Option<u64>>,
    pub(crate) samples: Samples,
    pub(crate) steered: Vec<Option<Steered>>,
    pub(crate) heard: Vec<HeardStream>,
    pub(crate) cpu_s: f64,
    /// Packets that the delay line lost. It is used in real time only, without serialization.
    #[serde(skip)]
    pub(crate) losses: Vec<Loss>,
    /// Records of the bottleneck's programs.
    #[serde(skip)]
    pub(crate) records: Vec<Record>,
}

impl Raw {
    /// Returns the text of all but the records, after its length in 8 bytes, and then the records.
    ///
    /// # Errors
    /// When the text cannot be made.
    pub fn to_bytes(&self) -> Result<Vec<u8>, LabError> {
        let text = serde_json::to_vec(self).map_err(|error| LabError(error.to_string()))?;
        let mut bytes = Vec::with_capacity(8 + text.len() + RECORD * self.records.len());
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        self.records.iter().for_each(|record| record.write(&mut bytes));
        Ok(bytes)
    }

    /// Parses the output of [`Raw::to_bytes`].
    ///
    /// # Errors
    /// Missing or invalid data.
    pub fn from_bytes(bytes: &[u8]) -> Result<Raw, LabError> {
        let cut = || LabError(format!("raw records: found {} bytes, which end too early", bytes.len()));
        let (length, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
        let (text, records) = rest.split_at_checked(length).ok_or_else(cut)?;
        let mut raw: Raw = serde_json::from_slice(text).map_err(|error| LabError(format!("raw records: {error}")))?;
        raw.records = records.chunks_exact(RECORD).filter_map(Record::parse).collect();
        Ok(raw)
    }

    /// Returns the packets of the bottleneck.
    pub(crate) fn books(&self, experiment: &Experiment) -> Books {
        let fair = path::shares_between_flows(experiment);
        Books::of(&self.records, self.zero_ns, experiment.flows.len(), experiment.traffic.len(), fair)
    }

    /// The run of these records.
    pub fn figures(self, experiment: &Experiment) -> Run {
        let books = self.books(experiment);
        self.figures_with(experiment, books)
    }

    /// As [`Raw::figures`], with books already made.
    pub(crate) fn figures_with(self, experiment: &Experiment, books: Books) -> Run {
        let link = &experiment.links[experiment.bottleneck];
        let streams = self.heard.iter().map(|heard| probes::record(heard, &books, link, self.zero_ns)).collect();
        let lost = books::losses(&self.records, self.zero_ns, experiment.flows.len(), experiment.traffic.len());
        let observed = Observed {
            books,
            samples: self.samples,
            losses: self.losses.into_iter().chain(lost).collect(),
            steered: self.steered,
            streams,
            starts_ns: self.starts_ns,
            completed_ns: self.completed_ns,
            cpu_s: self.cpu_s,
        };
        summarise(experiment, &observed)
    }
}
