//! Writes a trace file from events in order.
//!
//! Whoever has events to write mostly has to work for them, too. So a writer that may puts them into blocks on a thread of its own, unless there are few: it gets them in
//! batches, each with the names that are new in it, as names belong to who hands them in. What is in the file is the same but for the places of blocks with names.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::SEGMENT_EVENTS;
use super::segments::SegmentWriter;
use super::tables::Written;
use crate::TraceError;
use crate::batch::EventBatch;
use crate::event::Event;
use crate::flat::Flat;
use crate::names::Names;
use crate::source::{EventSink, Facts};
use crate::trust::Trust;

/// Up to so many events, another thread is not worth it.
const FEW: u64 = 1 << 16;

/// So many events are handed over at once.
const BATCH: usize = 1 << 11;

/// So many batches may wait for the other thread.
const WAITING: usize = 8;

/// Writes a trace file. Events are stamped 0, 1, 2, … as they come.
///
/// Memory: one open block per thread that was active since the last checkpoint, at most 1,024, each with its
/// events, of some 14 bytes each. Until [`finish`](EventSink::finish), a reader sees the events up to the last checkpoint.
pub struct TraceWriter<W: Write = BufWriter<File>> {
    /// Which names the file has, or has been told.
    names: Written,
    place: Place<W>,
    pushed: u64,
}

/// Has a thread go on with what was begun.
type Begin<W> = fn(Box<SegmentWriter<W>>) -> io::Result<There>;

/// Where events are put into blocks.
enum Place<W> {
    /// Where they are handed in, until they are many: what then begins a thread, if one may be.
    Here(Box<SegmentWriter<W>>, Option<Begin<W>>),
    There(There),
    /// Nowhere: the file is finished, or cannot be.
    Over,
}

/// A thread that puts events into blocks.
struct There {
    batch: EventBatch,
    messages: Option<SyncSender<Message>>,
    /// Batches that are written.
    used: Receiver<EventBatch>,
    thread: Option<JoinHandle<Result<(), TraceError>>>,
}

enum Message {
    /// Names that come before what follows.
    Names(Vec<u8>),
    Events(EventBatch),
    Facts(Facts),
    /// This was all.
    Finish(Trust),
}

impl TraceWriter {
    /// Creates (or replaces) the file at `path`.
    pub fn create(path: &Path, facts: &Facts) -> Result<TraceWriter, TraceError> {
        TraceWriter::beside(BufWriter::with_capacity(1 << 18, File::create(path)?), facts)
    }
}

impl<W: Write> TraceWriter<W> {
    /// Writes to anything.
    pub fn new(out: W, facts: &Facts) -> Result<Self, TraceError> {
        let writer = SegmentWriter::new(out, facts, SEGMENT_EVENTS)?;
        Ok(TraceWriter { names: Written::nothing(), place: Place::Here(Box::new(writer), None), pushed: 0 })
    }

    /// Sets a checkpoint every `events` events: fewer lose less of a file that is cut off, more compress better.
    pub fn segment_events(mut self, events: usize) -> Self {
        if let Place::Here(writer, _) = &mut self.place {
            writer.segment_events = events.max(1);
        }
        self
    }
}

impl<W: Write + Send + 'static> TraceWriter<W> {
    /// Writes to anything that another thread may write to, on another thread if there are many events.
    pub fn beside(out: W, facts: &Facts) -> Result<Self, TraceError> {
        let mut writer = TraceWriter::new(out, facts)?;
        let has_room = std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
        if let Place::Here(_, begin) = &mut writer.place
            && has_room
        {
            *begin = Some(There::begin);
        }
        Ok(writer)
    }
}

impl There {
    fn begin<W: Write + Send + 'static>(writer: Box<SegmentWriter<W>>) -> io::Result<There> {
        let (messages, incoming) = sync_channel(WAITING);
        let (give_back, used) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("packing".to_owned());
        let thread = thread.spawn(move || follow(*writer, &incoming, &give_back))?;
        Ok(There { batch: EventBatch::default(), messages: Some(messages), used, thread: Some(thread) })
    }

    fn push(&mut self, written: &mut Written, names: &Names, event: &Event<'_>) -> Result<(), TraceError> {
        self.batch.push(event);
        if self.batch.len() < BATCH { Ok(()) } else { self.hand_over(written, names) }
    }

    fn push_all(
        &mut self,
        written: &mut Written,
        names: &Names,
        batch: &EventBatch,
    ) -> Result<(), TraceError> {
        self.batch.append(batch);
        if self.batch.len() < BATCH { Ok(()) } else { self.hand_over(written, names) }
    }

    fn hand_over(&mut self, written: &mut Written, names: &Names) -> Result<(), TraceError> {
        while let Some(payload) = written.update(names) {
            self.say(Message::Names(payload))?;
        }
        let next = self.used.try_recv().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, next);
        self.say(Message::Events(batch))
    }

    fn say(&mut self, message: Message) -> Result<(), TraceError> {
        match &self.messages {
            Some(messages) if messages.send(message).is_ok() => Ok(()),
            // Nobody listens any more.
            _ => self.end().and(Err(is_over())),
        }
    }

    /// Waits until all that was handed over is written.
    fn end(&mut self) -> Result<(), TraceError> {
        self.messages = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(is_over()),
        }
    }
}

