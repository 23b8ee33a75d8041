//! How vectors are kept: in place, or shared until they differ.
//!
//! The cells and locks of a program keep them in place, each under its own lock, and copy entries: no allocation once everybody is known, no counter that
//! threads share. Where all of a program's memory is followed, over a trace or in the process, very many variables have the vector of their last writer, and most of these
//! are the same: there they are shared, and copied when one changes; here for one thread that drives all monitors, and in `foresee-rt` for threads that drive their own. A thread that changes its own often has [`Spares`]: earlier ones, which nobody shares any more when some time has passed.

use std::rc::Rc;

use crate::knowledge::Knowledge;
use crate::trail::Trail;

/// A place for a knowledge vector.
pub trait Vector: Default {
    /// What is noted of the way of knowledge.
    type Trail: Trail;
    /// What a thread keeps in order to change its vector at little cost.
    type Spares: Default + std::fmt::Debug;

    /// The vector.
    fn get(&self) -> &Knowledge<Self::Trail>;

    /// The vector, to be changed.
    fn change(&mut self) -> &mut Knowledge<Self::Trail>;

    /// The vector, to be changed, if nobody shares it.
    fn alone(&mut self) -> Option<&mut Knowledge<Self::Trail>>;

    /// The vector of a thread, to be changed.
    fn renew(&mut self, spares: &mut Self::Spares) -> &mut Knowledge<Self::Trail>;

    /// Becomes the same as another.
    fn become_like(&mut self, other: &Self);

    /// Whether the two are known to be the same, at no cost.
    fn is_same(&self, other: &Self) -> bool;
}

/// So many earlier vectors of a thread are kept: it has usually left some of them at a few variables.
const MOST_SPARES: usize = 4;

/// Earlier vectors of a thread, as pointers.
#[derive(Debug)]
pub struct Spares<P> {
    kept: [Option<P>; MOST_SPARES],
    /// The one that is given up next.
    oldest: usize,
}

impl<P> Default for Spares<P> {
    fn default() -> Self {
        Spares { kept: [const { None }; MOST_SPARES], oldest: 0 }
    }
}

impl<P> Spares<P> {
    /// The place of one that can be used; otherwise one that is free.
    fn place(&mut self, is_unused: impl Fn(&P) -> bool) -> &mut Option<P> {
        let unused = self.kept.iter().position(|kept| kept.as_ref().is_some_and(&is_unused));
        let at = unused.unwrap_or_else(|| {
            self.oldest = (self.oldest + 1) % MOST_SPARES;
            self.kept[self.oldest] = None;
            self.oldest
        });
        &mut self.kept[at]
    }
}

impl<T: Trail> Vector for Knowledge<T> {
    type Trail = T;
    type Spares = ();

    #[inline]
    fn get(&self) -> &Knowledge<T> {
        self
    }

    #[inline]
    fn change(&mut self) -> &mut Knowledge<T> {
        self
    }

    #[inline]
    fn alone(&mut self) -> Option<&mut Knowledge<T>> {
        Some(self)
    }

    #[inline]
    fn renew(&mut self, (): &mut ()) -> &mut Knowledge<T> {
        self
    }

    #[inline]
    fn become_like(&mut self, other: &Self) {
        self.clone_from(other);
    }

    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        self.version == other.version && self.version.is_any()
    }
}

impl<T: Trail> Vector for Rc<Knowledge<T>> {
    type Trail = T;
    type Spares = Spares<Self>;

    #[inline]
    fn get(&self) -> &Knowledge<T> {
        self
    }

    #[inline]
    fn change(&mut self) -> &mut Knowledge<T> {
        Rc::make_mut(self)
    }

    #[inline]
    fn alone(&mut self) -> Option<&mut Knowledge<T>> {
        Rc::get_mut(self)
    }

    fn renew(&mut self, spares: &mut Spares<Self>) -> &mut Knowledge<T> {
        if Rc::strong_count(self) == 1 {
            return Rc::make_mut(self);
        }
        let place = spares.place(|kept| Rc::strong_count(kept) == 1);
        let shared = std::mem::replace(self, place.take().unwrap_or_default());
        let mine = Rc::make_mut(self);
        mine.clone_from(&shared);
        *place = Some(shared);
        mine
    }

    #[inline]
    fn become_like(&mut self, other: &Self) {
        *self = Rc::clone(other);
    }

    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(self, other)
    }
}
