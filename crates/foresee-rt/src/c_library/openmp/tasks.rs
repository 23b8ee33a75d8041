//! Explicit tasks.
//!
//! Making a task releases, its begin acquires; its end releases what those acquire who wait for it: its parent (`taskwait`), the
//! task group that it was made in, the barriers of its team, and tasks with dependences on the same memory. A thread runs tasks while it
//! waits, so all that one thread runs is in the order in which it did.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use libc::c_void;

use super::LIBGOMP;
use super::teams::{Object, Task, Team, sees_ended_tasks};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real, real_free, real_malloc};
use crate::recorder::edges::{acquire_edge, both_edges, release_edge};

/// Dependences are on addresses of any kind; their objects are where no other ones are.
const OF_DEPENDENCES: u64 = 1 << 57;
/// So are those of the making of tasks. So many tasks later, one is used again.
const OF_MAKING: u64 = 1 << 56;
const MAKINGS: u64 = 1 << 16;

/// A dependence of a task: on memory, which it only reads or not.
#[derive(Clone, Copy)]
pub(super) struct Dependence {
    pub(super) address: u64,
    pub(super) reads_only: bool,
}

impl Dependence {
    /// What tasks release that may write, and what those release that only read.
    fn written(self) -> u64 {
        OF_DEPENDENCES | self.address << 4
    }

    fn read(self) -> u64 {
        self.written() | 8
    }

    /// Those on which it depends have ended.
    pub(super) fn is_met(self, pc: u64) {
        acquire_edge(self.written(), pc);
        if !self.reads_only {
            acquire_edge(self.read(), pc);
        }
    }

    fn is_through(self, pc: u64) {
        release_edge(if self.reads_only { self.read() } else { self.written() }, pc);
    }
}

/// The dependences of a task, in memory of the C library until the task ends.
#[derive(Clone, Copy)]
pub(super) struct Dependences {
    first: *mut Dependence,
    count: usize,
}

impl Dependences {
    pub(super) const NONE: Dependences = Dependences { first: std::ptr::null_mut(), count: 0 };

    /// If there is no memory for them, the task has none: it would have been the library's turn to fail.
    pub(super) fn new(all: impl ExactSizeIterator<Item = Dependence>) -> Dependences {
        let count = all.len();
        if count == 0 {
            return Dependences::NONE;
        }
        // SAFETY: `malloc` takes any size.
        let first = unsafe { real_malloc(count * size_of::<Dependence>()) }.cast::<Dependence>();
        if first.is_null() {
            return Dependences::NONE;
        }
        for (i, dependence) in all.enumerate() {
            // SAFETY: there is room for so many, aligned for any type.
            unsafe { first.add(i).write(dependence) };
        }
        Dependences { first, count }
    }

    fn each(self, visit: impl FnMut(Dependence)) {
        if self.count > 0 {
            // SAFETY: `new` has written so many, which stay until the task has ended.
            unsafe { std::slice::from_raw_parts(self.first, self.count) }.iter().copied().for_each(visit);
        }
    }
}

/// A task that is made: what it has to know when it runs, in whichever thread.
#[derive(Clone, Copy)]
pub(super) struct Made {
    /// What its making releases.
    creation: u64,
    /// What its parent waits for.
    siblings: u64,
    group: u64,
    team: *const Team,
    dependences: Dependences,
    pc: u64,
}

impl Made {
    /// A task is about to be made by this thread.
    pub(super) fn new(dependences: Dependences, pc: u64) -> Made {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let creation = OF_MAKING | (NEXT.fetch_add(1, Relaxed) % MAKINGS) << 3;
        let (siblings, group, team) = Task::current(|task| (task.children.id(), task.group(), task.team()))
            .unwrap_or((0, 0, std::ptr::null()));
        // SAFETY: it is the team that this thread is in, which lives.
        if let Some(team) = unsafe { team.as_ref() } {
            team.makes_task();
        }
        release_edge(creation, pc);
        Made { creation, siblings, group, team, dependences, pc }
    }

    /// Where it was made.
    pub(super) fn pc(&self) -> u64 {
        self.pc
    }

    /// What this thread has done for the task since it was made comes before the task, too: it filled in a copy, or ran a part of it.
    pub(super) fn sees_more(&self) {
        release_edge(self.creation, self.pc);
    }

    /// The task runs in this thread.
    pub(super) fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        acquire_edge(self.creation, self.pc);
        self.dependences.each(|dependence| dependence.is_met(self.pc));
        sees_events(self.pc);
        Task::new(self.team, self.group).run(body)
    }

    /// The task has ended, in this thread.
    pub(super) fn ends(&self) {
        self.dependences.each(|dependence| dependence.is_through(self.pc));
        // SAFETY: the team of a task lives until its tasks have ended.
        let of_team = unsafe { self.team.as_ref() }.map_or(0, Team::ended_tasks);
        for waited_for in [self.siblings, self.group, of_team] {
            if waited_for != 0 {
                release_edge(waited_for, self.pc);
            }
        }
    }

    /// The task has ended and will never run again.
    pub(super) fn ends_for_good(&self) {
        self.ends();
        // SAFETY: it came from `real_malloc`, or is null; whoever has a copy of this task does not use it any more.
        unsafe { real_free(self.dependences.first.cast()) };
    }
}

/// `real` waits for the tasks that the current one has made.
pub(super) fn waits_for_children<R>(pc: u64, real: impl FnOnce() -> R) -> R {
    let result = real();
    if let Some(children) = Task::current(|task| task.children.id()) {
        acquire_edge(children, pc);
    }
    sees_events(pc);
    result
}

/// A task group begins, of the tasks made from now on.
pub(super) fn begins_group() {
    Task::current(Task::begin_group);
}

/// A task group ends, when `real` has waited for its tasks.
pub(super) fn ends_group<R>(pc: u64, real: impl FnOnce() -> R) -> R {
    let group = Task::current(Task::group).unwrap_or(0);
    let result = real();
    if group != 0 {
        acquire_edge(group, pc);
    }
    sees_events(pc);
    Task::current(Task::end_group);
    result
}

/// The tasks of the current group have ended, which the thread is told within the call that ends the group; and so have those of its team
/// that it may have to do with.
pub(super) fn sees_group(pc: u64) {
    let group = Task::current(Task::group).unwrap_or(0);
    if group != 0 {
        acquire_edge(group, pc);
    }
    sees_ended_tasks(pc);
    sees_events(pc);
}

/// Events that tasks wait for beyond their end (`detach`). Which task an event is of is not known: whoever waits for any task sees all
/// events.
static EVENTS: Object = Object::new();
static HAS_EVENTS: AtomicBool = AtomicBool::new(false);

/// A task has run whose end waits for an event.
pub(super) fn waits_for_event(pc: u64) {
    release_edge(EVENTS.id(), pc);
}

/// The thread has waited for tasks, which may have waited for events.
pub(super) fn sees_events(pc: u64) {
    if HAS_EVENTS.load(SeqCst) {
        acquire_edge(EVENTS.id(), pc);
    }
}

extern "C-unwind" fn fulfil_event(event: *mut c_void, pc: u64) {
    static REAL: Real = Real::of_library(c"omp_fulfill_event", LIBGOMP);
    HAS_EVENTS.store(true, SeqCst);
    // If its task has run, it ends now, in this thread.
    both_edges(EVENTS.id(), pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (*mut c_void) -> (), event) }
}

weak_entries! {
    "omp_fulfill_event" => fulfil_event, "rsi";
}
