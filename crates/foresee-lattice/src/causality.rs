//! What a causality model says about an execution, in the form that the explorer works on.
//!
//! A model turns an execution into *steps*. Most are the events the property looks at; some are silent: they only take a turn
//! (a lock, a variable that several threads write). All other events are folded into what steps need of each other: an
//! event that is no step happens as soon as it can, and that never stands in anybody's way.
//!
//! A *cut* is how many steps each thread has done. The next step of a thread can happen in a cut if
//! * the steps it *needs* are in the cut. Only what a step needs beyond the steps before it in its thread is listed: those are
//!   in the cut already. Mostly that is nothing, so the test is a comparison or two, whatever the number of threads;
//! * the *turns* it takes are free. A turn is the paper's atomic set: a write with its reads, a critical section. It
//!   begins with a step and has ended when the steps that its other members need are in the cut. One turn of an object excludes
//!   the others, unless both share it. A thread begins a turn only when its last one is over, so in a cut only the last turn
//!   that each thread began can be going on: one binary search per thread that uses the object.
//!
//! Steps can be added while the explorer is at work; those that all cuts have behind them can be forgotten.

use smallvec::SmallVec;

/// So many steps of a thread must have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The thread.
    pub thread: u32,
    /// How many of its steps.
    pub count: u32,
}

/// What something needs; nearly always very little.
pub type Needs = SmallVec<[Need; 1]>;

/// The letter of a step that the property does not look at.
pub const SILENT: u32 = u32::MAX;

/// One step of a thread.
#[derive(Clone, Debug)]
pub struct Step {
    /// The event, by its index in the observed run.
    pub event: u32,
    /// What the machine reads, or [`SILENT`].
    pub letter: u32,
    /// What must have been done, beyond what the earlier steps of the thread needed.
    pub needs: Needs,
    /// The turns it takes.
    pub takes: SmallVec<[Take; 1]>,
}

/// A step takes a turn of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take {
    /// Which.
    pub object: u32,
    /// Whether others may share it.
    pub shared: bool,
}

/// A turn of an object, from the step that takes it on.
#[derive(Clone, Debug)]
struct Turn {
    /// The number of the step, from 0.
    step: u32,
    shared: bool,
    /// `None`: it never ends.
    over: Option<Over>,
}

/// When a turn is over.
#[derive(Clone, Debug, Default)]
pub struct Over {
    /// These steps have been done.
    pub needs: Needs,
    /// And this one, which itself takes the next turn: a read-modify-write. It may do so, all others must wait for it.
    pub successor: Option<(u32, u32)>,
}

/// Who takes turns.
#[derive(Clone, Debug, Default)]
struct Object {
    /// The turn that nobody takes: of the initial value.
    first: Option<Over>,
    turns: Vec<(u32, Vec<Turn>)>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// How many of the first steps were forgotten.
    forgotten: u32,
    steps: Vec<Step>,
    /// What the step after those needs at least, beyond what they need.
    next: Needs,
}

/// The steps of an execution and what they need; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Causality {
    threads: Vec<Thread>,
    objects: Vec<Object>,
    /// The threads of the steps, in the observed order.
    order: Vec<u32>,
    order_forgotten: usize,
}

impl Causality {
    /// No steps yet, of so many threads.
    pub fn new(threads: usize) -> Causality {
        Causality { threads: vec![Thread::default(); threads], ..Causality::default() }
    }

    /// One more thread; its number.
    pub fn add_thread(&mut self) -> u32 {
        self.threads.push(Thread::default());
        self.threads.len() as u32 - 1
    }

    /// One more object; its number.
    pub fn add_object(&mut self) -> u32 {
        self.objects.push(Object::default());
        self.objects.len() as u32 - 1
    }

    /// The next step of a thread, in the observed order; its number in the thread. The turns it takes never end, until
    /// [`Causality::end_turn`] says when.
    pub fn push(&mut self, thread: u32, step: Step) -> u32 {
        let steps = &mut self.threads[thread as usize];
        let number = steps.forgotten + steps.steps.len() as u32;
        for &Take { object, shared } in &step.takes {
            let turns = &mut self.objects[object as usize].turns;
            let at = turns.iter().position(|&(of, _)| of == thread).unwrap_or_else(|| {
                turns.push((thread, Vec::new()));
                turns.len() - 1
            });
            turns[at].1.push(Turn { step: number, shared, over: None });
        }
        steps.steps.push(step);
        steps.next.clear();
        self.order.push(thread);
        number
    }

