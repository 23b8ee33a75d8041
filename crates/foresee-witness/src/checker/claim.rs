//! What a witness can show.

use foresee_trace::{EventId, Execution, LockId, Mode, Op, ThreadId};

use super::refusal::{Refusal, describe};
use super::replay::{Handover, Replay};

/// What a schedule is claimed to show.
pub enum Claim<'a> {
    /// A data race: the two accesses are the schedule's last two events, in this order, of different threads; they touch
    /// a common byte, one writes, and not both are atomic.
    Race {
        /// The last but one event.
        first: EventId,
        /// The last event.
        second: EventId,
    },
    /// A deadlock: after the schedule, each of these threads is about to take a lock that the next one holds, around
    /// in a circle. An event is the acquire; the thread may have done the request before it, or do it next. Where the
    /// run never got the lock, it is the request, the thread's last event in the execution.
    Deadlock {
        /// The blocked event of each thread of the circle.
        blocked: Vec<EventId>,
    },
    /// An atomicity violation: these conflicts, each from an earlier to a later event of another thread, close a circle of
    /// transactions. From the end of one conflict to the start of the next the circle goes on in the same thread: forward,
    /// or anywhere within the same outermost atomic block. Time being linear, some step goes back, which only a block that
    /// others interleave allows.
    Atomicity {
        /// The conflicts, in the order of the circle.
        cycle: Vec<(EventId, EventId)>,
    },
    /// A property is violated.
    Property {
        /// Whether the schedule violates the property.
        violated: &'a dyn Fn(&Execution, &[EventId]) -> bool,
        /// The event with the verdict; `None` if that is the end of the run.
        at: Option<EventId>,
        /// Asks for rule (c″): reads that no branch depends on may read anything, but then nothing that the property looks at
        /// depends on them. The function says what the property looks at.
        sliced: Option<&'a dyn Fn(EventId) -> bool>,
    },
    /// The operations of the schedule do not refine their specification.
    Refinement {
        /// Whether those of a schedule do not.
        violated: &'a dyn Fn(&Execution, &[EventId]) -> bool,
        /// The event at which that is established.
        at: EventId,
    },
}

impl<'a> Claim<'a> {
    /// That a schedule violates a property.
    pub fn property(violated: &'a dyn Fn(&Execution, &[EventId]) -> bool) -> Claim<'a> {
        Claim::Property { violated, at: None, sliced: None }
    }

    /// The same by rule (c″), of a property that looks at these events.
    pub fn sliced_property(
        violated: &'a dyn Fn(&Execution, &[EventId]) -> bool,
        looks_at: &'a dyn Fn(EventId) -> bool,
    ) -> Claim<'a> {
        Claim::Property { violated, at: None, sliced: Some(looks_at) }
    }

    /// Whether it is about all events of a schedule.
    pub(super) fn is_about_whole(&self) -> bool {
        matches!(self, Claim::Property { .. } | Claim::Refinement { .. })
    }

    /// The threads that do something after the schedule, and the events to watch. Refuses events that do not exist.
    pub(super) fn needs(&self, execution: &Execution) -> Result<(Vec<ThreadId>, Vec<EventId>), Refusal> {
        let named: Vec<EventId> = match self {
            Claim::Race { first, second } => vec![*first, *second],
            Claim::Deadlock { blocked } => blocked.clone(),
            Claim::Atomicity { cycle } => cycle.iter().flat_map(|&(from, to)| [from, to]).collect(),
            Claim::Property { .. } | Claim::Refinement { .. } => Vec::new(),
        };
        if let Some(unknown) = named.iter().find(|id| id.index() >= execution.len()) {
            let why = format!("there is no event {}: the execution has {}", unknown.0, execution.len());
            return Err(Refusal::NotShown { why });
        }
        Ok(match self {
            Claim::Deadlock { .. } => (named.iter().map(|&id| execution.thread(id)).collect(), Vec::new()),
            Claim::Atomicity { .. } => (Vec::new(), named),
            Claim::Race { .. } | Claim::Property { .. } | Claim::Refinement { .. } => {
                (Vec::new(), Vec::new())
            }
        })
    }

