//! A witness as a short story: who runs first, what each holds, where they meet.
//!
//! A schedule may have millions of events, of which a person needs a handful: the finding's own events, the locks its
//! threads still hold when it happens, and where its threads began. Everything else is counted, not shown.

use std::ops::Range;

use foresee_trace::{EventId, Execution, LocId, LockId, Op, ThreadId};
use foresee_witness::checker::Schedule;
use rustc_hash::FxHashMap;

use super::resolve::Resolver;
use crate::report::model::{Change, Passed, Row, Separation, Story, StoryStep};

/// More steps than this are too many; key steps are always shown.
const MOST_STEPS: usize = 14;

/// A schedule, and what threads wait to do after its end; by position, without a copy of it.
struct Whole<'a> {
    schedule: &'a Schedule,
    after: Vec<EventId>,
}

impl Whole<'_> {
    fn len(&self) -> usize {
        self.schedule.len() + self.after.len()
    }

    fn at(&self, position: usize) -> EventId {
        let (observed, then) = (self.schedule.observed() as usize, self.schedule.then());
        match position.checked_sub(observed) {
            None => EventId(position as u32),
            Some(next) if next < then.len() => then[next],
            Some(next) => self.after[next - then.len()],
        }
    }

    fn range(&self, positions: Range<usize>) -> impl Iterator<Item = EventId> {
        positions.map(|position| self.at(position))
    }
}

/// The story of a witness; `key` are the events that the finding is about, which may come after the schedule's end (what
/// threads in a deadlock wait for).
pub(super) fn story_of(
    resolver: &Resolver<'_>,
    execution: &Execution,
    schedule: &Schedule,
    key: &[EventId],
) -> Story {
    let mut threads: Vec<ThreadId> = Vec::new();
    for &id in key {
        let thread = execution.thread(id);
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }
    // The thread that acts first stands left.
    let first = |thread| schedule.iter().position(|id| execution.thread(id) == thread).unwrap_or(usize::MAX);
    threads.sort_by_cached_key(|&thread| first(thread));

    let is_in = |id: EventId| id.0 < schedule.observed() || schedule.then().contains(&id);
    let whole = Whole { schedule, after: key.iter().copied().filter(|&id| !is_in(id)).collect() };
    let mut shown = worth_showing(execution, &whole, &threads, key);
    while shown.len() > MOST_STEPS {
        let Some(at) = shown.iter().position(|&at| !key.contains(&whole.at(at))) else { break };
        shown.remove(at);
    }

    let mut rows = Vec::new();
    let mut at = 0;
    for position in shown {
        pass(execution, &whole, at..position, &threads, &mut rows);
        at = position + 1;
        let id = whole.at(position);
        let event = execution.event(id);
        rows.push(Row::Step(StoryStep {
            index: id.0.into(),
            thread: resolver.thread(event.thread),
            column: threads.iter().position(|&thread| thread == event.thread),
            op: event.op.name().to_owned(),
            target: resolver.target(id.0.into(), &event),
            location: resolver.location(event.loc),
            key: key.contains(&id),
            blocked: whole.after.contains(&id),
        }));
    }
    pass(execution, &whole, at..whole.len(), &threads, &mut rows);
    let threads = threads.into_iter().map(|thread| resolver.thread(thread)).collect();
    Story { threads, rows, separated_by: None }
}

/// Positions of the events to show, in order.
fn worth_showing(
    execution: &Execution,
    whole: &Whole<'_>,
    threads: &[ThreadId],
    key: &[EventId],
) -> Vec<usize> {
    let mut positions = Vec::new();
    // Where each lock that is still held was taken, and how often entered.
    let mut held: FxHashMap<(ThreadId, LockId), (usize, u32)> = FxHashMap::default();
    for (position, id) in whole.range(0..whole.len()).enumerate() {
        let event = execution.event(id);
        let mine = threads.contains(&event.thread);
        match event.op {
            _ if key.contains(&id) => positions.push(position),
            Op::Acquire { lock, .. } if mine => {
                held.entry((event.thread, lock)).or_insert((position, 0)).1 += 1;
            }
            Op::Release { lock, .. } if mine => {
                if let Some((_, depth)) = held.get_mut(&(event.thread, lock)) {
                    *depth -= 1;
                    if *depth == 0 {
                        held.remove(&(event.thread, lock));
                    }
                }
            }
            Op::Wait { cond, .. } if mine => drop(held.remove(&(event.thread, cond))),
            Op::Fork { child } if threads.contains(&child) => positions.push(position),
            _ => {}
        }
    }
    positions.extend(held.values().map(|&(position, _)| position));
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn pass(
    execution: &Execution,
    whole: &Whole<'_>,
    passed: Range<usize>,
    threads: &[ThreadId],
    rows: &mut Vec<Row>,
) {
    if !passed.is_empty() {
        let events = passed.len() as u64;
        let others = whole.range(passed).filter(|&id| !threads.contains(&execution.thread(id))).count();
        rows.push(Row::Passed(Passed { events, others: others as u64 }));
    }
}

/// Why the observed run did not show it, if a lock kept the two accesses apart: the thread of `first` had released the lock
/// before that of `second` acquired it.
pub(super) fn what_separated(
    resolver: &Resolver<'_>,
    execution: &Execution,
    first: EventId,
    second: EventId,
) -> Option<Separation> {
    let (one, other) = (execution.thread(first), execution.thread(second));
    let change = |thread: ThreadId, loc: LocId| Change {
        thread: resolver.thread(thread),
        location: resolver.location(loc),
    };
    let mut released: FxHashMap<LockId, EventId> = FxHashMap::default();
    for id in (first.0 + 1..second.0).map(EventId) {
        match execution.event(id).op {
            Op::Release { lock, .. } if execution.thread(id) == one => {
                released.insert(lock, id);
            }
            Op::Acquire { lock, .. } if execution.thread(id) == other => {
                if let Some(&release) = released.get(&lock) {
                    return Some(Separation {
                        lock: resolver.lock(lock),
                        released: change(one, execution.loc(release)),
                        acquired: change(other, execution.loc(id)),
                    });
                }
            }
            _ => {}
        }
    }
    None
}
