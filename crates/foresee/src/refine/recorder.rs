//! Where entries go: from buffers of bounded length to one thread that puts them in order, and checks them or writes them down.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::vec::Vec;

use foresee_refine::log::{Event, Log, Thread, ThreadId};
use foresee_refine::refine::{Checker, Mode, RefineError, Replica, Violation};
use foresee_refine::spec::Viewed;

use super::shared::{Shared, lock};
use super::thread::{self, Attached};
use super::words;

/// What a thread is to the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It calls its methods.
    Application,
    /// It works inside (compression, eviction), and must leave the view as it is.
    Internal,
}

/// Takes the entries of all threads that are attached to it.
pub struct Recorder {
    shared: Arc<Shared>,
    worker: Option<JoinHandle<Result<Recording, RefineError>>>,
}

/// What came of a recording.
#[derive(Debug, Default)]
pub struct Recording {
    /// All that was logged.
    pub log: Log,
    /// The first violation, if entries were checked and there was one.
    pub violation: Option<Violation>,
    /// Operations that did not commit exactly once, with the places of their commits.
    pub mistakes: Vec<String>,
}

impl Recorder {
    /// Checks entries against a specification while the program runs. Of a hundred entries, a thread lets others run after `yields`.
    pub fn checking<S, R>(spec: S, replica: R, mode: Mode, yields: u8) -> Recorder
    where
        S: Viewed + Send + 'static,
        R: Replica + Send + 'static,
    {
        Recorder::new(mode, yields, move |shared| {
            let mut checker = Checker::new(&spec, replica, mode);
            let mut events = Vec::new();
            shared.in_order(|event| {
                let is_internal = is_internal(shared, event.thread);
                checker.push(&event, is_internal)?;
                if checker.violation().is_some() {
                    shared.has_violation.store(true, Ordering::Relaxed);
                }
                events.push(event);
                Ok(())
            })?;
            Ok((events, checker.finish()?))
        })
    }

    /// Keeps entries, to be checked later: without views if nobody will compare them.
    pub fn keeping(mode: Mode, yields: u8) -> Recorder {
        Recorder::new(mode, yields, |shared| {
            let mut events = Vec::new();
            shared.in_order(|event| {
                events.push(event);
                Ok(())
            })?;
            Ok((events, None))
        })
    }

    /// Writes entries to a file, for `foresee refine FILE`. `structure` is what the command knows it by: `multiset`, `tree`, `cache`, ….
    pub fn to_file(path: &Path, structure: &str) -> io::Result<Recorder> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "{}", foresee_refine::write::head(structure))?;
        Ok(Recorder::new(Mode::View, 0, move |shared| {
            let mut known = 0;
            // What cannot be written is not there for the command either: it says so of an incomplete line.
            let mut write = |event: &Event| -> io::Result<()> {
                let threads = lock(&shared.threads);
                for thread in &threads[known..] {
                    if let Some(line) = foresee_refine::write::thread(thread) {
                        writeln!(file, "{line}")?;
                    }
                }
                known = threads.len();
                let name = &threads[event.thread as usize].name;
                writeln!(file, "{}", foresee_refine::write::event(name, &event.action))
            };
            let mut failed = false;
            shared.in_order(|event| {
                if !failed && let Err(why) = write(&event) {
                    failed = true;
                    shared.mistake(std::format!("the log could not be written: {why}"));
                }
                Ok(())
            })?;
            if let Err(why) = file.flush() {
                shared.mistake(std::format!("the log could not be written: {why}"));
            }
            Ok((Vec::new(), None))
        }))
    }

    fn new<W>(mode: Mode, yields: u8, work: W) -> Recorder
    where
        W: FnOnce(&Shared) -> Result<(Vec<Event>, Option<Violation>), RefineError> + Send + 'static,
    {
        let shared = Arc::new(Shared::new(mode.has_views(), yields));
        let own = shared.clone();
        let worker = std::thread::spawn(move || {
            let (events, violation) = work(&own)?;
            let threads = std::mem::take(&mut *lock(&own.threads));
            let mistakes = std::mem::take(&mut *lock(&own.mistakes));
            Ok(Recording { log: Log { threads, events }, violation, mistakes })
        });
        Recorder { shared, worker: Some(worker) }
    }

    /// Attaches this thread until the guard is dropped.
    ///
    /// # Panics
    /// If the thread is attached already: it logs for one recorder at a time.
    pub fn attach(&self, name: &str, role: Role) -> Attached {
        if role == Role::Internal {
            words::internal_thread();
        }
        let thread = Thread { name: name.into(), is_internal: role == Role::Internal };
        thread::attach(self.shared.clone(), thread)
    }

    /// Whether the checker has found something already.
    pub fn has_violation(&self) -> bool {
        self.shared.has_violation.load(Ordering::Relaxed)
    }

    /// Ends the recording. All that was logged until now is part of it; what threads log that are still attached is not.
    pub fn finish(mut self) -> Result<Recording, RefineError> {
        self.shared.end();
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(recording)) => recording,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(Recording::default()),
        }
    }
}

impl Drop for Recorder {
    /// A recorder that nobody asks for its recording ends as well.
    fn drop(&mut self) {
        self.shared.end();
    }
}

fn is_internal(shared: &Shared, thread: ThreadId) -> bool {
    lock(&shared.threads).get(thread as usize).is_some_and(|thread| thread.is_internal)
}
