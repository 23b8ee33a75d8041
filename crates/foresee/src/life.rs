//! Identities of objects.
//!
//! Rust moves values, so an address is an identity only as long as its object stays where it is: behind a `Box` or an `Arc`, in a
//! collection that is not changed, in a local variable. For everything else there is [`Life`], a number that is never used twice, which
//! an object carries along and which ends with it.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, thread_local};

/// Set in all identities that are not addresses.
const ID: u64 = 1 << 63;

/// Identities are handed out to threads in blocks.
const BLOCK: u64 = 1024;

pub(crate) fn is_id(value: u64) -> bool {
    value & ID != 0
}

/// A value that is not an identity.
pub(crate) fn plain(value: u64) -> u64 {
    value & !ID
}

/// An identity that no other object ever had.
#[inline]
pub(crate) fn next_id() -> u64 {
    static NEXT_BLOCK: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    NEXT.with(|next| {
        let mut id = next.get();
        if id.is_multiple_of(BLOCK) {
            id = NEXT_BLOCK.fetch_add(BLOCK, Ordering::Relaxed);
        }
        next.set(id + 1);
        ID | id
    })
}

/// A value as it is shown in messages: small numbers as they are, addresses with `@`, identities with `#`.
pub(crate) struct Shown(pub(crate) u64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            small @ 0..4096 => write!(f, "{small}"),
            id if is_id(id) => write!(f, "#{}", plain(id)),
            address => write!(f, "@{address:x}"),
        }
    }
}

/// The identity of an object that has a [`Life`]. It can be an argument of any event, wherever the object is by now.
#[derive(Clone, Copy)]
pub struct ObjectId<'a>(&'a Life);

impl<'a> ObjectId<'a> {
    /// What monitors know the object by.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0.id
    }

    #[inline]
    pub(crate) fn life(self) -> &'a Life {
        self.0
    }
}

impl PartialEq for ObjectId<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for ObjectId<'_> {}

impl fmt::Debug for ObjectId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Shown(self.number()), f)
    }
}

/// An identity that lasts as long as the object it is a part of.
///
/// When it is dropped, monitors forget what can no longer come of the object: their memory follows the objects that live. A clone
/// is another object and has another identity.
///
/// ```
/// struct Cursor { at: usize, life: foresee::Life }
///
/// let cursor = Cursor { at: 0, life: foresee::Life::new() };
/// foresee::event!(cursor_next, cursor.life.id());
/// let moved = Box::new(cursor);
/// foresee::event!(cursor_next, moved.life.id());   // the same object
/// # let _ = moved.at;
/// ```
#[derive(Debug)]
pub struct Life {
    id: u64,
    /// The bits of the monitors that know something about it.
    known_to: AtomicU64,
    /// Facts about events that change nothing: `monitor/idle.rs`.
    pub(crate) idle: [AtomicU64; 2],
    /// Instances that are kept in the object: `monitor/resident.rs`.
    pub(crate) states: [AtomicU64; 2],
}

impl Life {
    /// Whether a monitor with this bit has learnt something about the object.
    #[inline]
    pub(crate) fn is_known_to(&self, monitor: u64) -> bool {
        self.known_to.load(Ordering::Relaxed) & monitor != 0
    }

    /// The monitor with this bit has learnt something about the object, and its end is to be reported to it ([`on_end`]).
    pub(crate) fn make_known_to(&self, monitor: u64) {
        if !self.is_known_to(monitor) {
            self.known_to.fetch_or(monitor, Ordering::Relaxed);
        }
    }

    /// The beginning of a life.
    #[inline]
    #[must_use]
    pub fn new() -> Life {
        let [idle, states] = [const { [const { AtomicU64::new(0) }; 2] }; 2];
        Life { id: next_id(), known_to: AtomicU64::new(0), idle, states }
    }

    /// What to report events with.
    #[inline]
    pub fn id(&self) -> ObjectId<'_> {
        ObjectId(self)
    }
}

impl Default for Life {
    fn default() -> Life {
        Life::new()
    }
}

impl Clone for Life {
    fn clone(&self) -> Life {
        Life::new()
    }
}

impl Drop for Life {
    #[inline]
    fn drop(&mut self) {
        let known_to = *self.known_to.get_mut();
        if known_to != 0 {
            end(self.id(), known_to);
        }
    }
}

/// What the end of an object is reported to: the object, and the bits of the monitors that know it.
type Listener = fn(ObjectId<'_>, u64);

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Has the ends of objects that monitors know reported to this function. Called once, before the first monitor learns of an object.
pub(crate) fn on_end(listener: Listener) {
    let _ = LISTENER.set(listener);
}

#[cold]
fn end(object: ObjectId<'_>, known_to: u64) {
    if let Some(report) = LISTENER.get() {
        report(object, known_to);
    }
}

/// A value with a [`Life`], for types that are not yours.
///
/// ```
/// let mut list = foresee::Tracked::new(vec![1, 2]);
/// list.push(3);
/// foresee::event!(coll_update, list.id());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tracked<T> {
    value: T,
    // Dropped last: what the value reports while it is dropped is still about a living object.
    life: Life,
}

impl<T> Tracked<T> {
    /// Gives the value an identity.
    #[inline]
    pub fn new(value: T) -> Tracked<T> {
        Tracked { value, life: Life::new() }
    }

    /// What to report events with.
    #[inline]
    pub fn id(&self) -> ObjectId<'_> {
        self.life.id()
    }

    /// The value alone; for monitors the object ends here.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Tracked<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
