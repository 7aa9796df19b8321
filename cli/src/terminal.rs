//! How far a plan is, for who sits at a terminal; and Ctrl-C.

use indicatif::{ProgressBar, ProgressStyle};
use runner::{Checkpoint, Progress};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Span;

/// Exit code after Ctrl-C, as shells count: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// A bar on standard error, when that is a terminal. On Ctrl-C the command ends, and says what is kept.
pub struct Terminal(Mutex<ProgressBar>);

impl Terminal {
    pub fn new() -> Terminal {
        Terminal(Mutex::new(ProgressBar::hidden()))
    }

    fn bar(&self) -> MutexGuard<'_, ProgressBar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Terminal {
    fn begin(&self, checkpoint: &Arc<Checkpoint>) {
        keep_on_interrupt(checkpoint);
        let sealed = checkpoint.seal();
        let bar = ProgressBar::new(sealed.planned() as u64).with_position(sealed.done() as u64);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} runs{msg} {wide_bar} {elapsed}, {eta} left") {
            bar.set_style(style);
        }
        bar.tick();
        *self.bar() = bar;
    }

    fn reached(&self, span: Span) {
        self.bar().set_message(format!(", the last at {:.1} s of its time", span.as_secs_f64()));
    }

    fn made(&self) {
        self.bar().inc(1);
    }

    fn end(&self) {
        self.bar().finish_and_clear();
    }
}

/// On Ctrl-C lets the line that is being written be completed, says what is kept, and ends the program. One plan is under
/// way at a time: the last that began.
fn keep_on_interrupt(checkpoint: &Arc<Checkpoint>) {
    static UNDER_WAY: Mutex<Option<Arc<Checkpoint>>> = Mutex::new(None);
    let under_way = || UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    *under_way() = Some(Arc::clone(checkpoint));
    let handler = move || {
        if let Some(checkpoint) = &*under_way() {
            let sealed = checkpoint.seal();
            let kept =
                format!("{} of {} runs are kept in {}", sealed.done(), sealed.planned(), sealed.folder().display());
            let _ = writeln!(std::io::stderr(), "\ninterrupted: {kept}; the same command resumes");
            std::process::exit(INTERRUPTED);
        }
    };
    // Without a handler Ctrl-C ends the program at once; finished runs are kept all the same.
    let _ = ctrlc::set_handler(handler);
}
