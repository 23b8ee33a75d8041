//! Reads a raw trace as a stream of events in the observed order: merging, interpreting and following put together.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use foresee_format::near::near_key;
use foresee_format::{NAMES, RunFlags, Tag};

use super::continuation::Continuation;
use super::following::Follower;
use super::gaps::gaps;
use super::interpreting::{Interpreter, Usual};
use super::lock_table::LockTable;
use super::meetings::Meetings;
use super::merging::{Growth, Merger, Record, has_begun};
use super::raw_files::RawFiles;
use super::symbols::Symbolizer;
use super::ties::{Ties, is_shared, orders};
use super::unseen_writes::UnseenWrites;
use crate::batch::EventBatch;
use crate::event::{Event, Mem, Op};
use crate::ids::{LocId, ThreadId};
use crate::names::Names;
use crate::source::{EventSource, Facts};
use crate::trust::{Gap, Trust};
use crate::{Damage, TraceError};

/// A fact about a run: how many reads were compared with one before (`unseen_writes`).
pub const VALUES_COMPARED: &str = "values-compared";

/// How the fact begins that names a semaphore across which nothing is predicted: with how many it began, and where it was lowered first.
pub const SEMAPHORE_IN_ORDER: &str = "semaphore in order ";

/// So many of these semaphores are named.
const SEMAPHORES_NAMED: usize = 100;

/// A reader of a raw trace.
pub struct RawReader {
    merger: Merger,
    interpreter: Interpreter,
    /// While the trace is still written.
    follower: Option<Follower>,
    continuation: Continuation,
    /// If reads are recorded with what they saw.
    unseen_writes: Option<Box<UnseenWrites>>,
    ties: Ties,
    meetings: Meetings,
    /// Whether blind code ran at moments that nobody knows.
    has_unknown_moments: bool,
    /// The events of the record that was taken last, and how many of them are delivered.
    pending: Vec<Event<'static>>,
    passed: usize,
    current: Event<'static>,
    delivered: u64,
}

