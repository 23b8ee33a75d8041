//! What the rules force: runs the rules over an order until nothing changes.
//!
//! Each rule has two ways out; where one is closed, the other is taken.
//! * A read `r` of the write `w` and another write `w'` of the cell: `w' → w` or `r → w'`.
//! * Two sections of a lock that exclude each other: one ends before the other begins. A section that cannot be finished
//!   comes last; one that has to end first is finished, which may add events.
//! * A read before a branch counts: the write it reads comes before it, and has its observed value.
//! * A wait that has returned: its notifies came after it.
//! * A target that has to read as observed: no other write comes after the one it reads.
//!
//! Writes of one thread are in order, and so are its sections: per read or section and thread only the nearest one on either
//! side has to be looked at.

use super::order::{Contradiction, Order, partition_point};
use super::window::{At, Cell, Lock, Reads, Section, Window, is_same};

/// Whether anything changed, or nothing is possible.
type Change = Result<bool, Contradiction>;

/// Adds all that is forced. Returns how many rounds it took.
pub(super) fn saturate(window: &Window, order: &mut Order) -> Result<u64, Contradiction> {
    let mut rounds = 0;
    loop {
        rounds += 1;
        let mut changed = counted_reads(window, order)?;
        changed |= wakeups(window, order)?;
        for lock in &window.locks {
            changed |= sections(window, order, lock)?;
        }
        for cell in &window.cells {
            for reads in &cell.reads {
                changed |= reads_of(window, order, cell, reads)?;
            }
            changed |= last_read(window, order, cell)?;
        }
        if !changed {
            return Ok(rounds);
        }
    }
}

fn counted_reads(window: &Window, order: &mut Order) -> Change {
    let mut changed = false;
    loop {
        let mut grown = false;
        for thread in 0..window.threads() {
            let branches = &window.branches[thread];
            let done = branches.partition_point(|&branch| branch < order.ends[thread]);
            if let Some(&branch) = branches[..done].last() {
                order.counted[thread] = order.counted[thread].max(branch + 1);
            }
            while let Some(source) = window.sources[thread].get(order.settled[thread])
                && source.read < order.counted[thread]
            {
                order.settled[thread] += 1;
                let Some(write) = source.write else { continue };
                grown = true;
                order.include(window, write);
                order.add(window, write, At { thread: thread as u32, position: source.read })?;
                if source.has_value {
                    let counted = &mut order.counted[write.thread as usize];
                    *counted = (*counted).max(write.position + 1);
                }
            }
        }
        if !grown {
            return Ok(changed);
        }
        changed = true;
    }
}

fn wakeups(window: &Window, order: &mut Order) -> Change {
    let mut changed = false;
    for wakeup in &window.wakeups {
        let next = wakeup.next;
        if order.has(next) || window.stop[next.thread as usize] == next.position {
            let wait = At { position: next.position - 1, ..next };
            for &notify in &wakeup.notifies {
                changed |= order.add(window, wait, notify)?;
            }
        }
    }
    Ok(changed)
}

fn reads_of(window: &Window, order: &mut Order, cell: &Cell, reads: &Reads) -> Change {
    let end = order.ends[reads.thread as usize].min(order.counted[reads.thread as usize]);
    let Some(&position) = reads.positions[..reads.positions.partition_point(|&p| p < end)].last() else {
        return Ok(false);
    };
    let read = At { thread: reads.thread, position };
    let mut changed = false;
    for &(thread, ref writes) in &cell.writes {
        let at = |n: usize| At { thread, position: writes[n].0 };
        let is_as_good =
            |order: &Order, n: usize| is_same(reads.value, writes[n].1) && order.is_known(window, at(n));
        let count = writes.partition_point(|&(p, _)| p < order.ends[thread as usize]);
        let Some(write) = reads.write else {
            if thread != read.thread
                && let Some(later) = (0..count).find(|&n| !is_as_good(order, n))
            {
                changed |= order.add(window, read, at(later))?;
            }
            continue;
        };
        let before = order.before(window, read, thread);
        let earlier = writes[..count].partition_point(|&(p, _)| p < before);
        let nearest = (0..earlier).rev().find(|&n| at(n) == write || !is_as_good(order, n));
        if let Some(earlier) = nearest.map(at).filter(|&earlier| earlier != write) {
            changed |= order.add(window, earlier, write)?;
        }
        if thread != read.thread {
            let later = partition_point(count, |n| !order.is_before(window, write, at(n)));
            if let Some(later) = (later..count).find(|&n| !is_as_good(order, n)) {
                changed |= order.add(window, read, at(later))?;
            }
        }
    }
    Ok(changed)
}

fn last_read(window: &Window, order: &mut Order, cell: &Cell) -> Change {
    let Some(write) = cell.last_read else { return Ok(false) };
    let mut changed = false;
    for &(thread, ref writes) in &cell.writes {
        let count = writes.partition_point(|&(p, _)| p < order.ends[thread as usize]);
        let Some(last) = count.checked_sub(1).map(|n| At { thread, position: writes[n].0 }) else { continue };
        let write = write.ok_or(Contradiction)?;
        if last != write {
            changed |= order.add(window, last, write)?;
        }
    }
    Ok(changed)
}

impl Section {
    pub(super) fn begin(&self) -> Option<At> {
        self.acquire.map(|position| At { thread: self.thread, position })
    }

    pub(super) fn end(&self) -> Option<At> {
        self.release.map(|position| At { thread: self.thread, position })
    }

    /// Whether the section has begun in the schedule.
    fn is_in(&self, order: &Order) -> bool {
        self.begin().is_none_or(|begin| order.has(begin))
    }

    /// The last event of the section that is in the schedule; `None` if it began before the window and did nothing since.
    fn last(&self, order: &Order) -> Option<At> {
        let done = order.ends[self.thread as usize].checked_sub(1)?;
        let position = self.release.map_or(done, |release| release.min(done));
        Some(At { thread: self.thread, position })
    }
}

/// Makes one section end before another begins. It is finished if it was not.
pub(super) fn one_after_the_other(
    window: &Window,
    order: &mut Order,
    first: &Section,
    second: &Section,
) -> Change {
    let (Some(end), Some(begin)) = (first.end(), second.begin()) else { return Err(Contradiction) };
    let grown = order.include(window, end);
    Ok(order.add(window, end, begin)? || grown)
}

fn sections(window: &Window, order: &mut Order, lock: &Lock) -> Change {
    let mut changed = false;
    for second in lock.sections.iter().filter(|section| section.begin().is_some()) {
        if !second.is_in(order) {
            continue;
        }
        for range in &lock.by_thread {
            let others = &lock.sections[range.clone()];
            let thread = others[0].thread;
            if thread == second.thread {
                continue;
            }
            // Those that begin before something in the section; if that cannot be finished, all.
            let bound = match (second.release, second.last(order)) {
                (Some(_), Some(last)) => order.before(window, last, thread),
                (Some(_), None) => 0,
                (None, _) => order.ends[thread as usize],
            };
            let count = others.partition_point(|first| first.acquire.is_none_or(|acquire| acquire < bound));
            if let Some(first) = others[..count].iter().rev().find(|first| first.excludes(second)) {
                changed |= one_after_the_other(window, order, first, second)?;
            }
        }
    }
    Ok(changed)
}
