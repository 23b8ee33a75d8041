//! Reads a raw trace as a stream of events in the observed order.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use foresee_format::{
    AS_HELD, CUT_WORD, FLAGS_WORD, HEADER_LEN, LENGTH_WORD, MAGIC, MAX_THREADS, NAMES, RunFlags, SHARED,
    STOP_WORD, SYNC_SPACE, Stop, Tag, UNKNOWN_VALUE, VERSION, VERSION_WORD, WHY_WORD,
};
use rustc_hash::FxHashMap;

use super::ahead::Ahead;
use super::annotations::Annotations;
use super::branches::Branches;
use super::chunks::Chunks;
use super::follow::Follow;
use super::merge::Turns;
use super::naming::{Naming, Origin, Site, Symbolizer};
use super::plain::atomic_load;
use super::roles::LockTable;
use super::sections::{Action, Fate, Sections, Step};
use super::strangers::{Strangers, step_before};
use super::stream::{Record, Stream};
use super::values::Values;
use super::watched::Watched;
use crate::event::{Event, Mem, Mode, Op, Order};
use crate::ids::{LocId, ThreadId};
use crate::names::Names;
use crate::trust::Trust;
use crate::{Damage, EventSource, Facts, TraceError};

/// A reader of a raw trace.
pub struct RawReader {
    pub(super) file: File,
    pub(super) bytes: u64,
    pub(super) chunks: Chunks,
    pub(super) naming: Naming,
    pub(super) streams: Vec<Stream>,
    /// The stream of each thread.
    stream_of: FxHashMap<u64, usize>,
    pub(super) turns: Turns,
    /// The largest key so far.
    pub(super) reached: u64,
    /// Records from this key on are not of all threads.
    pub(super) stop: u64,
    /// Why recording stopped, if it did.
    pub(super) stopped: Option<Stop>,
    /// How far a trace can be read that is still being written.
    pub(super) follow: Option<Follow>,
    /// Whether what was delivered may be in a wrong order, as something came too late.
    pub(super) unsure: Cell<bool>,
    /// Records before this key only tell what threads are doing then; 0 if all are there.
    pub(super) cut: u64,
    /// What the header says of that.
    pub(super) lost: u64,
    /// Whether the cut is passed.
    pub(super) has_begun: bool,
    /// Whether the file is shorter than it was.
    pub(super) is_short: bool,
    /// The calls and locks of each thread, and what it does to locks by atomics.
    pub(super) sections: Sections,
    steps: Vec<Step>,
    /// The lock that each thread has asked for last, and how.
    pub(super) requested: FxHashMap<u64, (u64, Mode)>,
    pub(super) values: Values,
    /// How many places there are with accesses, and how many of them have no known line.
    accesses: u64,
    nowhere: u64,
    pub(super) watched: Watched,
    pub(super) annotations: Annotations,
    pub(super) branches: Branches,
    strangers: Strangers,
    /// The events of the records that were read last, and how many of them are delivered.
    pub(super) following: Vec<Event<'static>>,
    passed: usize,
    pub(super) current: Event<'static>,
    delivered: u64,
    pub(super) words_read: u64,
}

