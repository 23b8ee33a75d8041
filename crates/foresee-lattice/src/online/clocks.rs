//! The program's side: multithreaded vector clocks in one pass over its events (see [`hb`](crate::hb) for the algorithm).
//!
//! This pass sees each event once and knows nothing of the future, so it is a little coarser than the one over a whole execution:
//! a thread that waits is taken to be woken by each notify until it goes on. That only adds order: fewer runs, none of them wrong.
//!
//! **Memory.** Two references per word that the program has touched and not freed, or per byte where parts of a word were; clocks are shared. Threads get a place in
//! the clocks when they do something relevant, or are alive when something relevant happens: the observer has to know for whom to wait. All else that is known of a thread is by
//! [slot](ThreadSlots), and is let go when the thread [has gone](Clocks::forget) and the observer knows that it has ended.
//!
//! **Places are used again.** A thread that has ended leaves its place to a later one that comes after all that was done there: one whose next event has a clock that counts every event of the
//! place. What is done in a place is then in order, whoever did it, as if it were one thread: counts go on, and clocks that know only some of them say what they always said. So
//! clocks are as long as there are threads that nothing orders, and those that come one after the other take one place.

use std::rc::Rc;

use foresee_trace::synchronisation::{After, Handover, Section, ThreadWalk};
use foresee_trace::{Event, LockId, Mode, Op, ThreadId, ThreadSlots};
use rustc_hash::FxHashMap;

use super::byte_map::ByteMap;
use super::handles::Handle;

/// Counts by place in the clock; those beyond the end are 0.
type Clock = Rc<Vec<u32>>;

/// The clocks of a program, for one property.
pub struct Clocks {
    slots: ThreadSlots<ThreadId>,
    /// By slot.
    threads: Vec<Thread>,
    places: Vec<Place>,
    /// The places of threads that have ended, as the observer knows.
    left: Vec<usize>,
    /// The places of threads that have ended, which is still to be announced.
    ending: Vec<usize>,
    /// Threads that became known since the last relevant event.
    newcomers: Vec<ThreadId>,
    memory: ByteMap<Variable>,
    locks: FxHashMap<LockId, Variable>,
    handles: Handles,
    /// Knows threads by their slots. Locks are variables here, so that all sections are in order.
    walk: ThreadWalk<Clock>,
}

impl Default for Clocks {
    fn default() -> Clocks {
        Clocks {
            slots: ThreadSlots::default(),
            threads: Vec::new(),
            places: Vec::new(),
            left: Vec::new(),
            ending: Vec::new(),
            newcomers: Vec::new(),
            memory: ByteMap::default(),
            locks: FxHashMap::default(),
            handles: Handles::default(),
            walk: ThreadWalk::with_locks_in_order(),
        }
    }
}

/// A place in the clocks.
struct Place {
    /// What it is called: the number of the first thread that had it.
    name: u32,
    /// The last thread that has had it.
    holder: ThreadId,
    /// How many relevant events were done in it.
    count: u32,
}

/// A relevant event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What is to be announced before it: who else is there, and who has ended.
    pub others: Vec<Idle>,
    /// The place of its thread.
    pub place: u32,
    /// How many relevant events of each place come before it or are it.
    pub clock: Vec<(u32, u32)>,
}

/// What a thread's next relevant event comes after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Whose.
    pub thread: u32,
    /// Its place.
    pub place: u32,
    /// By place.
    pub clock: Vec<(u32, u32)>,
    /// There will be none.
    pub ended: bool,
}

#[derive(Default)]
struct Thread {
    clock: Vec<u32>,
    published: Option<Clock>,
    place: Option<usize>,
    is_known: bool,
    has_ended: bool,
    is_joined: bool,
    /// Whether nobody speaks of it any more.
    has_gone: bool,
    /// What was last announced about it.
    announced: Announced,
}

/// What is announced of a thread.
#[derive(Default, PartialEq, Eq)]
enum Announced {
    #[default]
    Nothing,
    /// What its next relevant event comes after.
    Next(Vec<u32>),
    End,
}

impl Thread {
    fn learn(&mut self, clock: &Clock) {
        if self.published.as_ref().is_some_and(|published| Rc::ptr_eq(published, clock)) {
            return;
        }
        if join(&mut self.clock, clock) {
            self.published = None;
        }
    }

    fn publish(&mut self) -> Clock {
        Rc::clone(self.published.get_or_insert_with(|| Rc::new(self.clock.clone())))
    }
}

/// Vʷ and Vᵃ.
#[derive(Clone, Default)]
struct Variable {
    write: Option<Clock>,
    access: Option<Clock>,
}

