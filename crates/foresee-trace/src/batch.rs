//! Events that are kept for a while, so that another thread can look at them.

use crate::event::{Arg, Event};
use crate::flat::{Flat, Payload};
use crate::ids::{LocId, ThreadId};

/// Some events, in their order.
///
/// ```
/// # use foresee_trace::{Event, EventBatch, LocId, Op, ThreadId};
/// let event = Event { thread: ThreadId(3), loc: LocId::UNKNOWN, op: Op::Branch };
/// let mut batch = EventBatch::default();
/// batch.push(&event);
/// assert_eq!(batch.iter().collect::<Vec<_>>(), [event]);
/// ```
#[derive(Debug, Default)]
pub struct EventBatch {
    events: Vec<Kept>,
    args: Vec<Arg>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    thread: ThreadId,
    loc: LocId,
    flat: Flat,
    payload: KeptPayload,
}

#[derive(Clone, Copy, Debug)]
enum KeptPayload {
    Nothing,
    One(u64),
    Two(u64, u64),
    /// From which one on, and how many.
    Args(usize, usize),
}

impl EventBatch {
    /// Appends an event.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) {
        let (flat, payload) = Flat::of(&event.op);
        let payload = match payload {
            Payload::Nothing => KeptPayload::Nothing,
            Payload::One(value) => KeptPayload::One(value),
            Payload::Two(read, written) => KeptPayload::Two(read, written),
            Payload::Args(args) => {
                self.args.extend_from_slice(args);
                KeptPayload::Args(self.args.len() - args.len(), args.len())
            }
        };
        self.events.push(Kept { thread: event.thread, loc: event.loc, flat, payload });
    }

    /// Appends an event without a payload.
    #[inline]
    pub(crate) fn push_flat(&mut self, thread: ThreadId, loc: LocId, flat: Flat) {
        self.events.push(Kept { thread, loc, flat, payload: KeptPayload::Nothing });
    }

    /// Appends all events of another batch.
    pub fn append(&mut self, other: &EventBatch) {
        let before = self.args.len();
        self.args.extend_from_slice(&other.args);
        if before == 0 {
            return self.events.extend_from_slice(&other.events);
        }
        self.events.extend(other.events.iter().map(|&kept| match kept.payload {
            KeptPayload::Args(from, count) => {
                Kept { payload: KeptPayload::Args(before + from, count), ..kept }
            }
            _ => kept,
        }));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Forgets all, and keeps the room for others.
    pub fn clear(&mut self) {
        self.events.clear();
        self.args.clear();
    }

    /// The events.
    pub fn iter(&self) -> impl Iterator<Item = Event<'_>> {
        self.flat().map(|(thread, loc, flat, payload)| Event { thread, loc, op: flat.op(payload) })
    }

    /// The same, with their operations as integers.
    pub(crate) fn flat(&self) -> impl Iterator<Item = (ThreadId, LocId, Flat, Payload<'_>)> {
        self.events.iter().map(|&Kept { thread, loc, flat, payload }| {
            let payload = match payload {
                KeptPayload::Nothing => Payload::Nothing,
                KeptPayload::One(value) => Payload::One(value),
                KeptPayload::Two(read, written) => Payload::Two(read, written),
                KeptPayload::Args(from, count) => Payload::Args(&self.args[from..from + count]),
            };
            (thread, loc, flat, payload)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Op;
    use crate::ids::StrId;

    #[test]
    fn arguments_are_those_of_their_event() {
        let named =
            |args| Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Named { name: StrId(1), args } };
        let (first, second) = ([Arg::Int(1), Arg::Int(2)], [Arg::Int(3)]);
        let events = [named(&first), named(&[]), named(&second)];
        let mut batch = EventBatch::default();
        for _ in 0..2 {
            batch.clear();
            events.iter().for_each(|event| batch.push(event));
            assert_eq!((batch.iter().collect::<Vec<_>>(), batch.len()), (events.to_vec(), 3));
        }
        let mut twice = EventBatch::default();
        for _ in 0..2 {
            twice.append(&batch);
        }
        assert_eq!(twice.iter().collect::<Vec<_>>(), [events, events].concat());
    }
}
