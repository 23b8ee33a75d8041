//! What each record is for the monitor of its thread: the same as the event that the trace will have.

use foresee_format::{AS_HELD, ORDER_RELAXED, ORDER_RELEASE, SHARED, SYNC_SPACE, SemaphoreStep, Tag, number};
use foresee_mttl::{Accessed, Bytes, Memory, ThreadMonitor, Threads, Variable};
use smallvec::SmallVec;

use super::spec::Place;
use super::world::{HeldLock, Me, PARTS, Part, Remembered, Vector, World, world};
use crate::monitors::doing::Doing;
use crate::monitors::spin::Held;

/// Memory belongs to a part by lines of so many bytes.
const LINE: u64 = 64;

/// The lock at an address is a variable at this one.
const LOCKS: u64 = SYNC_SPACE << 1;

/// No more than this is looked up line by line when it is given back.
const FEW_LINES: u64 = 64;

/// What an access does.
#[derive(Clone, Copy)]
struct Does {
    reads: bool,
    writes: bool,
    /// What is written, if that is known.
    value: Option<u64>,
}

const READ: Does = Does { reads: true, writes: false, value: None };
const WRITE: Does = Does { reads: false, writes: true, value: None };
const BOTH: Does = Does { reads: true, writes: true, value: None };

/// A thread is about to read or write memory.
#[inline(always)]
pub(crate) fn access(thread: u32, is_write: bool, addr: u64, size: u64, pc: u64) {
    match is_write {
        true => access_of::<true>(thread, addr, size, pc),
        false => access_of::<false>(thread, addr, size, pc),
    }
}

/// Reads and writes have code of their own: callers know which it is.
#[inline(never)]
fn access_of<const IS_WRITE: bool>(thread: u32, addr: u64, size: u64, pc: u64) {
    let Some(world) = world() else { return };
    let (does, bytes) = (const { if IS_WRITE { WRITE } else { READ } }, Bytes { addr, size });
    world.act(Doing { thread, pc }, |me| {
        came_back(world, thread, me);
        if IS_WRITE && world.unknown.matters() {
            note_value(world, thread, does, bytes);
        }
        if !is_done_again(world, me, does, bytes) {
            touch_memory(world, me, does, bytes);
        }
    });
}

/// Notes which variables get a value that is not known, and which get one that is.
#[inline(never)]
fn note_value(world: &World, thread: u32, does: Does, bytes: Bytes) {
    let at = world.events_of(thread);
    let whole = |place: &&Place| does.value.is_some() && place.bytes == bytes;
    match world.spec.variables.iter().find(whole) {
        Some(place) => world.unknown.got(thread, at, place.variable),
        None => world.unknown.written(thread, at, accessed(world, does, bytes)),
    }
}

/// Whether an access of a watched variable is a step only when its value is known, which is when the thread enters the runtime next.
pub(crate) fn waits_for_value(is_write: bool) -> bool {
    is_write && world().is_some_and(|world| world.program.asks_for_values())
}

/// Memory is accessed while somebody writes it whose step comes later: who knew what then is not known.
pub(crate) fn raced(addr: u64, size: u64) {
    if let Some(world) = world().filter(|world| world.unknown.matters()) {
        world.unknown.raced(accessed(world, WRITE, Bytes { addr, size }));
    }
}

/// A thread has written a watched variable, with this value if it is known.
pub(crate) fn written(thread: u32, addr: u64, size: u64, value: Option<u64>, pc: u64) {
    if let Some(world) = world() {
        touch(world, Doing { thread, pc }, Does { value, ..WRITE }, Bytes { addr, size });
    }
}

/// A thread has done an atomic operation, which nobody else can have come between.
pub(crate) fn atomic(thread: u32, reads: bool, value: Option<u64>, addr: u64, size: u64, pc: u64) {
    if let Some(world) = world() {
        touch(
            world,
            Doing { thread, pc },
            Does { reads, writes: value.is_some(), value },
            Bytes { addr, size },
        );
    }
}

