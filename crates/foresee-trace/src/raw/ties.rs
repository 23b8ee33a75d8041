//! Blind code that may order threads, among records whose order nobody knows.
//!
//! Records that do not synchronise have the key of the moment at which they were made, and moments change only when some thread
//! synchronises: until then, the records of all threads *tie*. For accesses that makes no difference, as nothing orders
//! them. But blind code may: a thread writes and gives a lock that nobody knows, another takes it and reads. If the trace had the second
//! thread first, whoever takes such code for ordered by its place would see a race, and the program has none.
//!
//! So where two threads or more run such code in one moment, their records are put into an order in which whatever such code may
//! have ordered has an order. Of each thread, that is what comes before its first such code (its *head*), what comes after its last
//! (its *tail*), and what is between:
//!
//! 1. the heads of all threads;
//! 2. such code, once for each thread;
//! 3. one thread after the other: its such code, and what is between;
//! 4. such code, once for each thread;
//! 5. the tails of all threads.
//!
//! Two heads are not ordered by that, nor are two tails: no such code of both threads can have been between. For any other two records of
//! two threads, such code of the thread whose record comes first follows it, and then such code of the other, before its record.
//!
//! **Where keys are those of pages**, no two threads share moments, and nothing of this is needed. There, the records of a thread's *page* have the key with which the page
//! began, and happened then or later, before the next page. If such code runs within a page, what follows it in that page counts as done at the
//! page's end ([`Merger::delay`](super::merging::Merger::delay)), and so the code is reported at the beginning and at the end of the time in which it
//! may have run. If there is more of it in the same page, nobody knows what was between: [`Gap::UnknownMoments`](crate::Gap::UnknownMoments).
//!
//! **Cost.** A moment with such code in one thread only is read as always. Otherwise tails are kept until the others have run. One that
//! is too long is not: then the thread's such code follows it once more, and it counts as something between.

use crate::event::{Event, Op};
use crate::flat::{Flat, PayloadShape};

/// The longest tail that is kept.
const LONGEST_TAIL: usize = 1 << 10;

/// Whether records with this key may tie with those of other threads: they do not synchronise.
pub(super) fn is_shared(key: u64) -> bool {
    key.is_multiple_of(2)
}

/// Whether an event is blind code that may order threads.
pub(super) fn orders(event: &Event<'_>) -> bool {
    matches!(event.op, Op::Blind { orders: true, .. })
}

/// The threads that have come to such code in one moment.
#[derive(Default)]
pub(super) struct Ties {
    /// The key of the moment.
    key: u64,
    held: Vec<Held>,
    /// Which of them runs now, once all have come there.
    running: Option<usize>,
}

/// A thread that waits.
struct Held {
    stream: usize,
    /// Its such code.
    blind: Event<'static>,
    /// What it has done that is not delivered.
    tail: Vec<Event<'static>>,
    /// Whether a part of the tail is delivered.
    is_cut: bool,
}

impl Ties {
    /// The key of the moment in which threads wait, if some do.
    pub(super) fn key(&self) -> Option<u64> {
        (!self.held.is_empty()).then_some(self.key)
    }

    /// The stream of the thread that runs, once all others have come to such code, or have no more records of the moment.
    pub(super) fn running(&self) -> Option<usize> {
        self.held.get(self.running?).map(|held| held.stream)
    }

    /// A thread has come to such code in the moment of this key: it waits with it and with what follows in `events`.
    pub(super) fn hold(&mut self, stream: usize, key: u64, events: &mut Vec<Event<'static>>) {
        let Some(first) = events.iter().position(orders) else { return };
        let tail = events.split_off(first);
        self.key = key;
        self.held.push(Held { stream, blind: tail[0], tail, is_cut: false });
    }

    /// All threads have come there: they run one after the other. Whether that is over at once, as only one waits.
    pub(super) fn run(&mut self, events: &mut Vec<Event<'static>>) -> bool {
        if self.held.len() == 1 {
            events.extend(self.held.drain(..).flat_map(|held| held.tail));
            return true;
        }
        self.all_order(events);
        self.start(0, events);
        false
    }

    /// The running thread has made a record, with these events, the last of which were not delivered yet.
    pub(super) fn ran(&mut self, events: &mut Vec<Event<'static>>) {
        let new = std::mem::take(events);
        if let Some(held) = self.running.and_then(|at| self.held.get_mut(at)) {
            held.run(new, events);
        }
    }

    /// The running thread has no more records of the moment: the next one runs. Whether there is none.
    pub(super) fn end(&mut self, events: &mut Vec<Event<'static>>) -> bool {
        let at = self.running.unwrap_or_default();
        events.extend(self.held.get(at).filter(|held| held.is_cut).map(|held| held.blind));
        if at + 1 < self.held.len() {
            self.start(at + 1, events);
            return false;
        }
        self.all_order(events);
        events.extend(self.held.drain(..).flat_map(|held| held.tail));
        self.running = None;
        true
    }

    fn start(&mut self, at: usize, events: &mut Vec<Event<'static>>) {
        self.running = Some(at);
        if let Some(held) = self.held.get_mut(at) {
            held.run(Vec::new(), events);
        }
    }

    fn all_order(&self, events: &mut Vec<Event<'static>>) {
        events.extend(self.held.iter().map(|held| held.blind));
    }
}

impl Held {
    /// The thread does this: what is known not to belong to its tail is delivered.
    fn run(&mut self, new: Vec<Event<'static>>, events: &mut Vec<Event<'static>>) {
        self.tail.extend(new);
        // What has arguments is delivered before the next record.
        let has_arguments = |event: &Event<'_>| Flat::of(&event.op).0.kind.payload() == PayloadShape::Args;
        let is_long = self.tail.len() > LONGEST_TAIL || self.tail.iter().any(has_arguments);
        let between = match self.tail.iter().rposition(orders) {
            _ if is_long => self.tail.len(),
            last => last.map_or(0, |last| last + 1),
        };
        self.is_cut = is_long || self.is_cut && !self.tail[..between].iter().any(orders);
        events.extend(self.tail.drain(..between));
    }
}
