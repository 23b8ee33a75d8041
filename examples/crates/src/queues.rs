//! Queues and channels.

use std::sync::atomic::{AtomicI64, Ordering};

use concurrent_queue::{ConcurrentQueue, PopError, PushError};
use foresee::refine::models::Channel;
use foresee::refine::{Choice, Harness, Linearized, RefineError, Value, logged_call};

use crate::Which;

/// First in, first out.
pub trait Queue: Sync + Default {
    /// How many values fit, if that is limited.
    const CAPACITY: Option<usize> = None;
    /// Whether it can be closed.
    const CLOSES: bool = false;

    fn send(&self, value: i64) -> Value;
    fn recv(&self) -> Value;
    fn close(&self) {}
}

/// A queue whose operations can wait.
pub trait Waiting: Queue {
    fn send_waiting(&self, value: i64) -> Value;
    fn recv_waiting(&self) -> Value;
}

/// Drives a queue, and looks for an order of its operations.
pub fn test<Q: Queue>(harness: &Harness, _which: Which) -> Result<Linearized, RefineError> {
    let spec = Channel { capacity: Q::CAPACITY };
    let values = AtomicI64::new(0);
    harness.linearize(&spec, Q::default, |queue, choice| operate(queue, &values, choice))
}

/// No value is sent twice: then long histories need no search.
fn operate<Q: Queue>(queue: &Q, values: &AtomicI64, choice: &mut Choice) {
    match choice.below(1000) {
        0 if Q::CLOSES => logged_call("close", [Value::Null; 0], || {
            queue.close();
            "ok".into()
        }),
        choice if choice % 2 == 0 => {
            let value = values.fetch_add(1, Ordering::Relaxed);
            logged_call("send", [value], || queue.send(value))
        }
        _ => logged_call("recv", [Value::Null; 0], || queue.recv()),
    };
}

/// The same for operations that wait. Each thread sends and then receives, so never do all of them wait: were all in `send`, as many values
/// would have been received as sent, and the queue would be empty; were one in `recv`, its own value or another would be there.
pub fn test_waiting<Q: Waiting>(harness: &Harness, _which: Which) -> Result<Linearized, RefineError> {
    let spec = Channel { capacity: Q::CAPACITY };
    let values = AtomicI64::new(0);
    harness.linearize(&spec, Q::default, |queue, _| {
        let value = values.fetch_add(1, Ordering::Relaxed);
        logged_call("send_waiting", [value], || queue.send_waiting(value));
        logged_call("recv_waiting", [Value::Null; 0], || queue.recv_waiting());
    })
}

fn pushed(result: Result<(), PushError<i64>>) -> Value {
    match result {
        Ok(()) => "ok".into(),
        Err(PushError::Full(_)) => "full".into(),
        Err(PushError::Closed(_)) => "closed".into(),
    }
}

fn popped(result: Result<i64, PopError>) -> Value {
    match result {
        Ok(value) => value.into(),
        Err(PopError::Empty) => "empty".into(),
        Err(PopError::Closed) => "closed".into(),
    }
}

pub struct Unbounded(ConcurrentQueue<i64>);

impl Default for Unbounded {
    fn default() -> Unbounded {
        Unbounded(ConcurrentQueue::unbounded())
    }
}

impl Queue for Unbounded {
    const CLOSES: bool = true;

    fn send(&self, value: i64) -> Value {
        pushed(self.0.push(value))
    }

    fn recv(&self) -> Value {
        popped(self.0.pop())
    }

    fn close(&self) {
        self.0.close();
    }
}

pub struct Bounded<const CAPACITY: usize>(ConcurrentQueue<i64>);

impl<const CAPACITY: usize> Default for Bounded<CAPACITY> {
    fn default() -> Self {
        Bounded(ConcurrentQueue::bounded(CAPACITY))
    }
}

impl<const CAPACITY: usize> Queue for Bounded<CAPACITY> {
    const CAPACITY: Option<usize> = Some(CAPACITY);
    const CLOSES: bool = true;

    fn send(&self, value: i64) -> Value {
        pushed(self.0.push(value))
    }

    fn recv(&self) -> Value {
        popped(self.0.pop())
    }

    fn close(&self) {
        self.0.close();
    }
}

/// A channel of flume with room for so many values, or any number if that is 0. Both ends stay open.
pub struct Flume<const CAPACITY: usize>(flume::Sender<i64>, flume::Receiver<i64>);

impl<const CAPACITY: usize> Default for Flume<CAPACITY> {
    fn default() -> Self {
        let (sender, receiver) = if CAPACITY == 0 { flume::unbounded() } else { flume::bounded(CAPACITY) };
        Flume(sender, receiver)
    }
}

impl<const CAPACITY: usize> Queue for Flume<CAPACITY> {
    const CAPACITY: Option<usize> = if CAPACITY == 0 { None } else { Some(CAPACITY) };

    fn send(&self, value: i64) -> Value {
        match self.0.try_send(value) {
            Ok(()) => "ok".into(),
            Err(flume::TrySendError::Full(_)) => "full".into(),
            Err(flume::TrySendError::Disconnected(_)) => "closed".into(),
        }
    }

    fn recv(&self) -> Value {
        match self.1.try_recv() {
            Ok(value) => value.into(),
            Err(flume::TryRecvError::Empty) => "empty".into(),
            Err(flume::TryRecvError::Disconnected) => "closed".into(),
        }
    }
}

impl<const CAPACITY: usize> Waiting for Flume<CAPACITY> {
    fn send_waiting(&self, value: i64) -> Value {
        self.0.send(value).map_or("closed", |()| "ok").into()
    }

    fn recv_waiting(&self) -> Value {
        self.1.recv().map_or("closed".into(), Value::from)
    }
}
