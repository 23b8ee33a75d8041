//! The command line of foresee: `foresee …` and `cargo foresee …` are this one program.
//!
//! | module | holds |
//! |---|---|
//! | [`cli`] | what can be typed: subcommands, flags, help |
//! | [`exit`] | what exit codes mean |
//! | `commands` | one file per subcommand |
//! | `cargo` | driving cargo: flags, the runner, one result of many tests |
//! | `compiler` | driving a C or C++ compiler: what to instrument, what to link |
//! | `recording`, `symbolize`, `interrupt` | running a program, packing its trace, names for its addresses, Ctrl-C |
//! | `observer` | programs observed while they run: connections, sessions, what they come to |
//! | `input`, `output` | traces by path: reading with context, writing without ever leaving half a file |
//! | `scratch` | folders that go with their process, however it ends |
//! | `memory` | how much there is, and how much of it is ours |
//! | `bounded`, `whole_file` | files that are read up to a limit; files that are there as a whole or not at all |
//! | `stdout`, `target` | standard output; the target that programs can be recorded on |
//! | `progress` | the bar for long work |
//! | `report` | from findings to what people and machines read: a model, and one file per format |
//! | `config`, `suppress` | settings from `.config/foresee.toml` and `FORESEE_OPTIONS`; findings not to show |
//! | `uncovered` | what of a run is not covered, as far as the run had it |
//! | `unmatched` | what specs and options name, and the run does not have |
//! | `processes` | what is true of every process that we start |
//! | `error` | every message a user can get |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod bounded;
mod cargo;
pub mod cli;
mod commands;
mod compiler;
mod config;
pub mod engines;
mod error;
pub mod exit;
mod follower;
#[doc(hidden)]
pub mod fuzzing;
mod holes;
mod input;
mod interrupt;
mod live;
mod memory;
mod modules;
mod number;
mod observer;
mod output;
mod processes;
mod program_file;
mod progress;
mod recording;
mod report;
mod running_threads;
mod scratch;
mod specs;
mod stdout;
mod suppress;
mod target;
mod uncovered;
mod unmatched;
mod unrecorded;
mod whole_file;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use cli::Cli;
use error::CliError;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    interrupt::survive_large_files();
    let args: Vec<OsString> = std::env::args_os().collect();
    // Not for people, and every argument is the program's.
    if let [_, runner, program @ ..] = &args[..]
        && runner == commands::runner::NAME
    {
        return commands::runner::run(program);
    }
    if let [_, forward, program @ ..] = &args[..]
        && forward == commands::forward::NAME
    {
        return commands::forward::run(program);
    }
    if let [called, line @ ..] = &args[..]
        && Path::new(called).file_name() == Some(commands::rustc::NAME.as_ref())
    {
        return commands::rustc::run(line);
    }
    let (name, args) = invocation(args);
    let command = Cli::command().bin_name(name);
    let cli = match command.try_get_matches_from(args).and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(message) => {
            // Nobody to tell if that fails: the reader of the output has gone.
            let _ = message.print();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(exit::BAD_INPUT));
        }
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(CliError::NobodyReads) => ExitCode::from(exit::NOTHING_FOUND),
        Err(error) => {
            error::print(error::Severity::Error, &error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// What `cargo foresee` does by running cargo.
const OF_CARGO: [&str; 4] = ["run", "test", "build", "nextest"];

/// The name the user called, and the arguments without what cargo adds: `cargo foresee x` runs `cargo-foresee foresee x`.
fn invocation(mut args: Vec<OsString>) -> (&'static str, Vec<OsString>) {
    let called = args.first().map(Path::new).and_then(Path::file_stem);
    if let Some((_, compiler)) = compiler::NAMES.into_iter().find(|(name, _)| called == Some(name.as_ref())) {
        args.insert(1, compiler.into());
        return ("foresee", args);
    }
    if called != Some("cargo-foresee".as_ref()) {
        return ("foresee", args);
    }
    if args.get(1).is_some_and(|arg| arg == "foresee") {
        args.remove(1);
    }
    // `cargo foresee run` is cargo's run; `foresee run` runs a program that is there.
    if args.get(1).is_some_and(|arg| OF_CARGO.iter().any(|command| arg == command)) {
        args.insert(1, "cargo".into());
    }
    ("cargo foresee", args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_cargo_adds_is_dropped() {
        let of = |args: &[&str]| {
            let (name, args) = invocation(args.iter().map(OsString::from).collect());
            (name, args.into_iter().skip(1).collect::<Vec<_>>())
        };
        assert_eq!(of(&["/bin/cargo-foresee", "foresee", "trace"]), ("cargo foresee", vec!["trace".into()]));
        assert_eq!(of(&["target/cargo-foresee", "trace"]), ("cargo foresee", vec!["trace".into()]));
        assert_eq!(of(&["cargo-foresee", "foresee", "run", "--", "x"]).1, ["cargo", "run", "--", "x"]);
        assert_eq!(of(&["foresee", "run", "--", "x"]).1, ["run", "--", "x"]);
        assert_eq!(of(&["foresee", "trace"]), ("foresee", vec!["trace".into()]));
        assert_eq!(of(&["cargo-foresee"]), ("cargo foresee", vec![]));
    }
}
