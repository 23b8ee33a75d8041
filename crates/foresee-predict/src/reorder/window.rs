//! The events a question is about and the rules between them, numbered compactly.
//!
//! Holds the needed set and all it can grow to by finishing critical sections. Threads, cells and locks get small numbers;
//! an event is a place ([`At`]) in its thread, or a node (threads one after the other). Linear in these events, but for
//! sorting them, and one clock entry per event and thread.

use std::ops::Range;

use foresee_trace::{Mode, VarId};
use rustc_hash::FxHashMap;

/// An event, by its thread and its position among the thread's events in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) thread: u32,
    pub(super) position: u32,
}

/// The bytes and the value that an access reads or writes; a read need not keep away from writes of what it reads.
/// `None` where values do not count.
pub(super) type Value = Option<(VarId, u64)>;

/// Whether a read that saw `read` may as well read a write of `written`.
pub(super) fn is_same(read: Value, written: Value) -> bool {
    read.is_some() && read == written
}

/// Reads of one write by one thread. `None`: of what was there before the window.
pub(super) struct Reads {
    pub(super) write: Option<At>,
    pub(super) value: Value,
    pub(super) thread: u32,
    pub(super) positions: Vec<u32>,
}

/// A read that may count, and a write it reads then; `None` if that is done before the window.
pub(super) struct Source {
    pub(super) read: u32,
    pub(super) write: Option<At>,
    /// Whether the write, to be as observed, depends on what its thread has read.
    pub(super) has_value: bool,
}

/// A cell that is read and written.
#[derive(Default)]
pub(super) struct Cell {
    /// The writing threads, and the positions and values of their writes.
    pub(super) writes: Vec<(u32, Vec<(u32, Value)>)>,
    pub(super) reads: Vec<Reads>,
    /// The write that a target has to read, if one has to.
    pub(super) last_read: Option<Option<At>>,
}

/// A critical section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) thread: u32,
    pub(super) mode: Mode,
    /// `None` if the lock is held at the cut.
    pub(super) acquire: Option<u32>,
    /// `None` if the section cannot be finished.
    pub(super) release: Option<u32>,
}

impl Section {
    pub(super) fn excludes(&self, other: &Section) -> bool {
        self.thread != other.thread && (self.mode == Mode::Exclusive || other.mode == Mode::Exclusive)
    }
}

/// A lock that several threads take.
#[derive(Default)]
pub(super) struct Lock {
    /// Thread by thread, each in order.
    pub(super) sections: Vec<Section>,
    pub(super) by_thread: Vec<Range<usize>>,
}

/// Once the event after a wait is done, or is a target: the notifies came after the wait.
pub(super) struct Wakeup {
    pub(super) next: At,
    pub(super) notifies: Vec<At>,
}

/// What a node does to a cell.
#[derive(Clone, Copy)]
pub(super) enum Touch {
    Write { cell: u32, value: Value },
    Read { cell: u32, value: Value, write: Option<At> },
}

/// What a node does to a lock: section `section` of lock `lock` begins or ends.
#[derive(Clone, Copy)]
pub(super) struct Handover {
    pub(super) lock: u32,
    pub(super) section: u32,
    pub(super) takes: bool,
}

/// A question in compact form.
pub(super) struct Window {
    /// The first node of each thread; one more at the end.
    pub(super) first: Vec<u32>,
    /// The event of each node.
    pub(super) events: Vec<u32>,
    /// How many events of each thread are needed.
    pub(super) needed: Vec<u32>,
    /// The position of each thread's target.
    pub(super) stop: Vec<u32>,
    /// How many events of each thread come before each node in every correct reordering; row by row.
    pub(super) clocks: Vec<u32>,
    /// The reads of each thread that have to read as observed are those before this position; and those before a
    /// branch that is in the schedule.
    pub(super) counted: Vec<u32>,
    /// The positions of the branches of each thread, if only reads before them count.
    pub(super) branches: Vec<Vec<u32>>,
    /// The reads of each thread, if only some count.
    pub(super) sources: Vec<Vec<Source>>,
    pub(super) wakeups: Vec<Wakeup>,
    pub(super) cells: Vec<Cell>,
    pub(super) locks: Vec<Lock>,
    /// The touches of node n: from `first_touch[n]` to `first_touch[n + 1]`.
    pub(super) first_touch: Vec<u32>,
    pub(super) touches: Vec<Touch>,
    pub(super) handovers: FxHashMap<u32, Handover>,
    /// Whether a section was left unfinished only for its size.
    pub(super) truncated: bool,
}

impl Window {
    pub(super) fn threads(&self) -> usize {
        self.needed.len()
    }

    pub(super) fn node(&self, at: At) -> usize {
        (self.first[at.thread as usize] + at.position) as usize
    }

    pub(super) fn event(&self, at: At) -> u32 {
        self.events[self.node(at)]
    }
}
