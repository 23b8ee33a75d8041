//! What needs nothing but the events themselves, on a thread of its own.
//!
//! Reading a trace takes about as long as looking at its events. So the engines that ask for no names before the end, and the execution that is built for the others, get their
//! events on another thread, in batches: unless there are few, or only one thread is wanted. They get the same events in the same order, so nothing that is found depends on it.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use foresee_trace::{Event, EventBatch, ExecutionBuilder};

use crate::engine::StreamEngine;
use crate::judge::Place;

/// Up to so many events, another thread is not worth it.
const FEW: u64 = 1 << 16;

/// So many events are handed over at once.
const BATCH: usize = 1 << 12;

/// So many batches may wait for the other thread.
const WAITING: usize = 4;

/// What is fed with events.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) engines: Vec<(&'static str, Box<dyn StreamEngine + Send>)>,
    pub(crate) builder: Option<ExecutionBuilder>,
    events: u64,
    /// The execution takes no more: it is the beginning of the run.
    is_full: bool,
}

impl Work {
    fn event(&mut self, event: &Event<'_>, is_kept: bool) {
        for (_, engine) in &mut self.engines {
            engine.event(self.events, event);
        }
        self.events += 1;
        if let Some(builder) = &mut self.builder
            && is_kept
            && !self.is_full
        {
            self.is_full = builder.push(event).is_err();
        }
    }

    /// The next events, of which the first so many are part of the execution.
    fn events(&mut self, batch: &EventBatch, kept: usize) {
        for (_, engine) in &mut self.engines {
            engine.events(self.events, batch);
        }
        self.events += batch.len() as u64;
        if let Some(builder) = self.builder.as_mut().filter(|_| !self.is_full) {
            self.is_full = batch.iter().take(kept).any(|event| builder.push(&event).is_err());
        }
    }

    fn news(&mut self) -> Vec<Vec<Place>> {
        self.engines.iter_mut().flat_map(|(_, engine)| engine.news()).collect()
    }
}

/// Work, and where it is done.
pub(crate) enum Apart {
    /// With whoever reads the trace; whether it may go to another thread.
    Here(Box<Work>, bool),
    There(There),
}

pub(crate) struct There {
    batch: EventBatch,
    /// The first so many of these are part of the execution.
    kept: usize,
    messages: SyncSender<Message>,
    /// Batches that were looked at.
    used: Receiver<EventBatch>,
    thread: JoinHandle<Work>,
}

enum Message {
    /// What there is to do: comes first.
    Work(Box<Work>),
    /// Events, of which the first so many are part of the execution.
    Events(EventBatch, usize),
    /// Asks what was found since it was asked last.
    News(SyncSender<Vec<Vec<Place>>>),
}

impl Apart {
    pub(crate) fn new(work: Work, threads: usize) -> Apart {
        let has_work = !work.engines.is_empty() || work.builder.is_some();
        Apart::Here(Box::new(work), has_work && threads > 1)
    }

    /// The next event; whether it is part of the execution.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event<'_>, is_kept: bool) {
        match self {
            Apart::There(there) => there.event(event, is_kept),
            Apart::Here(work, may_go) => {
                work.event(event, is_kept);
                if *may_go && work.events == FEW {
                    self.go();
                }
            }
        }
    }

    /// The next events, of which the first so many are part of the execution.
    pub(crate) fn events(&mut self, batch: &EventBatch, kept: usize) {
        match self {
            Apart::There(there) => there.events(batch, kept),
            Apart::Here(..) => {
                batch.iter().enumerate().for_each(|(nth, event)| self.event(&event, nth < kept));
            }
        }
    }

    /// Has the work done on a thread of its own from now on, if the system gives one.
    fn go(&mut self) {
        let (messages, incoming) = sync_channel(WAITING);
        let (give_back, used) = sync_channel(WAITING);
        let spawned = std::thread::Builder::new().name("engines".to_owned());
        let Ok(thread) = spawned.spawn(move || follow(&incoming, &give_back)) else { return };
        let there = There { batch: EventBatch::default(), kept: 0, messages, used, thread };
        if let Apart::Here(work, _) = self {
            there.say(Message::Work(std::mem::take(work)));
        }
        *self = Apart::There(there);
    }

    /// What engines have found since the last call.
    pub(crate) fn news(&mut self) -> Vec<Vec<Place>> {
        match self {
            Apart::There(there) => there.news(),
            Apart::Here(work, _) => work.news(),
        }
    }

    /// The work, when all events were looked at.
    pub(crate) fn finish(self) -> Work {
        match self {
            Apart::There(there) => there.finish(),
            Apart::Here(work, _) => *work,
        }
    }
}

impl There {
    /// If nobody listens any more, the thread has panicked: `finish` passes that on.
    fn say(&self, message: Message) {
        let _ = self.messages.send(message);
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, is_kept: bool) {
        self.batch.push(event);
        // What is kept is a beginning.
        self.kept += usize::from(is_kept);
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
    }

    fn events(&mut self, batch: &EventBatch, kept: usize) {
        self.batch.append(batch);
        self.kept += kept;
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let next = self.used.try_recv().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, next);
        let kept = std::mem::take(&mut self.kept);
        self.say(Message::Events(batch, kept));
    }

    fn news(&mut self) -> Vec<Vec<Place>> {
        self.hand_over();
        let (answer, answered) = sync_channel(1);
        self.say(Message::News(answer));
        answered.recv().unwrap_or_default()
    }

    fn finish(mut self) -> Work {
        self.hand_over();
        drop(self.messages);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Does the work, until there are no more messages.
fn follow(messages: &Receiver<Message>, give_back: &SyncSender<EventBatch>) -> Work {
    let mut work = Work::default();
    for message in messages {
        match message {
            Message::Work(begun) => work = *begun,
            Message::Events(mut batch, kept) => {
                work.events(&batch, kept);
                batch.clear();
                // If there are enough of them, it is not needed.
                let _ = give_back.try_send(batch);
            }
            // Whoever asks waits for the answer.
            Message::News(answer) => drop(answer.send(work.news())),
        }
    }
    work
}
