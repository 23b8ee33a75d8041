//! What a thread logs, and whether its operations commit exactly once.

use std::boxed::Box;
use std::cell::RefCell;
use std::format;
use std::marker::PhantomData;
use std::panic::Location;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

use foresee_refine::log::{Action, Arguments, Thread, ThreadId};
use foresee_refine::{SmolStr, Value};

use super::shared::{Buffer, Shared};

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
    buffer: Arc<Buffer>,
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
pub struct Attached {
    /// It is the thread's own.
    not_send: PhantomData<*const ()>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

pub(super) fn attach(shared: Arc<Shared>, thread: Thread) -> Attached {
    assert!(
        CURRENT.with_borrow(Option::is_none),
        "this thread is attached already; it logs for one recorder at a time"
    );
    let (id, buffer) = (shared.add_thread(thread), shared.add_buffer());
    let random = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let commits = Vec::new();
    let log = ThreadLog { shared, id, buffer, depth: 0, commits, last_write: None, random };
    CURRENT.set(Some(Box::new(log)));
    Attached { not_send: PhantomData }
}

impl ThreadLog {
    fn push(&mut self, action: Action) {
        self.shared.push(&self.buffer, self.id, action);
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

/// Whether this thread logs, such that this holds.
fn logs(such_that: impl FnOnce(&ThreadLog) -> bool) -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(|log| such_that(log)))
}

/// Whether writes and commit blocks are logged.
fn logs_views() -> bool {
    logs(|log| log.shared.has_views)
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
    // What the user's code gives is made first: it may call logged methods itself, or panic.
    let action =
        logs(|log| log.depth == 0).then(|| Action::Call { method: SmolStr::new_static(name), args: args() });
    let mut is_attached = false;
    with(|log| {
        is_attached = true;
        log.depth += 1;
        if let Some(action) = action {
            log.commits.clear();
            log.last_write = None;
            log.push(action);
        }
    });
    Call { kind, name, is_attached, has_returned: false }
}

impl Call {
    /// Logs the return.
    pub fn returns(mut self, ret: impl FnOnce() -> Value) {
        if !self.is_attached || !logs(|log| log.depth == 1) {
            self.has_returned = true;
            return;
        }
        let action = Action::Return { method: SmolStr::new_static(self.name), ret: ret() };
        self.has_returned = true;
        with(|log| {
            if self.kind == MethodKind::Mutator && log.commits.len() != 1 {
                log.mistake(self.name);
            }
            log.push(action);
        });
    }
}

impl Drop for Call {
    /// A method that panics does not return, and whoever waits for its result is told.
    fn drop(&mut self) {
        if self.is_attached {
            CURRENT.with_borrow_mut(|current| {
                if let Some(log) = current {
                    log.depth = log.depth.saturating_sub(1);
                    if log.depth == 0 && !self.has_returned {
                        log.push(Action::Panic);
                    }
                }
            });
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
    if logs_views() {
        log_write(Location::caller(), Action::Write { target: target(), value: value() });
    }
}

/// Logs an entry that is replayed as a whole.
#[track_caller]
pub fn replay(entry: impl FnOnce() -> SmolStr, value: impl FnOnce() -> Value) {
    if logs_views() {
        log_write(Location::caller(), Action::Replay { entry: entry(), value: value() });
    }
}

fn log_write(place: &'static Location<'static>, action: Action) {
    with(|log| {
        log.last_write = Some(place);
        log.push(action);
    });
}

/// A commit block that is open.
#[must_use]
pub struct Block(());

impl Block {
    /// Logs its beginning.
    pub fn begin() -> Block {
        log_block(Action::BlockBegin);
        Block(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        log_block(Action::BlockEnd);
    }
}

fn log_block(action: Action) {
    if logs_views() {
        with(|log| log.push(action));
    }
}
