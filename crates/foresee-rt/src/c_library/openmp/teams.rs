//! Teams of threads: parallel regions, their barriers, and `ordered`.
//!
//! A [`Team`] lives on the stack of the thread that begins the region, which waits there until all others are through. The task that a
//! thread is in lives on that thread's stack.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::recorder::edges::{acquire_edge, release_edge};

/// Something to order threads by. Only its address is used.
#[derive(Default)]
pub(super) struct Object(u64);

impl Object {
    pub(super) const fn new() -> Object {
        Object(0)
    }

    pub(super) fn id(&self) -> u64 {
        (&raw const self.0) as u64
    }
}

/// The threads of a parallel region.
pub(super) struct Team {
    begin: Object,
    end: Object,
    /// Barriers take turns with two objects: nobody arrives at the next but one before all have left this one.
    barriers: [Object; 2],
    /// Tasks that have ended, which barriers wait for.
    tasks: Object,
    has_tasks: AtomicBool,
    ordered: Object,
    /// Iterations that wait for each other.
    iterations: Object,
    cancellation: Object,
    reductions: Object,
}

/// Threads in regions that were not seen to begin.
static UNKNOWN: Team = Team::new();

impl Team {
    pub(super) const fn new() -> Team {
        Team {
            begin: Object::new(),
            end: Object::new(),
            barriers: [const { Object::new() }; 2],
            tasks: Object::new(),
            has_tasks: AtomicBool::new(false),
            ordered: Object::new(),
            iterations: Object::new(),
            cancellation: Object::new(),
            reductions: Object::new(),
        }
    }

    /// The region is `real`, in which each thread calls [`Team::run`].
    pub(super) fn region<R>(&self, pc: u64, real: impl FnOnce() -> R) -> R {
        release_edge(self.begin.id(), pc);
        let result = real();
        acquire_edge(self.end.id(), pc);
        self.sees_tasks(pc);
        result
    }

    /// What one thread does in the region.
    pub(super) fn run<R>(&self, pc: u64, body: impl FnOnce() -> R) -> R {
        acquire_edge(self.begin.id(), pc);
        let result = Task::new(self, 0).run(body);
        release_edge(self.end.id(), pc);
        result
    }

    /// A task of this team was made: barriers wait for it.
    pub(super) fn makes_task(&self) {
        self.has_tasks.store(true, Relaxed);
    }

    /// What a task of this team releases when it ends.
    pub(super) fn ended_tasks(&self) -> u64 {
        self.tasks.id()
    }

    /// Tasks of this team have ended, which the thread has waited for.
    fn sees_tasks(&self, pc: u64) {
        if self.has_tasks.load(Relaxed) {
            acquire_edge(self.tasks.id(), pc);
        }
    }
}

/// How many task groups within each other are told apart.
const GROUPS: usize = 8;

/// A task that a thread is in: its part of a region, or an explicit task.
pub(super) struct Task {
    team: *const Team,
    /// Which of the team's objects the next barrier takes.
    turn: Cell<usize>,
    /// What tasks that it makes release when they end.
    pub(super) children: Object,
    /// The same for its task groups.
    groups: [Object; GROUPS],
    depth: Cell<usize>,
    /// The group that it was made in; 0: none.
    outer_group: u64,
}

/// Where a thread is.
#[derive(Clone, Copy)]
struct Position {
    task: *const Task,
    /// How many regions of one thread it has begun since, by calls that do not run the region themselves.
    alone: u32,
}

thread_local! {
    static POSITION: Cell<Position> = const { Cell::new(Position { task: std::ptr::null(), alone: 0 }) };
}

impl Task {
    pub(super) fn new(team: *const Team, outer_group: u64) -> Task {
        Task {
            team,
            turn: Cell::new(0),
            children: Object::new(),
            groups: [const { Object::new() }; GROUPS],
            depth: Cell::new(0),
            outer_group,
        }
    }