impl Variable {
    fn before(&self, thread: &mut Thread, writes: bool) {
        if let Some(clock) = if writes { &self.access } else { &self.write } {
            thread.learn(clock);
        }
    }

    fn after(&mut self, thread: &mut Thread, writes: bool) {
        let now = thread.publish();
        if writes {
            self.write = Some(Rc::clone(&now));
            self.access = Some(now);
            return;
        }
        match &mut self.access {
            Some(access) if Rc::ptr_eq(access, &now) || covers(access, &now) => {}
            Some(access) if !covers(&now, access) => {
                join(Rc::make_mut(access), &now);
            }
            access => *access = Some(now),
        }
    }
}

/// From so many values on, all others count as one, which only adds order.
const MOST_HANDLES: usize = 1 << 16;

/// The values that calls return, and events carry: as if the call wrote a variable, and the others read it.
#[derive(Default)]
struct Handles {
    known: FxHashMap<(u8, u64), Variable>,
    others: Variable,
}

impl Handles {
    fn variable(&mut self, handle: &Handle) -> &mut Variable {
        let key = (handle.param, handle.value);
        match self.known.len() < MOST_HANDLES || self.known.contains_key(&key) {
            true => self.known.entry(key).or_default(),
            false => &mut self.others,
        }
    }

    fn before(&mut self, carried: &[Handle], thread: &mut Thread) {
        carried.iter().for_each(|handle| self.variable(handle).before(thread, handle.is_returned));
    }

    fn after(&mut self, carried: &[Handle], thread: &mut Thread) {
        carried.iter().for_each(|handle| self.variable(handle).after(thread, handle.is_returned));
    }
}

impl Clocks {
    /// No events yet.
    pub fn new() -> Clocks {
        Clocks::default()
    }

    /// The next event; its clock if it is relevant.
    pub fn event(&mut self, event: &Event<'_>, relevant: bool) -> Option<Stamp> {
        self.event_with(event, relevant, &[])
    }

    /// The same for an event that carries what calls return.
    pub(super) fn event_with(
        &mut self,
        event: &Event<'_>,
        relevant: bool,
        carried: &[Handle],
    ) -> Option<Stamp> {
        let by = self.know(event.thread);
        let op = self.of_slots(event.op);
        let section = self.begin(by, &op).map(Handover::section);
        let access = event.op.mem().zip(event.op.access());
        let thread = &mut self.threads[by];
        if let Some((mem, access)) = access {
            self.memory.visit(mem, |variable| variable.before(thread, access.writes));
        }
        if let Some(Section { lock, mode, .. }) = section {
            self.locks.entry(lock).or_default().before(thread, mode == Mode::Exclusive);
        }
        self.handles.before(carried, thread);
        let stamp = relevant.then(|| {
            let others = self.others(event.thread);
            let clock = std::mem::take(&mut self.threads[by].clock);
            let place = self.place(event.thread, by, &clock);
            let thread = &mut self.threads[by];
            thread.clock = clock;
            grow(&mut thread.clock, place + 1);
            thread.clock[place] += 1;
            thread.published = None;
            self.places[place].count = thread.clock[place];
            let clock = by_place(&self.places, &thread.clock);
            Stamp { others, place: self.places[place].name, clock }
        });
        let thread = &mut self.threads[by];
        match (op, access) {
            (Op::Free { mem }, _) => self.memory.clear(mem, |variable| variable.access.is_none()),
            (_, Some((mem, access))) if access.writes => {
                let mut variable = Variable::default();
                variable.after(thread, true);
                self.memory.set(mem, &variable);
            }
            (_, Some((mem, _))) => self.memory.change(mem, |variable| variable.after(thread, false)),
            _ => {}
        }
        if let Some(Section { lock, mode, .. }) = section {
            self.locks.entry(lock).or_default().after(thread, mode == Mode::Exclusive);
        }
        self.handles.after(carried, thread);
        self.end(by, &op);
        if let Op::Fork { child } = event.op {
            self.know(child);
        }
        stamp
    }

    /// What has become known, since the last call, about the next relevant events of threads.
    pub fn idle(&mut self) -> Vec<Idle> {
        let mut news = self.others(ThreadId(u32::MAX));
        for nth in 0..self.places.len() {
            news.extend(self.news(self.places[nth].holder));
        }
        news
    }

