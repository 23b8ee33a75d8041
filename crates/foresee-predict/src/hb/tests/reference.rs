//! The definition, slowly: a full set of predecessors per event, all pairs of accesses.

use std::collections::{BTreeMap, BTreeSet};

use foresee_trace::{EventId, Execution, LockId, Mem, Mode, Op, ThreadId};

use foresee_witness::judge::Place;

/// The events before an event, itself included.
type Past = BTreeSet<u32>;

/// Racy pairs of places, and which of them are schedulable.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    pub(super) all: BTreeSet<(Place, Place)>,
    pub(super) schedulable: BTreeSet<(Place, Place)>,
    /// Those that blind code cannot have ordered.
    pub(super) certain: BTreeSet<(Place, Place)>,
    /// The later events of racy pairs, and of schedulable ones.
    pub(super) later: BTreeSet<u32>,
    pub(super) later_schedulable: BTreeSet<u32>,
}

/// Which edges an order has beside those of happens-before.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum More {
    Nothing,
    /// Between blind code that may have synchronised.
    Blind,
    /// Those, and from writes to their reads.
    Reads,
}

/// One of the orders.
pub(super) struct Causality {
    /// What is before each event, itself included.
    pub(super) past: Vec<Past>,
    /// The same without the edges from the writes that the event itself reads.
    pub(super) before_reading: Vec<Past>,
}

pub(super) fn pairs(execution: &Execution) -> Pairs {
    let [happens_before, suspected, schedulable] =
        [More::Nothing, More::Blind, More::Reads].map(|more| causality(execution, more));
    let mut pairs = Pairs::default();
    for b in execution.ids() {
        for a in execution.ids().take(b.index()) {
            if execution.thread(a) == execution.thread(b) || !race(execution, a, b) {
                continue;
            }
            let place = |id: EventId| {
                let addr = execution.op(id).mem().map_or(0, |mem| mem.addr);
                Place::new(execution.loc(id), addr)
            };
            let key = place(a).pair(place(b));
            if !happens_before.past[b.index()].contains(&a.0) {
                pairs.all.insert(key);
                pairs.later.insert(b.0);
                if !suspected.past[b.index()].contains(&a.0) {
                    pairs.certain.insert(key);
                }
                if !schedulable.before_reading[b.index()].contains(&a.0) && !update_and_read(execution, a, b)
                {
                    pairs.schedulable.insert(key);
                    pairs.later_schedulable.insert(b.0);
                }
            }
        }
    }
    pairs
}

/// Whether two accesses touch a common byte in the same life of it, and conflict. (Execution's own variables belong to
/// the life of their first byte; here each byte has its own.)
fn race(execution: &Execution, a: EventId, b: EventId) -> bool {
    let (first, second) = (execution.op(a), execution.op(b));
    let (Some(x), Some(y)) = (first.access(), second.access()) else { return false };
    let between = execution.ids().skip(a.index()).take(b.index() - a.index());
    let allocated: Vec<Mem> = between
        .filter_map(|id| match execution.op(id) {
            Op::Alloc { mem } => Some(mem),
            _ => None,
        })
        .collect();
    let has = |mem: &Mem, byte: u64| mem.overlaps(Mem { addr: byte, size: 1 });
    let common = |mem: &Option<Mem>, byte: u64| mem.is_some_and(|mem| has(&mem, byte));
    x.races(y)
        && edges(execution).into_iter().any(|byte| {
            common(&first.mem(), byte)
                && common(&second.mem(), byte)
                && !allocated.iter().any(|mem| has(mem, byte))
        })
}

/// Where ranges begin and end: the first bytes of all pieces that no range splits.
fn edges(execution: &Execution) -> BTreeSet<u64> {
    let ranges = execution.ids().filter_map(|id| execution.op(id).mem());
    ranges.flat_map(|mem| [mem.addr, mem.end() as u64]).collect()
}

/// A read-modify-write that reads something else may write nothing.
fn update_and_read(execution: &Execution, a: EventId, b: EventId) -> bool {
    let (a, b) = (execution.op(a), execution.op(b));
    let is = |x: &Op<'_>, y: &Op<'_>| matches!(x, Op::Rmw { .. }) && matches!(y, Op::Read { .. });
    is(&a, &b) || is(&b, &a)
}

#[derive(Default)]
struct Lock {
    exclusive: Past,
    shared: Past,
}

#[derive(Default)]
struct State {
    threads: BTreeMap<ThreadId, Past>,
    held: BTreeMap<(ThreadId, LockId), (u32, Mode)>,
    locks: BTreeMap<LockId, Lock>,
    waits: BTreeMap<ThreadId, LockId>,
    /// Release sequences, by byte range and life of the memory; overlapping ones all count.
    sequences: Vec<(Mem, Past)>,
    released: BTreeMap<ThreadId, Past>,
    pending: BTreeMap<ThreadId, Past>,
    /// What the last blind code that may have synchronised knew.
    blind: Past,
    /// By the edges of memory.
    writers: BTreeMap<u64, u32>,
}

