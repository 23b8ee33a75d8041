//! Driving a C or C++ compiler so that what it builds can be recorded.
//!
//! gcc and clang can instrument a program for ThreadSanitizer: every access to memory becomes a call of a
//! function `__tsan_…`. We let them, and link our own runtime where those functions are expected. `-fsanitize=thread` on
//! the command that links would bring ThreadSanitizer's runtime, so that a command that compiles *and* links is split: each
//! source is compiled to an object of its own, and the objects are linked without the flag.
//!
//! Shared libraries and partial links get no runtime: they find it in the program that loads them.
//!
//! **Variants for sanitizers.** gcc defines `__SANITIZE_THREAD__`, clang has `__has_feature(thread_sanitizer)`, and some headers ask. What
//! they do then helps a recording, too, so both stay: abseil, folly and Qt announce their mutexes by annotations that the runtime
//! understands, and others avoid assembly, of which nothing would be seen. libstdc++ (`_GLIBCXX_TSAN`) leaves out a shortcut of
//! `shared_ptr` that reads two counters at once and orders the same. None is known that orders less than what users ship, as
//! crossbeam did (`commands::rustc`). Who wants the code as it is shipped says `-U__SANITIZE_THREAD__` to gcc, which is passed on; clang has no
//! such switch.
//!
//! | module | holds |
//! |---|---|
//! | [`arguments`] | what a command line asks for: inputs, output, whether to link |
//! | [`response`] | arguments in files, `@file` |
//! | [`std_wraps`] | what makes Rust's own library, which is not instrumented, be seen |
//! | [`toolchain`] | which compiler, its flags, and where our runtime is |

pub(crate) mod arguments;
mod carried;
pub(crate) mod response;
pub(crate) mod std_wraps;
pub(crate) mod toolchain;

/// Names under which foresee is `foresee cc` and `foresee c++`: build systems take one word for a compiler.
pub(crate) const NAMES: [(&str, &str); 2] = [("foresee-cc", "cc"), ("foresee-c++", "c++")];

/// What is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cxx,
}