    /// What is to be announced of who has ended and who is new. Those of the newcomers that still live, but for one, have a place from now on.
    fn others(&mut self, but: ThreadId) -> Vec<Idle> {
        let mut news = Vec::new();
        for place in std::mem::take(&mut self.ending) {
            news.extend(self.news(self.places[place].holder));
        }
        for thread in std::mem::take(&mut self.newcomers) {
            let slot = self.slots.get(thread).filter(|&slot| thread != but && !self.threads[slot].has_ended);
            if let Some(slot) = slot {
                let clock = self.next(slot);
                self.place(thread, slot, &clock);
                news.extend(self.news(thread));
            }
        }
        news
    }

    /// What the next relevant event of a thread comes after, as far as is known.
    fn next(&self, slot: usize) -> Vec<u32> {
        let mut clock = self.threads[slot].clock.clone();
        self.walk.next(id(slot), |after| {
            let more = match after {
                After::Fork(fork) => std::slice::from_ref(fork),
                After::Notifies { notifies, .. } => notifies,
                After::Wait(_) | After::End(_) | After::Section(_) | After::Order(_) => &[],
            };
            for more in more {
                join(&mut clock, more);
            }
        });
        clock
    }

    /// What is to be announced about a thread, if it was not announced before.
    fn news(&mut self, of: ThreadId) -> Option<Idle> {
        let slot = self.slots.get(of)?;
        if self.threads[slot].announced == Announced::End {
            return None;
        }
        let clock = self.next(slot);
        let thread = &mut self.threads[slot];
        let (ended, place) = (thread.has_ended, self.places[thread.place?].name);
        let idle = Idle { thread: of.0, place, clock: by_place(&self.places, &clock), ended };
        let now = if ended { Announced::End } else { Announced::Next(clock) };
        if thread.announced == now {
            return None;
        }
        thread.announced = now;
        if ended {
            self.leave(slot);
            self.let_go(of, slot);
        }
        Some(idle)
    }

    /// A thread has gone: it has ended, and no event that comes speaks of it.
    pub fn forget(&mut self, gone: ThreadId) {
        if let Some(slot) = self.slots.get(gone) {
            self.ends(slot);
            self.threads[slot].has_gone = true;
            self.let_go(gone, slot);
        }
    }

    /// Lets go of a thread that has gone, once the observer knows that it has ended, or was never told that it is there.
    fn let_go(&mut self, thread: ThreadId, slot: usize) {
        let this = &mut self.threads[slot];
        if this.has_gone && (this.place.is_none() || this.announced == Announced::End) {
            *this = Thread::default();
            self.walk.forget(id(slot));
            self.slots.remove(thread);
        }
    }

    /// A thread has ended, and the observer knows it: what nobody will ask for is let go.
    fn leave(&mut self, slot: usize) {
        let thread = &mut self.threads[slot];
        self.left.extend(thread.place.take());
        if thread.is_joined {
            (thread.clock, thread.published) = (Vec::new(), None);
        }
    }

    /// A thread is there; its slot.
    fn know(&mut self, thread: ThreadId) -> usize {
        let slot = self.slot(thread);
        if !std::mem::replace(&mut self.threads[slot].is_known, true) {
            self.newcomers.push(thread);
        }
        slot
    }

    fn slot(&mut self, thread: ThreadId) -> usize {
        let slot = self.slots.slot(thread);
        if self.threads.len() <= slot {
            self.threads.resize_with(slot + 1, Thread::default);
        }
        slot
    }

    /// An operation with slots instead of threads.
    fn of_slots<'o>(&mut self, op: Op<'o>) -> Op<'o> {
        match op {
            Op::Fork { child } => Op::Fork { child: id(self.slot(child)) },
            Op::Join { child } => Op::Join { child: id(self.slot(child)) },
            op => op,
        }
    }

    /// The place of a thread whose next relevant event has this clock, itself not counted.
    fn place(&mut self, thread: ThreadId, slot: usize, clock: &[u32]) -> usize {
        if let Some(place) = self.threads[slot].place {
            return place;
        }
        let counts_all = |&place: &usize| clock.get(place).copied().unwrap_or(0) == self.places[place].count;
        let place = match self.left.iter().rposition(counts_all) {
            Some(at) => {
                let place = self.left.swap_remove(at);
                self.places[place].holder = thread;
                place
            }
            None => {
                self.places.push(Place { name: thread.0, holder: thread, count: 0 });
                self.places.len() - 1
            }
        };
        self.threads[slot].place = Some(place);
        place
    }

    /// A thread has ended.
    fn ends(&mut self, slot: usize) {
        let thread = &mut self.threads[slot];
        if !std::mem::replace(&mut thread.has_ended, true) {
            self.ending.extend(thread.place);
        }
    }

    /// What rules (d) and (f) put before an event, and the lock that it takes or gives.
    fn begin(&mut self, by: usize, op: &Op<'_>) -> Option<Handover> {
        if let Op::Join { child } = *op
            && self.threads[child.index()].is_known
        {
            self.ends(child.index());
        }
        let Clocks { threads, walk, .. } = self;
        walk.begin(id(by), Some(op), |after| match after {
            After::Fork(clock) | After::Wait(clock) | After::Section(clock) | After::Order(clock) => {
                threads[by].learn(clock);
            }
            After::Notifies { notifies, .. } => {
                notifies.iter().for_each(|clock| threads[by].learn(clock));
            }
            After::End(child) => {
                let clock = threads[child.index()].publish();
                threads[by].learn(&clock);
            }
        })
    }

    /// What rules (d) and (f) put after it.
    fn end(&mut self, by: usize, op: &Op<'_>) {
        self.walk.end(id(by), Some(op), || self.threads[by].publish());
        match *op {
            Op::ThreadEnd => self.ends(by),
            Op::Join { child } => {
                let ended = &mut self.threads[child.index()];
                ended.is_joined = true;
                // One without a place is not announced.
                if ended.has_ended && (ended.place.is_none() || ended.announced == Announced::End) {
                    self.leave(child.index());
                }
            }
            _ => {}
        }
    }
}

