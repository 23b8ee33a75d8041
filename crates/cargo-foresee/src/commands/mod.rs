//! One file per subcommand.

mod cargo;
mod check;
mod compile;
mod completions;
pub(crate) mod forward;
mod monitor;
mod monitored;
mod mttl_cases;
mod observe;
mod record;
mod refine;
mod refine_trace;
mod run;
pub(crate) mod runner;
pub(crate) mod rustc;
mod spec;
mod trace_convert;
mod trace_dump;
mod trace_gen;
mod trace_info;
mod trace_validate;

use std::process::ExitCode;

use crate::cli::{CargoCommand, Cli, Command, TraceCommand};
use crate::compiler::Language;
use crate::error::CliError;
use crate::exit;

/// Does what was asked.
pub(crate) fn run(cli: Cli) -> Result<ExitCode, CliError> {
    match cli.command {
        Command::Check(args) => return check::run(&args),
        Command::Monitor(args) => return monitor::run(&args),
        Command::Refine(args) => return refine::run(&args),
        Command::Observe(args) => return observe::run(&args),
        Command::Spec(command) => return spec::run(&command),
        Command::Run(args) => return run::run(&args),
        Command::Record(args) => return record::run(&args),
        Command::Cargo(CargoCommand::Any(args)) => return cargo::run(&args),
        Command::Cc(args) => return compile::run(Language::C, &args.args),
        Command::Cxx(args) => return compile::run(Language::Cxx, &args.args),
        Command::Trace(TraceCommand::Info(args)) => trace_info::run(&args)?,
        Command::Trace(TraceCommand::Dump(args)) => trace_dump::run(&args)?,
        Command::Trace(TraceCommand::Convert(args)) => trace_convert::run(&args)?,
        Command::Trace(TraceCommand::Gen(args)) => trace_gen::run(&args)?,
        Command::Trace(TraceCommand::Validate(args)) => return trace_validate::run(&args),
        Command::Completions { shell } => completions::run(shell)?,
    }
    Ok(ExitCode::from(exit::NOTHING_FOUND))
}
