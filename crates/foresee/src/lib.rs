//! What programs say to foresee: properties that they check of themselves while they run, and annotations for the recorder.
//!
//! # Properties in the program
//!
//! [`monitor!`] turns a property into a module with a function for each of its events. Call these where the events happen:
//!
//! ```
//! foresee::monitor! {
//!     property UnsafeIterator(c, i) {
//!         event create(c, i);
//!         event update(c);
//!         event next(i);
//!         ere: create next* update+ next
//!         @match { report "{c} changed under iterator {i}"; call "stale iterator"; }
//!     }
//! }
//!
//! foresee::on("stale iterator", |verdict| println!("at {}", verdict.location));
//!
//! let list = foresee::Tracked::new(vec![1, 2, 3]);
//! let steps = foresee::Tracked::new(0..3);
//! unsafe_iterator::create(list.id(), steps.id());
//! unsafe_iterator::next(steps.id());
//! unsafe_iterator::update(list.id());
//! unsafe_iterator::next(steps.id());   // foresee: UnsafeIterator (match) at src/lib.rs:9:1: #0 changed under iterator #1
//! assert_eq!(unsafe_iterator::MONITOR.count("match"), 1);
//! ```
//!
//! This works in every build, without the tool and without recording. A wrong spec is an error of the compiler.
//!
//! | | |
//! |---|---|
//! | [`monitor!`], [`include_spec!`] | a property here, or all of a spec file |
//! | [`event!`], [`#[event]`](attr::event) | an event by name, for all properties that have it |
//! | [`Life`], [`Tracked`], [`release`] | who an object is, and when it ends |
//! | [`on`], [`Verdict`] | Rust code that handles verdicts |
//! | [`counts`], [`Monitor`] | how often verdicts came |
//! | [`end_program`], [`register_raw`] | the last event; monitors written in Rust |
//! | [`Shared`], [`Lock`], [`spawn`], [`local!`] | what carries knowledge from thread to thread, for `mttl` bodies |
//! | [`on_violation`], [`KnowledgeMonitor`] | recovery from what such bodies find; how often that was |
//!
//! Properties about what threads know of each other (`mttl`) are checked in the threads themselves, at each event, without a lock that all share:
//!
//! ```
//! foresee::monitor! {
//!     property ExclusiveSections {
//!         thread i, j;
//!         local critical: bool = false;
//!         mttl: @i(critical -> !exists j != i: @j critical)
//!         @violation { recover "leave"; }
//!     }
//! }
//!
//! foresee::on_violation("leave", |verdict| println!("{} should not be inside", verdict.thread));
//!
//! static X: foresee::Shared<u32> = foresee::Shared::new(0);
//! fn critical() {
//!     foresee::local!(critical = true);
//!     X.set(X.get() + 1);              // no lock: the second thread learns here that the first was inside
//!     foresee::local!(critical = false);
//! }
//! foresee::spawn(critical).join().unwrap();
//! assert_eq!(exclusive_sections::MONITOR.violations(), 0);   // the join has told that it has left
//! let other = foresee::spawn(critical);
//! while X.read(|x| *x) < 2 {}
//! critical();
//! # drop(other);
//! ```
//!
//! # Annotations
//!
//! foresee sees memory, locks and threads of a program without any help. What it cannot see is what they mean: that an iterator
//! was created, that two statements belong together, that a hand-made queue hands over what a thread did. A program says
//! that with these:
//!
//! | | |
//! |---|---|
//! | [`event!`], [`#[event]`](attr::event) | something happened that a property talks about |
//! | [`watch!`] | name a variable, and record the values it has |
//! | [`atomic!`], [`#[atomic]`](attr::atomic) | this is meant to be one step |
//! | [`local!`] | a variable of this thread that a property talks about |
//! | [`name_lock`] | what to call a lock in reports |
//! | [`happens_before`], [`happens_after`] | an order between threads that is made by other means |
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
//!
//! # Concurrent structures against their specifications
//!
//! | | |
//! |---|---|
//! | [`#[mutator]`](attr::mutator), [`#[observer]`](attr::observer) | log the calls of a method |
//! | [`commit!`], [`commit_block!`] | where an operation takes effect; which writes are one step |
//! | [`Logged`], [`log_write!`], [`log_replay!`] | what the contents of the structure are made of |
//!
//! With the feature `refine` these log to whoever listens: a checker beside the program, a file for `foresee refine`, or the harness of
//! `refine_test!`. Without it they are nothing. In a program that foresee records they are words of the trace as well, so that `foresee refine TRACE` can tell of
//! this run and of others.
//!
//! # Cost
//!
//! In a normal build annotations expand to code that is checked and never runs: their arguments are not evaluated. An event that no
//! property of the program has costs one load. `cargo foresee` builds with `--cfg foresee`; only then they call the recorder, through
//! weak references, so a program built so without the recorder linked to it runs as well. No `unsafe` is needed where the crate is used.
//!
//! An event of a property costs a few instructions while it changes nothing, otherwise a lock and a step of each instance
//! that includes its objects; `perthread` and `unsynchronized` properties take no lock.
//!
//! Without the feature `monitor`, which is on by default, there are only annotations; then the crate needs nothing at run time, not
//! even `std`.