impl Drop for There {
    /// What was handed over is in the file as soon as this is gone.
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes what it is told, until there are no more messages.
fn follow<W: Write>(
    mut writer: SegmentWriter<W>,
    messages: &Receiver<Message>,
    give_back: &SyncSender<EventBatch>,
) -> Result<(), TraceError> {
    for message in messages {
        match message {
            Message::Names(payload) => writer.names(&payload)?,
            Message::Events(mut batch) => {
                for (thread, loc, flat, payload) in batch.flat() {
                    if writer.push(thread, loc, flat, payload) {
                        writer.checkpoint()?;
                    }
                }
                batch.clear();
                // If there are enough of them, it is not needed.
                let _ = give_back.try_send(batch);
            }
            Message::Facts(facts) => writer.facts(&facts)?,
            Message::Finish(trust) => writer.finish(&trust)?,
        }
    }
    Ok(())
}

fn is_over() -> TraceError {
    TraceError::Io(io::Error::other("the trace is complete, or could not be written"))
}

/// Has all names in the file that there are.
fn write_names<W: Write>(
    writer: &mut SegmentWriter<W>,
    written: &mut Written,
    names: &Names,
) -> Result<(), TraceError> {
    while let Some(payload) = written.update(names) {
        writer.names(&payload)?;
    }
    Ok(())
}

impl<W: Write> TraceWriter<W> {
    /// Goes on on another thread, if it may and the system gives one.
    #[cold]
    fn move_away(&mut self) -> Result<(), TraceError> {
        if let Place::Here(_, begin) = &mut self.place
            && let Some(begin) = begin.take()
            && let Place::Here(writer, _) = std::mem::replace(&mut self.place, Place::Over)
        {
            self.place = Place::There(begin(writer)?);
        }
        Ok(())
    }
}

impl<W: Write> EventSink for TraceWriter<W> {
    #[inline]
    fn push(&mut self, names: &Names, event: &Event<'_>) -> Result<(), TraceError> {
        match &mut self.place {
            Place::There(there) => return there.push(&mut self.names, names, event),
            Place::Here(writer, _) => {
                let (flat, payload) = Flat::of(&event.op);
                if writer.push(event.thread, event.loc, flat, payload) {
                    write_names(writer, &mut self.names, names)?;
                    writer.checkpoint()?;
                }
            }
            Place::Over => return Err(is_over()),
        }
        self.pushed += 1;
        if self.pushed == FEW { self.move_away() } else { Ok(()) }
    }

    fn push_all(&mut self, names: &Names, batch: &EventBatch) -> Result<(), TraceError> {
        match &mut self.place {
            Place::There(there) => there.push_all(&mut self.names, names, batch),
            Place::Here(..) | Place::Over => batch.iter().try_for_each(|event| self.push(names, &event)),
        }
    }

    fn fact(&mut self, key: &str, value: &str) -> Result<(), TraceError> {
        let facts = vec![(key.to_owned(), value.to_owned())];
        match &mut self.place {
            Place::Here(writer, _) => writer.facts(&facts),
            Place::There(there) => there.say(Message::Facts(facts)),
            Place::Over => Err(is_over()),
        }
    }

    fn finish(&mut self, names: &Names, trust: &Trust) -> Result<(), TraceError> {
        match std::mem::replace(&mut self.place, Place::Over) {
            Place::Here(mut writer, _) => {
                write_names(&mut writer, &mut self.names, names)?;
                writer.finish(trust)
            }
            Place::There(mut there) => {
                there.hand_over(&mut self.names, names)?;
                there.say(Message::Finish(trust.clone()))?;
                there.end()
            }
            Place::Over => Err(is_over()),
        }
    }
}
