//! The vectors of a shared variable, and what an event does to variables.

use crate::knowledge::Knowledge;
use crate::trail::Trail as _;
use crate::vector::Vector;

/// The vectors of a shared variable: of a piece of memory, a lock, or anything else by which threads exchange information.
///
/// Nearly always the two vectors are the same: a write makes them so. The access vector is only kept where somebody has read the variable since who knew more.
#[derive(Clone, Debug, Default)]
pub struct Variable<V> {
    /// Public information: what was known at the last write.
    write: V,
    written_at: u64,
    /// Private information: what everybody knew who has read it since the last write, and that write; if there is any that is not public.
    readers: V,
    has_readers: bool,
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
}

impl<V: Vector> Variable<V> {
    /// A thread that knows this has read it: it is private to the variable until the next write.
    pub fn is_read(&mut self, known: &V, event: u64) {
        let access = self.access_place();
        if access.is_same(known) || !access.get().is_behind(known.get()) {
            return;
        }
        if known.get().is_behind(access.get()) {
            if !self.has_readers {
                self.readers.become_like(&self.write);
            }
            self.readers.change().learn(known.get(), |_, trail| trail.pass(event));
        } else {
            self.readers.become_like(known);
            self.accessed_at = event;
        }
        self.has_readers = true;
    }

    /// A thread that knows this has written it: that, which is all that the variable knew, is public.
    #[inline]
    pub fn is_written(&mut self, known: &V, event: u64) {
        if self.has_readers && self.readers.is_same(known) {
            // It has just read it.
            std::mem::swap(&mut self.readers, &mut self.write);
        } else if !self.write.is_same(known) {
            self.write.become_like(known);
        }
        self.has_readers = false;
        (self.accessed_at, self.written_at) = (event, event);
    }

    #[inline]
    fn access_place(&self) -> &V {
        if self.has_readers { &self.readers } else { &self.write }
    }

    /// Its access vector.
    pub fn access(&self) -> &Knowledge<V::Trail> {
        self.access_place().get()
    }

    /// Its write vector.
    pub fn public(&self) -> &Knowledge<V::Trail> {
        self.write.get()
    }

    /// What it tells its readers, and since when.
    #[inline]
    pub(crate) fn for_readers(&self) -> (&V, u64) {
        (&self.write, self.written_at)
    }

    /// What it tells who writes it, and since when.
    #[inline]
    pub(crate) fn for_writers(&self) -> (&V, u64) {
        (self.access_place(), self.accessed_at)
    }
}
