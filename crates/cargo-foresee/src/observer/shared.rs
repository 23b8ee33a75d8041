//! What all sessions share: what to hold against programs, and what was found in them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foresee_lattice::online::Limits;
use foresee_monitor::property::Property;

use crate::error::{self, Severity};
use crate::report::human;
use crate::report::model::{Finding, Report, SessionStats, Stats};

/// So many findings are kept for the report at the end.
const FINDINGS: usize = 10_000;

/// Shared by the threads of all sessions.
pub(crate) struct Shared {
    pub(super) properties: Vec<Property>,
    pub(super) limits: Limits,
    /// Whether people read along.
    shows_at_once: bool,
    results: Mutex<Results>,
    stopped: AtomicBool,
}

/// What there is to report.
#[derive(Default)]
struct Results {
    findings: Vec<Finding>,
    sessions: Vec<SessionStats>,
    /// Connections that did not get as far as a session.
    dropped: u64,
}

impl Shared {
    pub(crate) fn new(properties: Vec<Property>, limits: Limits, shows_at_once: bool) -> Shared {
        let stopped = AtomicBool::new(false);
        Shared { properties, limits, shows_at_once, results: Mutex::default(), stopped }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub(super) fn found(&self, finding: Finding) {
        // One at a time: they have several lines.
        let mut results = self.results();
        if self.shows_at_once {
            error::print_lines(Severity::Warning, &human::observed(&finding));
        }
        if results.findings.len() < FINDINGS {
            results.findings.push(finding);
        }
    }

    pub(super) fn ended(&self, session: SessionStats) {
        let mut results = self.results();
        error::print(Severity::Note, &human::session(&session));
        results.sessions.push(session);
    }

    /// A connection was dropped that belongs to no session.
    pub(super) fn dropped(&self, why: &str) {
        let mut results = self.results();
        results.dropped += 1;
        error::print(Severity::Warning, &format!("a client was dropped: {why}"));
    }

    /// How many sessions have ended.
    pub(super) fn sessions(&self) -> usize {
        self.results().sessions.len()
    }

    /// All that was found, after so many seconds.
    pub(super) fn report(&self, seconds: f64) -> Report {
        let Results { findings, sessions, dropped } = std::mem::take(&mut *self.results());
        let events = sessions.iter().map(|session| session.events).sum();
        let stats = Stats {
            events,
            analysed: events,
            refused: sessions.iter().map(|session| session.refused).sum(),
            seconds,
            sessions: Some(sessions),
            dropped: Some(dropped),
            ..Stats::default()
        };
        let mut report = Report::new(findings, stats);
        report.number();
        report
    }

    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
