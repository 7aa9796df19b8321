//! The laws here beside Linux's own congestion controls (6.12, in virtual time), on one path with random losses of 0, 1e-4
//! and 1e-3.
//!
//! `linux/table.ndjson` has what Linux did; the example `beside_linux` makes it. In each cell the means over seeds of the
//! throughput and of the congestion window differ by no more than 10 %, plus twice the standard error of their difference.
//! Cells that differ by more are listed with what is known of the reason, and a listed cell that does not differ is an
//! error, too.
//!
//! A sample of cells is run again in Linux 6.1, which `setup.sh test` fetches, and compared with its rows in the table:
//! they were made by another build of this program, which is another machine, so they agree within 10 %.

mod linux;
mod path;

use libtest_mimic::{Arguments, Failed, Trial};
use linux::{JUDGED, LAWS, LOSSES, Loss, Row, SAMPLE, becomes_the_guest, here, judge, known_difference, rows, there};
use std::path::PathBuf;
use virtual_time::Kernel;

/// Largest difference of two builds in a cell of the sample.
const SAME: f64 = 0.1;

fn main() {
    if becomes_the_guest() {
        return;
    }
    let mut trials: Vec<Trial> =
        LAWS.into_iter().map(|law| Trial::test(format!("{law}_is_as_in_linux"), move || is_as_in_linux(law))).collect();
    trials.push(Trial::test("a_sample_of_the_table_is_found_again", a_sample_of_the_table_is_found_again));
    trials.push(Trial::test("another_law_is_refused", another_law_is_refused));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The rows of a cell in Linux 6.12.
fn cell<'a>(rows: &'a [Row], law: &str, loss: Loss) -> Vec<&'a Row> {
    let of_cell = |row: &&Row| row.law == law && row.one_in == loss.one_in && row.seconds == loss.seconds;
    rows.iter().filter(of_cell).collect()
}

fn is_as_in_linux(law: &str) -> Result<(), Failed> {
    let rows = rows();
    let mut wrong = Vec::new();
    for loss in LOSSES {
        let there: Vec<_> = cell(&rows, law, loss).into_iter().map(|row| row.figures.clone()).collect();
        if there.is_empty() {
            wrong.push(format!("{law} at 1 in {}: no row in the table", loss.one_in));
            continue;
        }
        let here = here(law, loss);
        for (name, of) in JUDGED {
            let judged = judge(&here, &there, of);
            let line = format!("{law} | 1 in {} | {name} | {judged}", loss.one_in);
            println!("{line}");
            match known_difference(law, loss.one_in, name) {
                None if judged.far => wrong.push(line),
                Some(why) if !judged.far => wrong.push(format!("{line}: no difference any more ({why})")),
                _ => {}
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// NewReno judged by the rows of BIC.
fn another_law_is_refused() -> Result<(), Failed> {
    let rows = rows();
    let loss = LOSSES[LOSSES.len() - 1];
    let there: Vec<_> = cell(&rows, "bic", loss).into_iter().map(|row| row.figures.clone()).collect();
    let judged = judge(&here("newreno", loss), &there, JUDGED[0].1);
    if judged.far { Ok(()) } else { Err(format!("NewReno was taken for BIC: {judged}").into()) }
}

/// Debian's kernel 6.1 and its modules, where `setup.sh test` puts them.
fn kernel() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/debian-6.1"))
}

fn a_sample_of_the_table_is_found_again() -> Result<(), Failed> {
    if let Err(missing) = linux::present(&kernel()) {
        if std::env::var("CI").as_deref() == Ok("true") {
            return Err(missing.into());
        }
        println!("skipped: {missing}");
        return Ok(());
    }
    // The machine is kept beside the kernel.
    let host = linux::linux(Box::new(|| Kernel::own(&kernel().join("vmlinuz"), Some(&kernel()))));
    let rows = rows();
    for (law, loss) in SAMPLE {
        let stored = cell(&rows, law, loss);
        let stored = stored.first().ok_or_else(|| format!("{law}: no row of the sample in the table"))?;
        let found = there(&host, law, loss, stored.seed).map_err(|refusal| refusal.to_string())?;
        println!("{law}: found {found:?}\n  stored {:?}", stored.figures);
        for (name, of) in JUDGED {
            let (found, stored) = (of(&found), of(&stored.figures));
            if (found - stored).abs() > SAME * stored {
                return Err(format!("{law}, {name}: found {found}, stored {stored}").into());
            }
        }
    }
    Ok(())
}
