//! What can be typed: subcommands, flags, and the help that teaches them.

mod cargo;
mod check;
mod properties;
mod record;
mod refine;
mod trace;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub use crate::report::format::ReportFormat;
pub use cargo::{CargoCommand, CargoOptions};
pub use check::{CausalityModel, CheckArgs, CheckOptions};
pub use properties::{MonitorArgs, ObserveArgs, SpecCommand, SpecFmtArgs, SpecGraphArgs};
pub use record::{CompileArgs, Extent, RecordArgs, RecordOptions, RunArgs};
pub use refine::{Consistency, RefineArgs, Views};
pub use trace::{ConvertArgs, DumpArgs, Forks, Format, GenArgs, InfoArgs, TraceCommand, ValidateArgs};

use cargo::CARGO_HELP;
use check::CHECK_HELP;
use properties::OBSERVE_HELP;
use record::{CC_HELP, RUN_HELP};
use refine::REFINE_HELP;

/// Run once. See the bugs of every other schedule.
///
/// foresee records one run of a multithreaded program and finds what could go wrong in the runs that did not happen. What it
/// predicts, it proves: every prediction comes with a schedule that shows it.
#[derive(Debug, Parser)]
#[command(
    name = "foresee",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    propagate_version = true,
    after_help = "\
Examples:
  cargo foresee run --example flight     build a Rust program, record it, and find the bugs of the other schedules
  cargo foresee test                     the same for each test
  foresee cc counter.c -o counter        build a program to be recorded
  foresee run -- ./counter               record it, and find the bugs of the other schedules
  foresee check run.ft                   the same from a recorded trace
  foresee trace info run.ft              what is in a recorded trace
  foresee trace dump run.ft | less       read it, event by event
  foresee trace gen --events 10M -o synthetic.ft

Traces end in .ft (binary) or .std (text); a text trace is accepted wherever a trace is, and `-` is standard input.
Exit codes: 0 nothing found, 66 findings, 2 bad usage or input, 1 foresee itself failed,
3 undecided within the time or memory given."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What foresee can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build, run and test a cargo project, recorded: `cargo foresee run`, `test`, `build`, `nextest`
    #[command(subcommand, after_help = CARGO_HELP, override_usage = "cargo foresee run|test|build|nextest [ARGS]\n       \
        foresee cargo run|test|build|nextest [ARGS]")]
    Cargo(CargoCommand),
    /// Record a program, then check its trace
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Record a program
    #[command(after_help = "\
Examples:
  foresee record -- ./server --port 8080
  foresee record -o run.std --timeout 30s -- ./worker
  foresee record --watch landing --watch radio -- ./controller
  foresee record --max-size 2G -- ./server
  foresee record --keep-last 256M -- ./server
  foresee record --only 'bank::*' --skip '*::log' -- ./server

The program keeps its standard input and output and gets the signals; Ctrl-C ends it, and what it did until then is in
the trace. The exit code is the program's own, 128 + n if signal n ended it.")]
    Record(RecordArgs),
    /// Compile and link C, instrumented: a drop-in for the compiler
    #[command(name = "cc", override_usage = "foresee cc ARGS…", after_help = CC_HELP)]
    Cc(CompileArgs),
    /// Compile and link C++, instrumented: a drop-in for the compiler
    #[command(name = "c++", override_usage = "foresee c++ ARGS…", after_help = CC_HELP)]
    Cxx(CompileArgs),
    /// Find what could go wrong in the runs that did not happen, from a recorded trace
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Check properties over a stream of events, without prediction
    #[command(after_help = "\
Examples:
  foresee monitor specs/iterator.rv run.ft
  my-server --log-events | foresee monitor protocol.rv -
  foresee monitor --strict protocol.rv events.std

A line is THREAD|event(NAME, @OBJECT, NUMBER)|PLACE, or any event of a trace: T1|acq(l)|a.rs:3, T1|w(x=1).
Verdicts that have a handler are printed as they come; --format json, sarif and junit print one document at the end.
A property with a variable that a recorded program does not have is left out, with a warning.
Exit codes: 66 if there were any, 2 for a spec or stream that is wrong, 3 if there were none and the values of variables, or memory, were not there to decide.")]
    Monitor(MonitorArgs),
    /// Check properties of programs while they run, in this run and in others that were possible
    #[command(after_help = OBSERVE_HELP)]
    Observe(ObserveArgs),
    /// Check operations against a specification: linearizability of a history, refinement of a log with commit actions
    #[command(after_help = REFINE_HELP)]
    Refine(RefineArgs),
    /// Check, format and draw properties
    #[command(
        subcommand,
        after_help = "The language of properties is described in specs/LANGUAGE.md; specs/ has properties to use as they are."
    )]
    Spec(SpecCommand),
    /// Look into traces, convert, check and generate them
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  foresee completions bash > ~/.local/share/bash-completion/completions/foresee
  foresee completions zsh > ~/.zfunc/_foresee
  foresee completions fish > ~/.config/fish/completions/foresee.fish")]
    Completions {
        /// Which shell
        shell: Shell,
    },
}