    /// The step of this event needs that of another: each by its thread and its event. Nothing happens if one of them is no step.
    pub(super) fn require(&mut self, of: (u32, u32), by: (u32, u32)) {
        let place = |threads: &[Thread], (thread, event): (u32, u32)| {
            threads[thread as usize].steps.binary_search_by_key(&event, |step| step.event).ok()
        };
        if let (Some(step), Some(needed)) = (place(&self.threads, of), place(&self.threads, by)) {
            let count = self.threads[by.0 as usize].forgotten + needed as u32 + 1;
            self.threads[of.0 as usize].steps[step].needs.push(Need { thread: by.0, count });
        }
    }

    /// The next step of a thread, which is not known yet, will need at least this.
    pub fn expect(&mut self, thread: u32, needs: Needs) {
        self.threads[thread as usize].next = needs;
    }

    /// Whether a step of the thread that is not known yet could happen in a cut.
    #[inline]
    pub(super) fn could_go_on(&self, thread: u32, done: impl Fn(u32) -> u32 + Copy) -> bool {
        done(thread) >= self.count(thread) && met(&self.threads[thread as usize].next, done)
    }

    /// Says when the turn is over that the thread took with its step of this number.
    pub fn end_turn(&mut self, object: u32, thread: u32, step: u32, over: Over) {
        let turns = self.objects[object as usize].turns.iter_mut().filter(|(of, _)| *of == thread);
        for (_, turns) in turns {
            if let Ok(at) = turns.binary_search_by_key(&step, |turn| turn.step) {
                turns[at].over = Some(over.clone());
            }
        }
    }

    /// Says when the turn of the initial value is over.
    pub fn end_first_turn(&mut self, object: u32, over: Over) {
        self.objects[object as usize].first = Some(over);
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many steps of a thread are known.
    #[inline]
    pub fn count(&self, thread: u32) -> u32 {
        let thread = &self.threads[thread as usize];
        thread.forgotten + thread.steps.len() as u32
    }

    /// How many steps are known.
    pub fn len(&self) -> usize {
        self.order_forgotten + self.order.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The thread of the observed run's step of this number.
    pub fn observed(&self, level: usize) -> Option<u32> {
        self.order.get(level.checked_sub(self.order_forgotten)?).copied()
    }

    /// The step of this number, from 0, of a thread; `None` if it is not known (or no more).
    #[inline]
    pub fn step(&self, thread: u32, number: u32) -> Option<&Step> {
        let thread = &self.threads[thread as usize];
        thread.steps.get(number.wrapping_sub(thread.forgotten) as usize)
    }

    /// The next step of a thread in a cut, if it can happen there. `done` gives how many steps of a thread are in the cut.
    #[inline]
    pub fn next(&self, thread: u32, done: impl Fn(u32) -> u32 + Copy) -> Option<&Step> {
        let step = self.step(thread, done(thread))?;
        let can = met(&step.needs, done) && (step.takes.is_empty() || self.is_free(thread, step, done));
        can.then_some(step)
    }

    fn is_free(&self, thread: u32, step: &Step, done: impl Fn(u32) -> u32 + Copy) -> bool {
        let me = (thread, done(thread));
        let is_over = |over: &Over| {
            let passed_on = match over.successor {
                Some((thread, number)) => (thread, number) == me || done(thread) > number,
                None => true,
            };
            passed_on && met(&over.needs, done)
        };
        step.takes.iter().all(|take| {
            let object = &self.objects[take.object as usize];
            object.first.as_ref().is_none_or(is_over)
                && object.turns.iter().all(|(of, turns)| {
                    let begun = turns.partition_point(|turn| turn.step < done(*of));
                    let Some(last) = begun.checked_sub(1) else { return true };
                    let turn = &turns[last];
                    (turn.shared && take.shared) || turn.over.as_ref().is_some_and(is_over)
                })
        })
    }

    /// Forgets the steps before these counts, by thread: no cut needs them any more.
    pub fn forget(&mut self, before: &[u32], level: usize) {
        for (thread, &before) in self.threads.iter_mut().zip(before) {
            let dead = before.saturating_sub(thread.forgotten) as usize;
            // Half of them at once, so that each step is moved a constant number of times.
            if dead > 1024 && dead * 2 > thread.steps.len() {
                thread.steps.drain(..dead);
                thread.forgotten = before;
            }
        }
        let dead = level.saturating_sub(self.order_forgotten);
        if dead > 1024 && dead * 2 > self.order.len() {
            self.order.drain(..dead);
            self.order_forgotten = level;
        }
    }
}

#[inline]
fn met(needs: &[Need], done: impl Fn(u32) -> u32) -> bool {
    needs.iter().all(|need| done(need.thread) >= need.count)
}
