//! Reads the raw trace of a program while the program writes it: the loop that checking and observing share.
//!
//! The trace is looked at some time apart, as [`RawReader::follow`] wants it, and when all threads have run since
//! ([`RunningThreads`]); between two looks, everything that was seen is delivered. When the program has ended, the rest is read like any other raw trace. What was read is given back to the
//! disk as the [`GiveBack`] rule says.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use foresee_trace::raw::{LockTable, RawReader};
use foresee_trace::{EventBatch, EventSource as _, ThreadId, TraceError};

use crate::error::CliError;
use crate::holes::Holes;
use crate::program_file;
use crate::recording::{Ending, unreadable};
use crate::running_threads::RunningThreads;

/// When to give the disk back what was read of a raw trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GiveBack {
    /// At once: nobody needs it any more. Nor are threads remembered that have gone.
    Always,
    /// Once the file is so large. A smaller one is kept, as it may have to be read again.
    From(u64),
}

/// Follows the raw trace of a running program.
pub(crate) struct Follower {
    raw: PathBuf,
    table: LockTable,
    between_looks: Duration,
    give_back: GiveBack,
    /// Set when the program has ended; whoever sets it unparks the thread that reads.
    has_ended: Arc<AtomicBool>,
    ending: Arc<OnceLock<Ending>>,
    reader: Option<RawReader>,
    last_look: Instant,
    /// The program's threads just after the last look.
    threads: Option<RunningThreads>,
    /// The program has ended, and its trace is read to the end.
    is_complete: bool,
    /// All that was seen at the last look is delivered, and that was said.
    is_idle: bool,
    gave_back: bool,
    holes: Holes,
}

/// What came of going on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// The next event, or several.
    Event,
    /// All that is there for now; the next call waits for more.
    Now,
    /// The end of the program's trace.
    End,
}

impl Follower {
    pub(crate) fn new(
        raw: PathBuf,
        table: LockTable,
        between_looks: Duration,
        give_back: GiveBack,
        has_ended: Arc<AtomicBool>,
        ending: Arc<OnceLock<Ending>>,
    ) -> Follower {
        Follower {
            raw,
            table,
            between_looks,
            give_back,
            has_ended,
            ending,
            reader: None,
            last_look: Instant::now(),
            threads: None,
            is_complete: false,
            is_idle: false,
            gave_back: false,
            holes: Holes::default(),
        }
    }

    /// The reader, once the program has begun to record.
    pub(crate) fn reader(&self) -> Option<&RawReader> {
        self.reader.as_ref()
    }

    /// Whether the program has ended, and nothing more will come.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Threads that no later event speaks of, where nobody needs what was read: what is known of them is forgotten.
    pub(crate) fn take_gone(&mut self) -> Vec<ThreadId> {
        self.reader.as_mut().map_or_else(Vec::new, RawReader::take_gone)
    }

    /// Whether parts of the raw trace are no longer there.
    pub(crate) fn gave_back(&self) -> bool {
        self.gave_back
    }

    /// Goes on: to the next event or, where all is delivered, says so once and then waits for more.
    pub(crate) fn advance(&mut self) -> Result<Reached, CliError> {
        self.go_on(RawReader::advance)
    }

    /// The same with the next events, which are appended to a batch.
    pub(crate) fn take_many(&mut self, batch: &mut EventBatch, most: usize) -> Result<Reached, CliError> {
        self.go_on(|reader| {
            let before = batch.len();
            reader.take_many(batch, most)?;
            Ok(batch.len() > before)
        })
    }

    /// Goes on as `step` does, which says whether there was an event.
    fn go_on(
        &mut self,
        mut step: impl FnMut(&mut RawReader) -> Result<bool, TraceError>,
    ) -> Result<Reached, CliError> {
        loop {
            if let Some(reader) = &mut self.reader
                && step(reader).map_err(|why| unreadable(&self.raw, why))?
            {
                return Ok(Reached::Event);
            }
            if self.is_complete {
                return Ok(Reached::End);
            }
            if !std::mem::replace(&mut self.is_idle, true) {
                return Ok(Reached::Now);
            }
            if self.has_ended.load(Ordering::SeqCst) {
                self.complete()?;
            } else {
                match self.between_looks.checked_sub(self.last_look.elapsed()) {
                    Some(left) => std::thread::park_timeout(left),
                    None => self.look()?,
                }
            }
        }
    }

    /// Looks at what the program has written by now, unless a thread may still be about to write what it was about to write at the
    /// last look.
    fn look(&mut self) -> Result<(), CliError> {
        self.last_look = Instant::now();
        if self.threads.as_ref().is_some_and(|threads| !threads.have_gone_on()) {
            return Ok(());
        }
        self.is_idle = false;
        let failed = |why| unreadable(&self.raw, why);
        let Some(reader) = &mut self.reader else {
            // It may not have begun, or never begin.
            let Ok(file) = File::options().read(true).write(true).open(&self.raw) else { return Ok(()) };
            self.reader =
                RawReader::follow(file, program_file::symbols()?, self.table.clone()).map_err(failed)?;
            if self.give_back == GiveBack::Always {
                self.reader.iter_mut().for_each(RawReader::forget_threads);
            }
            return Ok(());
        };
        reader.look_again().map_err(failed)?;
        let process = reader.facts().iter().find(|(name, _)| name == "pid");
        self.threads = process.map(|(_, process)| RunningThreads::of(process));
        let is_due = match self.give_back {
            GiveBack::Always => true,
            GiveBack::From(large) => reader.file().metadata().is_ok_and(|known| known.len() >= large),
        };
        if is_due {
            for piece in reader.take_read() {
                self.gave_back |= self.holes.give_back(reader.file(), piece);
            }
        }
        Ok(())
    }

    /// The program has ended: all that it wrote is there.
    fn complete(&mut self) -> Result<(), CliError> {
        self.is_complete = true;
        let failed = |why| unreadable(&self.raw, why);
        let reader = match &mut self.reader {
            Some(reader) => {
                reader.end_following().map_err(failed)?;
                reader
            }
            None => {
                let reader = RawReader::open(&self.raw, program_file::symbols()?, self.table.clone());
                self.reader.insert(reader.map_err(failed)?)
            }
        };
        if !Ending::may_be_a_fault(self.ending.get().copied()) {
            reader.complete_last_accesses();
        }
        Ok(())
    }
}
