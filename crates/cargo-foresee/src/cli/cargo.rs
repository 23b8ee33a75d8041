//! `cargo foresee run|test|build|nextest`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::check::CheckOptions;
use super::record::Extent;
use crate::number;

/// What cargo is asked to do.
#[derive(Debug, Subcommand)]
pub enum CargoCommand {
    /// `run`, `test`, `build`, `nextest`, with all their arguments as they are.
    #[command(external_subcommand)]
    Any(Vec<OsString>),
}

/// `cargo foresee run|test|build|nextest`: options of foresee; all others are cargo's.
///
/// Builds with your own cargo, instrumented, to target/foresee; runs, records and checks. Every option that is not listed here
/// goes to cargo, and what follows `--` to the program, or to the test harness.
#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    disable_version_flag = true,
    override_usage = "cargo foresee run|test|build|nextest [run|list] [OPTIONS] [CARGO'S OPTIONS] [-- ARGS]",
    after_help = CARGO_HELP
)]
pub struct CargoOptions {
    /// Keep the trace in this file (.ft or .std); of tests, one trace each in this folder
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// End a program or test after this time (90s, 5m)
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub timeout: Option<std::time::Duration>,
    /// A static whose values are recorded; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub watch: Vec<String>,
    /// `run`: monitor these properties in the running program, and record nothing; may be given more than once
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["trace", "spec", "engine", "keep_last", "max_size", "values"])]
    pub monitor: Vec<PathBuf>,
    /// How much to record.
    #[command(flatten)]
    pub extent: Extent,
    /// How to check it.
    #[command(flatten)]
    pub check: CheckOptions,
}

pub(super) const CARGO_HELP: &str = "\
Examples:
  cargo foresee run --example flight
  cargo foresee run --release --bin server --timeout 30s -- --port 8080
  cargo foresee test -p my-crate --engine hb,syncp -- queue::
  cargo foresee test --format junit --output foresee.xml
  cargo foresee nextest run --workspace
  cargo foresee build && foresee run -- target/foresee/x86_64-unknown-linux-gnu/debug/server

Options of foresee may stand anywhere before `--`. Each test runs in a process of its own and is checked by itself.
Your RUSTFLAGS, cargo's configuration and your own runner are kept. `foresee run -- PROG` runs a program that is built;
`cargo foresee run` is cargo's run.
Exit codes: 66 findings (--exit-code changes it), 101 the build or a test failed, otherwise the program's own.";
