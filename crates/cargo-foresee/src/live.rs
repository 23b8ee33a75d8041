//! A program that is checked while it runs.
//!
//! The program writes its raw trace; this process, beside it, reads what is there ([`RawReader::follow`]), packs it, and hands
//! each event to whoever checks. So a race that was observed is told at once, and little is left to do when the program
//! ends. What was read is given back to the disk once the raw trace has become large: what stays is the packed trace, which is
//! some twenty times smaller.
//!
//! If the program is to be observed (`FORESEE_OBSERVER`), its observer is told each event as well.
//!
//! Reading beside the program rests on an assumption about time, which is checked (see `foresee_trace::raw`). If it did not
//! hold, everything is done again with the complete raw trace, unless parts of it are given back by then: in that case
//! what is found is doubted.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foresee_trace::raw::{LockTable, RawReader};
use foresee_trace::{Damage, Event, EventSource, Facts, LocId, Names, Op, ThreadId, TraceError};
use rustix::fs::{FallocateFlags, fallocate};

use crate::error::CliError;
use crate::interrupt;
use crate::observer::teller::Teller;
use crate::output::Target;
use crate::recording::{Packing, Reading, Recording, unreadable};
use crate::symbolize::FileSymbols;

/// The time between two looks at the raw trace: far longer than a running thread needs to write a record.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// A raw trace of this size is large: what was read of it is given back.
const LARGE: u64 = 1 << 30;

/// Runs the program, and `check` beside it; its exit code, and what the check came to. `None` if that is worth nothing, and is
/// to be done again with the complete raw trace.
pub(crate) fn beside<'m, R>(
    recording: &Recording<'_>,
    target: Target,
    teller: Option<Teller<'m>>,
    check: impl FnOnce(Live<'m>) -> Result<R, CliError>,
) -> Result<(u8, Option<R>), CliError> {
    let fate = Rc::new(Fate::default());
    let ended = Arc::new(AtomicBool::new(false));
    let (code, checked) = std::thread::scope(|scope| {
        let (here, has_ended) = (std::thread::current(), Arc::clone(&ended));
        let program = scope.spawn(move || {
            let code = recording.run(Reading::Along);
            has_ended.store(true, Ordering::SeqCst);
            here.unpark();
            code
        });
        let checked = check(Live::new(recording, target, teller, ended, Rc::clone(&fate)));
        (program.join(), checked)
    });
    let code = code.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    recording.is_there()?;
    match fate.failure.take() {
        Some(why) => Err(why),
        None => Ok((code, Some(checked?).filter(|_| !fate.is_worthless.get()))),
    }
}

/// How the reading went.
#[derive(Default)]
struct Fate {
    failure: RefCell<Option<CliError>>,
    is_worthless: Cell<bool>,
}

/// The events of a program that runs. Waits for those that are still to come.
pub(crate) struct Live<'m> {
    raw: PathBuf,
    table: LockTable,
    /// Where the packed trace goes, until it is begun.
    target: Option<Target>,
    packing: Option<Packing>,
    /// Tells an observer, if there is one.
    teller: Option<Teller<'m>>,
    has_ended: Arc<AtomicBool>,
    /// The program has ended, and its trace is read to the end.
    is_complete: bool,
    last_look: Instant,
    /// Whether parts of the raw trace are no longer there.
    gave_back: bool,
    fate: Rc<Fate>,
    no_names: Names,
    no_facts: Facts,
}

