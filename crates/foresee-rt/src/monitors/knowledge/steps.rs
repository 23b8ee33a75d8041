//! What each record is for the monitor of its thread: the same as the event that the trace will have.

use foresee_format::{AS_HELD, SHARED, SYNC_SPACE, SemaphoreStep, Tag, number};
use foresee_monitor::mttl::Local;
use foresee_mttl::{Accessed, Bytes, Memory, ThreadMonitor};
use smallvec::SmallVec;

use super::spec::Place;
use super::world::{HeldLock, Me, PARTS, Part, Remembered, Vector, World, world};
use crate::monitors::doing::Doing;
use crate::monitors::spin::Held;

/// Memory belongs to a part by lines of so many bytes.
const LINE: u64 = 64;

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
pub(crate) fn access(thread: u32, is_write: bool, addr: u64, size: u64, pc: u64) {
    if let Some(world) = world() {
        let does = if is_write { WRITE } else { READ };
        touch(world, Doing { thread, pc }, does, Bytes { addr, size });
    }
}

/// Whether an access of a watched variable is a step only when its value is known, which is when the thread enters the runtime next.
pub(crate) fn waits_for_value(is_write: bool) -> bool {
    is_write && world().is_some_and(|world| world.program.asks_for_values())
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
    // By hand: the C library's comparison is one of the functions that are recorded.
    let is_meant = |local: &Local| {
        local.name.len() == name.len() && local.name.bytes().zip(name).all(|(letter, other)| letter == *other)
    };
    let meant = program.locals().iter().zip(0..).filter(|(local, _)| is_meant(local));
    let mut numbers = meant.map(|(_, number)| number);
    world.act(Doing { thread, pc }, |me| {
        came_back(world, thread, me);
        let (first, second) = (numbers.next(), numbers.next());
        if let (Some(only), None) = (first, second) {
            me.monitor.assigned(program, &me.threads, only, value as i64, 0);
            return;
        }
        for number in first.into_iter().chain(second).chain(numbers) {
            me.monitor.assign(number, value as i64);
        }
        me.monitor.internal(program, &me.threads, 0);
    });
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
        Tag::ReadRange => touch(world, doing, READ, Bytes { addr, size }),
        Tag::WriteRange => touch(world, doing, WRITE, Bytes { addr, size }),
        Tag::Load => touch(world, doing, READ, Bytes { addr, size: width }),
        Tag::Store => touch(world, doing, WRITE, Bytes { addr, size: width }),
        Tag::Rmw => touch(world, doing, BOTH, Bytes { addr, size: width }),
        Tag::Semaphore => match SemaphoreStep::from_number(detail) {
            Some(SemaphoreStep::Raised | SemaphoreStep::Lowered) => {
                touch(world, doing, BOTH, Bytes { addr: addr | SYNC_SPACE, size: 1 });
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
fn touch(world: &World, doing: Doing, does: Does, bytes: Bytes) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        let accessed = accessed(world, does, bytes);
        let line = bytes.addr / LINE;
        if (bytes.addr.saturating_add(bytes.size.max(1)) - 1) / LINE == line {
            touch_line(world, me, does, bytes, accessed);
        } else {
            touch_lines(world, me, does, bytes, accessed);
        }
    });
}

/// An access to a single line, which is nearly all of them.
///
/// One that the thread has done before, since when neither its vector nor that part of memory has changed, changes nothing: it is not even looked up. If another
/// thread changes the part at the very moment, this access counts as the earlier one.
fn touch_line(world: &World, me: &mut Me, does: Does, bytes: Bytes, accessed: Accessed) {
    let part = &world.memory[part(bytes.addr / LINE)];
    let kind = bytes.size << 2 | u64::from(does.reads) << 1 | u64::from(does.writes);
    let now = Remembered { addr: bytes.addr, kind, mine: me.monitor.changes_made(), part: part.changes() };
    let sets = does.value.filter(|_| accessed != Accessed::default());
    if *me.remembered(bytes.addr, kind) == now
        && sets.is_none()
        && me.monitor.is_as_before(&me.threads, accessed)
    {
        return;
    }
    let mut memory = part.memory.lock();
    let Some(variable) = memory.single(bytes) else {
        drop(memory);
        return touch_lines(world, me, does, bytes, accessed);
    };
    let Me { monitor, threads, .. } = me;
    match does.writes {
        true => monitor.learn_all(variable, 0),
        false => monitor.learn_public(variable, 0),
    }
    set(world, monitor, bytes, sets);
    monitor.step(&world.program, threads, accessed, 0);
    let is_changed = match does.writes {
        true => variable.is_written(monitor.knowledge(), 0),
        false => variable.is_read(monitor.knowledge(), 0),
    };
    if is_changed {
        part.is_changed();
    }
    let (mine, part) = (monitor.changes_made(), part.changes());
    drop(memory);
    *me.remembered(bytes.addr, kind) = Remembered { mine, part, ..now };
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
    set(world, &mut me.monitor, bytes, does.value);
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
fn set(world: &World, monitor: &mut ThreadMonitor<Vector>, bytes: Bytes, value: Option<u64>) {
    let Some(value) = value else { return };
    for place in world.spec.variables.iter().filter(|place| place.bytes == bytes) {
        monitor.set(place.variable, number(value, bytes.size, place.is_unsigned));
    }
}

/// What an access does to the variables that formulas speak of.
fn accessed(world: &World, does: Does, bytes: Bytes) -> Accessed {
    let end = bytes.addr.saturating_add(bytes.size.max(1));
    let overlaps = |place: Bytes| place.addr < end && bytes.addr < place.addr.saturating_add(place.size);
    let touched = world.spec.variables.iter().filter(|place| overlaps(place.bytes));
    touched.fold(Accessed::default(), |accessed, &Place { variable, .. }| {
        let accessed = if does.reads { accessed.reading(variable) } else { accessed };
        if does.writes { accessed.writing(variable) } else { accessed }
    })
}

/// Memory begins or ends its life.
fn forget(world: &World, bytes: Bytes) {
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
    let mut objects = world.objects[part(lock)].lock();
    let variable = objects.locks.entry(lock).or_default();
    let (program, accessed) = (&world.program, Accessed::default());
    match mode {
        SHARED => me.monitor.read(program, &me.threads, variable, accessed, 0),
        _ => me.monitor.write(program, &me.threads, variable, accessed, 0),
    };
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
        let mut objects = world.objects[part(cond)].lock();
        objects.waiting.entry(cond).or_default().enlist(doing.thread.into());
    });
}

/// All that wait may be woken by it: what the thread knows is for each of them.
fn notify(world: &World, doing: Doing, cond: u64) {
    world.act(doing, |me| {
        came_back(world, doing.thread, me);
        me.monitor.internal(&world.program, &me.threads, 0);
        let mut objects = world.objects[part(cond)].lock();
        if let Some(waiting) = objects.waiting.get_mut(&cond) {
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
    let mut objects = world.objects[part(cond)].lock();
    let notified = objects.waiting.get_mut(&cond).and_then(|waiting| waiting.leave(thread.into()));
    notified.iter().for_each(|known| me.monitor.learn(known, 0, 0));
}
