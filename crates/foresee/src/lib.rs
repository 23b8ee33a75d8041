//! Annotations for programs that `foresee` records.
//!
//! foresee sees memory, locks and threads of a program without any help. What it cannot see is what they mean: that an iterator
//! was created, that two statements belong together, that a hand-made queue hands over what a thread did. A program says
//! that with this crate:
//!
//! | | |
//! |---|---|
//! | [`event!`] | something happened that a property talks about |
//! | [`watch!`] | name a variable, and record the values it has |
//! | [`atomic!`], [`#[atomic]`](attr::atomic) | this is meant to be one step |
//! | [`local!`] | a variable of this thread that a property talks about |
//! | [`name_lock`] | what to call a lock in reports |
//! | [`happens_before`], [`happens_after`] | an order between threads that is made by other means |
//!
//! # Cost
//!
//! In a normal build the macros expand to code that is checked and never runs: their arguments are not evaluated.
//! `cargo foresee` builds with `--cfg foresee`; only then they call the recorder, through weak references, so a program built
//! so without the recorder linked to it runs as well. The crate needs no `std`, nothing at run time and no `unsafe` where
//! it is used.
//!
//! # Example
//!
//! ```
//! use std::sync::Mutex;
//!
//! struct Account { balance: Mutex<i64> }
//!
//! impl Account {
//!     fn withdraw(&self, amount: i64) -> bool {
//!         foresee::event!(withdraw, account = self, amount = amount);
//!         foresee::atomic! {
//!             let enough = *self.balance.lock().unwrap() >= amount;
//!             if enough {
//!                 *self.balance.lock().unwrap() -= amount;   // found: another withdrawal may come in between
//!             }
//!             enough
//!         }
//!     }
//! }
//!
//! let account = Account { balance: Mutex::new(100) };
//! foresee::name_lock(&account.balance, "balance");
//! assert!(account.withdraw(60));
//! ```

#![no_std]

#[cfg(test)]
extern crate std;

mod arguments;

/// How annotations are done: as calls of the recorder.
#[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
#[path = "recorded.rs"]
mod how;

/// How annotations are done: not at all.
#[cfg(not(all(foresee, target_arch = "x86_64", target_os = "linux")))]
#[path = "unrecorded.rs"]
mod how;

pub use arguments::{Arg, IntoArg, IntoLocal};
pub use how::{happens_after, happens_before, name_lock};

#[doc(hidden)]
pub use how::private;

/// Attributes. They have a module of their own because the block [`atomic!`] has the same name.
pub mod attr {
    /// The body of this function is meant to be one step, as in [`atomic!`](crate::atomic!).
    ///
    /// The block is called after the function, with its module, or as the attribute says: `#[atomic("transfer")]`.
    ///
    /// ```
    /// use foresee::attr::atomic;
    ///
    /// #[atomic]
    /// fn increment<T: Copy + std::ops::Add<Output = T>>(x: &std::cell::Cell<T>, by: T) {
    ///     x.set(x.get() + by);
    /// }
    ///
    /// let x = std::cell::Cell::new(1);
    /// increment(&x, 2);
    /// assert_eq!(x.get(), 3);
    /// ```
    ///
    /// An `async` function may be continued by another thread, so its body cannot be a block:
    ///
    /// ```compile_fail
    /// #[foresee::attr::atomic]
    /// async fn f() {}
    /// ```
    ///
    /// Nor can a `const` function be atomic, or what is no function:
    ///
    /// ```compile_fail
    /// #[foresee::attr::atomic]
    /// const fn f() {}
    /// ```
    ///
    /// ```compile_fail
    /// #[foresee::attr::atomic]
    /// struct S;
    /// ```
    pub use foresee_macros::atomic;
}

/// Reports an event by name, with up to any number of arguments.
///
/// A property declares its events with parameters, `event use_iter(i);`, and arguments are matched with these by position. They may
/// be named here for whoever reads the program. What can be an argument: numbers, `bool`, `char`, `&str`, and objects,
/// given as references or pointers and known by their address ([`IntoArg`]).
///
/// ```
/// let (map, key) = (vec![1, 2, 3], "k");
/// foresee::event!(update, map = &map, key = key, count = map.len());
/// foresee::event!("phase two");
/// foresee::event!(seen, &map, 7_u8);
/// ```
///
/// Arguments are evaluated in recorded programs only:
///
/// ```
/// fn expensive() -> i32 { panic!("not evaluated") }
/// # #[cfg(not(foresee))]
/// foresee::event!(checked, expensive());
/// ```
#[macro_export]
macro_rules! event {
    ($name:ident $(, $($args:tt)*)?) => { $crate::__arguments!([::core::stringify!($name)] [] $($($args)*)?) };
    ($name:literal $(, $($args:tt)*)?) => { $crate::__arguments!([$name] [] $($($args)*)?) };
}

/// From named and unnamed arguments to a list of expressions.
#[doc(hidden)]
#[macro_export]
macro_rules! __arguments {
    ($name:tt [$($done:expr,)*] $key:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::__arguments!($name [$($done,)* $value,] $($($rest)*)?)
    };
    ($name:tt [$($done:expr,)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::__arguments!($name [$($done,)* $value,] $($($rest)*)?)
    };
    ([$name:expr] [$($value:expr,)*]) => { $crate::__event!([$name] [] $($value,)*) };
}

/// Names a variable and has its values recorded: reads and writes of it carry them from here on.
///
/// The name is the variable as it is written, or one that is given. Parts of up to eight bytes that are accessed at once have
/// values. Nothing is read here: an annotation is no access, and races with none. Name a variable before it is used.
///
/// ```
/// use std::cell::UnsafeCell;
///
/// struct Plane { landing: UnsafeCell<bool>, altitude: u32 }
///
/// let plane = Plane { landing: false.into(), altitude: 900 };
/// foresee::watch!("landing", plane.landing);
/// foresee::watch!(plane.altitude);
/// ```
#[macro_export]
macro_rules! watch {
    ($name:literal, $place:expr $(,)?) => {
        $crate::__watch!($name, $place)
    };
    ($place:expr $(,)?) => {
        $crate::__watch!(::core::stringify!($place), $place)
    };
}

/// A block that is meant to be one step: whatever other threads do, the result should be as if they had done it before or
/// after.
///
/// foresee looks for schedules in which it is not. Blocks may be left in every way (`return`, `?`, a panic) and may nest. The value
/// is that of the last expression. Without a name the block is called after its place.
///
/// ```
/// fn first(list: &[i32]) -> Option<i32> {
///     foresee::atomic! {
///         let one = list.first()?;
///         Some(*one)
///     }
/// }
/// assert_eq!((first(&[4]), first(&[])), (Some(4), None));
/// assert_eq!(foresee::atomic!("sum", { 1 + 2 }), 3);
/// ```
#[macro_export]
macro_rules! atomic {
    ($name:literal, { $($body:tt)* } $(,)?) => {{
        $crate::__block!($name);
        $($body)*
    }};
    ($($body:tt)*) => {{
        $crate::__block!(::core::concat!(::core::file!(), ":", ::core::line!()));
        $($body)*
    }};
}

/// Assigns a variable of this thread, of which properties of several threads talk (`local critical: bool;`).
///
/// ```
/// foresee::local!(critical = true);
/// foresee::local!(round = 3);
/// ```
#[macro_export]
macro_rules! local {
    ($name:ident = $value:expr $(,)?) => {
        $crate::__local!(::core::stringify!($name), $value)
    };
}
