//! `packetscale reproduce`: runs and computes what the figures of papers ask for, prints published and ours side by
//! side, writes a page for each paper, and stores the outcomes.

use crate::args::reproduce::Reproduce as Arguments;
use crate::outcome::{Failure, unwritable};
use crate::output::{heard, say};
use crate::probing;
use crate::program::PROGRAM;
use crate::terminal::Terminal;
use experiment::results::numbers::significant;
use experiment::results::reproduction::{self, Claim, Value, Verdict};
use experiment::results::to_lines;
use harness::runner::{Hash, Host, Made, Runner, threads};
use rayon::prelude::*;
use report::PAGE;
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use studies::papers::{
    Figure, Findings, FoundBy, GridQuestion, Library, Paper, PaperError, REPEATED, STORE, Store, Stores, Task,
};

/// Significant digits of our values.
const DIGITS: i32 = 4;

pub fn reproduce(arguments: &Arguments, host: &dyn Host) -> Result<(), Failure> {
    if arguments.scoreboard {
        let path = arguments.store.as_deref().unwrap_or(Path::new(STORE));
        if !path.exists() {
            let path = path.display();
            return Err(Failure::Input(format!(
                "{path}: there is no such file; expected the outcomes that `reproduce --all` stores"
            )));
        }
        let stores = Stores { found: Store::read(path).map_err(input)?, repeated: repeated(path).map_err(input)? };
        let library = Library::embedded().map_err(input)?;
        return match arguments.making.json {
            true => say(&format!("{}\n", studies::scoreboard::scores(&library, &stores).map_err(input)?)),
            false => say(&studies::scoreboard::scoreboard(&library, &stores).map_err(input)?),
        };
    }
    let kept = Kept::open(arguments)?;
    let mut chosen = chosen(arguments.what.as_deref()).map_err(input)?;
    if arguments.all {
        kept.leave_out_standing(&mut chosen);
    }
    if arguments.explain {
        keep_those(&mut chosen, Paper::explains);
        if chosen.is_empty() {
            say("No figure here names a run that explains a miss: every miss is unexplained.\n")?;
        }
    }
    // All is read and checked before anything runs.
    let mut chosen = read(chosen, arguments.quick, &arguments.out).map_err(input)?;
    if let Some(by) = arguments.reseed {
        chosen.iter_mut().flat_map(|(_, figures)| figures).for_each(|figure| figure.reseed(by));
    }
    let progress = Terminal::new(arguments.making.json);
    let runner = arguments.making.runner(host, &progress);
    let (mut outcomes, mut made) = (Vec::new(), Made::new());
    let (mut as_expected, mut has_reader) = (true, true);
    'papers: for (paper, figures) in &chosen {
        let folder = arguments.out.join(&paper.name);
        let mut done = Vec::new();
        for figure in figures {
            let outcome = outcome(figure, &folder.join(&figure.name), &runner, &mut made)?;
            kept.put(paper, &outcome)?;
            as_expected &= outcome.as_expected();
            has_reader = match (arguments.explain, arguments.making.json) {
                (true, _) => heard(&explained(&paper.name, &outcome))?,
                (_, false) => heard(&shown(&paper.name, &outcome))?,
                (_, true) => true,
            };
            if !has_reader {
                // Nobody waits for the rest.
                break 'papers;
            }
            done.push(outcome);
        }
        let whole = figures.len() == paper.figures().len();
        let page_folder = if whole { folder } else { folder.join(&figures[0].name) };
        let outcome = paper.outcome(done);
        let page = write_page(&outcome, &page_folder).map_err(|error| unwritable(&page_folder, &error))?;
        if !arguments.making.json {
            say(&format!("Written to {}\n\n", page.display()))?;
        }
        outcomes.push(outcome);
    }
    if arguments.making.json {
        say(&format!("{}\n", json!({ "schema": experiment::results::SCHEMA, "papers": outcomes })))?;
    } else if has_reader && !outcomes.is_empty() {
        say(&reproduction::WORDS.map(|(word, means)| format!("{word}: {means}.\n")).concat())?;
    }
    if as_expected { Ok(()) } else { Err(Failure::Missed) }
}

/// Digests of the code that judges figures, and of the code that does what each table of a figure's file asks for.
const CODE: [(&str, &str); 4] = [
    ("judge", env!("PACKETSCALE_CODE_JUDGE")),
    ("compute", env!("PACKETSCALE_CODE_COMPUTE")),
    ("simulate", env!("PACKETSCALE_CODE_SIMULATE")),
    ("probe", env!("PACKETSCALE_CODE_PROBE")),
];

/// The store of outcomes, if there is one to write to.
struct Kept {
    path: Option<PathBuf>,
    store: Store,
    /// What is added to every seed.
    reseed: Option<u64>,
}

impl Kept {
    fn open(arguments: &Arguments) -> Result<Kept, Failure> {
        let default = match arguments.reseed {
            Some(_) => Some(REPEATED),
            None => arguments.all.then_some(STORE),
        };
        let path = arguments.store.clone().or(default.map(PathBuf::from));
        if let Some(path) = &path {
            has_folder(path, arguments.store.is_some())?;
        }
        let store = path.as_deref().map_or(Ok(Store::default()), Store::read).map_err(input)?;
        Ok(Kept { path, store, reseed: arguments.reseed })
    }

