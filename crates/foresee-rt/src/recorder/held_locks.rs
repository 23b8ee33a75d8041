//! Which locks a thread holds.
//!
//! The trace says so anyway. The runtime itself has to know it in two places: the child of a fork holds what the thread that
//! forked held, and must say so at the start of its own trace; and an annotated mutex may be released at all levels at once.
//! A thread that holds more than [`MOST`] locks at a time has the rest forgotten here.

use std::cell::Cell;

/// How many locks of a thread are known.
pub(crate) const MOST: usize = 64;

thread_local! {
    static HELD: [Cell<(u64, u8)>; MOST] = const { [const { Cell::new((0, 0)) }; MOST] };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// This thread holds a lock, in this mode, once more.
pub(crate) fn hold(lock: u64, mode: u8) {
    let count = COUNT.get();
    HELD.with(|held| {
        if let Some(slot) = held.get(count) {
            slot.set((lock, mode));
            COUNT.set(count + 1);
        }
    });
}

/// This thread holds a lock once less. Most give back first what they took last.
pub(crate) fn drop_hold(lock: u64) {
    HELD.with(|held| {
        let count = COUNT.get().min(MOST);
        if let Some(at) = held[..count].iter().rposition(|slot| slot.get().0 == lock) {
            for i in at + 1..count {
                held[i - 1].set(held[i].get());
            }
            COUNT.set(count - 1);
        }
    });
}

/// How often this thread holds a lock.
pub(crate) fn times(lock: u64) -> usize {
    HELD.with(|held| held.iter().take(COUNT.get()).filter(|slot| slot.get().0 == lock).count())
}

/// All locks that this thread holds, in the order in which it took them, and how.
pub(crate) fn each(mut visit: impl FnMut(u64, u8)) {
    HELD.with(|held| {
        for slot in held.iter().take(COUNT.get()) {
            let (lock, mode) = slot.get();
            visit(lock, mode);
        }
    });
}
