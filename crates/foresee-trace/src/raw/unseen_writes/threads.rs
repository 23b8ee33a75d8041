//! How far each thread is: what bounds the moments of its accesses.

use foresee_format::Tag;

use crate::event::Mem;
use crate::raw::merging::Record;
use crate::thread_table::ThreadTable;

/// A record of a thread, by its number among the thread's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) thread: u64,
    pub(super) at: u64,
}

impl Moment {
    /// Before all records.
    pub(super) const BEGINNING: Moment = Moment { thread: u64::MAX, at: 0 };
}

/// A write of a thread: how many records it had stamped before.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteOf {
    pub(super) thread: u64,
    stamps: u64,
}

/// A write that counts again, with the key that it is after.
#[derive(Clone, Copy)]
pub(super) struct Again {
    pub(super) mem: Mem,
    pub(super) key: u64,
}

/// A thread's next record.
pub(super) struct Step {
    pub(super) moment: Moment,
    /// The key of the record before it.
    pub(super) before: u64,
    /// Whether it is stamped.
    pub(super) is_stamped: bool,
    /// Whether someone waits for it.
    pub(super) is_awaited: bool,
    /// What is surely written only now, as a signal handler may have come between.
    pub(super) again: Option<Again>,
}

#[derive(Default)]
struct Thread {
    /// How many records it has made, and how many of these have a smaller key than the last.
    records: u64,
    earlier: u64,
    key: u64,
    stamps: u64,
    is_awaited: bool,
    /// What the last record has written.
    wrote: Option<Again>,
    /// For each function that it is in, what it had written just before.
    calls: Vec<Option<Again>>,
    /// Large pieces of memory that it has written since its last stamp.
    large: Vec<Mem>,
}

/// All threads, by number.
#[derive(Default)]
pub(super) struct Threads {
    all: ThreadTable<u64, Thread>,
    /// How many large pieces of memory all of them have written and not stamped since.
    large: usize,
}

impl Threads {
    /// The next record of a thread.
    pub(super) fn step(&mut self, number: u64, record: &Record) -> Step {
        let thread = self.all.entry(number);
        let before = thread.key;
        // Stamped keys are odd, and no two are the same; a record that keeps the key of one before it has no stamp.
        let is_stamped = record.key != before && record.key % 2 == 1;
        if record.key != before {
            thread.earlier = thread.records;
            thread.key = record.key;
        }
        if is_stamped {
            thread.stamps += 1;
            self.large -= thread.large.len();
            thread.large.clear();
        }
        let moment = Moment { thread: number, at: thread.records };
        thread.records += 1;
        let wrote = thread.wrote.take();
        let again = match record.tag {
            Tag::Enter => {
                thread.calls.push(wrote);
                None
            }
            Tag::Exit => thread.calls.pop().flatten(),
            _ => None,
        };
        Step { moment, before, is_stamped, is_awaited: std::mem::take(&mut thread.is_awaited), again }
    }

    /// The record of the last step is a write.
    pub(super) fn wrote(&mut self, thread: u64, mem: Mem, key: u64) {
        self.all.entry(thread).wrote = Some(Again { mem, key });
    }

    /// The same for one that is too large for the cells.
    pub(super) fn wrote_large(&mut self, thread: u64, mem: Mem) {
        self.all.entry(thread).large.push(mem);
        self.large += 1;
    }

    /// A write by the last step of a thread.
    pub(super) fn write_of(&self, thread: u64) -> WriteOf {
        WriteOf { thread, stamps: self.stamps(thread) }
    }

    /// Whether a write is surely before everything that comes now.
    pub(super) fn is_over(&self, write: WriteOf) -> bool {
        self.stamps(write.thread) > write.stamps
    }

    fn stamps(&self, thread: u64) -> u64 {
        self.all.get(thread).map_or(0, |thread| thread.stamps)
    }

    /// Whether another thread has written a large piece of memory with these bytes, which is not over.
    pub(super) fn others_write_large(&self, mem: Mem, thread: u64) -> bool {
        self.large > 0
            && (self.all.iter()).any(|(number, other)| {
                number != thread && other.large.iter().any(|large| large.overlaps(mem))
            })
    }

    /// A key that is not smaller than that of the record after this one, if there is one; otherwise it is awaited.
    pub(super) fn next_key(&mut self, moment: Moment) -> Option<u64> {
        let Some(thread) = self.all.get_mut(moment.thread) else { return Some(0) };
        let next = moment.at + 1;
        if next < thread.earlier {
            Some(thread.key.saturating_sub(1))
        } else if next < thread.records {
            Some(thread.key)
        } else {
            thread.is_awaited = true;
            None
        }
    }
}