impl RawReader {
    /// Opens the raw trace at `path`; the symbolizer finds the names of its addresses, the table which functions are
    /// operations on locks.
    pub fn open(
        path: &Path,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<RawReader, TraceError> {
        RawReader::of_all(RawFiles::open(path)?, symbolizer, table)
    }

    /// Reads the raw trace that is in this file alone. One whose beginning is missing is gone through once before.
    pub fn new(
        file: File,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<RawReader, TraceError> {
        RawReader::of_all(RawFiles::one(file), symbolizer, table)
    }

    fn of_all(
        files: RawFiles,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<RawReader, TraceError> {
        let mut reader = RawReader::of_nothing(Arc::new(files), symbolizer, table.clone());
        reader.look_at_all()?;
        if reader.merger.lost_before() == 0 { Ok(reader) } else { reader.with_beginning(table) }
    }

    /// Begins to read a trace that is still being written; `None` if nothing is in it yet.
    pub fn follow(
        file: File,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<Option<RawReader>, TraceError> {
        if file.metadata()?.len() <= NAMES || !has_begun(&file) {
            return Ok(None);
        }
        let mut reader = RawReader::of_nothing(Arc::new(RawFiles::one(file)), symbolizer, table);
        reader.follower = Some(Follower::default());
        reader.look_again()?;
        Ok(Some(reader).filter(|reader| !reader.merger.streams().is_empty()))
    }

    /// A reader that has not looked at the file yet.
    fn of_nothing(files: Arc<RawFiles>, symbolizer: Box<dyn Symbolizer>, table: LockTable) -> RawReader {
        RawReader {
            merger: Merger::new(files),
            interpreter: Interpreter::new(symbolizer, table),
            follower: None,
            continuation: Continuation::NONE,
            unseen_writes: None,
            ties: Ties::default(),
            meetings: Meetings::default(),
            has_unknown_moments: false,
            pending: Vec::new(),
            passed: 0,
            current: Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Branch },
            delivered: 0,
        }
    }

    /// Goes through the trace to find out what threads were doing at its beginning; a reader that knows it.
    fn with_beginning(mut self, table: LockTable) -> Result<RawReader, TraceError> {
        self.interpreter.survey();
        while let Some(stream) = self.merger.advance()? {
            self.interpret(stream)?;
            self.pending.clear();
        }
        let (locks, clear, symbolizer) = self.interpreter.surveyed();
        let mut reader = RawReader::of_nothing(self.merger.into_files(), symbolizer, table);
        reader.look_at_all()?;
        reader.interpreter.set_locks(locks);
        reader.continuation = Continuation::from(reader.merger.lost_before().max(clear));
        Ok(reader)
    }

    /// Looks at a file that is complete.
    fn look_at_all(&mut self) -> Result<(), TraceError> {
        self.merger.look(Growth::Complete)?;
        self.learn_header();
        Ok(())
    }

    /// Of a trace that is still being written, looks at what was written since the last look, some time ago: a time in which a
    /// thread that runs has surely written what it was about to write.
    pub fn look_again(&mut self) -> Result<(), TraceError> {
        if let Some(follower) = &mut self.follower {
            follower.look(&mut self.merger)?;
            self.learn_header();
        }
        Ok(())
    }

    /// The program has ended: from now on the trace is read to its end.
    pub fn end_following(&mut self) -> Result<(), TraceError> {
        if self.follower.take().is_some() { self.look_at_all() } else { Ok(()) }
    }

    /// No thread was ended by what it did itself: accesses that were recorded along with each thread's last one count as done, as they would have come next.
    pub fn complete_last_accesses(&self) {
        self.merger.complete_last_accesses();
    }

    fn learn_header(&mut self) {
        let flags = self.merger.flags();
        if flags.contains(RunFlags::HAS_SEEN_VALUES) && !flags.contains(RunFlags::ACCESSES_LEFT_OUT) {
            let unseen = self.unseen_writes.get_or_insert_default();
            let images = self.merger.take_images();
            // Later, nobody knows what was written before.
            if self.merger.lost_before() == 0 {
                images.iter().for_each(|image| unseen.add_image(image));
            }
        }
        let has_branches = self.merger.flags().contains(RunFlags::HAS_BRANCHES);
        self.interpreter.learn(self.merger.thread_names(), has_branches, self.merger.facts());
        self.interpreter.learn_calls(self.merger.calls());
        if self.merger.lost_before() > 0 {
            self.continuation = Continuation::from(self.merger.lost_before());
        }
    }

    /// Whether, while the trace was still being written, something came so late that what was delivered is not in the right order.
    pub fn came_late(&self) -> bool {
        self.merger.came_late()
    }

    /// How many atomic operations so far read a value that no recorded write explains; their values are left out.
    pub fn unexplained(&self) -> u64 {
        self.interpreter.unexplained()
    }

    /// From now on, threads that have gone are forgotten, so that memory depends on how many there are at a time; [`take_gone`](RawReader::take_gone) has to be
    /// asked for them. Their names are not in the table of [all threads](Names::threads). To be called before the first event.
    pub fn forget_threads(&mut self) {
        self.interpreter.forget_threads();
    }

    /// The threads that have gone since the last call, if those are to be forgotten: they have ended, and nobody can join them any more. No event that comes speaks of them.
    pub fn take_gone(&mut self) -> Vec<ThreadId> {
        // What waits to be delivered may.
        let all_delivered = self.passed == self.pending.len() && self.ties.key().is_none();
        if all_delivered { self.interpreter.take_gone() } else { Vec::new() }
    }

    /// The file that is read.
    pub fn file(&self) -> &File {
        self.merger.files().first()
    }

    /// Parts of a file that is still being written, from which byte to which, that are read and will not be needed again.
    pub fn take_read(&mut self) -> Vec<(u64, u64)> {
        self.follower.as_ref().map_or_else(Vec::new, |follower| follower.take_read(&mut self.merger))
    }

    /// From now on, nothing is taken for usual.
    #[cfg(test)]
    pub(super) fn take_the_long_way(&mut self) {
        self.interpreter.take_the_long_way();
    }

    /// Makes the next record the current event, if it is the usual thing. Whether it is.
    #[inline]
    fn take_plain(&mut self) -> bool {
        if !self.continuation.has_begun() {
            return false;
        }
        let Some((stream, thread, record)) = self.merger.certain() else { return false };
        let Some(mut usual) = self.interpreter.usual(thread) else { return false };
        let Some(event) = usual_event(&mut usual, record, &mut self.meetings) else { return false };
        if let Some(unseen) = &mut self.unseen_writes {
            unseen.record(thread, record, self.delivered, Some(event.loc));
        }
        self.merger.take(stream);
        self.current = event;
        true
    }

    /// Takes the next record of a stream, and appends its events to the pending ones.
    fn interpret(&mut self, stream: usize) -> Result<(), TraceError> {
        let was_delayed = self.merger.streams()[stream].is_delayed();
        let Some(&record) = self.merger.take(stream) else { return Ok(()) };
        while let Some(maps) = self.merger.take_maps(record.key) {
            self.interpreter.remap(&maps);
        }
        if record.tag == Tag::Begin {
            // What a thread does first may say who started it.
            self.merger.decode_more(stream)?;
        }
        let thread = self.merger.streams()[stream].thread;
        let (ahead, next) = (self.merger.lookahead(stream), self.merger.peek(stream));
        self.interpreter.record(thread, &record, ahead, next, &mut self.pending);
        if let Some(unseen) = self.unseen_writes.as_mut().filter(|_| self.continuation.has_begun()) {
            let last = (self.delivered + self.pending.len() as u64).saturating_sub(1);
            let mut loc = None;
            for event in &self.pending {
                match event.op {
                    Op::Blind { code, .. } => unseen.ran_blind(thread, code),
                    Op::Read { .. } => loc = Some(event.loc),
                    _ => {}
                }
            }
            unseen.record(thread, &record, last, loc);
        }
        if self.interpreter.may_order(thread) {
            self.merger.decode_more(stream)?;
            let next = self.merger.peek(stream);
            if let Some(event) = self.interpreter.orders_ahead(thread, &record, next) {
                // What is between two such codes in one page would have to be both early and late.
                self.has_unknown_moments |= was_delayed;
                self.order(thread, event);
            }
        }
        Ok(())
    }

    /// Appends the next events to the pending ones. Whether there is something that may become some.
    fn fill(&mut self) -> Result<bool, TraceError> {
        if let Some(stream) = self.ties.running() {
            return self.run_tied(stream);
        }
        let Some(stream) = self.merger.advance()? else {
            let is_over = self.ties.key().is_some_and(|key| self.merger.has_all_of(key));
            if is_over && self.ties.run(&mut self.pending) {
                self.merger.unpark()?;
            }
            return Ok(is_over);
        };
        let Some(&record) = self.merger.peek(stream) else { return Ok(true) };
        if self.continuation.begins_at(record.key) {
            self.begin(stream);
        }
        if !self.continuation.has_begun() {
            self.interpret(stream)?;
            self.pending.clear();
            return Ok(true);
        }
        let has_pages = self.merger.flags().contains(RunFlags::KEYS_OF_PAGES);
        if has_pages && self.delay(stream, &record) {
            return Ok(true);
        }
        let is_tied = self.ties.key().is_some()
            || !has_pages && is_shared(record.key) && self.merger.others_have(record.key);
        if self.order_behind(stream, &record) && is_tied {
            self.hold(stream, record.key);
            return Ok(true);
        }
        self.interpret(stream)?;
        if is_tied && self.pending.iter().any(orders) {
            self.hold(stream, record.key);
        }
        Ok(true)
    }

    /// Delays the next record of a stream, where keys are those of pages, if blind code that may order threads ran before it in its page. Whether
    /// it is delayed now.
    fn delay(&mut self, stream: usize, record: &Record) -> bool {
        let thread = self.merger.streams()[stream].thread;
        let is_in_page = |key| near_key(key) == near_key(record.key);
        if !self.interpreter.ran_ahead(thread).is_some_and(is_in_page) {
            return false;
        }
        // In a trace that is complete, what comes last comes after all else.
        let at_most = self.follower.as_ref().map_or(u64::MAX - 1, Follower::seen);
        self.merger.delay(stream, at_most)
    }

    /// Appends what comes before the next record of a stream and may order threads, if it is reported there. Whether it is.
    fn order_behind(&mut self, stream: usize, record: &Record) -> bool {
        let thread = self.merger.streams()[stream].thread;
        let Some(event) = self.interpreter.orders_behind(thread, record) else { return false };
        self.order(thread, event);
        true
    }

    /// Appends blind code of a thread that may order threads.
    fn order(&mut self, thread: u64, event: Event<'static>) {
        if let (Some(unseen), Op::Blind { code, .. }) = (&mut self.unseen_writes, event.op) {
            unseen.ran_blind(thread, code);
        }
        self.pending.push(event);
    }

    /// A stream waits with what may order threads.
    fn hold(&mut self, stream: usize, key: u64) {
        self.merger.park(stream, key);
        self.ties.hold(stream, key, &mut self.pending);
    }

    /// Goes on with a stream whose records tie with others. Whether its next one is known.
    fn run_tied(&mut self, stream: usize) -> Result<bool, TraceError> {
        let key = self.ties.key().unwrap_or_default();
        match self.merger.parked_has(stream, key)? {
            None => return Ok(false),
            Some(true) => {
                if let Some(&record) = self.merger.peek(stream) {
                    self.order_behind(stream, &record);
                }
                self.interpret(stream)?;
                self.ties.ran(&mut self.pending);
            }
            Some(false) => {
                if self.ties.end(&mut self.pending) {
                    self.merger.unpark()?;
                }
            }
        }
        Ok(true)
    }

    /// The trace begins with the next record of this stream: first comes what each thread is doing then.
    fn begin(&mut self, stream: usize) {
        let streams = self.merger.streams().iter().enumerate();
        let mut threads: Vec<(u64, bool)> =
            streams.map(|(at, one)| (one.thread, at == stream || one.peek().is_some())).collect();
        threads.sort_unstable();
        self.interpreter.begin(&threads, &mut self.pending);
    }
}

/// The event of a thread's next record, if that is usual and nothing else has to be told of it.
#[inline]
fn usual_event(usual: &mut Usual<'_>, record: &Record, meetings: &mut Meetings) -> Option<Event<'static>> {
    let is_load = record.tag == Tag::Load;
    if is_load && !meetings.pass_loads() {
        return None;
    }
    let event = usual.event(record)?;
    if is_load {
        meetings.uses(event.thread);
    }
    Some(event)
}

impl EventSource for RawReader {
    #[inline]
    fn advance(&mut self) -> Result<bool, TraceError> {
        if self.passed == self.pending.len() && self.take_plain() {
            self.delivered += 1;
            return Ok(true);
        }
        loop {
            if let Some(&event) = self.pending.get(self.passed) {
                self.current = event;
                self.passed += 1;
                self.delivered += 1;
                return Ok(true);
            }
            self.pending.clear();
            self.passed = 0;
            if !self.fill()? {
                break;
            }
            self.interpreter.meet(&mut self.meetings, &mut self.pending);
        }
        self.merger.set_delivered(self.delivered);
        if let Some(unseen) = self.unseen_writes.as_ref().filter(|_| self.follower.is_none()) {
            self.merger.set_fact(VALUES_COMPARED, unseen.compared().to_string());
        }
        if self.follower.is_none() {
            for (name, began, place) in self.interpreter.semaphores_in_order().take(SEMAPHORES_NAMED) {
                self.merger.set_fact(&format!("{SEMAPHORE_IN_ORDER}{name}"), format!("{began} {place}"));
            }
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
                Event { op: Op::Named { name, args: self.interpreter.args() }, ..event }
            }
            Op::Arguments { function, .. } => {
                Event { op: Op::Arguments { function, args: self.interpreter.args() }, ..event }
            }
            Op::Result { function, .. } => {
                Event { op: Op::Result { function, args: self.interpreter.args() }, ..event }
            }
            Op::Call { name, .. } => Event { op: Op::Call { name, args: self.interpreter.args() }, ..event },
            Op::Return { name, .. } => {
                Event { op: Op::Return { name, args: self.interpreter.args() }, ..event }
            }
            _ => event,
        }
    }

    /// The events of records that are usual accesses, calls and loads.
    fn take_run(&mut self, batch: &mut EventBatch, most: usize) {
        if self.passed < self.pending.len() || !self.continuation.has_begun() || self.unseen_writes.is_some()
        {
            return;
        }
        let Some((stream, thread, records, until)) = self.merger.certain_run() else { return };
        let Some(mut usual) = self.interpreter.usual(thread) else { return };
        let before = batch.len();
        for record in records.iter().take(most).take_while(|record| record.key < until) {
            if let Some((thread, loc, flat)) = usual.flat(record) {
                batch.push_flat(thread, loc, flat);
            } else if let Some(event) = usual_event(&mut usual, record, &mut self.meetings) {
                batch.push(&event);
            } else {
                break;
            }
        }
        let count = batch.len() - before;
        self.merger.take_many(stream, count);
        self.delivered += count as u64;
    }

    fn names(&self) -> &Names {
        self.interpreter.names()
    }

    fn facts(&self) -> &Facts {
        self.merger.facts()
    }

    fn trust(&self) -> Trust {
        let unknown_moments = self.has_unknown_moments.then_some(Gap::UnknownMoments);
        gaps(&self.merger, &self.interpreter, self.unseen_writes.as_deref()).chain(unknown_moments).collect()
    }

    fn damage(&self) -> Option<&Damage> {
        self.merger.damage()
    }

    fn may_wait(&self) -> bool {
        self.merger.growth() == Growth::Growing
            && self.passed == self.pending.len()
            && self.merger.certain().is_none()
    }

    fn progress(&self) -> (u64, Option<u64>) {
        let (taken, bytes) = self.merger.progress();
        (taken, Some(bytes))
    }
}
