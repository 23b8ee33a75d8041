//! A cell that threads share, and that carries what they know.

use std::fmt;
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::{Mutex, OnceLock, PoisonError};

use foresee_mttl::Accessed;

use super::me::{Vectors, act};
use super::violation::handle;
use super::world::{World, world};
use crate::arguments::IntoLocal;

/// A value that threads share, one at a time; for properties about what threads know it is a shared variable.
///
/// ```
/// static X: foresee::Shared<u32> = foresee::Shared::new(0);
/// X.set(X.get() + 1);      // a read and a write: another thread may come in between
/// X.update(|x| *x += 1);   // one step
/// assert_eq!(X.get(), 2);
/// ```
///
/// With a name, formulas can speak of it: `read(X)`, `write(X)`, and its value, where that is a number. They do before it is accessed, too: if it does not begin with 0, the property says
/// with what (`var X: int = 3;`).
pub struct Shared<T> {
    name: Option<&'static str>,
    /// The number that formulas have for it.
    number: OnceLock<Option<u32>>,
    cell: Mutex<Cell<T>>,
}

struct Cell<T> {
    value: T,
    /// Nothing until the first access that is monitored.
    vectors: Option<Box<Vectors>>,
    /// What formulas see of the value.
    seen: fn(&T) -> Option<i64>,
}

impl<T> Shared<T> {
    /// A cell without a name.
    pub const fn new(value: T) -> Shared<T> {
        let cell = Mutex::new(Cell { value, vectors: None, seen: |_| None });
        Shared { name: None, number: OnceLock::new(), cell }
    }

    /// A cell that formulas call by this name; they do not see its value.
    pub const fn opaque(name: &'static str, value: T) -> Shared<T> {
        let cell = Mutex::new(Cell { value, vectors: None, seen: |_| None });
        Shared { name: Some(name), number: OnceLock::new(), cell }
    }

    /// A cell that formulas call by this name, and whose value they see.
    pub const fn named(name: &'static str, value: T) -> Shared<T>
    where
        T: IntoLocal + Copy,
    {
        let cell =
            Mutex::new(Cell { value, vectors: None, seen: |value| Some((*value).into_local() as i64) });
        Shared { name: Some(name), number: OnceLock::new(), cell }
    }

    /// Looks at the value: a read.
    #[track_caller]
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let mut cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(world) = world() else { return look(&cell.value) };
        let accessed = self
            .number(world, &cell)
            .map_or(Accessed::default(), |number| Accessed::default().reading(number));
        let vectors = cell.vectors.get_or_insert_default();
        let violated = act(world, |me, program| me.read(program, vectors, accessed));
        let result = look(&cell.value);
        drop(cell);
        handle(violated, Location::caller());
        result
    }

    /// Changes the value: a write, which may depend on what was there before.
    #[track_caller]
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.write(change, true)
    }

    /// Puts a value there: a write.
    #[track_caller]
    pub fn set(&self, value: T) {
        self.write(|cell| *cell = value, false);
    }

    /// The value: a read.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.read(|value| *value)
    }

    #[track_caller]
    fn write<R>(&self, change: impl FnOnce(&mut T) -> R, reads: bool) -> R {
        let mut cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(world) = world() else { return change(&mut cell.value) };
        let number = self.number(world, &cell);
        let result = change(&mut cell.value);
        let Cell { value, vectors, seen } = &mut *cell;
        let accessed = number.map_or(Accessed::default(), |number| {
            let accessed = Accessed::default().writing(number);
            if reads { accessed.reading(number) } else { accessed }
        });
        let value = number.and_then(|number| Some((number, seen(value)?)));
        let vectors = vectors.get_or_insert_default();
        let violated = act(world, |me, program| me.write(program, vectors, accessed, value));
        drop(cell);
        handle(violated, Location::caller());
        result
    }

    /// The number that formulas have for the cell. It is looked for at the first access, before that is done.
    #[inline]
    fn number(&self, world: &World, cell: &Cell<T>) -> Option<u32> {
        let name = self.name?;
        match self.number.get() {
            Some(number) => *number,
            None => *self.number.get_or_init(|| world.variable(name, (cell.seen)(&cell.value))),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looking at it in order to print it is no access.
        let cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Shared").field("name", &self.name).field("value", &cell.value).finish()
    }
}
