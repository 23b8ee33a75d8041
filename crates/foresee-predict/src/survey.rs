//! What there is to ask of an execution: one cheap pass that spares engines that could not find anything new.
//!
//! Most traces leave little open. Without an atomic block no block is violated; without a lock taken while another is held
//! there is no cycle of locks; and if every pair of places that could race ([`cells`](crate::cells)) is already proven, or guarded by a common
//! lock, or kept apart by a fork or a join, no engine has a race to predict. The answers err on the side of asking.
//!
//! **Cost.** One pass over the execution, some nanoseconds per event; 4 bytes per cell that can race and 16 per kind of access to it. Per
//! cell at most 48 kinds of accesses are distinguished; a cell with more counts as open, and so does everything if time
//! runs out. The first open pair ends the search.

use std::sync::Arc;

use foresee_trace::{Access, EventId, Op, ThreadId};
use rustc_hash::FxHashMap;

use crate::cells::{Accessed, Cells};
use crate::locks::{LockHistory, LocksetId};
use foresee_witness::engine::{Job, Proven};
use foresee_witness::judge::{FindingKind, Place};

/// What there is in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Whether places may race that are not proven to.
    pub open_races: bool,
    /// Whether a lock is taken while another is held, or the run ends with a thread waiting for one, for another thread or for a condition.
    pub nested_locks: bool,
    /// Whether there are atomic blocks.
    pub blocks: bool,
}

/// A cell with more kinds of accesses than this is not looked into.
const MAX_CLASSES: usize = 48;

/// How often to look at the clock.
const EVENTS_PER_LOOK: usize = 1 << 16;

/// A kind of access: by whom, where, how, holding what.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    thread: ThreadId,
    place: Place,
    access: Access,
    lockset: LocksetId,
}

/// All accesses of one class to one cell: from when to when.
#[derive(Clone, Copy)]
struct Span {
    class: u32,
    first: EventId,
    last: EventId,
    /// The next span of the same cell.
    next: u32,
}

/// No span.
const NONE: u32 = u32::MAX;

impl Survey {
    /// The survey that the engines of this analysis go by: made before the first of them runs.
    pub fn shared(job: &Job<'_>) -> Arc<Survey> {
        job.shared.get(|| Survey::of(job))
    }

    /// Looks at an execution of which `proven` is known already.
    pub fn of(job: &Job<'_>) -> Survey {
        let everything = Survey { open_races: true, nested_locks: true, blocks: true };
        let Job { execution, proven, budget, .. } = *job;
        if budget.is_exhausted() {
            return everything;
        }
        let (locks, atomic) = (&*LockHistory::shared(job), job.judge.atomic());
        let mut survey = Survey { open_races: false, nested_locks: locks.has_nested(), blocks: false };
        let cells = Cells::shared(job);
        let mut accesses = Accesses::new(cells.counts.len());
        let mut lives = Lives::default();
        let mut held = locks.walk();
        let mut waiting: FxHashMap<ThreadId, bool> = FxHashMap::default();
        for id in execution.ids() {
            if id.index() % EVENTS_PER_LOOK == 0 && budget.is_exhausted() {
                return everything;
            }
            let thread = execution.thread(id);
            let Some((var, access)) = execution.access(id) else {
                match execution.op(id) {
                    Op::Fork { child } => lives.forked(child, thread, id),
                    Op::Join { child } => {
                        lives.joined(child, thread, id);
                        waiting.insert(thread, false);
                    }
                    Op::BlockBegin { .. } | Op::CommitBegin { .. } => survey.blocks = true,
                    Op::Enter { function } if !atomic.is_empty() && !survey.blocks => {
                        survey.blocks = atomic.matches(execution.names().str(function));
                    }
                    Op::Request { .. } | Op::Wait { .. } | Op::Await { .. } | Op::Blocked { .. } => {
                        waiting.insert(thread, true);
                    }
                    Op::Acquire { .. } => drop(waiting.insert(thread, false)),
                    _ => {}
                }
                continue;
            };
            if survey.open_races {
                continue;
            }
            let mut class = None;
            for cell in execution.cells(var) {
                let Accessed::Openly(number) = cells.accessed(cell) else { continue };
                let class = *class.get_or_insert_with(|| {
                    let (place, lockset) = (Place::of_access(execution, id, var), held.before(thread, id));
                    accesses.class(Class { thread, place, access, lockset })
                });
                if let Some(span) = accesses.note(number, class, id) {
                    // What is open by now stays open, whatever comes later.
                    survey.open_races |=
                        accesses.has_partner(span, |a, b| is_open(a, b, locks, &lives, proven));
                }
            }
        }
        survey.nested_locks |= waiting.values().any(|&waits| waits);
        survey.open_races = survey.open_races
            || (0..accesses.spans.len() as u32)
                .any(|span| accesses.has_partner(span, |a, b| is_open(a, b, locks, &lives, proven)));
        survey
    }
}

