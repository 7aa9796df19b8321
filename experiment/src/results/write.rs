//! Writes results as files. Each file is written under a temporary name and renamed when it is complete, so that no
//! reader finds a half-written file under its name; the files of results are renamed when all are complete, so that none finds
//! files of two results together.

use crate::results::figures;
use crate::results::json::Line;
use crate::results::rows::{Table, tables};
use crate::results::schema::{ExpectationOutcome, HostLabel, Manifest, Results};
use crate::results::swept::swept;
use crate::results::{evaluation, matrix};
use serde::Serialize;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file that says how to get the results again.
pub const MANIFEST: &str = "manifest.json";
/// The files that show what a folder holds, and what that is. Each has its page in the same place.
pub const SHOWN: [(&str, &str); 3] =
    [(MANIFEST, "a scenario's results"), (matrix::FILE, "a matrix"), (evaluation::FILE, "an evaluation")];
/// The name of a page in a folder of results.
pub const PAGE: &str = "report.html";
/// The file with a run per line.
pub(crate) const RUNS: &str = "runs.ndjson";
const DICTIONARY: &str = "dictionary.csv";
/// The end of the name of a file that is being written; it begins with a dot.
const PARTIAL: &str = ".partial";
/// Returns the names of the files that results have beside [`MANIFEST`] and [`PAGE`].
pub fn files() -> impl Iterator<Item = String> {
    let of_a_table = |(table, _): &(&str, _)| [format!("{table}.csv"), format!("{table}.parquet")];
    let tables: Vec<[String; 2]> = figures::tables().iter().map(of_a_table).collect();
    [RUNS, DICTIONARY].map(str::to_string).into_iter().chain(tables.into_iter().flatten())
}

/// Whether results have a file of this name.
pub fn is_of_results(name: &str) -> bool {
    [MANIFEST, PAGE].contains(&name) || files().any(|file| file == name)
}

/// Writes all files of the results into `folder`, which must exist: `runs`, `timing`, `flows`, `shares`,
/// `traffic`, `windows` and `series` as CSV and as Parquet, `runs.ndjson`, `manifest.json`, `dictionary.csv`.
///
/// Everything but `timing.*` and `manifest.json` depends on the scenario and its seeds only, byte for byte. The page of earlier
/// results is removed. The manifest, which shows that the folder holds results, is gone while the others are renamed.
///
/// # Errors
/// The first file that cannot be written; what was there is as it was.
pub fn write(results: &Results, folder: &Path) -> io::Result<()> {
    let mut staged = Staged { folder, names: Vec::new() };
    for table in tables(results) {
        staged.add(&format!("{}.csv", table.name), |out| csv(&table, out))?;
        #[cfg(feature = "parquet")]
        staged.add(&format!("{}.parquet", table.name), |out| crate::results::parquet::parquet(&table, out))?;
    }
    staged.add(RUNS, |out| ndjson(results, out))?;
    staged.add(DICTIONARY, dictionary_csv)?;
    staged.add(MANIFEST, |out| {
        serde_json::to_writer_pretty(&mut *out, &Described::of(results))?;
        out.write_all(b"\n")
    })?;
    for earlier in [MANIFEST, PAGE] {
        match fs::remove_file(folder.join(earlier)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    staged.rename()
}

/// Files of one folder that are complete under their temporary names. Those that are not renamed are removed.
struct Staged<'a> {
    folder: &'a Path,
    names: Vec<String>,
}

impl Staged<'_> {
    fn add(&mut self, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.names.push(name.to_string());
        stage(&temporary(self.folder, name), content)
    }

    /// Gives all their names, in the order in which they were added.
    fn rename(mut self) -> io::Result<()> {
        while let Some(name) = self.names.first() {
            fs::rename(temporary(self.folder, name), self.folder.join(name))?;
            self.names.remove(0);
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        self.names.iter().for_each(|name| _ = fs::remove_file(temporary(self.folder, name)));
    }
}

fn temporary(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}{PARTIAL}"))
}

/// Writes a new file, whatever an interrupted command left under its name.
fn stage(file: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let _ = fs::remove_file(file);
    let mut out = BufWriter::new(File::options().write(true).create_new(true).open(file)?);
    content(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// What the manifest's file holds: the manifest, the host, and what was expected, so that a page can be made again.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    host: &'a HostLabel,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    expectations: &'a [ExpectationOutcome],
}

impl Described<'_> {
    fn of(results: &Results) -> Described<'_> {
        Described { manifest: &results.manifest, host: &results.host, expectations: &results.expectations }
    }
}

/// Writes one file of `folder` completely or not at all.
///
/// # Errors
/// The first step that fails. A failed attempt leaves nothing behind.
pub fn write_file(folder: &Path, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let temporary = temporary(folder, name);
    let written = stage(&temporary, content).and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes what an interrupted [`write_file`] left in this folder.
pub fn remove_partial(folder: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let partial =
        names.filter(|name| name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(PARTIAL)));
    partial.for_each(|name| _ = fs::remove_file(folder.join(name)));
}

/// Writes one complete run per line, without its cost.
fn ndjson(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let keys = swept(&results.runs);
    results.runs.iter().try_for_each(|run| {
        serde_json::to_writer(&mut *out, &Line::of(run, &keys))?;
        out.write_all(b"\n")
    })
}

/// Writes a table as its CSV file has it: a header, and a line per row.
///
/// # Errors
/// Those of `out`.
pub fn csv(table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns.iter().map(|(name, _)| name))?;
    for row in table.rows() {
        writer.write_record(row.iter().map(cell))?;
    }
    writer.flush()
}

/// Returns a value as a cell of a CSV file has it.
pub fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn dictionary_csv(out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["table", "column", "unit", "meaning"])?;
    for (table, columns) in figures::tables() {
        for column in columns {
            writer.write_record([table, column.name, column.unit.symbol(), column.meaning])?;
        }
    }
    writer.flush()
}
