//! A witness as a short story: who runs first, what each holds, where they meet.
//!
//! A schedule may have millions of events, of which a person needs a handful: the finding's own events, the locks its
//! threads still hold when it happens, and where its threads began. Everything else is counted, not shown.

use foresee_trace::{EventId, Execution, LockId, Op, ThreadId};
use rustc_hash::FxHashMap;

use super::Report;
use super::wording::verb;

/// A step, in the column of its thread; or a number of events passed over.
pub(crate) enum Row {
    Step { column: usize, number: usize, text: String, key: bool },
    Passed { events: usize, others: usize },
}

/// The threads of the story, and what they do.
pub(crate) struct Story {
    pub(crate) threads: Vec<ThreadId>,
    pub(crate) rows: Vec<Row>,
}

/// More steps than this are too many; key steps are always shown.
const MOST_STEPS: usize = 14;

/// Tells a witness; `key` are the events that the finding is about, which may come after the schedule's end (what
/// threads in a deadlock wait for).
pub(crate) fn tell(
    report: &Report<'_>,
    execution: &Execution,
    schedule: &[EventId],
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
    let first = |thread| schedule.iter().position(|&id| execution.thread(id) == thread).unwrap_or(usize::MAX);
    threads.sort_by_key(|&thread| first(thread));

    let after: Vec<EventId> = key.iter().copied().filter(|id| !schedule.contains(id)).collect();
    let whole: Vec<EventId> = schedule.iter().chain(&after).copied().collect();
    let mut shown = worth_showing(execution, &whole, &threads, key);
    while shown.len() > MOST_STEPS {
        let Some(at) = shown.iter().position(|&at| !key.contains(&whole[at])) else { break };
        shown.remove(at);
    }

    let mut rows = Vec::new();
    let mut at = 0;
    for (number, &position) in shown.iter().enumerate() {
        pass(execution, &whole[at..position], &threads, &mut rows);
        at = position + 1;
        let id = whole[position];
        let event = execution.event(id);
        let column = threads.iter().position(|&thread| thread == event.thread);
        let who = if column.is_none() { format!("{} ", report.thread(event.thread)) } else { String::new() };
        let what = report.target(id.0.into(), &event);
        let place = match report.place(event.loc) {
            place if place == "an unknown place" => String::new(),
            place => format!("  {}", place.rsplit('/').next().unwrap_or(&place)),
        };
        let does = if after.contains(&id) { "waits for" } else { verb(event.op.name()) };
        let text = format!("{who}{does} {what}{place}");
        rows.push(Row::Step {
            column: column.unwrap_or(0),
            number: number + 1,
            text,
            key: key.contains(&id),
        });
    }
    pass(execution, &whole[at..], &threads, &mut rows);
    Story { threads, rows }
}

/// Positions of the events to show, in order.
fn worth_showing(
    execution: &Execution,
    whole: &[EventId],
    threads: &[ThreadId],
    key: &[EventId],
) -> Vec<usize> {
    let mut positions = Vec::new();
    // Where each lock that is still held was taken, and how often entered.
    let mut held: FxHashMap<(ThreadId, LockId), (usize, u32)> = FxHashMap::default();
    for (position, &id) in whole.iter().enumerate() {
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
            Op::Wait { cond } if mine => drop(held.remove(&(event.thread, cond))),
            Op::Fork { child } if threads.contains(&child) => positions.push(position),
            _ => {}
        }
    }
    positions.extend(held.values().map(|&(position, _)| position));
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn pass(execution: &Execution, passed: &[EventId], threads: &[ThreadId], rows: &mut Vec<Row>) {
    if !passed.is_empty() {
        let others = passed.iter().filter(|&&id| !threads.contains(&execution.thread(id))).count();
        rows.push(Row::Passed { events: passed.len(), others });
    }
}

/// Why the observed run did not show it, if a lock kept the two accesses apart: `thread` had released the lock before
/// the other took it.
pub(crate) fn what_separated(
    report: &Report<'_>,
    execution: &Execution,
    first: EventId,
    second: EventId,
) -> Option<String> {
    let (one, other) = (execution.thread(first), execution.thread(second));
    let mut released: FxHashMap<LockId, EventId> = FxHashMap::default();
    for id in (first.0 + 1..second.0).map(EventId) {
        match execution.event(id).op {
            Op::Release { lock, .. } if execution.thread(id) == one => {
                released.insert(lock, id);
            }
            Op::Acquire { lock, .. } if execution.thread(id) == other => {
                if let Some(&release) = released.get(&lock) {
                    return Some(format!(
                        "`{}` had unlocked `{}` ({}) before `{}` locked it ({})",
                        report.thread(one),
                        report.lock(lock),
                        report.place(execution.loc(release)),
                        report.thread(other),
                        report.place(execution.loc(id)),
                    ));
                }
            }
            _ => {}
        }
    }
    None
}
