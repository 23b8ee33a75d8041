//! What the driver is told where there is no trace: what was found, and what of the spec was there at all.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use foresee_monitor::handler_text::{MeantThreads, says_with};
use foresee_monitor::mttl::Who;
use foresee_mttl::Program;

use super::spec::Formula;
use crate::monitors::doing::Doing;
use crate::monitors::spin::Spin;
use crate::monitors::verdicts::{self, Found};

/// So many places are told of.
const MOST_PLACES: usize = 1000;

/// Which of the threads that properties mention have been there.
pub(super) struct Met(Vec<AtomicBool>);

impl Met {
    pub(super) fn new(threads: &[Who]) -> Met {
        Met(threads.iter().map(|_| AtomicBool::new(false)).collect())
    }

    /// A thread is called this. The first of each name is told of.
    pub(super) fn thread(&self, threads: &[Who], name: &str) {
        let news = self.0.iter().zip(threads).filter(|(met, who)| !met.load(Relaxed) && who.includes(name));
        if news.fold(false, |_, (met, _)| !met.swap(true, Relaxed)) {
            verdicts::tell_thread(name);
        }
    }
}

/// A name that properties have for a variable of each thread.
pub(super) struct LocalName {
    pub(super) name: String,
    /// The locals that are called so.
    pub(super) numbers: Vec<u32>,
    /// The driver has been told that somebody assigns it.
    is_told: AtomicBool,
}

impl LocalName {
    pub(super) fn new(name: &str, program: &Program) -> LocalName {
        let meant = program.locals().iter().zip(0..).filter(|(local, _)| local.name == name);
        let numbers = meant.map(|(_, number)| number).collect();
        LocalName { name: name.to_owned(), numbers, is_told: AtomicBool::new(false) }
    }

    /// Somebody assigns it.
    #[inline]
    pub(super) fn is_assigned(&self) {
        if !self.is_told.load(Relaxed) && !self.is_told.swap(true, Relaxed) {
            verdicts::tell_local(&self.name);
        }
    }
}

/// Tells that a formula, with this number, has ceased to hold, for what the thread knows of others, unless that was told of the same place before. The values of some variables were not known.
pub(super) fn tell(formula: &Formula, number: u32, doing: Doing, others: &[String], unknown: &[String]) {
    static TOLD: Spin<Vec<(u32, u64)>> = Spin::new(Vec::new());
    let place = (number, doing.pc);
    let mut told = TOLD.lock();
    if told.contains(&place) || told.len() > MOST_PLACES {
        return;
    }
    told.push(place);
    drop(told);
    let property = formula.property.to_string_lossy();
    let own = verdicts::thread_name(doing.thread);
    let meant = MeantThreads { threads: &formula.threads, owner: formula.owner, own: &own, others };
    let unknown = unknown.iter().find(|variable| formula.variables.contains(variable));
    for handler in &formula.handlers {
        let says =
            says_with(handler, |name| if name == "thread" { Some(own.clone()) } else { meant.text(name) });
        verdicts::tell(&Found {
            property: &property,
            category: &handler.category,
            thread: doing.thread,
            pc: doing.pc,
            unknown: unknown.map(String::as_str),
            message: &says,
        });
    }
}
