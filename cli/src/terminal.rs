//! How far a plan is, for who waits for it; and Ctrl-C.
//!
//! At a terminal a bar on standard error moves with the runs and within them. Without one, a line on standard error says
//! the same every half minute; with `--json` there is none. What is kept or lost is said either way.

use harness::runner::{Checkpoint, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use packetscale_models::units::Span;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use studies::attack::Watch;

/// Exit code after Ctrl-C, as shells count: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// Steps of the bar for each run.
const STEPS: f64 = 1000.0;

/// Time between two lines where there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// How far a plan is, on standard error. On Ctrl-C the command ends, and says what is kept.
pub struct Terminal {
    form: Form,
    state: Mutex<State>,
}

/// In which form it is said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Bar,
    Lines,
    Nothing,
}

fn form(json: bool) -> Form {
    match (std::io::stderr().is_terminal(), json) {
        (true, _) => Form::Bar,
        (false, false) => Form::Lines,
        (false, true) => Form::Nothing,
    }
}

struct State {
    bar: ProgressBar,
    count: Count,
    said: Instant,
}

/// What is done of a plan.
struct Count {
    began: Instant,
    planned: usize,
    /// Done before it began, and by now.
    kept: usize,
    done: usize,
    /// Runs under way: how much of how much of their time.
    under_way: BTreeMap<usize, (Span, Span)>,
}

impl Count {
    fn new(planned: usize, kept: usize, began: Instant) -> Count {
        Count { began, planned, kept, done: kept, under_way: BTreeMap::new() }
    }

    /// Runs that are done, those under way by their part.
    fn runs(&self) -> f64 {
        let part = |(at, all): &(Span, Span)| at.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        self.done as f64 + self.under_way.values().map(part).sum::<f64>()
    }

    /// `3/24 runs`; where one run is under way alone, `0/1 runs, at 12.5 s of 60 s`.
    fn words(&self) -> String {
        let within = match self.under_way.values().collect::<Vec<_>>()[..] {
            [(at, all)] => format!(", at {:.1} s of {all}", at.as_secs_f64()),
            _ => String::new(),
        };
        format!("{}/{} runs{within}", self.done, self.planned)
    }

    /// The line for a log: what is done, since when, and how long the rest takes if it goes on like this.
    fn line(&self, now: Instant) -> String {
        let passed = now.saturating_duration_since(self.began);
        let made = self.runs() - self.kept as f64;
        let left = (self.planned as f64 - self.runs()).max(0.0);
        let rest = (made > 0.0).then(|| format!(", about {} left", words(passed.mul_f64((left / made).min(1e6)))));
        format!("{}, {} so far{}", self.words(), words(passed), rest.unwrap_or_default())
    }
}

/// `45 s`, `12 min 5 s`, `3 h 20 min`.
fn words(time: Duration) -> String {
    let s = time.as_secs();
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, min, s) => format!("{min} min {s} s"),
        (h, min, _) => format!("{h} h {min} min"),
    }
}

impl Terminal {
    /// `json`: standard output is for a program, and standard error, where it is no terminal, says no progress.
    pub fn new(json: bool) -> Terminal {
        let form = form(json);
        let now = Instant::now();
        let state = State { bar: ProgressBar::hidden(), count: Count::new(0, 0, now), said: now };
        Terminal { form, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, change: impl FnOnce(&mut Count)) {
        let mut state = self.state();
        change(&mut state.count);
        match self.form {
            Form::Nothing => {}
            Form::Bar => {
                state.bar.set_message(state.count.words());
                state.bar.set_position((state.count.runs() * STEPS) as u64);
            }
            Form::Lines => {
                let now = Instant::now();
                if now.saturating_duration_since(state.said) >= BETWEEN_LINES {
                    state.said = now;
                    let _ = writeln!(std::io::stderr(), "{}", state.count.line(now));
                }
            }
        }
    }
}

impl Progress for Terminal {
    fn note(&self, line: &str) {
        let _ = writeln!(std::io::stderr(), "{}", experiment::scenario::visible(line));
    }

