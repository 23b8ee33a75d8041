//! What a user does, through the real program.

// What tests share is no test to clippy.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod annotations;
mod attempts;
mod bad_input;
mod blind;
mod boundaries;
mod branches;
mod c_library;
mod calls;
mod cargo;
mod check;
mod crowds;
mod cxx_programs;
mod endings;
mod extent;
mod faults;
mod growth;
mod hangs;
mod harmless;
mod hostile;
mod human;
mod installed;
mod late_threads;
mod library;
mod live;
mod loading;
mod memory;
mod memory_model;
mod monitor;
mod mttl;
mod names;
mod observe;
mod openmp;
mod predicted_properties;
mod programs;
mod random_programs;
mod record;
mod refine;
mod rust_programs;
mod schema;
mod support;
mod trace_commands;
mod unrecorded;
mod values;
