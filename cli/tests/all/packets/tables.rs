//! What the tables say.

use std::path::Path;

/// A row of `flows.csv`.
pub struct Flow {
    pub start_s: f64,
    pub throughput_bps: f64,
    pub rtt_mean_s: f64,
    pub sent_packets: f64,
    pub retransmitted_packets: f64,
    pub timeouts: f64,
    pub recoveries: f64,
}

impl Flow {
    /// How long it was active in a run of this length without a warm-up.
    pub fn active_s(&self, duration_s: f64) -> f64 {
        duration_s - self.start_s
    }
}

/// A table as rows of named cells.
pub fn table(file: &Path) -> Vec<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(file).expect("a table");
    reader.records().map(|row| row.expect("a row")).collect()
}

/// The rows of `flows.csv`.
pub fn flows(file: &Path) -> Vec<Flow> {
    let rows = table(file);
    let (header, rows) = rows.split_first().expect("a header");
    let at = |name: &str| header.iter().position(|column| column == name).expect("the column");
    rows.iter()
        .map(|row| {
            let number = |name: &str| row[at(name)].parse().expect("a number");
            Flow {
                start_s: number("start_s"),
                throughput_bps: number("throughput_bps"),
                rtt_mean_s: number("rtt_mean_s"),
                sent_packets: number("sent_packets"),
                retransmitted_packets: number("retransmitted_packets"),
                timeouts: number("timeouts"),
                recoveries: number("recoveries"),
            }
        })
        .collect()
}