    /// The digest of all that a figure depends on: the code that does what its sources ask for and judges what is found, and
    /// the files that it reads.
    fn depends_on(&self, paper: &Paper, figure: &str) -> String {
        let mut hash = Hash::default();
        if let Some(by) = self.reseed {
            _ = writeln!(hash, "reseed {by}");
        }
        let code = CODE.into_iter().filter(|(table, _)| *table == "judge" || paper.asks_for(figure, table));
        let code = code.map(|(table, digest)| (table, digest.as_bytes()));
        let files = paper.depends_on(figure);
        let files = files.iter().map(|(name, content)| (name.as_str(), *content));
        for (name, content) in code.chain(files) {
            // Lengths keep one content from reaching into the next. Writing to a digest cannot fail.
            _ = writeln!(hash, "{name} {}", content.len()).and_then(|()| hash.write_all(content));
        }
        hash.hex()
    }

    /// Leaves out the figures whose outcomes stand.
    fn leave_out_standing(&self, chosen: &mut Vec<(Paper, Vec<String>)>) {
        keep_those(chosen, |paper, figure| {
            !self.store.stands(&format!("{}/{figure}", paper.name), &self.depends_on(paper, figure))
        });
    }

    /// Stores a figure at once: what is interrupted later is not lost. What others have stored since stays.
    fn put(&self, paper: &Paper, figure: &reproduction::Figure) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut store = Store::read(path).map_err(input)?;
        let depends_on = self.depends_on(paper, &figure.name);
        let commit = PROGRAM.commit().unwrap_or("unknown");
        store.put(&paper.name, figure, FoundBy { commit, depends_on: &depends_on });
        store.write(path).map_err(input)
    }
}

/// Refuses a store whose folder is not there, before anything is run for it. `named`: it was asked for.
fn has_folder(store: &Path, named: bool) -> Result<(), Failure> {
    let Some(folder) = store.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) else {
        return Ok(());
    };
    let here = std::env::current_dir().map_or("here".to_string(), |here| format!("in {}", here.display()));
    let expected = match named {
        true => "an existing folder for the outcomes of --store",
        false => "the root of the source tree, or a file for the outcomes: --store FILE",
    };
    let (store, folder) = (store.display(), folder.display());
    Err(Failure::Input(format!("{store}: found no folder {folder} {here}; expected {expected}")))
}

fn input(error: studies::papers::PaperError) -> Failure {
    Failure::Input(error.to_string())
}

/// Papers, and names of figures of each.
pub type Chosen = Vec<(Paper, Vec<String>)>;

/// The outcomes of a repetition that lie beside a store, if any do.
fn repeated(store: &Path) -> Result<Store, PaperError> {
    Store::read(&store.with_file_name(Path::new(REPEATED).file_name().unwrap_or_default()))
}

/// What a name means: all that is compiled in, some of it, or what stands at a path.
///
/// # Errors
/// An unknown paper or figure, or a file that cannot be read.
pub fn chosen(what: Option<&str>) -> Result<Chosen, PaperError> {
    if let Some(path) = what.filter(|what| what.ends_with(".toml") || Path::new(what).join("paper.toml").is_file()) {
        return Ok(vec![Paper::read(Path::new(path))?]);
    }
    let library = Library::embedded()?;
    match what {
        Some(name) => Ok(vec![library.find(name)?]),
        None => Ok(library.papers().iter().map(|paper| (paper.clone(), paper.figures())).collect()),
    }
}

/// Reads the figures that were chosen; traces that are compiled in go below `out`.
///
/// # Errors
/// The first figure that cannot be read.
pub fn read(chosen: Chosen, quick: bool, out: &Path) -> Result<Vec<(Paper, Vec<Figure>)>, PaperError> {
    let read = |(paper, figures): (Paper, Vec<String>)| {
        let paper = paper.with_traces(&out.join("inputs"))?;
        let figures: Result<Vec<Figure>, _> = figures.iter().map(|name| paper.figure(name, quick)).collect();
        figures.map(|figures| (paper, figures))
    };
    chosen.into_iter().map(read).collect()
}

/// Does all tasks of a figure; data of runs go to `folder`. What another figure has `made` is not made again.
///
/// # Errors
/// What cannot be run, or kept in the folder.
pub fn outcome(
    figure: &Figure,
    folder: &Path,
    runner: &Runner<'_>,
    made: &mut Made,
) -> Result<reproduction::Figure, harness::runner::Error> {
    let findings = figure.tasks.iter().map(|task| match task {
        Task::Simulate { name, scenario, plan } => {
            let shown = format!("{}/{name}", figure.name);
            Ok(Findings::Runs(runner.record(scenario, plan, shown, &folder.join(name), made)?.runs))
        }
        Task::Recorded { answers, .. } => Ok(Findings::Answers(answers.clone())),
        Task::Probe { plan, methods, .. } => Ok(probing::judge(plan, methods, runner.jobs)?),
        Task::Compute { questions, .. } => {
            let answers = threads(runner.jobs)?.install(|| questions.par_iter().map(GridQuestion::answer).collect());
            Ok(Findings::Answers(answers))
        }
    });
    Ok(figure.outcome(&findings.collect::<Result<Vec<Findings>, harness::runner::Error>>()?))
}