fn causality(execution: &Execution, more: More) -> Causality {
    let mut state = State::default();
    let edges = edges(execution);
    let mut causality = Causality { past: Vec::new(), before_reading: Vec::new() };
    for id in execution.ids() {
        let thread = execution.thread(id);
        state.waits.remove(&thread);
        let mut past = state.threads.remove(&thread).unwrap_or_default();
        past.insert(id.0);
        enter(&mut state, thread, &execution.op(id), &mut past);
        if more >= More::Blind && matches!(execution.op(id), Op::Blind { orders: true, .. }) {
            past.extend(&state.blind);
            state.blind.clone_from(&past);
        }
        causality.before_reading.push(past.clone());
        if let Some(mem) = execution.op(id).mem() {
            let access = execution.op(id).access();
            for &byte in edges.iter().filter(|&&byte| mem.overlaps(Mem { addr: byte, size: 1 })) {
                if more == More::Reads
                    && access.is_some_and(|access| access.reads)
                    && let Some(&write) = state.writers.get(&byte)
                {
                    past.extend(&causality.past[write as usize]);
                }
                match access {
                    Some(access) if !access.writes => {}
                    Some(_) => _ = state.writers.insert(byte, id.0),
                    None => _ = state.writers.remove(&byte),
                }
            }
        }
        leave(&mut state, thread, &execution.op(id), &past);
        causality.past.push(past.clone());
        state.threads.insert(thread, past);
    }
    causality
}

/// Edges into the event.
fn enter(state: &mut State, thread: ThreadId, op: &Op<'_>, past: &mut Past) {
    match *op {
        Op::Acquire { lock, mode, .. } => {
            let (depth, _) = state.held.entry((thread, lock)).or_insert((0, mode));
            *depth += 1;
            let left = state.locks.entry(lock).or_default();
            if *depth == 1 {
                past.extend(&left.exclusive);
                if mode == Mode::Exclusive {
                    past.extend(&left.shared);
                }
            }
        }
        Op::Join { child } => past.extend(state.threads.get(&child).into_iter().flatten()),
        Op::Load { mem, order, .. } | Op::Rmw { mem, order, .. } => {
            for (_, sequence) in state.sequences.iter().filter(|(other, _)| other.overlaps(mem)) {
                if order.acquires() {
                    past.extend(sequence);
                } else {
                    state.pending.entry(thread).or_default().extend(sequence);
                }
            }
        }
        Op::Fence { order } if order.acquires() => {
            past.extend(state.pending.remove(&thread).into_iter().flatten());
        }
        _ => {}
    }
}

/// Edges out of the event.
fn leave(state: &mut State, thread: ThreadId, op: &Op<'_>, past: &Past) {
    match *op {
        Op::Release { lock, .. } => {
            if let Some((depth, _)) = state.held.get_mut(&(thread, lock)) {
                *depth -= 1;
                if *depth == 0 {
                    give_up(state, thread, lock, past);
                }
            }
        }
        Op::Wait { cond, .. } => {
            state.waits.insert(thread, cond);
            give_up(state, thread, cond, past);
        }
        Op::Notify { cond, .. } => {
            for (&waiting, _) in state.waits.iter().filter(|&(_, &awaited)| awaited == cond) {
                state.threads.entry(waiting).or_default().extend(past);
            }
        }
        Op::Fork { child } => state.threads.entry(child).or_default().extend(past),
        Op::Fence { order } if order.releases() => {
            state.released.insert(thread, past.clone());
        }
        Op::Store { mem, order, .. } => {
            state.sequences.retain(|&(other, _)| other != mem);
            state.sequences.push((mem, published(state, thread, order.releases(), past)));
        }
        Op::Rmw { mem, order, .. } => {
            let more = published(state, thread, order.releases(), past);
            match state.sequences.iter_mut().find(|(other, _)| *other == mem) {
                Some((_, sequence)) => sequence.extend(more),
                None => state.sequences.push((mem, more)),
            }
        }
        Op::Alloc { mem } => state.sequences.retain(|(other, _)| !other.overlaps(mem)),
        _ => {}
    }
}

fn published(state: &State, thread: ThreadId, releases: bool, past: &Past) -> Past {
    if releases { past.clone() } else { state.released.get(&thread).cloned().unwrap_or_default() }
}

fn give_up(state: &mut State, thread: ThreadId, lock: LockId, past: &Past) {
    if let Some((_, mode)) = state.held.remove(&(thread, lock)) {
        let left = state.locks.entry(lock).or_default();
        match mode {
            Mode::Exclusive => left.exclusive.extend(past),
            Mode::Shared => left.shared.extend(past),
        }
    }
}
