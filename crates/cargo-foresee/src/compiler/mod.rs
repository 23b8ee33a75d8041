//! Driving a C or C++ compiler so that what it builds can be recorded.
//!
//! gcc and clang can instrument a program for ThreadSanitizer: every access to memory becomes a call of a
//! function `__tsan_…`. We let them, and link our own runtime where those functions are expected. `-fsanitize=thread` on
//! the command that links would bring ThreadSanitizer's runtime, so that a command that compiles *and* links is split: each
//! source is compiled to an object of its own, and the objects are linked without the flag.
//!
//! Shared libraries and partial links get no runtime: they find it in the program that loads them.
//!
//! | module | holds |
//! |---|---|
//! | [`arguments`] | what a command line asks for: inputs, output, whether to link |
//! | [`response`] | arguments in files, `@file` |
//! | [`std_wraps`] | what makes Rust's own library, which is not instrumented, be seen |
//! | [`toolchain`] | which compiler, its flags, and where our runtime is |

pub(crate) mod arguments;
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