#![no_std]
#![warn(clippy::undocumented_unsafe_blocks)]

#[cfg(any(feature = "monitor", feature = "refine"))]
extern crate std;

#[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
#[macro_use]
mod weak;

mod arguments;
#[cfg(feature = "monitor")]
mod aside;
#[cfg(feature = "monitor")]
mod life;
#[cfg(feature = "monitor")]
mod monitor;
mod monitor_event;
#[cfg(feature = "refine")]
pub mod refine;
#[cfg(not(feature = "refine"))]
mod unrefined;

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
#[cfg(feature = "monitor")]
pub use life::{Life, ObjectId, Tracked};
#[cfg(feature = "monitor")]
pub use monitor::knowledge::{
    Condition, JoinHandle, KnowledgeMonitor, Lock, LockGuard, ReadGuard, RwLock, Shared, WriteGuard,
    on_violation, spawn, spawn_named,
};
#[cfg(feature = "monitor")]
pub use monitor::{Count, Monitor, RawMonitor, Verdict, counts, end_program, on, register_raw, release};
#[cfg(feature = "refine")]
pub use refine::Logged;
#[cfg(not(feature = "refine"))]
pub use unrefined::Logged;

#[cfg(feature = "monitor")]
#[doc(hidden)]
pub use monitor::private as monitor_private;

#[doc(hidden)]
pub use how::private;

/// Attributes. They have a module of their own because [`atomic!`] and [`event!`] have the same names.
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
    /// Neither a `const` function nor anything that is not a function can be atomic:
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

    /// Each call of this function is an event, as by [`event!`](crate::event!).
    ///
    /// The arguments are expressions over the function's own, as they are before its body runs; a reference stands for the object. One
    /// that mentions `result`, what the function gives back, is looked at afterwards, and then the event comes after the body.
    ///
    /// ```
    /// use foresee::attr::event;
    ///
    /// struct List { items: Vec<u32>, life: foresee::Life }
    /// struct Steps<'a> { rest: std::slice::Iter<'a, u32>, life: foresee::Life }
    ///
    /// impl List {
    ///     #[event(coll_update(self.life.id()))]
    ///     fn push(&mut self, item: u32) {
    ///         self.items.push(item);
    ///     }
    ///
    ///     #[event(iter_create(self.life.id(), result.life.id()))]
    ///     fn steps(&self) -> Steps<'_> {
    ///         Steps { rest: self.items.iter(), life: foresee::Life::new() }
    ///     }
    /// }
    ///
    /// let mut list = List { items: vec![], life: foresee::Life::new() };
    /// list.push(1);
    /// assert_eq!(list.steps().rest.next(), Some(&1));
    /// ```
    ///
    /// ```compile_fail
    /// #[foresee::attr::event]      // which one?
    /// fn f() {}
    /// ```
    pub use foresee_macros::event;

    /// This method of a concurrent structure may change it. With the feature `refine` its calls are logged, with arguments and result.
    ///
    /// Each path through it needs exactly one [`commit!`](crate::commit!). The log calls it as Rust does, or as the attribute says:
    /// `#[mutator("insertPair")]`. Arguments and results must be `Clone` and `Into<foresee::refine::Value>`.
    /// If its writes are logged, they and its commit belong in one [`commit_block!`](crate::commit_block!).
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use foresee::attr::{mutator, observer};
    ///
    /// struct Counter(Mutex<i64>);
    ///
    /// impl Counter {
    ///     #[mutator]
    ///     fn fetch_add(&self, by: i64) -> i64 {
    ///         let mut count = self.0.lock().unwrap();
    ///         let before = *count;
    ///         *count += by;
    ///         foresee::commit!();
    ///         before
    ///     }
    ///
    ///     #[observer]
    ///     fn get(&self) -> i64 {
    ///         *self.0.lock().unwrap()
    ///     }
    /// }
    ///
    /// let counter = Counter(Mutex::new(0));
    /// assert_eq!((counter.fetch_add(2), counter.get()), (0, 2));
    /// ```
    pub use foresee_macros::mutator;

    /// This method of a concurrent structure never changes it. With the feature `refine` its calls are logged; it needs no commit.
    pub use foresee_macros::observer;
}