/// A slot, as the walk through the run knows it.
fn id(slot: usize) -> ThreadId {
    ThreadId(slot as u32)
}

fn by_place(places: &[Place], clock: &[u32]) -> Vec<(u32, u32)> {
    let names = places.iter().map(|place| place.name);
    names.zip(clock.iter().copied()).filter(|&(_, count)| count > 0).collect()
}

fn grow(clock: &mut Vec<u32>, len: usize) {
    if clock.len() < len {
        clock.resize(len, 0);
    }
}

fn covers(clock: &[u32], other: &[u32]) -> bool {
    other.iter().enumerate().all(|(place, &count)| clock.get(place).copied().unwrap_or(0) >= count)
}

/// Covers what the other clock covers, too; whether that was anything new.
fn join(clock: &mut Vec<u32>, other: &[u32]) -> bool {
    grow(clock, other.len());
    let mut new = false;
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        new |= theirs > *mine;
        *mine = theirs.max(*mine);
    }
    new
}

#[cfg(test)]
mod tests {
    use foresee_trace::{LocId, StrId};

    use super::*;

    #[test]
    fn threads_that_end_without_anything_relevant_leave_their_place() {
        let mut clocks = Clocks::new();
        let mut does = |thread: u32, op: Op<'static>| {
            let event = Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op };
            clocks.event(&event, false);
            clocks.idle().iter().filter(|idle| idle.ended).count()
        };
        let mut ended = 0;
        for guest in 1..1000 {
            let child = ThreadId(guest);
            ended += does(0, Op::Fork { child });
            ended += does(guest, Op::ThreadBegin);
            ended += does(guest, Op::ThreadEnd);
            ended += does(0, Op::Join { child });
        }
        assert_eq!(ended, 999);
        assert_eq!(clocks.places.len(), 2);
    }

    #[test]
    fn nothing_is_kept_of_threads_that_have_gone() {
        let mut clocks = Clocks::new();
        let mut said = 0;
        for guest in 1..10_000 {
            let child = ThreadId(guest);
            let does = [
                (0, Op::Fork { child }),
                (guest, Op::ThreadBegin),
                (guest, Op::Blind { code: StrId(1), orders: true }),
                (guest, Op::Acquire { lock: LockId(0), mode: Mode::Exclusive, tried: false }),
                (guest, Op::Release { lock: LockId(0), mode: Mode::Exclusive }),
                (guest, Op::ThreadEnd),
                (0, Op::Join { child }),
            ];
            // Some the observer hears of while they are there, some when they have ended, most never.
            let told = [2, 5, 7, 8][guest as usize % 4];
            for (at, (thread, op)) in does.into_iter().enumerate() {
                clocks.event(&Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op }, false);
                said += if at == told { clocks.idle().len() } else { 0 };
            }
            clocks.forget(child);
            said += if told == 7 { clocks.idle().len() } else { 0 };
        }
        clocks.idle();
        assert!(said > 4_000, "{said}");
        assert_eq!(clocks.slots.iter().count(), 1);
        assert!(clocks.threads.len() < 10, "{}", clocks.threads.len());
        assert!(clocks.places.len() < 10, "{}", clocks.places.len());
        // One that is spoken of all the same is new.
        clocks.event(&Event { thread: ThreadId(5), loc: LocId::UNKNOWN, op: Op::ThreadBegin }, false);
        assert_eq!(clocks.idle().len(), 1);
    }
}
