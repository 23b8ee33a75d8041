//! The specification language: from text to properties, with diagnostics a person can act on.
//!
//! [`parse`](parser::parse) gives the syntax tree, [`check`](check::check) looks names up and compiles the bodies,
//! [`format`](format::format) writes a file in the one agreed style.

pub mod ast;
mod bodies;
mod calls;
pub mod check;
mod compile;
mod condition;
pub mod diagnostic;
mod duplicates;
mod fields;
pub mod format;
mod formulas;
pub mod lexer;
pub mod limits;
pub mod mttl;
pub mod parser;
pub mod raw_monitors;
mod texts;
mod warnings;
