//! A progress bar for long work: events per second and the time left, on a terminal only.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How many events pass between two looks at the clock.
const EVENTS_BETWEEN: u64 = 1 << 16;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows how far reading or writing a trace has come.
pub(crate) struct Progress {
    events: u64,
    started: Instant,
    bar: Option<ProgressBar>,
    wanted: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Progress { events: 0, started: Instant::now(), bar: None, wanted: io::stderr().is_terminal() }
    }

    /// Never to be shown.
    pub(crate) fn hide(&mut self) {
        self.wanted = false;
    }

    /// Counts events; whether it is time to [`show`](Progress::show).
    #[inline]
    pub(crate) fn is_due(&mut self, events: u64) -> bool {
        let before = self.events;
        self.events += events;
        before / EVENTS_BETWEEN != self.events / EVENTS_BETWEEN && self.wanted
    }

    /// Shows that `done` of `total` is done, in whatever unit.
    pub(crate) fn show(&mut self, done: u64, total: Option<u64>) {
        let elapsed = self.started.elapsed();
        if elapsed < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| new_bar(total, elapsed));
        bar.set_position(done);
        let rate = self.events as f64 / elapsed.as_secs_f64() / 1e6;
        bar.set_message(format!("{rate:.1} M events/s"));
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(total: Option<u64>, elapsed: Duration) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{wide_bar} {percent} %  {msg}  {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {elapsed}  {msg}"),
    };
    let bar = bar.with_elapsed(elapsed);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows which engine is at work.
pub(crate) struct Stage {
    bar: Option<ProgressBar>,
}

impl Stage {
    pub(crate) fn new(wanted: bool) -> Self {
        Stage { bar: (wanted && io::stderr().is_terminal()).then(ProgressBar::new_spinner) }
    }

    /// This engine starts now.
    pub(crate) fn show(&mut self, engine: &'static str) {
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(Duration::from_millis(200));
            bar.set_message(engine);
        }
    }

    /// Removes it.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
