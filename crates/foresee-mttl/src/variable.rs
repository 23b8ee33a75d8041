//! The vectors of a shared variable, and what an event does to variables.

use crate::knowledge::{Knowledge, Version};
use crate::trail::Trail as _;
use crate::vector::Vector;

/// The vectors of a shared variable: of a piece of memory, a lock, or anything else by which threads exchange information.
///
/// Nearly always the two vectors are the same: a write makes them so. The access vector is only kept where somebody has read the variable since who knew more.
#[derive(Clone, Debug, Default)]
pub struct Variable<V> {
    /// Public information, what was known at the last write; and private information, what everybody knew who has read it since and that write, if there
    /// is any that is not public. Which is which changes.
    vectors: [V; 2],
    /// Which is public.
    write: bool,
    /// Which says all: the other one if there is private information, otherwise the same.
    access: bool,
    /// The version of the latter, so that whoever accessed it last need not look there.
    accessed: Version,
    written_at: u64,
    /// When the access vector became that of a thread.
    accessed_at: u64,
}

/// What an event does to the variables that formulas speak of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accessed {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

impl Accessed {
    /// It reads this variable of the program, too.
    #[must_use]
    pub fn reading(self, variable: u32) -> Accessed {
        Accessed { reads: self.reads | 1 << variable, ..self }
    }

    /// It writes this variable of the program, too.
    #[must_use]
    pub fn writing(self, variable: u32) -> Accessed {
        Accessed { writes: self.writes | 1 << variable, ..self }
    }

    /// The variables of the program that it writes, as bits.
    pub fn written(self) -> u64 {
        self.writes
    }
}

impl<V: Vector> Variable<V> {
    /// Whether the thread whose vector this is has nothing to learn here, as it is the last that accessed it. (Not to be asked before its first event: until then, its vector is its parent's.)
    #[inline(always)]
    pub(crate) fn is_accessed_by(&self, known: &V) -> bool {
        known.get().version.is_of_same(self.accessed)
    }

    /// The thread that has accessed it last, and knows this, has read it again. Whether that changes anything.
    #[inline(always)]
    pub(crate) fn is_read_again(&mut self, known: &V, event: u64) -> bool {
        let is_new = known.get().version.is_other_number(self.accessed);
        if is_new {
            self.put(!self.write, known);
            self.accessed_at = event;
        }
        is_new
    }

    /// The thread that has accessed it last, and knows this, has written it. Whether that changes anything.
    #[inline(always)]
    pub(crate) fn is_written_again(&mut self, known: &V, event: u64) -> bool {
        (self.accessed_at, self.written_at) = (event, event);
        if known.get().version.is_other_number(self.accessed) {
            self.put(self.write, known);
            return true;
        }
        std::mem::replace(&mut self.write, self.access) != self.access
    }

    /// A thread that knows this has read it: it is private to the variable until the next write. Whether that changes anything.
    #[inline(always)]
    pub fn is_read(&mut self, known: &V, event: u64) -> bool {
        if self.access_place().is_same(known) {
            return false;
        }
        // It is often the one that has accessed it before, or knows all that that one knew.
        let before = self.accessed;
        let is_all_known = known.get().version.is_later(before) || known.get().includes(before);
        if is_all_known || self.is_new_to_all(known, event) {
            self.put(!self.write, known);
            self.accessed_at = event;
        }
        true
    }

    /// The access vector is this one now, with this in it.
    #[inline(never)]
    fn put(&mut self, which: bool, known: &V) {
        (self.access, self.accessed) = (which, known.get().version);
        self.vectors[usize::from(which)].become_like(known);
    }

    /// Whether who reads it now knows all that it knows, and more. If both know something, notes that.
    #[inline(never)]
    fn is_new_to_all(&mut self, known: &V, event: u64) -> bool {
        let access = self.access_place().get();
        let (is_news, is_all) = (access.is_behind(known.get()), !known.get().is_behind(access));
        if is_news && !is_all {
            if self.access == self.write {
                let [first, second] = &mut self.vectors;
                match self.write {
                    true => first.become_like(second),
                    false => second.become_like(first),
                }
                self.access = !self.write;
            }
            let access = self.vectors[usize::from(self.access)].change();
            access.learn(known.get(), |_, trail| trail.pass(event));
            self.accessed = access.version;
        }
        is_news && is_all
    }

    /// A thread that knows this has written it: that, which is all that the variable knew, is public. Whether that changes anything.
    #[inline(always)]
    pub fn is_written(&mut self, known: &V, event: u64) -> bool {
        (self.accessed_at, self.written_at) = (event, event);
        if self.access_place().is_same(known) {
            // If there are readers, it has just read it.
            let has_readers = self.access != self.write;
            self.write = self.access;
            return has_readers;
        }
        self.put(self.write, known);
        true
    }

    #[inline]
    fn write(&self) -> &V {
        &self.vectors[usize::from(self.write)]
    }

    #[inline]
    fn access_place(&self) -> &V {
        &self.vectors[usize::from(self.access)]
    }

    /// Its access vector.
    pub fn access(&self) -> &Knowledge<V::Trail> {
        self.access_place().get()
    }

    /// Its write vector.
    pub fn public(&self) -> &Knowledge<V::Trail> {
        self.write().get()
    }

    /// What it tells its readers, and since when.
    #[inline]
    pub(crate) fn for_readers(&self) -> (&V, u64) {
        (self.write(), self.written_at)
    }

    /// What it tells who writes it, and since when.
    #[inline]
    pub(crate) fn for_writers(&self) -> (&V, u64) {
        (self.access_place(), self.accessed_at)
    }
}
