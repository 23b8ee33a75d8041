//! A raw trace without its beginning: what its threads were doing when it begins.
//!
//! With `--keep-last` the runtime reuses the oldest chunks. What has a key below the header's cut is then no part of the trace,
//! of any thread; from the cut on everything is there. So the trace is a real continuation of a real state, the one at the
//! cut, and whatever correct reordering of the continuation is a run of the program, as the run up to the cut
//! is one. Reads of what was written before read initial values, threads that were there begin there.
//!
//! What has to be known of that state is who holds which lock, and who is in which function. The records of a thread begin at
//! or before the cut, mostly before. So a reader goes through those before the cut, too, and tells nothing of them: what
//! threads do there changes what is known as it always does. What is left open is the state in which each thread's
//! records begin:
//!
//! * **Calls.** Each chunk begins with them.
//! * **Locks.** A thread that gives back a lock that it has not taken held it from the beginning; that is seen by reading the
//!   trace once before it is told, which this is for. A lock that is not given back until the end of the trace makes no
//!   difference: nobody else takes it (or all only share it), so it excludes and orders nothing in the continuation.
//!   For locks made of atomics only the first thing that the thread does to the lock counts: later, it has taken it
//!   in a way that is not seen, as in any trace.
//! * **How it is held,** shared or not, is seen if others hold it at the same time. If not, it counts as exclusive, which
//!   lets prediction reorder less.
//! * **Operations on locks** that a thread may be in the midst of ([`sections`](super::sections)): what they did before is
//!   not known. So the cut is moved to where all such threads have left them, which is mostly a few records later.
//! * **Words of locks** that are touched by code that is not known to be about locks, before anything else is known of them:
//!   unclear, and the run is doubted.
//! * **Values** of memory are unknown, **blocks** that began before the cut do not end, texts are complete as they follow
//!   each other without anything between.
//!
//! At the cut each thread then enters the functions that it is in and takes the locks that it holds; it asks for those that it
//! waits for.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt as _;

use foresee_format::CUT_WORD;
use rustc_hash::{FxHashMap, FxHashSet};

use super::reader::RawReader;
use super::roles::LockTable;
use super::sections::{Sections, State};
use super::values::Values;
use super::watched::Watched;
use crate::TraceError;
use crate::event::{Event, Mode, Op};
use crate::ids::LocId;

/// What is found out about the state in which the records of a trace begin.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// The locks that threads hold, and how often.
    held: BTreeMap<(u64, u64), Before>,
    /// Which locks each thread has done something to.
    touched: FxHashSet<(u64, u64)>,
    /// The last two threads that took a lock or gave it back, and when.
    handled: FxHashMap<u64, [(u64, u64); 2]>,
    /// The keys of the first records of threads that were there before.
    first: FxHashMap<u64, u64>,
    /// Threads that have not yet left the operations that they may have been in the midst of.
    midst: FxHashSet<u64>,
    /// From this key on, they have.
    clear: u64,
    /// Of the record that is looked at.
    key: u64,
}

/// How a thread held a lock at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) times: u32,
    pub(super) mode: Mode,
    /// From the thread's first record until it gave the lock back.
    since: u64,
    until: u64,
    /// Whether the lock is a word that atomics change.
    pub(super) is_word: bool,
}

impl Beginning {
    /// A record of a thread is about to be looked at; `begins` if it is the thread's first, and was before.
    pub(super) fn record(&mut self, thread: u64, key: u64, begins: bool) {
        self.key = key;
        if begins {
            self.first.insert(thread, key);
            self.midst.insert(thread);
        }
    }

    /// The record was looked at, and the thread is in an operation or not.
    pub(super) fn recorded(&mut self, thread: u64, is_in_operation: bool) {
        if self.midst.is_empty() {
            return;
        }
        if !is_in_operation {
            self.midst.remove(&thread);
        } else if self.midst.contains(&thread) {
            self.clear = self.clear.max(self.key + 1);
        }
    }

    /// A thread took a lock, or gave it back.
    pub(super) fn handled(&mut self, thread: u64, lock: u64) {
        self.touched.insert((thread, lock));
        let [last, other] = self.handled.entry(lock).or_insert([(thread, self.key); 2]);
        if last.0 != thread {
            *other = *last;
        }
        *last = (thread, self.key);
    }