    /// Whether the schedule, replayed, shows the claim; if not, why.
    pub(super) fn shown(&self, replay: &Replay<'_>, schedule: &[EventId]) -> Result<(), String> {
        match self {
            Claim::Race { first, second } => race(replay, schedule, *first, *second),
            Claim::Deadlock { blocked } => deadlock(replay, blocked),
            Claim::Atomicity { cycle } => atomicity(replay, cycle),
            Claim::Property { violated, sliced, .. } => {
                if let Some(looks_at) = sliced {
                    let unknown = |&&id: &&EventId| looks_at(id) && replay.is_unknown(id);
                    if let Some(&id) = schedule.iter().find(unknown) {
                        let what = describe(replay.execution, id);
                        return Err(format!(
                            "what {what} does may depend on a read of something else than observed"
                        ));
                    }
                }
                ensure(violated(replay.execution, schedule), || {
                    "the schedule does not violate the property".to_owned()
                })
            }
            Claim::Refinement { violated, at } => {
                ensure(schedule.contains(at), || format!("event {} is not in the schedule", at.0))?;
                ensure(violated(replay.execution, schedule), || {
                    "the operations of the schedule refine their specification".to_owned()
                })
            }
        }
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn race(replay: &Replay<'_>, schedule: &[EventId], first: EventId, second: EventId) -> Result<(), String> {
    let execution = replay.execution;
    let pair = || format!("{} and {}", describe(execution, first), describe(execution, second));
    ensure(schedule.ends_with(&[first, second]), || format!("it does not end with {}", pair()))?;
    ensure(execution.thread(first) != execution.thread(second), || format!("{} are of one thread", pair()))?;
    ensure(replay.overlap(first, second), || format!("{} touch no common byte", pair()))?;
    let races = match (replay.access(first), replay.access(second)) {
        (Some(first), Some(second)) => first.races(second),
        _ => false,
    };
    ensure(races, || format!("{} do not race: both only read, or both are atomic", pair()))
}

fn deadlock(replay: &Replay<'_>, blocked: &[EventId]) -> Result<(), String> {
    let execution = replay.execution;
    ensure(blocked.len() >= 2, || "a deadlock needs at least two threads".to_owned())?;
    let mut threads: Vec<ThreadId> = blocked.iter().map(|&id| execution.thread(id)).collect();
    let holders = threads[1..].iter().chain(&threads[..1]);
    for (&id, &holder) in blocked.iter().zip(holders) {
        let thread = execution.thread(id);
        let (lock, mode) = blocked_at(replay, id)?;
        if let Some(notify) = replay.missing_wakeup(thread) {
            return Err(format!(
                "{} is after a wait that event {} did not wake",
                describe(execution, id),
                notify.0
            ));
        }
        ensure(replay.holds(thread, lock).is_none(), || {
            format!("{} does not block: its thread holds the lock", describe(execution, id))
        })?;
        let stands_in_the_way = match replay.holds(holder, lock) {
            Some(held) => held == Mode::Exclusive || mode == Mode::Exclusive,
            None => false,
        };
        ensure(stands_in_the_way, || {
            let holder = execution.names().thread_name(holder);
            format!("{} is not blocked by {holder}, which does not hold the lock so", describe(execution, id))
        })?;
    }
    threads.sort_unstable();
    ensure(threads.windows(2).all(|pair| pair[0] != pair[1]), || "a thread is twice in the circle".to_owned())
}

/// The lock that a thread is about to take with this event, after the schedule.
fn blocked_at(replay: &Replay<'_>, id: EventId) -> Result<(LockId, Mode), String> {
    let execution = replay.execution;
    let thread = execution.thread(id);
    let (last, next) = (replay.last(thread), replay.next(thread));
    let (wanted, is_next) = match execution.op(id) {
        Op::Acquire { tried: true, .. } => {
            return Err(format!("{} does not wait", describe(execution, id)));
        }
        Op::Acquire { lock, mode, .. } => {
            let request = next.filter(|&next| execution.op(next) == Op::Request { lock, mode });
            let after_request = request.and_then(|request| replay.observed.next(thread, Some(request)));
            ((lock, mode), next == Some(id) || after_request == Some(id))
        }
        Op::Request { lock, mode } => {
            let never_got_it = replay.observed.last(thread) == Some(id);
            ((lock, mode), never_got_it && (next == Some(id) || last == Some(id)))
        }
        _ => return Err(format!("{} takes no lock", describe(execution, id))),
    };
    ensure(is_next, || {
        format!("{} is not what its thread does after the schedule", describe(execution, id))
    })?;
    Ok(wanted)
}

fn atomicity(replay: &Replay<'_>, cycle: &[(EventId, EventId)]) -> Result<(), String> {
    let execution = replay.execution;
    for &(from, to) in cycle {
        let pair = || format!("{} and {}", describe(execution, from), describe(execution, to));
        let in_order = match (replay.mark(from), replay.mark(to)) {
            (Some(from), Some(to)) => from.position < to.position,
            _ => false,
        };
        ensure(in_order, || format!("{} are not in the schedule in this order", pair()))?;
        ensure(execution.thread(from) != execution.thread(to), || format!("{} are of one thread", pair()))?;
        ensure(conflict(replay, from, to), || format!("{} do not conflict", pair()))?;
    }
    let mut through_a_block = false;
    let starts = cycle.iter().cycle().skip(1).map(|&(from, _)| from);
    for (&(_, arrives), leaves) in cycle.iter().zip(starts) {
        let block = |id| replay.mark(id).and_then(|mark| mark.block);
        let same_block = block(arrives).is_some() && block(arrives) == block(leaves);
        let forward = execution.thread(arrives) == execution.thread(leaves) && arrives <= leaves;
        ensure(same_block || forward, || {
            let (arrives, leaves) = (describe(execution, arrives), describe(execution, leaves));
            format!("the circle cannot go on from {arrives} to {leaves}")
        })?;
        through_a_block |= same_block;
    }
    ensure(through_a_block, || "the circle goes through no atomic block".to_owned())
}

/// Whether two events of different threads, in this order in the schedule, cannot be swapped.
fn conflict(replay: &Replay<'_>, from: EventId, to: EventId) -> bool {
    let execution = replay.execution;
    if let (Some(a), Some(b)) = (replay.access(from), replay.access(to)) {
        return a.conflicts(b) && replay.overlap(from, to);
    }
    let handover = |id| replay.mark(id).and_then(|mark| mark.handover);
    if let (Some(Handover::Gives(given, gave)), Some(Handover::Takes(taken, took))) =
        (handover(from), handover(to))
        && given == taken
        && (gave == Mode::Exclusive || took == Mode::Exclusive)
    {
        return true;
    }
    let forks = matches!(execution.op(from), Op::Fork { child } if child == execution.thread(to));
    let joins = matches!(execution.op(to), Op::Join { child } if child == execution.thread(from));
    forks || joins
}