/// A thread assigns a variable of its own.
pub(crate) fn assign(thread: u32, name: &[u8], value: u64, pc: u64) {
    let Some(world) = world() else { return };
    let program = &world.program;
    let meant = world.locals.iter().find(|local| is_same(local.name.as_bytes(), name));
    let numbers = meant.map_or(&[][..], |local| {
        local.is_assigned();
        &local.numbers
    });
    world.act(Doing { thread, pc }, |me| {
        came_back(world, thread, me);
        if let [only] = *numbers {
            me.monitor.assigned(program, &me.threads, only, value as i64, 0);
            return;
        }
        numbers.iter().for_each(|number| me.monitor.assign(*number, value as i64));
        me.monitor.internal(program, &me.threads, 0);
    });
}

/// Whether two names are the same. By hand: the C library's comparison is one of the functions that are recorded.
#[inline]
fn is_same(name: &[u8], other: &[u8]) -> bool {
    let ((words, rest), (other_words, other_rest)) = (name.as_chunks::<8>(), other.as_chunks::<8>());
    let are_same =
        |(word, other): (&[u8; 8], &[u8; 8])| u64::from_ne_bytes(*word) == u64::from_ne_bytes(*other);
    name.len() == other.len()
        && words.iter().zip(other_words).all(are_same)
        && rest.iter().zip(other_rest).all(|(letter, other)| letter == other)
}

/// A thread is called this from now on.
pub(crate) fn name(thread: u32, name: &[u8]) {
    if let Some(world) = world() {
        world.name(thread, &String::from_utf8_lossy(name));
    }
}

/// Something else was recorded.
pub(crate) fn record(thread: u32, tag: Tag, detail: u8, words: &[u64]) {
    let Some(world) = world() else { return };
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let doing = Doing { thread, pc: word(0) };
    let (addr, size) = (word(1), word(2));
    let width = 1 << (detail >> 4 & 7);
    match tag {
        Tag::Load | Tag::Store | Tag::Rmw if addr >= SYNC_SPACE => {
            let order = i32::from(detail & 0xf);
            let acquires = order != ORDER_RELAXED && order != ORDER_RELEASE;
            synchronise(world, doing, addr, acquires, order >= ORDER_RELEASE);
        }
        Tag::ReadRange => touch(world, doing, READ, Bytes { addr, size }),
        Tag::WriteRange => touch(world, doing, WRITE, Bytes { addr, size }),
        Tag::Load => touch(world, doing, READ, Bytes { addr, size: width }),
        Tag::Store => touch(world, doing, WRITE, Bytes { addr, size: width }),
        Tag::Rmw => touch(world, doing, BOTH, Bytes { addr, size: width }),
        Tag::Semaphore => match SemaphoreStep::from_number(detail) {
            Some(step @ (SemaphoreStep::Raised | SemaphoreStep::Lowered)) => {
                let raised = step == SemaphoreStep::Raised;
                synchronise(world, doing, addr | SYNC_SPACE, !raised, raised);
            }
            _ => world.act(doing, |me| came_back(world, thread, me)),
        },
        Tag::Alloc | Tag::Free => forget(world, Bytes { addr, size }),
        Tag::Request => world.act(doing, |me| came_back(world, thread, me)),
        Tag::Acquire => acquire(world, doing, addr, detail),
        Tag::Release => release(world, doing, addr, detail),
        Tag::Wait => wait(world, doing, addr),
        Tag::Notify => notify(world, doing, addr),
        Tag::Fork => world.fork(doing, addr as u32),
        Tag::Join => world.join(doing, addr as u32),
        Tag::End => internal(world, doing),
        _ => {}
    }
}

