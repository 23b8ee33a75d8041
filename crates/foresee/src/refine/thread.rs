//! What a thread logs, and whether its operations commit exactly once.

use std::boxed::Box;
use std::cell::RefCell;
use std::format;
use std::panic::Location;
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::vec::Vec;

use foresee_refine::log::{Action, Arguments, Event, ThreadId};
use foresee_refine::{SmolStr, Value};

use super::shared::{Batch, Shared};

/// A thread hands on its entries when it has so many.
const BATCH: usize = 128;

/// What a method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// It may change the structure.
    Mutator,
    /// It never does.
    Observer,
}

struct ThreadLog {
    shared: Arc<Shared>,
    id: ThreadId,
    batch: Batch,
    /// How many logged methods are under way, each called by the one before. Only the outermost is logged.
    depth: usize,
    commits: Vec<&'static Location<'static>>,
    /// Where the method under way has written last.
    last_write: Option<&'static Location<'static>>,
    random: u64,
}

std::thread_local! {
    static CURRENT: RefCell<Option<Box<ThreadLog>>> = const { RefCell::new(None) };
}

/// While this is there, the thread logs.
#[must_use]
pub struct Attached(());

impl Drop for Attached {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| {
            if let Some(mut log) = current.take() {
                log.flush();
            }
        });
    }
}

pub(super) fn attach(shared: Arc<Shared>, id: ThreadId) -> Attached {
    let random = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let log = ThreadLog {
        shared,
        id,
        batch: Vec::with_capacity(BATCH),
        depth: 0,
        commits: Vec::new(),
        last_write: None,
        random,
    };
    CURRENT.with_borrow_mut(|current| {
        if let Some(mut before) = current.replace(Box::new(log)) {
            before.flush();
        }
    });
    Attached(())
}

impl ThreadLog {
    fn push(&mut self, action: Action) {
        // All entries of all threads are in one order, which is that of this counter.
        let number = self.shared.next.fetch_add(1, Ordering::SeqCst);
        self.batch.push((number, Event { thread: self.id, action }));
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() {
            // If the other side has gone, the recording has ended.
            let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
            let _ = self.shared.queue.send(batch);
        }
    }

    /// Whether the thread should let others run now.
    fn yields(&mut self) -> bool {
        if self.shared.yields == 0 {
            return false;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % 100 < u64::from(self.shared.yields)
    }

    fn mistake(&self, name: &str) {
        let places: Vec<String> =
            self.commits.iter().map(|place| format!("{}:{}", place.file(), place.line())).collect();
        self.shared.mistake(match &places[..] {
            [] => {
                let write = self.last_write.map_or_else(String::new, |place| {
                    format!(", which on this path is at {}:{}", place.file(), place.line())
                });
                format!(
                    "`{name}` returned without a commit: put commit!() on this path, where others can see its effect first; often that is \
                     before the first lock is released after the last write{write}"
                )
            }
            places => format!("`{name}` committed {} times, at {}: one commit is needed on each path", places.len(), places.join(" and ")),
        });
    }
}

/// Does something with the log of this thread, if it has one; then lets others run, now and then.
fn with(act: impl FnOnce(&mut ThreadLog)) {
    let yields = CURRENT.with_borrow_mut(|current| {
        current.as_mut().is_some_and(|log| {
            act(log);
            log.yields()
        })
    });
    if yields {
        std::thread::yield_now();
    }
}

/// The same for what is logged only where views are compared.
fn with_views(act: impl FnOnce(&mut ThreadLog)) {
    with(|log| {
        if log.shared.has_views {
            act(log);
        }
    });
}

/// A logged method that is under way.
#[must_use]
pub struct Call {
    kind: MethodKind,
    name: &'static str,
    is_attached: bool,
    has_returned: bool,
}

/// An argument or result as it is logged.
pub fn value<T: Clone + Into<Value>>(it: &T) -> Value {
    it.clone().into()
}

/// Logs a call.
pub fn call(kind: MethodKind, name: &'static str, args: impl FnOnce() -> Arguments) -> Call {
    let mut is_attached = false;
    with(|log| {
        is_attached = true;
        log.depth += 1;
        if log.depth == 1 {
            log.commits.clear();
            log.last_write = None;
            let action = Action::Call { method: SmolStr::new_static(name), args: args() };
            log.push(action);
        }
    });
    Call { kind, name, is_attached, has_returned: false }
}

impl Call {
    /// Logs the return.
    pub fn returns(mut self, ret: impl FnOnce() -> Value) {
        self.has_returned = true;
        if !self.is_attached {
            return;
        }
        with(|log| {
            log.depth = log.depth.saturating_sub(1);
            if log.depth > 0 {
                return;
            }
            if self.kind == MethodKind::Mutator && log.commits.len() != 1 {
                log.mistake(self.name);
            }
            let action = Action::Return { method: SmolStr::new_static(self.name), ret: ret() };
            log.push(action);
        });
    }
}

impl Drop for Call {
    /// A method that panics does not return.
    fn drop(&mut self) {
        if self.is_attached && !self.has_returned {
            with(|log| log.depth = log.depth.saturating_sub(1));
        }
    }
}

/// Calls a method that cannot be annotated, such as one of somebody else's structure, and logs that under this name. Nobody expects a commit
/// of it: for [`Harness::linearize`](super::Harness::linearize).
pub fn logged_call<A: Into<Value>, R: Clone + Into<Value>>(
    name: &'static str,
    args: impl IntoIterator<Item = A>,
    method: impl FnOnce() -> R,
) -> R {
    let logged = call(MethodKind::Observer, name, || args.into_iter().map(Into::into).collect());
    let result = method();
    logged.returns(|| result.clone().into());
    result
}

/// Logs a commit.
#[track_caller]
pub fn commit() {
    let place = Location::caller();
    with(|log| {
        log.commits.push(place);
        log.push(Action::Commit);
    });
}

/// Logs a write.
#[track_caller]
pub fn write(target: impl FnOnce() -> SmolStr, value: impl FnOnce() -> Value) {
    let place = Location::caller();
    with_views(|log| {
        log.last_write = Some(place);
        log.push(Action::Write { target: target(), value: value() });
    });
}

/// Logs an entry that is replayed as a whole.
#[track_caller]
pub fn replay(entry: impl FnOnce() -> SmolStr, value: impl FnOnce() -> Value) {
    let place = Location::caller();
    with_views(|log| {
        log.last_write = Some(place);
        log.push(Action::Replay { entry: entry(), value: value() });
    });
}

/// A commit block that is open.
#[must_use]
pub struct Block(());

impl Block {
    /// Logs its beginning.
    pub fn begin() -> Block {
        with_views(|log| log.push(Action::BlockBegin));
        Block(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        with_views(|log| log.push(Action::BlockEnd));
    }
}
