//! Identities of objects, and their ends.
//!
//! Rust moves values, so an address is an identity only as long as its object stays where it is: behind a `Box` or an `Arc`, in a
//! collection that is not changed, in a local variable. For all else there is [`Life`], a number that is never used twice, which
//! an object carries along and which ends with it.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, thread_local};

use super::{Kind, Monitor, Sharing, Step, all, sharing};
use crate::{Arg, IntoArg};

/// Set in all identities that are not addresses.
const ID: u64 = 1 << 63;

/// Identities are handed out to threads in blocks.
const BLOCK: u64 = 1024;

pub(super) fn is_id(value: u64) -> bool {
    value & ID != 0
}

/// An identity that no other object ever had.
#[inline]
pub(super) fn next_id() -> u64 {
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

/// A number for the thread that calls, from 1.
#[inline]
pub(super) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

/// Texts with the same letters are the same object.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish() & !ID
}

/// A value as it is shown in messages: small numbers as they are, addresses with `@`, identities with `#`.
pub(super) struct Shown(pub(super) u64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            small @ 0..4096 => write!(f, "{small}"),
            id if is_id(id) => write!(f, "#{}", id & !ID),
            address => write!(f, "@{address:x}"),
        }
    }
}

/// The identity of an object that has a [`Life`]. It can be an argument of any event, wherever the object is by now.
#[derive(Clone, Copy)]
pub struct ObjectId<'a>(&'a Life);

impl ObjectId<'_> {
    /// What monitors know the object by.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0.id
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

impl<'a> IntoArg<'a> for ObjectId<'a> {
    #[inline]
    fn into_arg(self) -> Arg<'a> {
        Arg::Id(self)
    }
}

/// A value of an event, and who is to be told if its object ends.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(super) value: u64,
    life: Option<ObjectId<'a>>,
}

impl<'a> Key<'a> {
    /// The number, the address, the identity, or for texts a hash of theirs.
    #[inline]
    pub fn of(value: impl IntoArg<'a>) -> Key<'a> {
        match value.into_arg() {
            Arg::Int(number) => Key { value: number as u64, life: None },
            Arg::Object(object) => Key { value: object.addr() as u64, life: None },
            Arg::Str(text) => Key { value: hash(text), life: None },
            Arg::Id(id) => Key { value: id.number(), life: Some(id) },
        }
    }

    /// The object's life, if it has one.
    #[inline]
    pub(super) fn life(self) -> Option<&'a Life> {
        self.life.map(|id| id.0)
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
    /// Facts about events that change nothing; see [`idle`](super::idle).
    pub(super) idle: [AtomicU64; 2],
    /// Instances that are in the object; see [`resident`](super::resident).
    pub(super) states: [AtomicU64; 2],
}

impl Life {
    /// Whether a monitor with this bit has learnt something about the object.
    #[inline]
    pub(super) fn is_known_to(&self, monitor: u64) -> bool {
        self.known_to.load(Ordering::Relaxed) & monitor != 0
    }

    /// The monitor with this bit has learnt something about the object, and wants to know of its end.
    pub(super) fn make_known_to(&self, monitor: u64) {
        if !self.is_known_to(monitor) {
            self.known_to.fetch_or(monitor, Ordering::Relaxed);
        }
    }
}

impl Life {
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
        if *self.known_to.get_mut() != 0 {
            self.end();
        }
    }
}

impl Life {
    fn end(&mut self) {
        let known_to = *self.known_to.get_mut();
        let key = Key { value: self.id, life: Some(self.id()) };
        let is_told = |running: &super::Running| running.bit() & known_to != 0;
        for monitor in all().filter(|monitor| monitor.running.get().is_some_and(is_told)) {
            monitor.object_gone(key, Location::caller());
        }
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

/// This object, which monitors know by its address, ends: they forget it, and what comes to lie at its address is another object.
///
/// Call it where the object is dropped, or freed, or moved away.
///
/// ```
/// let buffer = Box::new([0_u8; 64]);
/// foresee::event!(buffer_fill, &*buffer);
/// foresee::release(&*buffer);
/// drop(buffer);
/// ```
#[track_caller]
pub fn release<T: ?Sized>(object: &T) {
    let address = std::ptr::from_ref(object).cast::<()>().addr() as u64;
    let key = Key { value: address, life: None };
    let at = Location::caller();
    let mut has_locals = false;
    for monitor in all().filter(|monitor| monitor.running.get().is_some()) {
        has_locals |= monitor.declaration.sharing != Sharing::Locked;
        monitor.object_gone(key, at);
    }
    if has_locals {
        sharing::tell_other_threads(address);
    }
}

/// The program ends: tells all properties that have the event `end_program`.
///
/// Nothing in Rust runs at the end of every program, so programs that have such properties call this at theirs.
#[track_caller]
pub fn end_program() {
    let at = Location::caller();
    for monitor in all() {
        monitor.events_of(Kind::EndProgram).for_each(|(event, _)| monitor.event_at(event, &[], at));
    }
}

impl Monitor {
    fn object_gone(&'static self, object: Key<'_>, at: &'static Location<'static>) {
        for (event, _) in self.events_of(Kind::EndObject) {
            self.event_at(event, &[object], at);
        }
        self.step(Step::Gone(object.value), at);
    }
}
