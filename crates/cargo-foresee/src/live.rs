//! A program that is checked, or only packed, while it runs.
//!
//! The program writes its raw trace; this process, beside it, reads what is there ([`Follower`]), packs it, and hands
//! each event to whoever checks. So a race that was observed is told at once, and little is left to do when the program
//! ends. What was read is given back to the disk once the raw trace has become large: what stays is the packed trace, which is
//! smaller.
//!
//! If the program is to be observed (`FORESEE_OBSERVER`), its observer is told each event as well.
//!
//! Reading beside the program rests on an assumption about time, which is checked (see `foresee_trace::raw`). If it did not
//! hold, everything is done again with the complete raw trace, unless parts of it are given back by then: in that case
//! what is found is doubted.
//!
//! When the program has ended, the rest is read until the time for the check is over (`--time`); what was read by then is the
//! beginning of the run.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use foresee_trace::{
    Damage, Event, EventBatch, EventSource, Facts, LocId, Names, Op, ThreadId, TraceError, Trust,
};

use crate::error::CliError;
use crate::follower::{Follower, GiveBack, Reached};
use crate::input::AT_ONCE;
use crate::interrupt;
use crate::observer::teller::Teller;
use crate::output::Target;
use crate::recording::{Ending, Packing, Reading, Recording};
use crate::uncovered::ENDED_BY;

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
    time: Option<Duration>,
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
        let checked = check(Live::new(recording, target, teller, time, ended, Rc::clone(&fate)));
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
    follower: Follower,
    /// Where the packed trace goes, until it is begun.
    target: Option<Target>,
    packing: Option<Packing>,
    /// Speaks to an observer, if there is one.
    teller: Option<Teller<'m>>,
    /// How long reading may go on once the program has ended.
    time: Option<Duration>,
    /// When the program was known to have ended.
    ended: Rc<Cell<Option<Instant>>>,
    /// When reading stops.
    deadline: Option<Instant>,
    fate: Rc<Fate>,
    /// Room for the events that are taken next.
    batch: EventBatch,
    /// Knows how the program has ended, once it has.
    ending: Arc<OnceLock<Ending>>,
    /// What is known of the run when all was read.
    facts: Option<Facts>,
    no_names: Names,
    no_facts: Facts,
}

impl<'m> Live<'m> {
    fn new(
        recording: &Recording<'_>,
        target: Target,
        teller: Option<Teller<'m>>,
        time: Option<Duration>,
        has_ended: Arc<AtomicBool>,
        fate: Rc<Fate>,
    ) -> Live<'m> {
        let (raw, table) = (recording.raw(), recording.lock_table());
        Live {
            follower: Follower::new(
                raw,
                table,
                BETWEEN_LOOKS,
                GiveBack::From(LARGE),
                has_ended,
                recording.ending(),
            ),
            target: Some(target),
            packing: None,
            teller,
            time,
            ended: Rc::default(),
            deadline: None,
            fate,
            batch: EventBatch::default(),
            ending: recording.ending(),
            facts: None,
            no_names: Names::new(),
            no_facts: Facts::new(),
        }
    }

    /// Tells when the program was known to have ended, once it has.
    pub(crate) fn ended(&self) -> Rc<Cell<Option<Instant>>> {
        Rc::clone(&self.ended)
    }

    /// Goes through all events: they are packed, and that is all.
    pub(crate) fn read_all(mut self) -> Result<(), CliError> {
        let mut batch = EventBatch::default();
        while self.next(Some((&mut batch, AT_ONCE)))? {
            batch.clear();
        }
        Ok(())
    }

    /// Goes past the next events, so many at most, and has them in a batch alone, or goes to the next event; `false` at the end.
    fn next(&mut self, mut many: Option<(&mut EventBatch, usize)>) -> Result<bool, CliError> {
        loop {
            let deadline = self.deadline;
            let is_cut = self.packing.as_mut().is_some_and(|packing| packing.must_end(deadline));
            let reached = match &mut many {
                _ if is_cut => Reached::End,
                // Who speaks to an observer does so event by event.
                Some((batch, most)) if self.teller.is_none() => self.follower.take_many(batch, *most)?,
                _ => self.follower.advance()?,
            };
            if self.follower.is_complete() && self.ended.get().is_none() {
                // Ctrl-C was the program's, and is ours from now on.
                interrupt::finish_on_interrupt();
                let now = Instant::now();
                self.ended.set(Some(now));
                self.deadline = self.time.and_then(|time| now.checked_add(time));
            }
            let Some(reader) = self.follower.reader() else { continue };
            if let Some(target) = self.target.take() {
                self.packing = Some(Packing::begin(reader, target)?);
            }
            let Some(packing) = &mut self.packing else { continue };
            match reached {
                Reached::Event => {
                    match (&mut many, &mut self.teller) {
                        (Some((batch, _)), None) => packing.events(reader, batch)?,
                        (many, teller) => {
                            packing.event(reader)?;
                            teller.iter_mut().for_each(|teller| teller.event(reader));
                            many.iter_mut().for_each(|(batch, _)| batch.push(&reader.event()));
                        }
                    }
                    return Ok(true);
                }
                Reached::Now => {
                    if let Some(teller) = &mut self.teller {
                        teller.after_look(reader);
                    }
                }
                Reached::End => {
                    self.fate.is_worthless.set(reader.came_late() && !self.follower.gave_back());
                    if let Some(teller) = &mut self.teller {
                        teller.end(reader);
                    }
                    let ending = self.ending.get().copied();
                    packing.finish(reader, ending)?;
                    let ended_by = match ending {
                        Some(Ending::Signal(signal)) => Some((ENDED_BY.to_owned(), signal.to_string())),
                        Some(Ending::Exit) | None => None,
                    };
                    self.facts = Some(reader.facts().iter().cloned().chain(ended_by).collect());
                    return Ok(false);
                }
            }
        }
    }
}

impl Live<'_> {
    /// Told by [`beside`], which knows what it means.
    fn fail(&self, why: CliError) -> TraceError {
        self.fate.failure.replace(Some(why));
        TraceError::Io(io::Error::other("the recording cannot be read"))
    }
}

impl EventSource for Live<'_> {
    fn advance(&mut self) -> Result<bool, TraceError> {
        self.next(None).map_err(|why| self.fail(why))
    }

    fn take_many(&mut self, batch: &mut EventBatch, most: usize) -> Result<bool, TraceError> {
        let mut next = std::mem::take(&mut self.batch);
        next.clear();
        let more = self.next(Some((&mut next, most))).map_err(|why| self.fail(why));
        batch.append(&next);
        self.batch = next;
        more
    }

    fn event(&self) -> Event<'_> {
        let nothing = Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Branch };
        self.follower.reader().map_or(nothing, EventSource::event)
    }

    fn names(&self) -> &Names {
        self.follower.reader().map_or(&self.no_names, EventSource::names)
    }

    fn facts(&self) -> &Facts {
        let read = || self.follower.reader().map_or(&self.no_facts, EventSource::facts);
        self.facts.as_ref().unwrap_or_else(read)
    }

    fn trust(&self) -> Trust {
        match (self.follower.reader(), &self.packing) {
            (Some(reader), Some(packing)) => packing.trust(reader),
            _ => Trust::whole(),
        }
    }

    fn damage(&self) -> Option<&Damage> {
        self.follower.reader()?.damage()
    }

    fn may_wait(&self) -> bool {
        self.follower.reader().is_none_or(EventSource::may_wait)
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.follower.reader().map_or((0, None), EventSource::progress)
    }
}
