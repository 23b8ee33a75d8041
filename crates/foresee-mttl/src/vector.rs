//! How vectors are kept: in place, or shared until they differ.
//!
//! The cells and locks of a program keep them in place, each under its own lock, and copy entries: no allocation once everybody is known, no counter that
//! threads share. Where all of a program's memory is followed, over a trace or in the process, very many variables have the vector of their last writer, and most of these
//! are the same: there they are shared, and copied when one changes.

use std::rc::Rc;
use std::sync::Arc;

use crate::knowledge::Knowledge;
use crate::trail::Trail;

/// A place for a knowledge vector.
pub trait Vector: Default {
    /// What is noted of the way of knowledge.
    type Trail: Trail;

    /// The vector.
    fn get(&self) -> &Knowledge<Self::Trail>;

    /// The vector, to be changed.
    fn change(&mut self) -> &mut Knowledge<Self::Trail>;

    /// Becomes the same as another.
    fn become_like(&mut self, other: &Self);

    /// Whether the two are known to be the same, at no cost.
    fn is_same(&self, other: &Self) -> bool;
}

impl<T: Trail> Vector for Knowledge<T> {
    type Trail = T;

    #[inline]
    fn get(&self) -> &Knowledge<T> {
        self
    }

    #[inline]
    fn change(&mut self) -> &mut Knowledge<T> {
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

macro_rules! shared_vectors {
    ($($pointer:ident),*) => {
        $(impl<T: Trail> Vector for $pointer<Knowledge<T>> {
            type Trail = T;

            #[inline]
            fn get(&self) -> &Knowledge<T> {
                self
            }

            #[inline]
            fn change(&mut self) -> &mut Knowledge<T> {
                $pointer::make_mut(self)
            }

            #[inline]
            fn become_like(&mut self, other: &Self) {
                *self = $pointer::clone(other);
            }

            #[inline]
            fn is_same(&self, other: &Self) -> bool {
                $pointer::ptr_eq(self, other)
            }
        })*
    };
}

shared_vectors!(Rc, Arc);
