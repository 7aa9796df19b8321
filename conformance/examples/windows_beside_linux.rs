//! Draws the windows of Linux's laws over time, here and in Linux 6.12 (`linux/table.ndjson`): 40 Mbit/s, 60 ms, a quarter
//! of the bandwidth-delay product as buffer, no random loss. Writes SVG to standard output.
//!
//!     cargo run --release --package conformance --example windows_beside_linux > docs/images/windows-beside-linux.svg

#[path = "../tests/linux/mod.rs"]
mod linux;
mod panels;
#[path = "../tests/path/mod.rs"]
mod path;

use linux::{LAWS, LOSSES, Row, STRIDE, experiment, rows, sides, table, window};
use panels::{Axes, draw};
use path::run;

/// Path and buffer together hold 248 packets.
const TOP: f64 = 450.0;

fn main() {
    let lossless = LOSSES[0];
    let rows: Vec<Row> = rows(&table());
    let axes = Axes { seconds: lossless.seconds, top: TOP };
    draw(&LAWS, &axes, "Linux 6.12", |law| {
        // Where a setting makes the law Linux's, with that.
        let settings = sides(law).pop().unwrap_or_default().1;
        let mut experiment = experiment(law, lossless, 1);
        experiment.flows[0].controller.settings = settings;
        let here: panels::Curve = window(&run(&experiment)).into_iter().step_by(STRIDE).collect();
        let row = rows.iter().find(|row| row.is_of(law, lossless)).unwrap_or_else(|| panic!("no row of {law}"));
        let times = here.iter().map(|(s, _)| *s);
        let there = times.zip(row.windows.iter().map(|packets| f64::from(*packets))).collect();
        (here, there)
    });
}