/// Monitors properties in this program: the text of a spec, without quotes.
///
/// Each property becomes a module of its name in small letters, `UnsafeIterator` becomes `unsafe_iterator`, with
/// - a function for each event, `unsafe_iterator::next(i)`; its arguments are what [`event!`] takes;
/// - a function for each variable, `set_x(value)` for `var x: int`;
/// - `MONITOR`, the [`Monitor`], which knows how often each verdict came.
///
/// Handlers `report` on standard error, `count`, `reset`, `abort`, and `call "name"` or `recover "name"` what was registered with [`on`].
///
/// What cannot be written in Rust's tokens, the interval `[p, q)`, `/\` and `\/`, needs a raw string: `monitor!(r#"property …"#)`.
///
/// Threads share the instances of a property, which are behind a lock. The modifiers `perthread` (each thread has its own, and
/// sees its own events only) and `unsynchronized` (one thread does all events, or one after the end of another) do without.
///
/// A wrong spec does not compile:
///
/// ```compile_fail
/// foresee::monitor! {
///     property Typo(f) {
///         event open(f);
///         ere: opne
///         @match { count; }
///     }
/// }
/// ```
#[cfg(feature = "monitor")]
pub use foresee_macros::monitor;

/// Monitors the properties of a spec file in this program, as [`monitor!`] does: `include_spec!("rules.rv")`.
///
/// The path is that from the file with the macro, as for `include_str!`.
#[cfg(feature = "monitor")]
pub use foresee_macros::include_spec;

/// Reports an event by name, with up to any number of arguments: to the recorder, and to the monitors of this program.
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
/// Arguments are evaluated only if somebody wants to know: in recorded programs, and where a monitor has the event.
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
/// values. Nothing is read here: an annotation is not an access and races with nothing. Name a variable before it is used.
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

/// The operation under way takes effect here: in the order of these commits it is held against its specification.
///
/// Write it where others can see the effect first, while the lock that protects it is still held; with a condition where
/// only some paths commit here. Without the feature `refine` it is nothing, and the condition is not evaluated.
///
/// If writes are logged as well ([`log_write!`], [`Logged`]), the writes of an operation and its commit belong in one [`commit_block!`], also where a
/// lock is held all along: with several locks in a structure, others may commit between the write and the commit, and would see an effect of which the
/// specification does not know yet.
///
/// ```
/// # fn insert(found: bool) {
/// foresee::commit!(if found);
/// # if !found {
/// foresee::commit!();
/// # }
/// # }
/// # insert(true);
/// ```
#[macro_export]
macro_rules! commit {
    () => {
        $crate::__commit!()
    };
    (if $condition:expr) => {
        $crate::__commit!($condition)
    };
}

/// A block whose logged writes appear to commits of other threads as done at once or not at all.
///
/// It must be atomic: by locks that it holds, for instance. The value is that of the last expression.
///
/// Whoever logs writes needs one around the writes of each operation and its commit: only then both happen at the same time for all others. One lock
/// around both is enough only if all operations of the structure take that very lock.
///
/// ```
/// let sum = foresee::commit_block! {
///     let both = 1 + 2;
///     foresee::commit!();
///     both
/// };
/// assert_eq!(sum, 3);
/// ```
#[macro_export]
macro_rules! commit_block {
    ($($body:tt)*) => {{
        $crate::__commit_block!();
        $($body)*
    }};
}

/// Logs the write of a variable that the view of a structure depends on: its name and its new value. [`Logged`] does so by itself.
///
/// It belongs in one [`commit_block!`] with the commit of its operation. A write outside of blocks counts at once, before its commit does.
///
/// A name that is made of parts is a format in brackets, which is cheaper than `format!`.
///
/// ```
/// let (index, element) = (3, 7);
/// foresee::log_write!(["elem[{}]", index], element);
/// foresee::log_write!("size", 4);
/// ```
#[macro_export]
macro_rules! log_write {
    ([$($format:tt)*], $value:expr $(,)?) => {
        $crate::__log_entry!(write, [$($format)*], $value)
    };
    ($target:expr, $value:expr $(,)?) => {
        $crate::__log_entry!(write, $target, $value)
    };
}

