//! Where memory changed and no recorded write did it, as long as no write turns up that may have.

use rustc_hash::FxHashMap;

use super::cells::Saw;
use super::threads::{Moment, Threads};
use crate::event::Mem;
use crate::ids::{LocId, StrId};

/// How many pieces of memory are told of.
const MOST: usize = 1000;
/// How many firings of one piece of memory are taken back one by one; if there are more, they share their fate.
const MOST_OPEN: usize = 16;
const PAGE_BITS: u32 = 12;

/// A read of one of the two, and a key that is not smaller than that of its thread's next record, once there is one.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    by: Moment,
    next: Option<u64>,
}

/// What is known to have run between two reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Nothing that may have written unseen.
    Nothing,
    /// Blind code.
    Blind(StrId),
    /// The processes that have this memory, too.
    OtherProcesses,
}

/// Two reads that differ.
#[derive(Clone, Debug)]
pub(crate) struct Firing {
    reads: [Bounded; 2],
    /// The events of the reads.
    pub(crate) events: [u64; 2],
    /// Where the second read is.
    pub(crate) loc: LocId,
    pub(crate) between: Between,
    /// How often there were two such reads, and how often without anything in between that is known to explain it.
    pub(crate) times: u64,
    pub(crate) unexplained: u64,
}

/// The firings of one piece of memory.
struct Fired {
    mem: Mem,
    /// Those that no write can explain any more, as one.
    sure: Option<Firing>,
    open: Vec<Firing>,
}

#[derive(Default)]
pub(super) struct Firings {
    all: Vec<Fired>,
    by_page: FxHashMap<u64, Vec<usize>>,
    /// For each thread, firings that wait for its next record.
    awaited: FxHashMap<u64, Vec<usize>>,
}

impl Firing {
    /// Whether a write of this thread, which is after this key, is surely after both reads.
    fn is_before(&self, thread: u64, after: u64) -> bool {
        self.reads.iter().all(|read| read.by.thread == thread || read.next.is_some_and(|next| next < after))
    }

    fn join(&mut self, other: &Firing) {
        self.events = [self.events[0].min(other.events[0]), self.events[1].max(other.events[1])];
        self.times += other.times;
        self.unexplained += other.unexplained;
    }
}

impl Firings {
    /// Two reads of the same bytes differ.
    pub(super) fn add(
        &mut self,
        mem: Mem,
        first: &Saw,
        second: &Saw,
        between: Between,
        threads: &mut Threads,
    ) {
        let reads = [first, second].map(|saw| Bounded { by: saw.by, next: threads.next_key(saw.by) });
        let events = [first.event, second.event];
        let firing = Firing {
            reads,
            events,
            loc: second.loc,
            between,
            times: 1,
            unexplained: (between == Between::Nothing).into(),
        };
        let Some(at) = self.place(mem) else { return };
        for read in reads.iter().filter(|read| read.next.is_none()) {
            let awaited = self.awaited.entry(read.by.thread).or_default();
            if awaited.last() != Some(&at) {
                awaited.push(at);
            }
        }
        let open = &mut self.all[at].open;
        let is_full = open.len() >= MOST_OPEN;
        match open.last_mut() {
            Some(last) if is_full => {
                last.join(&firing);
                last.reads = firing.reads;
            }
            _ => open.push(firing),
        }
    }

    fn place(&mut self, mem: Mem) -> Option<usize> {
        let next = self.all.len();
        let there = self.by_page.entry(mem.addr >> PAGE_BITS).or_default();
        if let Some(&at) = there.iter().find(|&&at| self.all[at].mem == mem) {
            return Some(at);
        }
        (next < MOST).then(|| {
            there.push(next);
            self.all.push(Fired { mem, sure: None, open: Vec::new() });
            next
        })
    }

    /// A thread that was waited for has made its next record.
    pub(super) fn went_on(&mut self, thread: u64, key: u64) {
        for at in self.awaited.remove(&thread).unwrap_or_default() {
            let reads = self.all[at].open.iter_mut().flat_map(|firing| &mut firing.reads);
            for read in reads.filter(|read| read.by.thread == thread && read.next.is_none()) {
                read.next = Some(key);
            }
        }
    }

    /// Memory is changed by this thread, after this key: what it may explain is taken back.
    pub(super) fn changed(&mut self, mem: Mem, thread: u64, after: u64) {
        if self.all.is_empty() {
            return;
        }
        let (first, last) = (mem.addr >> PAGE_BITS, (mem.end() - 1) as u64 >> PAGE_BITS);
        let pages = (first..=last).take(self.all.len());
        let there: Vec<usize> = if last - first < self.all.len() as u64 {
            pages.filter_map(|page| self.by_page.get(&page)).flatten().copied().collect()
        } else {
            (0..self.all.len()).collect()
        };
        for at in there {
            let fired = &mut self.all[at];
            if !fired.mem.overlaps(mem) {
                continue;
            }
            for firing in fired.open.drain(..).filter(|firing| firing.is_before(thread, after)) {
                match &mut fired.sure {
                    Some(sure) => sure.join(&firing),
                    None => fired.sure = Some(firing),
                }
            }
        }
    }

    /// All that were not taken back, as one for each piece of memory.
    pub(super) fn all(&self) -> impl Iterator<Item = (Mem, Firing)> {
        self.all.iter().filter_map(|fired| {
            let mut firings = fired.sure.iter().chain(&fired.open);
            let mut first = firings.next()?.clone();
            firings.for_each(|firing| first.join(firing));
            Some((fired.mem, first))
        })
    }
}
