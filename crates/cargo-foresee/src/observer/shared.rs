//! What all sessions share: which properties to check, memory and processors, and what was found.
//!
//! What is kept for the report at the end is bounded, too, as clients choose how much there is and how long its names are.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foresee_lattice::online::Limits;
use foresee_monitor::property::Property;

use super::memory_shares::MemoryShares;
use super::turns::Turns;
use crate::error::{self, Severity};
use crate::report::human;
use crate::report::model::{Finding, Report, SessionStats, Stats, Unmatched};

/// So many programs at once.
pub(super) const SESSIONS: usize = 64;

/// So many findings, and ends of programs, are kept for the report at the end.
const KEPT: usize = 10_000;

/// The texts of these findings have together no more bytes than this.
const TEXTS: usize = 64 << 20;

/// So many clients that were dropped are told of one by one.
const TOLD: u64 = 100;

/// Shared by the threads of all sessions.
pub(crate) struct Shared {
    pub(super) properties: Vec<Property>,
    pub(super) limits: Limits,
    pub(super) memory: MemoryShares,
    pub(super) turns: Turns,
    /// Whether people read along.
    shows_at_once: bool,
    /// How to tell of what properties name and programs do not have.
    mistakes: Severity,
    results: Mutex<Results>,
    stopped: AtomicBool,
}

/// What there is to report.
#[derive(Default)]
struct Results {
    findings: Vec<Finding>,
    /// How many bytes their texts have.
    texts: usize,
    sessions: Vec<SessionStats>,
    unmatched: Vec<Unmatched>,
    /// How many sessions have ended, and how many events and refused runs they had.
    ended: usize,
    events: u64,
    refused: u64,
    /// Connections that did not get as far as a session.
    dropped: u64,
}

impl Shared {
    /// `memory` is for all programs together.
    pub(crate) fn new(
        properties: Vec<Property>,
        limits: Limits,
        memory: usize,
        shows_at_once: bool,
        mistakes: Severity,
    ) -> Shared {
        Shared {
            properties,
            limits,
            memory: MemoryShares::new(memory, SESSIONS),
            turns: Turns::new(std::thread::available_parallelism().map_or(1, NonZero::get)),
            shows_at_once,
            mistakes,
            results: Mutex::default(),
            stopped: AtomicBool::new(false),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// A finding, with texts of so many bytes.
    pub(super) fn found(&self, finding: Finding, texts: usize) {
        // One at a time: they have several lines.
        let mut results = self.results();
        if self.shows_at_once {
            error::print_lines(Severity::Warning, &human::observed(&finding));
        }
        if results.findings.len() < KEPT && results.texts + texts <= TEXTS {
            results.texts += texts;
            results.findings.push(finding);
        }
    }

    /// A program does not have what a property names.
    pub(super) fn lacks(&self, program: &str, unmatched: Unmatched) {
        let mut results = self.results();
        error::print(self.mistakes, &format!("{program}: {}", unmatched.message));
        if results.unmatched.len() < KEPT && !results.unmatched.contains(&unmatched) {
            results.unmatched.push(unmatched);
        }
    }

    pub(super) fn ended(&self, session: SessionStats) {
        let mut results = self.results();
        error::print(Severity::Note, &human::session(&session));
        results.ended += 1;
        results.events += session.events;
        results.refused += session.refused;
        if results.sessions.len() < KEPT {
            results.sessions.push(session);
        }
    }

    /// A connection was dropped that belongs to no session.
    pub(super) fn dropped(&self, why: &str) {
        let mut results = self.results();
        results.dropped += 1;
        if results.dropped <= TOLD {
            let more = if results.dropped == TOLD { "; more are only counted" } else { "" };
            error::print(Severity::Warning, &format!("a client was dropped: {why}{more}"));
        }
    }

    /// How many sessions have ended.
    pub(super) fn sessions(&self) -> usize {
        self.results().ended
    }

    /// All that was found, after so many seconds.
    pub(super) fn report(&self, seconds: f64) -> Report {
        let Results { findings, sessions, unmatched, dropped, events, refused, .. } =
            std::mem::take(&mut *self.results());
        let stats = Stats {
            events,
            analysed: events,
            refused,
            seconds,
            unmatched,
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