/// Logs several writes at once as one entry, which the structure's replica repeats (`Replica::replay`): a list of variables with their values, or
/// whatever a replica of one's own makes of it, such as an object that was serialised.
///
/// ```
/// foresee::log_replay!("push", vec![("elem[3]", 7), ("size", 4)]);
/// foresee::log_replay!(["page[{}]", 3], "1=10;2=20;");
/// ```
#[macro_export]
macro_rules! log_replay {
    ([$($format:tt)*], $value:expr $(,)?) => {
        $crate::__log_entry!(replay, [$($format)*], $value)
    };
    ($entry:expr, $value:expr $(,)?) => {
        $crate::__log_entry!(replay, $entry, $value)
    };
}

/// A test of a concurrent structure: threads call random methods, and all that they do is held against a specification.
///
/// Fails at the first violation, with the seed, the operations until then, and the smallest history that shows it. A violation that other commit
/// points would explain is printed, and does not fail the test. A test in which no operation was logged fails, too: nothing was tested. If no
/// operation ends for ten seconds, that is said on the standard error; methods may wait for each other.
///
/// In parentheses are the settings ([`TestSettings`](refine::TestSettings)): `threads`, `operations` of each, `seeds` (so many runs), and `keys`:
/// `choice.key()` is one of so many numbers, each below ten times that.
///
/// ```
/// use std::sync::Mutex;
/// use foresee::attr::{mutator, observer};
/// use foresee::refine::{Unsupported, models};
///
/// #[derive(Default)]
/// struct Set(Mutex<std::collections::BTreeSet<i64>>);
///
/// impl Set {
///     #[mutator]
///     fn add(&self, element: i64) -> bool {
///         let mut set = self.0.lock().unwrap();
///         foresee::commit!();
///         set.insert(element)
///     }
///
///     #[observer]
///     fn contains(&self, element: i64) -> bool {
///         self.0.lock().unwrap().contains(&element)
///     }
/// }
///
/// foresee::refine_test! {
///     fn a_set_behaves_like_one(threads: 4, operations: 50, seeds: 3) {
///         specification: models::Set,
///         replica: Unsupported,
///         structure: Set::default(),
///         operation: |set: &Set, choice| match choice.below(2) {
///             0 => drop(set.add(choice.key())),
///             _ => drop(set.contains(choice.key())),
///         },
///     }
/// }
/// # a_set_behaves_like_one();
/// ```
///
/// A structure of somebody else says nothing of commits. Then `linearizable:` instead of the first two asks whether some order of the operations explains
/// what they gave back. Methods that cannot have an attribute are called by [`logged_call`](refine::logged_call), which logs the call and the result under a
/// name, and with a result, that the specification knows:
///
/// ```
/// # use foresee::refine::{Value, logged_call, models};
/// type Queue = std::sync::Mutex<std::collections::VecDeque<u64>>;
///
/// foresee::refine_test! {
///     fn a_queue_behaves_like_one(threads: 2, seeds: 3) {
///         linearizable: models::Queue,
///         structure: Queue::default(),
///         operation: |queue: &Queue, choice| match choice.below(2) {
///             0 => {
///                 let value = choice.bits();
///                 logged_call("enq", [value], || {
///                     queue.lock().unwrap().push_back(value);
///                     "ok"
///                 });
///             }
///             _ => {
///                 logged_call("deq", [(); 0], || match queue.lock().unwrap().pop_front() {
///                     Some(value) => Value::from(value),
///                     None => Value::from("empty"),
///                 });
///             }
///         },
///     }
/// }
/// # a_queue_behaves_like_one();
/// ```
#[cfg(feature = "refine")]
#[macro_export]
macro_rules! refine_test {
    ($(#[$meta:meta])* fn $name:ident($($setting:ident: $value:expr),* $(,)?) {
        linearizable: $spec:expr,
        structure: $structure:expr,
        operation: $operation:expr $(,)?
    }) => {
        $(#[$meta])*
        #[cfg_attr(test, test)]
        fn $name() {
            let settings = $crate::refine::TestSettings { $($setting: $value,)* ..::core::default::Default::default() };
            settings.linearize(&$spec, || $structure, $operation);
        }
    };
    ($(#[$meta:meta])* fn $name:ident($($setting:ident: $value:expr),* $(,)?) {
        specification: $spec:expr,
        replica: $replica:ty,
        structure: $structure:expr,
        operation: $operation:expr
        $(, internal: $internal:expr)? $(,)?
    }) => {
        $(#[$meta])*
        #[cfg_attr(test, test)]
        fn $name() {
            let settings = $crate::refine::TestSettings { $($setting: $value,)* ..::core::default::Default::default() };
            #[allow(unused_mut, unused_assignments)]
            let mut internal: ::core::option::Option<fn(&_)> = ::core::option::Option::None;
            $(internal = ::core::option::Option::Some($internal);)?
            settings.run::<_, $replica, _>($spec, || $structure, $operation, internal);
        }
    };
}