/// Something that orders threads as an atomic would, which is no memory of the program: who acquires learns from those who have released, and these learn nothing from each other.
fn synchronise(world: &World, doing: Doing, addr: u64, acquires: bool, releases: bool) {
    note_object(world, addr);
    let bytes = Bytes { addr, size: 1 };
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        let part = &world.memory[part(addr / LINE)];
        let mut memory = part.memory.lock();
        if acquires {
            memory.known(bytes, |variable| me.monitor.learn_all(variable, 0));
        }
        me.monitor.step(&world.program, &me.threads, Accessed::default(), 0);
        if releases {
            memory.all(bytes, |variable| _ = variable.is_read(me.monitor.knowledge(), 0));
            part.is_changed();
        }
    });
}

/// Notes where objects are that threads synchronise by, if this is the address of one.
fn note_object(world: &World, addr: u64) {
    if addr >= SYNC_SPACE {
        world.synchronising.note((addr & (SYNC_SPACE - 1)) / LINE);
    }
}

fn internal(world: &World, doing: Doing) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        me.monitor.internal(&world.program, &me.threads, 0);
    });
}

/// The part that a line of memory is in.
#[inline]
fn part(line: u64) -> usize {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % PARTS
}

/// Memory as far as it is in single lines.
fn lines(bytes: Bytes) -> impl Iterator<Item = (usize, Bytes)> + Clone {
    let end = bytes.addr.saturating_add(bytes.size.max(1));
    (bytes.addr / LINE..=(end - 1) / LINE).map(move |line| {
        let (from, to) = (bytes.addr.max(line * LINE), end.min((line + 1).saturating_mul(LINE)));
        (part(line), Bytes { addr: from, size: to - from })
    })
}

/// An access: what is learned, the step, and what is published are one, as all parts of memory that it touches are held meanwhile.
#[inline(never)]
fn touch(world: &World, doing: Doing, does: Does, bytes: Bytes) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        if does.writes && world.unknown.matters() {
            note_value(world, doing.thread, does, bytes);
        }
        let sets = does.value.is_some() && accessed(world, does, bytes) != Accessed::default();
        if sets || !is_done_again(world, me, does, bytes) {
            touch_memory(world, me, does, bytes);
        }
    });
}

#[inline(never)]
fn touch_memory(world: &World, me: &mut Me, does: Does, bytes: Bytes) {
    note_object(world, bytes.addr);
    let (accessed, line) = (accessed(world, does, bytes), bytes.addr / LINE);
    if (bytes.addr.saturating_add(bytes.size.max(1)) - 1) / LINE == line {
        touch_line(world, me, does, bytes, accessed);
    } else {
        touch_lines(world, me, does, bytes, accessed);
    }
}

/// How many bytes, and what is done to them.
#[inline(always)]
fn kind(does: Does, bytes: Bytes) -> u64 {
    bytes.size << 2 | u64::from(does.reads) << 1 | u64::from(does.writes)
}

/// An access that the thread has done before, and that gives no variable of formulas a value: nearly all are. Whether it is one, and is done now.
///
/// If neither the thread's vector nor that part of memory has changed since, it changes nothing, and nothing is locked. (If another thread changes the part at the very moment, this access
/// counts as the earlier one.) Otherwise its variable is where it was, unless variables of that part were split or forgotten.
#[inline(always)]
fn is_done_again(world: &World, me: &mut Me, does: Does, bytes: Bytes) -> bool {
    let (kind, accessed) = (kind(does, bytes), accessed(world, does, bytes));
    let Me { monitor, threads, remembered, .. } = me;
    let before = remembered.of(bytes.addr, kind);
    if (before.addr, before.kind) != (bytes.addr, kind) {
        return false;
    }
    let part = &world.memory[part(bytes.addr / LINE)];
    if before.mine == monitor.changes_made()
        && before.part == part.changes()
        && monitor.is_as_before(threads, accessed)
    {
        return true;
    }
    let mut memory = part.memory.lock();
    if before.layout != memory.layout() {
        return false;
    }
    let variable = memory.at(before.place);
    if access_one(world, monitor, threads, does, variable, accessed) {
        part.is_changed();
    }
    (before.mine, before.part) = (monitor.changes_made(), part.changes());
    true
}

