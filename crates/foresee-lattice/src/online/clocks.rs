//! The program's side: multithreaded vector clocks in one pass over its events (see [`hb`](crate::hb) for the algorithm).
//!
//! This pass sees each event once and knows nothing of the future, so it is a little coarser than the one over a whole execution:
//! a thread that waits is taken to be woken by each notify until it goes on. That only adds order: fewer runs, none of them wrong.
//!
//! **Memory.** Two references per word that the program has touched and not freed, or per byte where parts of a word were; clocks are shared. Threads get a place in
//! the clocks when they do something relevant, or are alive when something relevant happens: the observer has to know for whom to wait. Those that end without having done
//! anything relevant leave it to others: so threads may come and go for as long as they like.

use std::rc::Rc;

use foresee_trace::synchronisation::{After, Handover, Section, ThreadWalk};
use foresee_trace::{Event, LockId, Mode, Op, ThreadId};
use rustc_hash::FxHashMap;

use super::byte_map::ByteMap;

/// Counts by place in the clock; those beyond the end are 0.
type Clock = Rc<Vec<u32>>;

/// The clocks of a program, for one property.
#[derive(Default)]
pub struct Clocks {
    threads: Vec<Thread>,
    /// The threads that have a place, or had one that is free.
    places: Vec<u32>,
    /// The places that are free: all clocks have nothing there.
    free: Vec<usize>,
    /// Threads that became known since the last relevant event.
    newcomers: Vec<ThreadId>,
    memory: ByteMap<Variable>,
    locks: FxHashMap<LockId, Variable>,
    walk: ThreadWalk<Clock>,
}

/// A relevant event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What is to be announced before it: who else is there.
    pub others: Vec<Idle>,
    /// How many relevant events of each thread come before it or are it.
    pub clock: Vec<(u32, u32)>,
}

/// What a thread's next relevant event comes after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Whose.
    pub thread: u32,
    /// By thread.
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

impl Clocks {
    /// No events yet.
    pub fn new() -> Clocks {
        Clocks::default()
    }

    /// The next event; its clock if it is relevant.
    pub fn event(&mut self, event: &Event<'_>, relevant: bool) -> Option<Stamp> {
        let by = event.thread;
        self.know(by);
        let section = self.begin(by, &event.op).map(Handover::section);
        let access = event.op.mem().zip(event.op.access());
        let thread = &mut self.threads[by.index()];
        if let Some((mem, access)) = access {
            self.memory.visit(mem, |variable| variable.before(thread, access.writes));
        }
        if let Some(Section { lock, mode, .. }) = section {
            self.locks.entry(lock).or_default().before(thread, mode == Mode::Exclusive);
        }
        let stamp = relevant.then(|| {
            let others = self.newcomers(by);
            let place = self.place(by);
            let thread = &mut self.threads[by.index()];
            grow(&mut thread.clock, place + 1);
            thread.clock[place] += 1;
            thread.published = None;
            Stamp { others, clock: by_thread(&self.places, &self.threads[by.index()].clock) }
        });
        let thread = &mut self.threads[by.index()];
        match (event.op, access) {
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
        self.end(by, &event.op);
        stamp
    }

    /// What has become known, since the last call, about the next relevant events of threads.
    pub fn idle(&mut self) -> Vec<Idle> {
        let mut news = self.newcomers(ThreadId(u32::MAX));
        for nth in 0..self.places.len() {
            news.extend(self.news(ThreadId(self.places[nth])));
        }
        news
    }

    /// Those of the newcomers that still live, but for one, have a place from now on.
    fn newcomers(&mut self, but: ThreadId) -> Vec<Idle> {
        let mut news = Vec::new();
        for thread in std::mem::take(&mut self.newcomers) {
            if thread != but && !self.threads[thread.index()].has_ended {
                self.place(thread);
                news.extend(self.news(thread));
            }
        }
        news
    }

    /// What is to be announced about a thread, if it was not announced before.
    fn news(&mut self, of: ThreadId) -> Option<Idle> {
        let thread = &mut self.threads[of.index()];
        if thread.announced == Announced::End {
            return None;
        }
        let mut clock = thread.clock.clone();
        self.walk.next(of, |after| {
            let more = match after {
                After::Fork(fork) => std::slice::from_ref(fork),
                After::Notifies { notifies, .. } => notifies,
                After::Wait(_) | After::End(_) | After::Section(_) | After::Order(_) => &[],
            };
            for more in more {
                join(&mut clock, more);
            }
        });
        let ended = thread.has_ended;
        let idle = Idle { thread: of.0, clock: by_thread(&self.places, &clock), ended };
        let now = if ended { Announced::End } else { Announced::Next(clock) };
        if thread.announced == now {
            return None;
        }
        thread.announced = now;
        if ended {
            self.leave(of);
        }
        Some(idle)
    }

    /// A thread has ended, and the observer knows it: what nobody will ask for is let go.
    fn leave(&mut self, ended: ThreadId) {
        let thread = &mut self.threads[ended.index()];
        let did_nothing = |place: &usize| thread.clock.get(*place).is_none_or(|&count| count == 0);
        if let Some(place) = thread.place.take_if(|place| did_nothing(place)) {
            self.free.push(place);
        }
        if thread.is_joined {
            (thread.clock, thread.published) = (Vec::new(), None);
        }
    }

    /// A thread is there.
    fn know(&mut self, thread: ThreadId) {
        if !std::mem::replace(&mut self.thread(thread).is_known, true) {
            self.newcomers.push(thread);
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Thread::default);
        }
        &mut self.threads[thread.index()]
    }

    fn place(&mut self, thread: ThreadId) -> usize {
        let this = &mut self.threads[thread.index()];
        *this.place.get_or_insert_with(|| match self.free.pop() {
            Some(free) => {
                self.places[free] = thread.0;
                free
            }
            None => {
                self.places.push(thread.0);
                self.places.len() - 1
            }
        })
    }

    /// What rules (d) and (f) put before an event, and the lock that it takes or gives.
    fn begin(&mut self, by: ThreadId, op: &Op<'_>) -> Option<Handover> {
        if let Op::Join { child } = *op {
            let ended = self.thread(child);
            ended.has_ended |= ended.is_known;
        }
        let Clocks { threads, walk, .. } = self;
        walk.begin(by, Some(op), |after| match after {
            After::Fork(clock) | After::Wait(clock) | After::Section(clock) | After::Order(clock) => {
                threads[by.index()].learn(clock);
            }
            After::Notifies { notifies, .. } => {
                notifies.iter().for_each(|clock| threads[by.index()].learn(clock));
            }
            After::End(child) => {
                let clock = threads[child.index()].publish();
                threads[by.index()].learn(&clock);
            }
        })
    }

    /// What rules (d) and (f) put after it.
    fn end(&mut self, by: ThreadId, op: &Op<'_>) {
        self.walk.end(by, Some(op), || self.threads[by.index()].publish());
        match *op {
            Op::Fork { child } => self.know(child),
            Op::ThreadEnd => self.threads[by.index()].has_ended = true,
            Op::Join { child } => {
                let ended = &mut self.threads[child.index()];
                ended.is_joined = true;
                // One without a place is not announced.
                if ended.has_ended && (ended.place.is_none() || ended.announced == Announced::End) {
                    self.leave(child);
                }
            }
            _ => {}
        }
    }
}

fn by_thread(places: &[u32], clock: &[u32]) -> Vec<(u32, u32)> {
    places.iter().copied().zip(clock.iter().copied()).filter(|&(_, count)| count > 0).collect()
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
    use foresee_trace::LocId;

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
}
