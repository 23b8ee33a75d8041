//! What each record is for the monitor of its thread: the same as the event that the trace will have.

use foresee_format::{AS_HELD, SHARED, Tag};
use foresee_mttl::{Accessed, Bytes, Memory};
use smallvec::SmallVec;

use super::spin::Held;
use super::world::{HeldLock, Me, PARTS, Vector, World, world};

/// Memory belongs to a part by lines of so many bytes.
const LINE: u64 = 64;

/// No more than this is looked up line by line when it is given back.
const FEW_LINES: u64 = 64;

/// What an access does.
#[derive(Clone, Copy)]
struct Does {
    reads: bool,
    writes: bool,
}

const READ: Does = Does { reads: true, writes: false };
const WRITE: Does = Does { reads: false, writes: true };
const BOTH: Does = Does { reads: true, writes: true };

/// A thread is about to read or write memory.
pub(crate) fn access(thread: u32, is_write: bool, addr: u64, size: u64) {
    if let Some(world) = world() {
        let does = if is_write { WRITE } else { READ };
        touch(world, thread, does, Bytes { addr, size });
    }
}

/// A thread has done an atomic operation, which nobody else can have come between.
pub(crate) fn atomic(thread: u32, reads: bool, writes: bool, addr: u64, size: u64) {
    if let Some(world) = world() {
        touch(world, thread, Does { reads, writes }, Bytes { addr, size });
    }
}

/// A thread assigns a variable of its own.
pub(crate) fn assign(thread: u32, name: &[u8], value: u64) {
    let Some(world) = world() else { return };
    let program = &world.spec.program;
    world.act(thread, |me| {
        came_back(world, thread, me);
        for (local, number) in program.locals().iter().zip(0..) {
            if local.name.as_bytes() == name {
                me.monitor.assign(number, value as i64);
            }
        }
        me.monitor.internal(program, &me.threads, 0);
    });
}

/// Something else was recorded.
pub(crate) fn record(thread: u32, tag: Tag, detail: u8, words: &[u64]) {
    let Some(world) = world() else { return };
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let (addr, size) = (word(1), word(2));
    let width = 1 << (detail >> 4 & 7);
    match tag {
        Tag::ReadRange => touch(world, thread, READ, Bytes { addr, size }),
        Tag::WriteRange => touch(world, thread, WRITE, Bytes { addr, size }),
        Tag::Load => touch(world, thread, READ, Bytes { addr, size: width }),
        Tag::Store => touch(world, thread, WRITE, Bytes { addr, size: width }),
        Tag::Rmw => touch(world, thread, BOTH, Bytes { addr, size: width }),
        Tag::Alloc | Tag::Free => forget(world, Bytes { addr, size }),
        Tag::Request => world.act(thread, |me| came_back(world, thread, me)),
        Tag::Acquire => acquire(world, thread, addr, detail),
        Tag::Release => release(world, thread, addr, detail),
        Tag::Wait => wait(world, thread, addr),
        Tag::Notify => notify(world, thread, addr),
        Tag::Fork => world.fork(thread, addr as u32),
        Tag::Join => world.join(thread, addr as u32),
        Tag::End => internal(world, thread),
        _ => {}
    }
}

fn internal(world: &World, thread: u32) {
    world.act(thread, |me| {
        came_back(world, thread, me);
        me.monitor.internal(&world.spec.program, &me.threads, 0);
    });
}