    /// The thread is in this task while it runs the body.
    pub(super) fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let outer = POSITION.replace(Position { task: self, alone: 0 });
        let result = body();
        POSITION.set(outer);
        result
    }

    /// Calls `look` with the task that this thread is in, if its begin was seen.
    pub(super) fn current<R>(look: impl FnOnce(&Task) -> R) -> Option<R> {
        // SAFETY: `Task::run` of this thread has put it there, and takes it away before the task is gone.
        unsafe { POSITION.get().task.as_ref() }.map(look)
    }

    /// The team that the task is of, if there is one.
    pub(super) fn team(&self) -> *const Team {
        self.team
    }

    /// The group that tasks belong to which are made now; 0: none.
    pub(super) fn group(&self) -> u64 {
        match self.depth.get() {
            0 => self.outer_group,
            depth => self.groups[(depth - 1).min(GROUPS - 1)].id(),
        }
    }

    pub(super) fn begin_group(&self) {
        self.depth.set(self.depth.get() + 1);
    }

    pub(super) fn end_group(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }
}

/// Calls `look` with the team of this thread: of the innermost region that was seen to begin.
fn with_team<R>(look: impl FnOnce(&Team) -> R) -> R {
    let team = Task::current(|task| task.team).unwrap_or(std::ptr::null());
    // SAFETY: a team lives as long as any of its tasks runs: the thread that made it waits for them.
    look(unsafe { team.as_ref() }.unwrap_or(&UNKNOWN))
}

/// Tasks of this thread's team have ended.
pub(super) fn sees_ended_tasks(pc: u64) {
    with_team(|team| team.sees_tasks(pc));
}

/// The object of the barrier that this thread comes to next, if it has not come to it `later` others before.
fn barrier_object(later: usize) -> u64 {
    let turn = Task::current(|task| task.turn.get()).unwrap_or(0);
    with_team(|team| team.barriers[(turn + later) % 2].id())
}

/// Whether the thread is alone in its region, so that nothing in it orders anything.
fn is_alone() -> bool {
    POSITION.get().alone > 0
}

/// The thread is about to arrive at a barrier of its team, or at the second one if it comes to two within one call.
pub(super) fn arrives(later: usize, pc: u64) {
    if !is_alone() {
        release_edge(barrier_object(later), pc);
    }
}

/// The thread has left the barrier.
pub(super) fn leaves(later: usize, pc: u64) {
    if !is_alone() {
        acquire_edge(barrier_object(later), pc);
        sees_ended_tasks(pc);
    }
}

/// It has left it for good: the next one is another.
pub(super) fn left(pc: u64) {
    leaves(0, pc);
    if !is_alone() {
        Task::current(|task| task.turn.set(task.turn.get() ^ 1));
    }
}

/// A barrier, which is `real`.
pub(super) fn barrier<R>(pc: u64, real: impl FnOnce() -> R) -> R {
    arrives(0, pc);
    let result = real();
    left(pc);
    result
}

/// An `ordered` section begins, after `real` has waited for the one before.
pub(super) fn begins_ordered(pc: u64, real: impl FnOnce()) {
    real();
    acquire_edge(with_team(|team| team.ordered.id()), pc);
}

/// An `ordered` section ends, before `real` lets the next one begin.
pub(super) fn ends_ordered(pc: u64, real: impl FnOnce()) {
    release_edge(with_team(|team| team.ordered.id()), pc);
    real();
}

/// By what iterations of a loop wait for each other.
pub(super) fn iterations() -> u64 {
    with_team(|team| team.iterations.id())
}

/// By `real` the thread asks to end a construct early, or looks whether somebody has asked for that: then it sees what was done before.
pub(super) fn may_cancel<R: Into<i64> + Copy>(asks: bool, pc: u64, real: impl FnOnce() -> R) -> R {
    let cancellation = with_team(|team| team.cancellation.id());
    if asks {
        release_edge(cancellation, pc);
    }
    let is_cancelled = real();
    if is_cancelled.into() != 0 {
        acquire_edge(cancellation, pc);
    }
    is_cancelled
}

/// By what the threads of the team hand over their parts of a reduction.
pub(super) fn reductions() -> u64 {
    with_team(|team| team.reductions.id())
}

/// The thread begins a region that it is alone in, and runs it itself.
pub(super) fn begins_alone() {
    let position = POSITION.get();
    POSITION.set(Position { alone: position.alone + 1, ..position });
}

pub(super) fn ends_alone() {
    let position = POSITION.get();
    POSITION.set(Position { alone: position.alone.saturating_sub(1), ..position });
}
