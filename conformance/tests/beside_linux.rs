//! The laws here compared with Linux's own congestion controls (6.12, in virtual time), on one path with random losses of 0, 1e-4
//! and 1e-3.
//!
//! `linux/table.ndjson` has what Linux did; the example `beside_linux` makes it. In each cell the means over seeds of the
//! throughput and of the congestion window differ by no more than 10 %, plus twice the standard error of their difference.
//! Cells that differ by more are listed with what is known of the reason, and a listed cell that does not differ is an
//! error, too. `linux/situations.ndjson` has laws in other situations ([`situations`]), where a figure may differ by a factor of 1.25.
//!
//! With `PACKETSCALE_LONG` a sample of cells is run again in Linux 6.1, which `setup.sh test` fetches, and compared with
//! its rows in the table: they were made by another build of this program, which is another machine, so they agree within 10 %.

mod linux;
mod path;

use libtest_mimic::{Arguments, Failed, Trial};
use linux::{
    JUDGED, Judged, LAWS, LOSSES, Loss, Row, SAMPLE, SHOWN, becomes_the_guest, here, judge, known_difference, queues,
    rows, sample_folder, sample_kernel, sides, situations, table, there,
};
use packetscale_models::settings::Settings;

/// Largest difference of two builds in a cell of the sample.
const SAME: f64 = 0.1;

fn main() {
    if becomes_the_guest() {
        return;
    }
    let mut trials: Vec<Trial> =
        LAWS.into_iter().map(|law| Trial::test(format!("{law}_is_as_in_linux"), move || is_as_in_linux(law))).collect();
    let queues = queues::CELLS.map(|cell| {
        let more = [(cell.marks, "_and_marks"), (cell.together, "_together")];
        let more: String = more.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        let (queue, law, step) = (cell.here, cell.controller, cell.step_mbps);
        let name = format!("{queue}_with_{law}{more}_and_a_step_of_{step}_is_as_in_linux");
        Trial::test(name, move || is_a_queue_as_in_linux(&cell))
    });
    trials.extend(queues);
    trials.extend(situations::SITUATIONS.map(|(situation, _)| {
        Trial::test(format!("{situation}_is_answered_as_in_linux"), move || is_answered_as_in_linux(situation))
    }));
    let all = std::env::var_os("PACKETSCALE_LONG").is_some();
    trials.extend(SAMPLE.laws.iter().map(|law| {
        let test = Trial::test(format!("a_row_of_{law}_is_found_again"), move || a_row_is_found_again(law));
        test.with_ignored_flag(!all)
    }));
    trials.push(Trial::test("another_law_is_refused", another_law_is_refused));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The rows of a cell in Linux 6.12.
fn cell<'a>(rows: &'a [Row], law: &str, loss: Loss) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.is_of(law, loss)).collect()
}

/// Prints a row, and returns its errors. `path`: one loss in this many packets, or the step in addition to a queue.
fn compared(name: &str, path: u64, figure: &str, judged: &Judged) -> Option<String> {
    let line = format!("{name} | {path} | {figure} | {judged}");
    println!("{line}");
    match known_difference(name, path, figure) {
        None if judged.far => Some(line),
        Some(why) if !judged.far => Some(format!("{line}: no difference any more ({why})")),
        _ => None,
    }
}

fn is_as_in_linux(law: &str) -> Result<(), Failed> {
    let rows: Vec<Row> = rows(&table());
    let mut wrong = Vec::new();
    for loss in LOSSES.into_iter().filter(|loss| loss.laws.contains(&law)) {
        let there: Vec<_> = cell(&rows, law, loss).into_iter().map(|row| row.figures.clone()).collect();
        if there.is_empty() {
            wrong.push(format!("{law} at 1 in {}: no row in the table", loss.one_in));
            continue;
        }
        for (label, settings) in sides(law) {
            let here = here(law, &settings, loss);
            for (name, of) in JUDGED {
                wrong.extend(compared(&label, loss.one_in, name, &judge(&here, &there, of)));
            }
            for (name, of) in SHOWN {
                println!("{label} | {} | {name} | {}", loss.one_in, judge(&here, &there, of));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn is_a_queue_as_in_linux(cell: &queues::Cell) -> Result<(), Failed> {
    let rows: Vec<queues::Row> = rows(&queues::table());
    let there: Vec<_> = rows.into_iter().filter(|row| row.is_of(cell)).map(|row| row.figures).collect();
    if there.is_empty() {
        return Err("no row in the table".into());
    }
    let mut wrong = Vec::new();
    for (label, settings) in queues::sides(cell) {
        let found = queues::here(cell, &settings);
        for (figure, of) in queues::JUDGED {
            wrong.extend(compared(&label, cell.step_mbps, figure, &judge(&found, &there, of)));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn is_answered_as_in_linux(situation: &str) -> Result<(), Failed> {
    let rows: Vec<situations::Row> = rows(&situations::table());
    let mut wrong = Vec::new();
    for law in situations::laws() {
        let there: Vec<_> =
            rows.iter().filter(|row| row.is_of(situation, law)).map(|row| row.figures.clone()).collect();
        if there.is_empty() {
            wrong.push(format!("{law}: no row in the table"));
            continue;
        }
        let here = situations::here(situation, law);
        for (read, small) in situations::JUDGED {
            let judged = situations::judge(&here, &there, read, small);
            let line = format!("{law} | {situation} | {} | {judged}", read.0);
            println!("{line}");
            match situations::known_difference(law, situation, read.0) {
                None if judged.far => wrong.push(line),
                Some(why) if !judged.far => wrong.push(format!("{line}: no difference any more ({why})")),
                _ => {}
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// NewReno judged by the rows of Scalable.
fn another_law_is_refused() -> Result<(), Failed> {
    let rows: Vec<Row> = rows(&table());
    let loss = LOSSES[LOSSES.len() - 1];
    let there: Vec<_> = cell(&rows, "scalable", loss).into_iter().map(|row| row.figures.clone()).collect();
    let judged = judge(&here("newreno", &Settings::new(), loss), &there, JUDGED[0].1);
    if judged.far { Ok(()) } else { Err(format!("NewReno was taken for Scalable: {judged}").into()) }
}

fn a_row_is_found_again(law: &str) -> Result<(), Failed> {
    if let Err(missing) = linux::present(&sample_folder()) {
        if std::env::var("CI").as_deref() == Ok("true") {
            return Err(missing.into());
        }
        println!("skipped: {missing}");
        return Ok(());
    }
    let host = linux::linux(sample_kernel());
    let rows: Vec<Row> = rows(&table());
    let stored = cell(&rows, law, SAMPLE);
    let stored = stored.first().ok_or_else(|| format!("{law}: no row of the sample in the table"))?;
    let found = there(&host, law, SAMPLE, stored.seed).map_err(|refusal| refusal.to_string())?.figures;
    println!("{law}: found {found:?}\n  stored {:?}", stored.figures);
    for (name, of) in JUDGED {
        let (found, stored) = (of(&found), of(&stored.figures));
        if (found - stored).abs() > SAME * stored {
            return Err(format!("{law}, {name}: found {found}, stored {stored}").into());
        }
    }
    Ok(())
}
