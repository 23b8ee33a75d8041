//! Code of well-known headers that says less than it means.
//!
//! By the letter, such code races, in every program that uses it, and its author cannot mend it. It is compiled into the
//! program, so there is no library whose functions could be named. What it does is taken for what it means.

use crate::event::{Mem, Op, Order};

/// How compilers call the variables in which a program that is built for coverage or profiles counts what it does, without regard to threads. Nothing of the program depends on them.
const COUNTERS: &str = "__gcov";

/// Whether a variable of this name is one that the compiler has put there, to count.
pub(crate) fn is_counter(variable: &str) -> bool {
    variable.starts_with(COUNTERS)
}

/// What code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// Plain accesses are meant as relaxed atomics: a cache that every thread fills in with the same.
    Atomic,
    /// The same in one of the standard streams, which any number of threads may use at once.
    AtomicInStreams,
    /// A relaxed update is meant to release: it unlocks.
    Release,
}

/// Functions with a quirk, wherever they are inlined; their paths without arguments of templates.
const QUIRKS: [(&str, Quirk); 5] = [
    // `_M_narrow`, `_M_narrow_ok` and `_M_widen` of the classic locale, which regular expressions use; GCC's bug 77704.
    ("std::ctype::narrow", Quirk::Atomic),
    ("std::ctype::widen", Quirk::Atomic),
    // `__fill_` of libc++'s streams, which the first output sets, and `__width_`, which each output sets to 0.
    ("std::__1::basic_ios::fill", Quirk::AtomicInStreams),
    ("std::__1::ios_base::width", Quirk::AtomicInStreams),
    // `atomic<shared_ptr>::load` of libstdc++ 12 gives its lock back so.
    ("std::_Sp_atomic::_Atomic_count::unlock", Quirk::Release),
];

/// The standard streams.
const STREAMS: [&str; 8] = [
    "std::__1::cout",
    "std::__1::cerr",
    "std::__1::clog",
    "std::__1::cin",
    "std::__1::wcout",
    "std::__1::wcerr",
    "std::__1::wclog",
    "std::__1::wcin",
];

impl Quirk {
    /// The quirk of code in these functions, by their paths, innermost first.
    pub(crate) fn of(paths: &[String]) -> Option<Quirk> {
        let of = |path: &String| QUIRKS.iter().find(|(function, _)| path == function);
        paths.iter().find_map(of).map(|&(_, quirk)| quirk)
    }

    /// An operation as it is meant; `is_in` says whether the memory of a name is what it is about.
    pub(crate) fn meant(self, op: Op<'static>, is_in: impl Fn(Mem, &[&str]) -> bool) -> Op<'static> {
        let quirk = match (self, op.mem()) {
            (Quirk::AtomicInStreams, Some(mem)) if is_in(mem, &STREAMS) => Quirk::Atomic,
            (quirk, _) => quirk,
        };
        match (quirk, op) {
            (Quirk::Atomic, Op::Read { mem, .. }) if mem.size <= 8 => {
                Op::Load { mem, order: Order::Relaxed, value: None }
            }
            (Quirk::Atomic, Op::Write { mem, .. }) if mem.size <= 8 => {
                Op::Store { mem, order: Order::Relaxed, value: None }
            }
            (Quirk::Release, Op::Rmw { mem, order: Order::Relaxed, values }) => {
                Op::Rmw { mem, order: Order::Release, values }
            }
            (_, op) => op,
        }
    }
}