    fn begin(&self, checkpoint: &Arc<Checkpoint>) {
        keep_on_interrupt(checkpoint);
        let (planned, kept) = {
            let sealed = checkpoint.seal();
            (sealed.planned(), sealed.done())
        };
        let mut state = self.state();
        let now = Instant::now();
        (state.count, state.said) = (Count::new(planned, kept, now), now);
        if self.form != Form::Bar {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some((planned as f64 * STEPS) as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {elapsed}, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(state.count.words());
        bar.set_position((kept as f64 * STEPS) as u64);
        bar.reset_eta();
        state.bar = bar;
    }

    fn within(&self, run: usize, at: Span, all: Span) {
        self.changed(|count| {
            count.under_way.insert(run, (at, all));
        });
    }

    fn made(&self, run: usize) {
        self.changed(|count| {
            count.under_way.remove(&run);
            count.done += 1;
        });
    }

    fn end(&self) {
        self.state().bar.finish_and_clear();
    }
}

/// How far a search is, on standard error; and Ctrl-C, which ends it: what was found by then is written.
pub struct Searching {
    form: Form,
    bar: ProgressBar,
    began: Instant,
    said: Mutex<Instant>,
    /// Paths to judge, if that is the budget.
    of: Option<u64>,
}

/// Whether Ctrl-C was pressed in a search.
static ENDS: AtomicBool = AtomicBool::new(false);

impl Searching {
    /// `json` as in [`Terminal::new`].
    pub fn new(json: bool, of: Option<u64>) -> Searching {
        let form = form(json);
        let bar = if form == Form::Bar { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let handler = || {
            if ENDS.swap(true, Ordering::SeqCst) {
                experiment::plugins::end(INTERRUPTED);
            }
        };
        // Without a handler either signal ends the program at once; what was judged is kept all the same.
        let _ = ctrlc::set_handler(handler);
        let now = Instant::now();
        Searching { form, bar, began: now, said: Mutex::new(now), of }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn tell(&self, line: &str) {
        self.bar.set_message(line.to_string());
        self.bar.tick();
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if self.form == Form::Lines && said.elapsed() >= BETWEEN_LINES {
            *said = Instant::now();
            let _ = writeln!(std::io::stderr(), "{line}, {} so far", words(self.began.elapsed()));
        }
    }
}

impl Watch for Searching {
    fn judged(&self, evaluations: u64, worst: Option<(&'static str, f64)>) {
        let of = self.of.map_or(String::new(), |of| format!("/{of}"));
        let worst = worst.map_or(String::new(), |(island, times)| format!(", {times:.1} times worse ({island})"));
        self.tell(&format!("{evaluations}{of} paths{worst}"));
    }

    fn shrinks(&self, number: usize, of: usize) {
        self.tell(&format!("finding {number} of {of}: other seeds, simpler paths"));
    }

    fn ends(&self) -> bool {
        ENDS.load(Ordering::SeqCst)
    }
}

/// A search was ended by Ctrl-C: it says so, and where it goes on from.
pub fn interrupted(folder: &Path) -> ! {
    let kept = format!("interrupted: findings are in {}; the same command resumes", folder.display());
    let _ = writeln!(std::io::stderr(), "\n{kept}");
    experiment::plugins::end(INTERRUPTED);
}

/// Files and folders that are half written.
static HALF_WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a signal ends the program just now: what is half written goes away under the hands of who writes it.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Waits for the end where a signal ends the program: what fails meanwhile fails because of it.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

fn half_written() -> MutexGuard<'static, Vec<PathBuf>> {
    HALF_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On Ctrl-C or SIGTERM this file or folder, which is being written, goes away.
pub fn remove_on_interrupt(path: &Path) {
    half_written().push(path.to_path_buf());
}

/// Removes it now, if it is there.
pub fn remove(path: &Path) {
    let mut half_written = half_written();
    half_written.retain(|known| known != path);
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

/// On Ctrl-C or SIGTERM lets the line that is being written be completed, says what is kept, and ends the program. One plan is under
/// way at a time: the last that began.
fn keep_on_interrupt(checkpoint: &Arc<Checkpoint>) {
    static UNDER_WAY: Mutex<Option<Arc<Checkpoint>>> = Mutex::new(None);
    let under_way = || UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    *under_way() = Some(Arc::clone(checkpoint));
    let handler = move || {
        ENDING.store(true, Ordering::SeqCst);
        let left = half_written().clone();
        left.iter().for_each(|path| remove(path));
        if let Some(checkpoint) = &*under_way() {
            let sealed = checkpoint.seal();
            experiment::results::remove_partial(sealed.folder());
            let kept =
                format!("{} of {} runs are kept in {}", sealed.done(), sealed.planned(), sealed.folder().display());
            let _ = writeln!(std::io::stderr(), "\ninterrupted: {kept}; the same command resumes");
            // What was being begun meanwhile.
            left.iter().for_each(|path| remove(path));
            experiment::plugins::end(INTERRUPTED);
        }
    };
    // Without a handler either signal ends the program at once; finished runs are kept all the same.
    let _ = ctrlc::set_handler(handler);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_counts_new_runs_and_not_cached_ones() {
        let began = Instant::now();
        let mut count = Count::new(8, 2, began);
        count.done = 3;
        count.under_way.insert(5, (Span::from_secs(30), Span::from_secs(60)));
        // One and a half runs in 90 s; of eight, four and a half are left: 270 s.
        let line = count.line(began + Duration::from_secs(90));
        assert_eq!(line, "3/8 runs, at 30.0 s of 60 s, 1 min 30 s so far, about 4 min 30 s left");
        count.under_way.insert(6, (Span::ZERO, Span::from_secs(60)));
        assert_eq!(count.words(), "3/8 runs");
    }

    #[test]
    fn no_estimate_before_first_run() {
        let began = Instant::now();
        assert_eq!(Count::new(1, 0, began).line(began + Duration::from_secs(7)), "0/1 runs, 7 s so far");
    }
}