    /// A thread gives back a lock that it does not hold, and others may hold. Whether it held it from the beginning.
    pub(super) fn lacks(&mut self, thread: u64, lock: u64, others_hold: bool, is_word: bool) -> bool {
        let touched = !self.touched.insert((thread, lock));
        let Some(&first) = self.first.get(&thread).filter(|_| !(is_word && touched)) else { return false };
        let handled = self.handled.get(&lock).into_iter().flatten();
        let is_shared =
            others_hold || handled.into_iter().any(|&(other, key)| other != thread && key > first);
        let mode = if is_shared { Mode::Shared } else { Mode::Exclusive };
        let until = self.key;
        let new = Before { times: 0, mode, since: first, until, is_word };
        let before = self.held.entry((thread, lock)).or_insert(new);
        before.times += 1;
        before.until = until;
        true
    }

    /// The first key at which the state is known.
    pub(super) fn clear(&self) -> u64 {
        self.clear
    }

    /// Which thread held which lock, and how.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, u64, Before)> {
        let mut of_lock: FxHashMap<u64, Vec<(u64, u64, u64)>> = FxHashMap::default();
        for (&(thread, lock), before) in &self.held {
            of_lock.entry(lock).or_default().push((thread, before.since, before.until));
        }
        self.held.iter().map(move |(&(thread, lock), &before)| {
            let at_once = |&(other, since, until): &(u64, u64, u64)| {
                other != thread && since <= before.until && before.since <= until
            };
            let is_shared = of_lock.get(&lock).is_some_and(|holders| holders.iter().any(at_once));
            (thread, lock, Before { mode: if is_shared { Mode::Shared } else { before.mode }, ..before })
        })
    }
}

impl RawReader {
    /// The header says that what has a smaller key is lost.
    pub(super) fn cut_at(&mut self, key: u64) {
        (self.cut, self.lost, self.has_begun) = (key, key, false);
        if self.follow.is_some() {
            // What was read may be gone, and what is there be of another thread.
            self.unsure.set(true);
        }
    }

    /// Goes through the trace to find out what threads were doing at its beginning; a reader that knows it.
    pub(super) fn with_beginning(mut self, table: LockTable) -> Result<RawReader, TraceError> {
        self.sections = Sections::surveying();
        while let Some(stream) = self.next_stream()? {
            self.interpret(stream)?;
            self.following.clear();
        }
        let mut reader = RawReader::of_nothing(self.file, self.naming.into_symbolizer(), table);
        reader.look(false)?;
        let (sections, clear) = self.sections.surveyed();
        reader.sections = sections;
        reader.cut = reader.cut.max(clear);
        Ok(reader)
    }

    /// Whether the program has lost more of its beginning since this was opened: then what was read may be of two moments.
    pub(super) fn is_overtaken(&self) -> bool {
        let mut word = [0; 8];
        let now = self.file.read_exact_at(&mut word, 8 * CUT_WORD as u64).map(|()| u64::from_le_bytes(word));
        now.is_ok_and(|now| now != self.lost)
    }

    /// The cut is reached: tells what each thread is doing, before anything else. `from` is the stream of the next record.
    pub(super) fn begin(&mut self, from: usize) {
        self.has_begun = true;
        self.values = Values::default();
        self.watched = Watched::default();
        self.annotations.forget_blocks();
        let mut streams: Vec<usize> = (0..self.streams.len()).collect();
        streams.sort_unstable_by_key(|&stream| self.streams[stream].thread);
        for stream in streams {
            let thread = self.streams[stream].thread;
            let State { calls, held, waits_for } = self.sections.state(thread);
            let goes_on = stream == from || self.streams[stream].peek().is_some();
            let waits_for = waits_for.or(self.requested.get(&thread).copied());
            if !goes_on && held.is_empty() && waits_for.is_none() {
                continue;
            }
            let thread = self.naming.thread(thread);
            for (function, call) in calls {
                let loc = self.naming.site(call).loc;
                self.following.push(Event { thread, loc, op: Op::Enter { function } });
            }
            for (lock, mode) in held {
                let op = Op::Acquire { lock: self.naming.lock(lock), mode, tried: true };
                self.following.push(Event { thread, loc: LocId::UNKNOWN, op });
            }
            if let Some((lock, mode)) = waits_for {
                let op = Op::Request { lock: self.naming.lock(lock), mode };
                self.following.push(Event { thread, loc: LocId::UNKNOWN, op });
            }
        }
    }
}
