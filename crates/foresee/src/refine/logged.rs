//! Variables whose writes are logged.

use std::ops::Deref;

use foresee_refine::{SmolStr, Value};

use super::{thread, words};

/// A variable whose writes are logged, if the feature `refine` is on; otherwise just the variable.
///
/// It is written through `&mut`, so under the lock that protects it, and the log has the writes in the order of the lock. The writes of an operation and its
/// commit belong in one [`commit_block!`](crate::commit_block!).
#[derive(Clone, Debug)]
pub struct Logged<T> {
    value: T,
    name: SmolStr,
}

impl<T: Clone + Into<Value>> Logged<T> {
    /// A variable with this value, which is not logged. The name is that of the variable in the log, such as `A[3].elt`.
    pub fn new<N: Into<SmolStr>>(name: impl FnOnce() -> N, value: T) -> Logged<T> {
        Logged { value, name: name().into() }
    }

    /// Writes it.
    #[track_caller]
    pub fn set(&mut self, value: T) {
        self.value = value;
        words::write(&self.name, || self.value.clone().into());
        thread::write(|| self.name.clone(), || self.value.clone().into());
    }
}

impl<T> Deref for Logged<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