impl<'m> Live<'m> {
    fn new(
        recording: &Recording<'_>,
        target: Target,
        teller: Option<Teller<'m>>,
        has_ended: Arc<AtomicBool>,
        fate: Rc<Fate>,
    ) -> Live<'m> {
        Live {
            raw: recording.raw(),
            table: recording.lock_table(),
            target: Some(target),
            packing: None,
            teller,
            has_ended,
            is_complete: false,
            last_look: Instant::now(),
            gave_back: false,
            fate,
            no_names: Names::new(),
            no_facts: Facts::new(),
        }
    }

    fn next(&mut self) -> Result<bool, CliError> {
        loop {
            if let Some(packing) = &mut self.packing {
                if packing.advance()? {
                    if let Some(teller) = &mut self.teller {
                        teller.event(packing.reader.names(), &packing.reader.event());
                    }
                    return Ok(true);
                }
                if let Some(teller) = &mut self.teller {
                    teller.after_look(&packing.reader);
                }
            }
            if self.is_complete {
                self.finish()?;
                return Ok(false);
            }
            if self.has_ended.load(Ordering::SeqCst) {
                self.complete()?;
                continue;
            }
            match BETWEEN_LOOKS.checked_sub(self.last_look.elapsed()) {
                Some(left) => std::thread::park_timeout(left),
                None => self.look()?,
            }
        }
    }

    /// Looks at what the program has written by now.
    fn look(&mut self) -> Result<(), CliError> {
        self.last_look = Instant::now();
        let Some(packing) = &mut self.packing else {
            // It may not have begun, or never begin.
            let Ok(file) = File::options().read(true).write(true).open(&self.raw) else { return Ok(()) };
            let reader = RawReader::follow(file, Box::new(FileSymbols::default()), self.table.clone());
            return match reader.map_err(|why| unreadable(&self.raw, why))? {
                Some(reader) => self.begin(reader),
                None => Ok(()),
            };
        };
        packing.reader.look_again().map_err(|why| unreadable(&self.raw, why))?;
        if packing.reader.file().metadata().is_ok_and(|known| known.len() >= LARGE) {
            self.gave_back |= give_back(&mut packing.reader);
        }
        Ok(())
    }

    /// The program has ended: Ctrl-C is ours from now on.
    fn complete(&mut self) -> Result<(), CliError> {
        interrupt::finish_on_interrupt();
        self.is_complete = true;
        let failed = |why| unreadable(&self.raw, why);
        match &mut self.packing {
            Some(packing) => packing.reader.end_following().map_err(failed),
            None => {
                let symbols = Box::new(FileSymbols::default());
                let reader = RawReader::open(&self.raw, symbols, self.table.clone()).map_err(failed)?;
                self.begin(reader)
            }
        }
    }

    fn begin(&mut self, reader: RawReader) -> Result<(), CliError> {
        if let Some(target) = self.target.take() {
            self.packing = Some(Packing::begin(reader, &self.raw, target)?);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), CliError> {
        let Some(packing) = &mut self.packing else { return Ok(()) };
        self.fate.is_worthless.set(packing.reader.is_unsure() && !self.gave_back);
        if let Some(teller) = &mut self.teller {
            teller.end(&packing.reader);
        }
        packing.finish()
    }
}

impl EventSource for Live<'_> {
    fn advance(&mut self) -> Result<bool, TraceError> {
        self.next().map_err(|why| {
            // Told by `beside`, which knows what it means.
            self.fate.failure.replace(Some(why));
            TraceError::Io(io::Error::other("the recording cannot be read"))
        })
    }

    fn event(&self) -> Event<'_> {
        let nothing = Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Branch };
        self.packing.as_ref().map_or(nothing, |packing| packing.reader.event())
    }

    fn names(&self) -> &Names {
        self.packing.as_ref().map_or(&self.no_names, |packing| packing.reader.names())
    }

    fn facts(&self) -> &Facts {
        self.packing.as_ref().map_or(&self.no_facts, |packing| &packing.facts)
    }

    fn damage(&self) -> Option<&Damage> {
        self.packing.as_ref()?.reader.damage()
    }

    fn may_wait(&self) -> bool {
        self.packing.as_ref().is_none_or(|packing| packing.reader.may_wait())
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.packing.as_ref().map_or((0, None), |packing| packing.reader.progress())
    }
}

/// Gives the disk back what was read of a raw trace; whether any of it is gone.
pub(crate) fn give_back(reader: &mut RawReader) -> bool {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let read = reader.take_read();
    // A file system that cannot do it keeps all.
    let gone =
        read.into_iter().map(|(start, end)| fallocate(reader.file(), hole, start, end - start).is_ok());
    gone.fold(false, |any, gone| any | gone)
}