/// An access to one variable. Whether that says something else then.
#[inline(always)]
fn access_one(
    world: &World,
    monitor: &mut ThreadMonitor<Vector>,
    threads: &Threads,
    does: Does,
    variable: &mut Variable<Vector>,
    accessed: Accessed,
) -> bool {
    match does.writes {
        true => monitor.write(&world.program, threads, variable, accessed, 0),
        false => monitor.read(&world.program, threads, variable, accessed, 0),
    }
}

/// An access to a single line.
fn touch_line(world: &World, me: &mut Me, does: Does, bytes: Bytes, accessed: Accessed) {
    let part = &world.memory[part(bytes.addr / LINE)];
    let mut memory = part.memory.lock();
    let Some(place) = memory.single(bytes) else {
        drop(memory);
        return touch_lines(world, me, does, bytes, accessed);
    };
    let layout = memory.layout();
    let variable = memory.at(place);
    let Me { monitor, threads, remembered, .. } = me;
    if let Some(value) = does.value.filter(|_| accessed != Accessed::default()) {
        monitor.learn_all(variable, 0);
        set(world, monitor, bytes, value);
    }
    if access_one(world, monitor, threads, does, variable, accessed) {
        part.is_changed();
    }
    let (kind, mine, part) = (kind(does, bytes), monitor.changes_made(), part.changes());
    *remembered.of(bytes.addr, kind) = Remembered { addr: bytes.addr, kind, mine, part, layout, place };
}

/// An access to anything.
fn touch_lines(world: &World, me: &mut Me, does: Does, bytes: Bytes, accessed: Accessed) {
    let lines = lines(bytes);
    let parts = lines.clone().fold(0_u64, |parts, (part, _)| parts | 1 << part);
    // In this order by everybody.
    let wanted = (0..PARTS).filter(|part| parts >> part & 1 == 1);
    let mut held: SmallVec<[Held<'_, Memory<Vector>>; 2]> =
        wanted.clone().map(|part| world.memory[part].memory.lock()).collect();
    let at = |part: usize| (parts & ((1 << part) - 1)).count_ones() as usize;
    for (part, bytes) in lines.clone() {
        held[at(part)].known(bytes, |variable| match does.writes {
            true => me.monitor.learn_all(variable, 0),
            false => me.monitor.learn_public(variable, 0),
        });
    }
    does.value.into_iter().for_each(|value| set(world, &mut me.monitor, bytes, value));
    me.monitor.step(&world.program, &me.threads, accessed, 0);
    for (part, bytes) in lines {
        held[at(part)].all(bytes, |variable| {
            match does.writes {
                true => variable.is_written(me.monitor.knowledge(), 0),
                false => variable.is_read(me.monitor.knowledge(), 0),
            };
        });
    }
    wanted.for_each(|part| world.memory[part].is_changed());
    drop(held);
}

/// The variables of formulas that are at this very place get the value.
fn set(world: &World, monitor: &mut ThreadMonitor<Vector>, bytes: Bytes, value: u64) {
    for place in world.spec.variables.iter().filter(|place| place.bytes == bytes) {
        monitor.set(place.variable, number(value, bytes.size, place.is_unsigned));
    }
}

/// What an access does to the variables that formulas speak of.
#[inline(always)]
fn accessed(world: &World, does: Does, bytes: Bytes) -> Accessed {
    if world.spec.variables.is_empty() { Accessed::default() } else { accessed_of_any(world, does, bytes) }
}

#[inline(never)]
fn accessed_of_any(world: &World, does: Does, bytes: Bytes) -> Accessed {
    let end = bytes.addr.saturating_add(bytes.size.max(1));
    let overlaps = |place: Bytes| place.addr < end && bytes.addr < place.addr.saturating_add(place.size);
    let touched = world.spec.variables.iter().filter(|place| overlaps(place.bytes));
    touched.fold(Accessed::default(), |accessed, &Place { variable, .. }| {
        let accessed = if does.reads { accessed.reading(variable) } else { accessed };
        if does.writes { accessed.writing(variable) } else { accessed }
    })
}

/// Memory begins or ends its life, and with it all that threads synchronise by there.
fn forget(world: &World, bytes: Bytes) {
    forget_vectors(world, bytes);
    let are_many = bytes.size / LINE >= FEW_LINES;
    let mut may_be = lines(bytes).map(|(_, bytes)| world.synchronising.may_be_in(bytes.addr / LINE));
    if bytes.addr < SYNC_SPACE && (are_many || may_be.any(|may_be| may_be)) {
        for space in [SYNC_SPACE, LOCKS] {
            forget_vectors(world, Bytes { addr: bytes.addr | space, ..bytes });
        }
    }
}

fn forget_vectors(world: &World, bytes: Bytes) {
    if bytes.size / LINE < FEW_LINES {
        lines(bytes).for_each(|(part, bytes)| forget_in(&world.memory[part], bytes));
    } else {
        world.memory.iter().for_each(|part| forget_in(part, bytes));
    }
}

fn forget_in(part: &Part, bytes: Bytes) {
    let mut memory = part.memory.lock();
    memory.forget(bytes);
    part.is_changed();
}

/// The lock counts as written, or as read by one of several holders.
fn lock(world: &World, me: &mut Me, lock: u64, mode: u8) {
    let (does, bytes) = (if mode == SHARED { READ } else { WRITE }, Bytes { addr: lock | LOCKS, size: 1 });
    if !is_done_again(world, me, does, bytes) {
        touch_memory(world, me, does, bytes);
    }
}

fn acquire(world: &World, doing: Doing, addr: u64, mode: u8) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        match me.held.iter_mut().find(|held| held.lock == addr) {
            Some(held) => {
                held.times += 1;
                me.monitor.internal(&world.program, &me.threads, 0);
            }
            None => {
                me.held.push(HeldLock { lock: addr, times: 1, mode });
                lock(world, me, addr, mode);
            }
        }
    });
}

