//! What threads share: the rest needs no attention.

use foresee_trace::{EventId, Execution, LockId, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// Cells and locks that more than one thread uses.
pub(super) struct Sharing {
    cells: Vec<Cell>,
    locks: FxHashSet<LockId>,
    last: FxHashMap<ThreadId, EventId>,
}

#[derive(Clone, Copy)]
struct Cell {
    user: u32,
    /// How many values it has had that somebody could still want: the initial one counts if it was read.
    values: u8,
}

impl Sharing {
    /// Of the accesses only those that `counts` says count.
    pub(super) fn of(execution: &Execution, counts: &dyn Fn(EventId) -> bool) -> Sharing {
        let mut cells = vec![Cell { user: NOBODY, values: 0 }; execution.cell_count()];
        let mut users: FxHashMap<LockId, u32> = FxHashMap::default();
        let mut last = FxHashMap::default();
        for id in execution.ids() {
            let thread = execution.thread(id);
            last.insert(thread, id);
            if let Op::Acquire { lock, .. } = execution.op(id) {
                used(users.entry(lock).or_insert(NOBODY), thread);
            }
            if let Some((var, access)) = execution.access(id)
                && counts(id)
            {
                for cell in execution.cells(var) {
                    let cell = &mut cells[cell as usize];
                    used(&mut cell.user, thread);
                    let initial = access.reads && cell.values == 0;
                    cell.values = cell.values.saturating_add(u8::from(initial) + u8::from(access.writes));
                }
            }
        }
        let locks = users.into_iter().filter(|&(_, user)| user == SEVERAL).map(|(lock, _)| lock).collect();
        Sharing { cells, locks, last }
    }

    /// Whether several threads access the cell, and somebody writes it.
    pub(super) fn is_shared(&self, cell: u32) -> bool {
        self.cells[cell as usize].user == SEVERAL
    }

    /// Whether several threads access it and it has several values.
    pub(super) fn is_contended(&self, cell: u32) -> bool {
        let cell = &self.cells[cell as usize];
        cell.user == SEVERAL && cell.values > 1
    }

    /// Whether several threads take the lock.
    pub(super) fn is_shared_lock(&self, lock: LockId) -> bool {
        self.locks.contains(&lock)
    }

    /// Whether it is its thread's last event.
    pub(super) fn is_last(&self, execution: &Execution, id: EventId) -> bool {
        self.last.get(&execution.thread(id)) == Some(&id)
    }
}

fn used(user: &mut u32, thread: ThreadId) {
    *user = match *user {
        NOBODY => thread.0,
        known if known == thread.0 => known,
        _ => SEVERAL,
    };
}