/// The part that a line of memory is in.
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
fn touch(world: &World, thread: u32, does: Does, bytes: Bytes) {
    let program = &world.spec.program;
    let lines = lines(bytes);
    let parts = lines.clone().fold(0_u64, |parts, (part, _)| parts | 1 << part);
    world.act(thread, |me| {
        came_back(world, thread, me);
        // In this order by everybody.
        let wanted = (0..PARTS).filter(|part| parts >> part & 1 == 1);
        let mut held: SmallVec<[Held<'_, Memory<Vector>>; 2]> =
            wanted.map(|part| world.memory[part].lock()).collect();
        let at = |part: usize| (parts & ((1 << part) - 1)).count_ones() as usize;
        for (part, bytes) in lines.clone() {
            held[at(part)].known(bytes, |variable| match does.writes {
                true => me.monitor.learn_all(variable, 0),
                false => me.monitor.learn_public(variable, 0),
            });
        }
        me.monitor.step(program, &me.threads, accessed(world, does, bytes), 0);
        for (part, bytes) in lines.clone() {
            held[at(part)].all(bytes, |variable| match does.writes {
                true => variable.is_written(me.monitor.knowledge(), 0),
                false => variable.is_read(me.monitor.knowledge(), 0),
            });
        }
    });
}

/// What an access does to the variables that formulas speak of.
fn accessed(world: &World, does: Does, bytes: Bytes) -> Accessed {
    let end = bytes.addr.saturating_add(bytes.size.max(1));
    let overlaps = |place: &Bytes| place.addr < end && bytes.addr < place.addr.saturating_add(place.size);
    let touched = world.spec.variables.iter().filter(|(place, _)| overlaps(place));
    touched.fold(Accessed::default(), |accessed, &(_, variable)| {
        let accessed = if does.reads { accessed.reading(variable) } else { accessed };
        if does.writes { accessed.writing(variable) } else { accessed }
    })
}

/// Memory begins or ends its life.
fn forget(world: &World, bytes: Bytes) {
    if bytes.size / LINE < FEW_LINES {
        lines(bytes).for_each(|(part, bytes)| world.memory[part].lock().forget(bytes));
    } else {
        world.memory.iter().for_each(|part| part.lock().forget(bytes));
    }
}

/// The lock counts as written, or as read by one of several holders.
fn lock(world: &World, me: &mut Me, lock: u64, mode: u8) {
    let mut objects = world.objects[part(lock)].lock();
    let variable = objects.locks.entry(lock).or_default();
    let (program, accessed) = (&world.spec.program, Accessed::default());
    match mode {
        SHARED => me.monitor.read(program, &me.threads, variable, accessed, 0),
        _ => me.monitor.write(program, &me.threads, variable, accessed, 0),
    };
}

fn acquire(world: &World, thread: u32, addr: u64, mode: u8) {
    world.act(thread, |me| {
        came_back(world, thread, me);
        match me.held.iter_mut().find(|held| held.lock == addr) {
            Some(held) => {
                held.times += 1;
                me.monitor.internal(&world.spec.program, &me.threads, 0);
            }
            None => {
                me.held.push(HeldLock { lock: addr, times: 1, mode });
                lock(world, me, addr, mode);
            }
        }
    });
}

fn release(world: &World, thread: u32, addr: u64, mode: u8) {
    world.act(thread, |me| {
        came_back(world, thread, me);
        let at = me.held.iter().rposition(|held| held.lock == addr);
        match at.map(|at| (at, &mut me.held[at])) {
            Some((_, held)) if held.times > 1 => {
                held.times -= 1;
                me.monitor.internal(&world.spec.program, &me.threads, 0);
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
fn wait(world: &World, thread: u32, cond: u64) {
    world.act(thread, |me| {
        me.monitor.internal(&world.spec.program, &me.threads, 0);
        me.waiting = Some(cond);
        let mut objects = world.objects[part(cond)].lock();
        objects.waiting.entry(cond).or_default().enlist(thread.into());
    });
}

/// All that wait may be woken by it: what the thread knows is for each of them.
fn notify(world: &World, thread: u32, cond: u64) {
    world.act(thread, |me| {
        came_back(world, thread, me);
        me.monitor.internal(&world.spec.program, &me.threads, 0);
        let mut objects = world.objects[part(cond)].lock();
        if let Some(waiting) = objects.waiting.get_mut(&cond) {
            waiting.notify(me.monitor.knowledge());
        }
    });
}

/// A thread that has waited does something again: it knows what was known at the notifies meanwhile.
#[inline]
fn came_back(world: &World, thread: u32, me: &mut Me) {
    let Some(cond) = me.waiting.take() else { return };
    let mut objects = world.objects[part(cond)].lock();
    let notified = objects.waiting.get_mut(&cond).and_then(|waiting| waiting.leave(thread.into()));
    notified.iter().for_each(|known| me.monitor.learn(known, 0, 0));
}
