//! Driving cargo: `cargo foresee run|test|build|nextest`.
//!
//! The user's own cargo is run with the user's own arguments. What we add is in its environment: flags that make rustc
//! instrument and link our runtime, and a *runner*, which cargo calls with each program instead of the program. The runner is
//! this program again (`commands::runner`): it records and checks. As it is a grandchild, settings reach it by a variable
//! ([`settings`]), and what it found comes back in files ([`results`]).
//!
//! Always with `--target`: only then does cargo keep our flags from build scripts and procedural macros.
//!
//! | module | holds |
//! |---|---|
//! | [`arguments`] | which arguments are ours, which are cargo's |
//! | [`flags`] | what rustc and rustdoc are told, and which flags of the user's cannot be |
//! | [`project`] | cargo, rustc, target folder and configuration of the user's project |
//! | [`settings`] | what the runner has to know |
//! | [`libtest`] | tests of a test program: listing them, running one |
//! | [`results`] | what runners hand over |

pub(crate) mod arguments;
pub(crate) mod flags;
pub(crate) mod libtest;
pub(crate) mod project;
pub(crate) mod results;
pub(crate) mod settings;
