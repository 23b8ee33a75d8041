//! Decoding records on other threads, while those before them are taken.
//!
//! Merging and interpreting go through all threads' records one by one. Decoding does not have to: where a thread has many, its decoder is handed to a worker, which decodes the next batch and
//! keeps both until they are asked for. Whoever asks before a worker has begun does it himself: nobody ever waits for something that is not being done.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::decoder::{Decoder, Ended};
use super::record::Record;
use crate::raw::raw_files::RawFiles;

/// There are no more workers than this: what they do is a fraction of what is done with it.
const MOST_WORKERS: usize = 4;

/// A decoder with the records that it has decoded last.
pub(super) struct Decoded {
    pub(super) decoder: Box<Decoder>,
    pub(super) records: Vec<Record>,
    /// Why there are none, if so.
    pub(super) ended: io::Result<Result<(), Ended>>,
}

impl Decoded {
    /// Has a decoder decode the next `most` records into this room.
    pub(super) fn now(
        mut decoder: Box<Decoder>,
        mut records: Vec<Record>,
        most: usize,
        files: &RawFiles,
    ) -> Decoded {
        let ended = decoder.decode_batch(files, &mut records, most);
        Decoded { decoder, records, ended }
    }
}

/// Decoding that is done by others, or will be.
pub(super) struct Ahead(Arc<Job>);

struct Job {
    files: Arc<RawFiles>,
    most: usize,
    state: Mutex<State>,
    done: Condvar,
}

enum State {
    Waiting(Box<Decoder>, Vec<Record>),
    Running,
    Done(std::thread::Result<Decoded>),
    Taken,
}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does it, if nobody has begun to.
    fn run(&self) {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Running) {
            State::Waiting(decoder, records) => {
                drop(state);
                let decode = || Decoded::now(decoder, records, self.most, &self.files);
                // Whoever waits is to know.
                let decoded = catch_unwind(AssertUnwindSafe(decode));
                *self.state() = State::Done(decoded);
                self.done.notify_all();
            }
            before => *state = before,
        }
    }

    /// What came of it.
    fn result(&self) -> MutexGuard<'_, State> {
        self.run();
        let is_running = |state: &mut State| matches!(state, State::Running);
        self.done.wait_while(self.state(), is_running).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ahead {
    /// What was decoded.
    pub(super) fn finish(self) -> Decoded {
        match std::mem::replace(&mut *self.0.result(), State::Taken) {
            State::Done(Ok(decoded)) => decoded,
            State::Done(Err(panic)) => resume_unwind(panic),
            // Nobody else takes it.
            State::Waiting(..) | State::Running | State::Taken => Decoded {
                decoder: Box::default(),
                records: Vec::new(),
                ended: Err(io::Error::other("decoded records were taken twice")),
            },
        }
    }

    /// A copy of what was decoded.
    pub(super) fn copy(&self) -> (Box<Decoder>, Vec<Record>) {
        match &*self.0.result() {
            State::Done(Ok(decoded)) => (decoded.decoder.clone(), decoded.records.clone()),
            State::Done(Err(_)) | State::Waiting(..) | State::Running | State::Taken => Default::default(),
        }
    }
}

/// Threads that decode.
pub(super) struct Workers {
    files: Arc<RawFiles>,
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Arc<Job>>,
    is_over: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what comes, until it is over.
    fn work(&self) {
        loop {
            let is_idle = |waiting: &mut Waiting| waiting.jobs.is_empty() && !waiting.is_over;
            let mut waiting =
                self.news.wait_while(self.waiting(), is_idle).unwrap_or_else(PoisonError::into_inner);
            if waiting.is_over {
                return;
            }
            let job = waiting.jobs.pop_front();
            drop(waiting);
            job.iter().for_each(|job| job.run());
        }
    }
}

impl Workers {
    /// Begins some, unless there is one processor only, or the system gives no threads.
    pub(super) fn begin(files: &Arc<RawFiles>) -> Option<Workers> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let queue = Arc::new(Queue::default());
        let begin = |_| {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name("decoding".to_owned()).spawn(move || queue.work()).ok()
        };
        let threads: Vec<_> = (1..processors).take(MOST_WORKERS).filter_map(begin).collect();
        (!threads.is_empty()).then(|| Workers { files: Arc::clone(files), queue, threads })
    }

    /// Has the next `most` records decoded, into this room.
    pub(super) fn decode(&self, decoder: Box<Decoder>, records: Vec<Record>, most: usize) -> Ahead {
        let state = Mutex::new(State::Waiting(decoder, records));
        let job = Arc::new(Job { files: Arc::clone(&self.files), most, state, done: Condvar::new() });
        self.queue.waiting().jobs.push_back(Arc::clone(&job));
        self.queue.news.notify_one();
        Ahead(job)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.waiting().is_over = true;
        self.queue.news.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