/// Whether spans of the same cell may race, as far as is known by now.
fn is_open(
    a: &(Class, Span),
    b: &(Class, Span),
    locks: &LockHistory,
    lives: &Lives,
    proven: &Proven,
) -> bool {
    a.0.thread != b.0.thread
        && a.0.access.races(b.0.access)
        && !locks.locksets.exclude(a.0.lockset, b.0.lockset)
        && !lives.keep_apart(a, b)
        && !lives.keep_apart(b, a)
        && {
            let (first, second) = a.0.place.pair(b.0.place);
            !proven.contains(FindingKind::Race, &[first, second])
        }
}

/// The accesses to every cell, by class.
struct Accesses {
    classes: Vec<Class>,
    numbers: FxHashMap<Class, u32>,
    last_class: Option<(Class, u32)>,
    /// The first span of each cell that can race.
    heads: Vec<u32>,
    spans: Vec<Span>,
}

impl Accesses {
    fn new(cells: usize) -> Accesses {
        Accesses {
            classes: Vec::new(),
            numbers: FxHashMap::default(),
            last_class: None,
            heads: vec![NONE; cells],
            spans: Vec::new(),
        }
    }

    #[inline]
    fn class(&mut self, class: Class) -> u32 {
        if let Some((last, number)) = self.last_class
            && last == class
        {
            return number;
        }
        let number = *self.numbers.entry(class).or_insert_with(|| {
            self.classes.push(class);
            self.classes.len() as u32 - 1
        });
        self.last_class = Some((class, number));
        number
    }

    /// Notes an access; the span, if it begins one.
    #[inline]
    fn note(&mut self, cell: u32, class: u32, id: EventId) -> Option<u32> {
        let head = self.heads[cell as usize];
        let mut at = head;
        while let Some(span) = self.spans.get_mut(at as usize) {
            if span.class == class {
                span.last = id;
                return None;
            }
            at = span.next;
        }
        let new = self.spans.len() as u32;
        self.heads[cell as usize] = new;
        self.spans.push(Span { class, first: id, last: id, next: head });
        Some(new)
    }

    /// Whether `asked` holds for a span and an older one of its cell, or there are too many of those to look at.
    fn has_partner(&self, span: u32, asked: impl Fn(&(Class, Span), &(Class, Span)) -> bool) -> bool {
        let mut spans = self.spans_from(span);
        let Some(this) = spans.next() else { return false };
        spans.enumerate().any(|(nth, older)| nth >= MAX_CLASSES || asked(&this, &older))
    }

    fn spans_from(&self, mut at: u32) -> impl Iterator<Item = (Class, Span)> + '_ {
        std::iter::from_fn(move || {
            let span = *self.spans.get(at as usize)?;
            at = span.next;
            Some((self.classes[span.class as usize], span))
        })
    }
}

/// When threads were forked and joined, and by whom.
#[derive(Default)]
struct Lives {
    forks: FxHashMap<ThreadId, (ThreadId, EventId)>,
    joins: FxHashMap<ThreadId, (ThreadId, EventId)>,
}

impl Lives {
    fn forked(&mut self, child: ThreadId, by: ThreadId, at: EventId) {
        self.forks.entry(child).or_insert((by, at));
    }

    fn joined(&mut self, child: ThreadId, by: ThreadId, at: EventId) {
        self.joins.entry(child).or_insert((by, at));
    }

    /// Whether all of `a` is ordered before or after all of `b` because a thread forked or joined the thread of `b`: the
    /// thread of `a` itself, or one that had joined it before.
    fn keep_apart(&self, (a, when): &(Class, Span), (b, _): &(Class, Span)) -> bool {
        let fork = self.forks.get(&b.thread);
        let join = self.joins.get(&b.thread);
        let joined_before = match (self.joins.get(&a.thread), fork) {
            (Some(&(by, joined)), Some(&(forker, forked))) => by == forker && joined < forked,
            _ => false,
        };
        joined_before
            || fork.is_some_and(|&(by, at)| by == a.thread && when.last < at)
            || join.is_some_and(|&(by, at)| by == a.thread && when.first > at)
    }
}

#[cfg(test)]
mod tests {
    use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};
    use foresee_witness::atomic::AtomicFunctions;
    use foresee_witness::engine::{Budget, Case};

    use super::*;

    /// Where the oracle finds something, the survey must not say that there is nothing.
    #[test]
    fn nothing_real_is_spared() {
        for_each_seed(20_000, |seed| {
            let lock_heavy = if seed % 2 == 0 { 100 } else { 0 };
            let execution = random_execution(seed, &Config { lock_heavy, ..Config::default() });
            let case = Case::new(&execution, AtomicFunctions::default());
            let survey = Survey::of(&case.job(&Proven::default(), Budget::unlimited()));
            let oracle = Oracle::new(&execution);
            assert!(survey.open_races || oracle.races().is_empty());
            assert!(survey.nested_locks || oracle.deadlocks().is_empty());
            assert!(survey.blocks || oracle.atomicity_violations().is_empty());
        });
    }
}