impl RawReader {
    /// Opens the raw trace at `path`; the symbolizer finds the names of its addresses, the table which functions are
    /// operations on locks.
    pub fn open(
        path: &Path,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<RawReader, TraceError> {
        RawReader::new(File::open(path)?, symbolizer, table)
    }

    /// Reads the raw trace in this file. One whose beginning is missing is gone through once before.
    pub fn new(
        file: File,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<RawReader, TraceError> {
        let mut reader = RawReader::of_nothing(file, symbolizer, table.clone());
        reader.look(false)?;
        if reader.lost == 0 { Ok(reader) } else { reader.with_beginning(table) }
    }

    /// A reader that has not looked at the file yet.
    pub(super) fn of_nothing(file: File, symbolizer: Box<dyn Symbolizer>, table: LockTable) -> RawReader {
        RawReader {
            file,
            bytes: 0,
            chunks: Chunks::new(),
            naming: Naming::new(symbolizer, table),
            streams: Vec::new(),
            stream_of: FxHashMap::default(),
            turns: Turns::default(),
            reached: 0,
            stop: u64::MAX,
            stopped: None,
            follow: None,
            unsure: Cell::new(false),
            cut: 0,
            lost: 0,
            has_begun: true,
            is_short: false,
            sections: Sections::default(),
            steps: Vec::new(),
            requested: FxHashMap::default(),
            values: Values::default(),
            accesses: 0,
            nowhere: 0,
            watched: Watched::default(),
            annotations: Annotations::default(),
            branches: Branches::default(),
            strangers: Strangers::default(),
            following: Vec::new(),
            passed: 0,
            current: Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Branch },
            delivered: 0,
            words_read: 0,
        }
    }

    /// Looks at the file as it is now: its header, its chunks, the next record of each stream. Whether all of it can be seen,
    /// which is so unless it `grows`.
    pub(super) fn look(&mut self, grows: bool) -> Result<bool, TraceError> {
        self.bytes = self.file.metadata()?.len();
        let mut header = vec![0; HEADER_LEN.min(self.bytes) as usize];
        self.file.read_exact_at(&mut header, 0)?;
        let word = |i: usize| {
            header.get(8 * i..8 * i + 8).and_then(|b| Some(u64::from_le_bytes(b.try_into().ok()?)))
        };
        if word(0) != Some(u64::from_le_bytes(MAGIC)) {
            return Err(TraceError::NotATrace { offset: 0, why: "no raw trace of foresee".to_owned() });
        }
        let version = word(VERSION_WORD).unwrap_or(VERSION);
        if version > VERSION {
            return Err(TraceError::NewerVersion {
                found: version.min(u16::MAX.into()) as u16,
                known: VERSION as u16,
            });
        }
        let stop = word(STOP_WORD).filter(|&stop| stop != 0).unwrap_or(u64::MAX);
        self.stop = self.stop.min(stop);
        let why = word(WHY_WORD).and_then(|why| Stop::ALL.get((why as usize).wrapping_sub(1)));
        if let Some(why) = why.filter(|_| !grows) {
            self.stopped = Some(*why);
        }
        let lost = word(CUT_WORD).unwrap_or(0);
        if lost > 0 {
            self.cut_at(lost);
        }
        self.is_short = word(LENGTH_WORD).is_some_and(|length| self.bytes < length);
        self.naming.set_thread_names(header.get(NAMES as usize..).unwrap_or_default());
        let flags = RunFlags::from_word(word(FLAGS_WORD).unwrap_or(0));
        self.chunks.flags = self.chunks.flags.with_if(flags, true);
        let all = self.chunks.scan(&self.file, self.bytes, grows, self.is_short)?;
        for chunk in std::mem::take(&mut self.chunks.found) {
            self.stream_of(chunk.owner, grows).add_chunk(chunk.start, chunk.end);
        }
        for (owner, offset) in std::mem::take(&mut self.chunks.lost) {
            self.stream_of(owner, grows).set_lost(offset);
        }
        self.turns.reconsider(&self.streams);
        for stream in 0..self.streams.len() {
            self.streams[stream].look_again(grows);
            if self.streams[stream].peek().is_none() && self.pull(stream)? {
                self.turns.add(stream, &self.streams);
            }
        }
        Ok(all)
    }

    /// The stream of a thread, which may be a new one.
    fn stream_of(&mut self, thread: u64, grows: bool) -> &mut Stream {
        let stream = *self.stream_of.entry(thread).or_insert_with(|| {
            self.streams.push(Stream::new(thread, grows));
            self.streams.len() - 1
        });
        &mut self.streams[stream]
    }

    /// How many atomic operations so far read a value that no recorded write explains; their values are left out.
    pub fn unexplained(&self) -> u64 {
        self.values.unexplained
    }

    /// Whether most places of accesses so far have no known line: the program has no debug information.
    pub(super) fn lacks_debug_info(&self) -> bool {
        2 * self.nowhere > self.accesses
    }

    /// Takes the next record of a stream, and appends its events to those that follow: none, or it and what it tells about
    /// locks.
    pub(super) fn interpret(&mut self, from: usize) -> Result<(), TraceError> {
        let stream = &mut self.streams[from];
        let thread = stream.thread;
        let Some(&record) = stream.take() else { return Ok(()) };
        while let Some((_, maps)) = self.chunks.maps.pop_if(|(key, _)| *key <= record.key) {
            self.naming.remap(&maps);
        }
        let id = self.naming.thread(thread);
        let site = match record.tag {
            Tag::Begin | Tag::End | Tag::Exit | Tag::Frame | Tag::Text | Tag::Arg | Tag::Branch => None,
            _ => Some(self.naming.site(record.words[0])),
        };
        let site = site.as_deref();
        let mut steps = std::mem::take(&mut self.steps);
        let saw_the_end = self.follow.as_ref().map(|_| &self.unsure);
        let ahead = Ahead { current: &record, stream: &self.streams[from], file: &self.file, saw_the_end };
        let fate = self.sections.record(thread, &record, site, ahead, &mut self.naming, &mut steps);
        let tells_branches = self.branches.are_told(self.chunks.flags);
        if tells_branches {
            let locks = steps.iter().map(|step| step.addr);
            let branch = self.branches.before(thread, &record, locks, &mut self.naming);
            self.following.extend(branch.map(|loc| Event { thread: id, loc, op: Op::Branch }));
        }
        for step in steps.drain(..) {
            let op = self.step(step);
            self.following.push(Event { thread: id, loc: step.loc, op });
        }
        self.steps = steps;
        let event = if fate == Fate::Drop { None } else { self.event_of(thread, record, site, fate) };
        if let Some((loc, op)) = event {
            self.following.push(Event { thread: id, loc, op });
            let pc = record.words[0];
            if tells_branches && self.branches.after(thread, loc, &op, pc, &mut self.naming) {
                self.following.push(Event { thread: id, loc, op: Op::Branch });
            }
        }
        if record.tag == Tag::Exit {
            self.sections.pop(thread);
        }
        if record.tag == Tag::Begin && self.streams[from].peek().is_none() {
            self.pull(from)?;
        }
        if let Some(others) = self.strangers.record(thread, &record, self.streams[from].peek()) {
            for one in others.into_iter().chain([thread]) {
                let id = self.naming.thread(one);
                self.following.push(Event { thread: id, loc: LocId::UNKNOWN, op: step_before(thread) });
            }
            // It is there because of that.
            let branch = Event { thread: id, loc: LocId::UNKNOWN, op: Op::Branch };
            self.following.extend(tells_branches.then_some(branch));
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Op<'static> {
        let lock = self.naming.lock_of(step.addr, step.of);
        match step.action {
            Action::Request(mode) => Op::Request { lock, mode },
            Action::Acquire { mode, tried } => Op::Acquire { lock, mode, tried },
            Action::Release(mode) => Op::Release { lock, mode },
            Action::Wait => Op::Wait { cond: lock },
            Action::Notify { all } => Op::Notify { cond: lock, all },
        }
    }

    /// The event of a record, and where it is; `None` for one that says nothing an event can.
    fn event_of(
        &mut self,
        thread: u64,
        record: Record,
        site: Option<&Site>,
        fate: Fate,
    ) -> Option<(LocId, Op<'static>)> {
        let [_, mut addr, third, fourth] = record.words;
        if fate == Fate::Move {
            addr |= SYNC_SPACE;
        }
        let mem = |size: u64| Mem { addr, size: size.min(u64::from(u32::MAX)) as u32 };
        let small = mem(record.detail.into());
        let wide = mem(third);
        let atomic = mem(1 << (record.detail >> 4 & 7).min(4));
        let order = Order::ALL.get(usize::from(record.detail & 15)).copied().unwrap_or(Order::SeqCst);
        let known = atomic.size <= 8 && addr < SYNC_SPACE && record.detail & UNKNOWN_VALUE == 0;
        let mode = if record.detail == SHARED { Mode::Shared } else { Mode::Exclusive };
        let op = match record.tag {
            Tag::Read => Op::Read { mem: small, value: None },
            Tag::Write => Op::Write { mem: small, value: None },
            Tag::ReadRange => Op::Read { mem: wide, value: None },
            Tag::WriteRange => Op::Write { mem: wide, value: None },
            Tag::Load => atomic_load(&record, addr),
            Tag::Store => Op::Store { mem: atomic, order, value: known.then_some(third) },
            Tag::Rmw => Op::Rmw { mem: atomic, order, values: known.then_some((third, fourth)) },
            Tag::Fence => Op::Fence { order },
            Tag::Request => {
                self.requested.insert(thread, (addr, mode));
                Op::Request { lock: self.naming.lock(addr), mode }
            }
            Tag::Acquire => {
                self.sections.acquired(thread, addr, mode);
                // The runtime notes a request wherever a thread would have waited.
                let tried = self.requested.remove(&thread).is_none_or(|(asked, _)| asked != addr);
                Op::Acquire { lock: self.naming.lock(addr), mode, tried }
            }
            Tag::Release => {
                // Unlocking a reader-writer lock does not say how it was held.
                let held = self.sections.released(thread, addr).filter(|_| record.detail == AS_HELD);
                Op::Release { lock: self.naming.lock(addr), mode: held.unwrap_or(mode) }
            }
            Tag::Fork => Op::Fork { child: self.other(addr)? },
            Tag::Join => Op::Join { child: self.other(addr)? },
            Tag::Begin => Op::ThreadBegin,
            Tag::End => Op::ThreadEnd,
            Tag::Wait => Op::Wait { cond: self.naming.lock(addr) },
            Tag::Notify => Op::Notify { cond: self.naming.lock(addr), all: record.detail != 0 },
            // Streams give these as what they are near to.
            Tag::NearRead
            | Tag::NearWrite
            | Tag::NearEnter
            | Tag::NearExit
            | Tag::NearLoad
            | Tag::NearStore
            | Tag::NearRmw
            | Tag::NearBranch
            | Tag::Now => return None,
            // Branches are told before what depends on them.
            Tag::Branch => return None,
            Tag::Enter => Op::Enter { function: self.sections.function(thread)? },
            // A function left that was never entered: the trace begins within it.
            Tag::Exit => Op::Exit { function: self.sections.function(thread)? },
            Tag::Alloc => Op::Alloc { mem: wide },
            Tag::Free => Op::Free { mem: wide },
            Tag::Text
            | Tag::Arg
            | Tag::Named
            | Tag::Local
            | Tag::BlockBegin
            | Tag::BlockEnd
            | Tag::NameLock
            | Tag::NameVariable
            | Tag::ReadValue
            | Tag::WriteValue
            | Tag::Frame => self.annotations.interpret(&mut self.naming, thread, &record)?,
        };
        let Some(site) = site else { return Some((LocId::UNKNOWN, op)) };
        if op.access().is_some() && !site.is_counted.replace(true) {
            self.accesses += 1;
            self.nowhere += u64::from(!site.has_line);
        }
        if let Some(mem) = op.mem() {
            if mem.size == 0 || mem.end() > 1 << 64 {
                return None;
            }
            let unseen = match op {
                Op::Read { .. } | Op::Write { .. } => site.origin != Origin::Program,
                Op::Free { .. } => site.origin == Origin::Foreign,
                _ => false,
            };
            if unseen {
                return None;
            }
            match op {
                Op::Alloc { mem } => self.renew(mem),
                Op::Free { .. } => {}
                Op::Read { .. } | Op::Write { .. } | Op::Load { .. } if self.naming.is_quiet(mem) => {}
                Op::Write { mem, .. } => {
                    self.renew(mem);
                    self.naming.touch(mem);
                }
                _ => self.naming.touch(mem),
            }
        }
        let loc = if record.tag == Tag::Enter { site.loc } else { self.sections.place(thread, site) };
        let op = self.watched.explained(self.values.explained(op));
        match op {
            Op::Read { mem, value: Some(_) }
            | Op::Write { mem, value: Some(_) }
            | Op::Store { mem, .. }
            | Op::Rmw { mem, .. } => self.naming.quiet.disturb(mem),
            _ => {}
        }
        Some((loc, op))
    }

    /// Memory is given out anew, or written as no lock is while it is one: a lock that is there now is another than before.
    fn renew(&mut self, mem: Mem) {
        let mut from = mem.addr;
        while let Some(lock) = self.naming.lock_in(from, mem) {
            if !self.sections.is_held(lock) {
                self.sections.forget(lock);
                self.naming.forget_lock(lock);
            }
            from = lock + 1;
        }
    }

    fn other(&mut self, number: u64) -> Option<ThreadId> {
        (number < MAX_THREADS).then(|| self.naming.thread(number))
    }
}

impl EventSource for RawReader {
    #[inline]
    fn advance(&mut self) -> Result<bool, TraceError> {
        if self.passed == self.following.len() && self.take_plain() {
            self.delivered += 1;
            return Ok(true);
        }
        loop {
            if let Some(&event) = self.following.get(self.passed) {
                self.current = event;
                self.passed += 1;
                self.delivered += 1;
                return Ok(true);
            }
            self.following.clear();
            self.passed = 0;
            let Some(stream) = self.next_stream()? else { break };
            let is_before = self.reached < self.cut;
            if !is_before && !self.has_begun {
                self.begin(stream);
            }
            self.interpret(stream)?;
            if is_before {
                self.following.clear();
            }
        }
        if let Some(damage) = &mut self.chunks.damage {
            damage.delivered = self.delivered;
        }
        Ok(false)
    }

    fn event(&self) -> Event<'_> {
        let event = self.current;
        match event.op {
            // Put together anew: a copy of what was written a moment ago in pieces is slow.
            Op::Read { mem: Mem { addr, size }, value: None } => {
                Event { op: Op::Read { mem: Mem { addr, size }, value: None }, ..event }
            }
            Op::Write { mem: Mem { addr, size }, value: None } => {
                Event { op: Op::Write { mem: Mem { addr, size }, value: None }, ..event }
            }
            Op::Named { name, .. } => {
                Event { op: Op::Named { name, args: self.annotations.args() }, ..event }
            }
            _ => event,
        }
    }

    fn names(&self) -> &Names {
        &self.naming.names
    }

    fn facts(&self) -> &Facts {
        &self.chunks.facts
    }

    fn trust(&self) -> Trust {
        self.gaps().collect()
    }

    fn damage(&self) -> Option<&Damage> {
        self.chunks.damage.as_ref()
    }

    fn may_wait(&self) -> bool {
        let is_ready = || {
            let stream = self.turns.certain(&self.streams)?;
            Some((self.streams[stream].peek()?.key, self.follow.as_ref()?))
        };
        self.follow.is_some()
            && self.passed == self.following.len()
            && is_ready().is_none_or(|(key, follow)| !follow.has_all_before(key))
    }

    fn progress(&self) -> (u64, Option<u64>) {
        ((8 * self.words_read).min(self.bytes), Some(self.bytes))
    }
}