/// Writes the page of a paper into this folder, and returns where it is.
///
/// # Errors
/// Those of writing.
pub fn write_page(paper: &reproduction::Paper, folder: &Path) -> std::io::Result<PathBuf> {
    let page = report::paper_page(paper);
    fs::create_dir_all(folder)?;
    experiment::results::write_file(folder, PAGE, |file| file.write_all(page.as_bytes()))?;
    Ok(folder.join(PAGE))
}

/// A figure for the terminal.
fn shown(paper: &str, figure: &reproduction::Figure) -> String {
    let short = if figure.quick { " (short form)" } else { "" };
    let mut out = format!("{paper}/{}{short}: {}\n", figure.name, figure.title);
    let has_ours = |value: &&Value| value.ours.is_some() || value.verdict != Verdict::NotJudged;
    let (shown, empty): (Vec<&Value>, Vec<&Value>) = figure.values.iter().partition(has_ours);
    if !shown.is_empty() {
        out.push_str(&values(&shown));
        out.push_str(&counted(figure));
    }
    if !empty.is_empty() {
        let why = if figure.quick { ": not run in the short form" } else { "" };
        out.push_str(&format!("{} more published values, without one of ours{why}\n", empty.len()));
    }
    for claim in &figure.claims {
        let unit = reproduction::behind_number(&claim.unit);
        let found = claim.found.map_or("nothing".to_string(), |found| format!("{found:.4}{unit}"));
        let because = if claim.because.is_empty() { String::new() } else { format!(" [{}]", one_line(&claim.because)) };
        let claimed = format!("\"{}\" ({})", one_line(&claim.words), claim.place);
        let judged = format!("{}: found {found}, {} ({})", claim.bound, claim.origin.word(), claim.selected);
        let words = match claim.verdict {
            Verdict::NotJudged => "not judged",
            verdict => verdict.words(!claim.because.is_empty()),
        };
        out.push_str(&format!("{words}: {claimed}: {judged}{because}\n"));
    }
    for source in figure.sources.iter().filter(|source| !source.unanswered.is_empty()) {
        out.push_str(&format!("no answer at some points of {}: {}\n", source.name, source.unanswered.join("; ")));
    }
    out
}

/// Leaves out other figures, and papers of which nothing is left.
fn keep_those(chosen: &mut Vec<(Paper, Vec<String>)>, wanted: impl Fn(&Paper, &str) -> bool) {
    for (paper, figures) in chosen.iter_mut() {
        figures.retain(|figure| wanted(paper, figure));
    }
    chosen.retain(|(_, figures)| !figures.is_empty());
}

/// The misses of a figure: which run shows each of them, if one does.
fn explained(paper: &str, figure: &reproduction::Figure) -> String {
    let values = figure.values.iter().filter(|value| !studies::papers::is_kept(value));
    let values = values.map(|value| (&value.what, &value.shown_by, &value.because));
    let missed = |claim: &&Claim| {
        matches!((claim.verdict, claim.because.is_empty()), (Verdict::Differs, _) | (Verdict::Unexpected, true))
    };
    let claims = figure.claims.iter().filter(missed).map(|claim| (&claim.words, &claim.shown_by, &claim.because));
    let mut out = format!("{paper}/{}: {}\n", figure.name, figure.title);
    for (what, shown_by, because) in values.chain(claims) {
        let why = match (shown_by.as_str(), because.as_str()) {
            ("", "") => "unexplained".to_string(),
            ("", because) => format!("unexplained, with a reason but no run: {}", one_line(because)),
            (shown_by, because) => format!("explained by \"{shown_by}\": {}", one_line(because)),
        };
        out.push_str(&format!("{}: {why}\n", one_line(what)));
    }
    out
}

/// How many values are kept.
fn counted(figure: &reproduction::Figure) -> String {
    let kept = figure.values.iter().filter(|value| studies::papers::is_kept(value)).count();
    format!("{kept} of {} values kept\n", figure.values.len())
}

fn values(values: &[&Value]) -> String {
    let head = ["", "published", "ours", "ratio", "unit", "ours is", "verdict"].map(str::to_string);
    let rows = values.iter().map(|value| {
        let half = value.half_width.map_or(String::new(), |half| format!(" ± {half:.2}"));
        let because = if value.because.is_empty() { String::new() } else { format!(" [{}]", one_line(&value.because)) };
        [
            format!("{} ({})", value.what, value.place),
            value.published.to_string(),
            value.ours.map_or("-".to_string(), |ours| format!("{}{half}", significant(ours, DIGITS))),
            value.ratio.map_or("-".to_string(), |ratio| format!("{ratio:.2}")),
            value.unit.clone(),
            value.origin.word().to_string(),
            value.verdict.words(!value.because.is_empty()).to_string() + &because,
        ]
    });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).map(Vec::from).collect();
    to_lines(&lines, 1..4)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