fn release(world: &World, doing: Doing, addr: u64, mode: u8) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        let at = me.held.iter().rposition(|held| held.lock == addr);
        match at.map(|at| (at, &mut me.held[at])) {
            Some((_, held)) if held.times > 1 => {
                held.times -= 1;
                me.monitor.internal(&world.program, &me.threads, 0);
            }
            Some((at, held)) => {
                let mode = if mode == AS_HELD { held.mode } else { mode };
                me.held.remove(at);
                lock(world, me, addr, mode);
            }
            None => lock(world, me, addr, mode),
        }
    });
}

/// The lock is given up before; from now on, notifies are for this thread, too.
fn wait(world: &World, doing: Doing, cond: u64) {
    world.act(doing, |me| {
        me.monitor.internal(&world.program, &me.threads, 0);
        me.waiting = Some(cond);
        world.waiting[part(cond)].lock().entry(cond).or_default().enlist(doing.thread.into());
    });
}

/// All that wait may be woken by it: what the thread knows is for each of them.
fn notify(world: &World, doing: Doing, cond: u64) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        me.monitor.internal(&world.program, &me.threads, 0);
        if let Some(waiting) = world.waiting[part(cond)].lock().get_mut(&cond) {
            waiting.notify(me.monitor.knowledge());
        }
    });
}

/// A thread that has waited does something again: it knows what was known at the notifies meanwhile.
#[inline(always)]
fn came_back(world: &World, thread: u32, me: &mut Me) {
    if let Some(cond) = me.waiting.take() {
        learn_of_notifies(world, thread, me, cond);
    }
}

#[cold]
fn learn_of_notifies(world: &World, thread: u32, me: &mut Me, cond: u64) {
    let mut all = world.waiting[part(cond)].lock();
    let notified = all.get_mut(&cond).and_then(|waiting| waiting.leave(thread.into()));
    notified.iter().for_each(|known| me.monitor.learn(known, 0, 0));
}
