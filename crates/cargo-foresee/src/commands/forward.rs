//! `foresee forward EXE ARGV0 ARGS…`: runs a program and tells its observer what it does. Programs call it themselves, when they are built by
//! foresee and `FORESEE_OBSERVER` is set; nobody types it.
//!
//! The program records as always; this process reads along, computes the clocks of the events that the observer's properties look
//! at, and sends them. What was read of the raw trace is given back to the disk at once. Whatever happens to the observer,
//! the program notices nothing.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foresee_trace::raw::LockTable;

use crate::config;
use crate::error::{self, CliError, Severity};
use crate::exit;
use crate::follower::{Follower, GiveBack, Reached};
use crate::interrupt::PassOn;
use crate::observer::teller::{Meeting, Teller};
use crate::observer::{OBSERVER_VARIABLE, secret};
use crate::processes;
use crate::recording::{self, FOLLOWED_VARIABLE, RAW_VARIABLE, wait};
use crate::scratch::Scratch;
use crate::unrecorded;

/// How it is called.
pub(crate) const NAME: &str = "forward";

/// The time between two looks at the raw trace.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Runs the program: what follows the command's name, with or without `--`.
pub(crate) fn run(line: &[OsString]) -> ExitCode {
    let line = line.strip_prefix(&[OsString::from("--")]).unwrap_or(line);
    let [executable, name, args @ ..] = line else {
        error::print(Severity::Error, &"forward: expected a program");
        return ExitCode::from(exit::BAD_INPUT);
    };
    let mut command = processes::command(executable);
    command.arg0(name).args(args).env_remove(OBSERVER_VARIABLE);
    let ran = match Meeting::of(&name.to_string_lossy(), secret()) {
        Some(meeting) => observed(command, &meeting),
        None => {
            let why = command.exec();
            Err(unrecorded::cannot_run(executable, &why))
        }
    };
    ran.map_or_else(
        |why| {
            error::print(Severity::Error, &why);
            ExitCode::from(why.exit_code())
        },
        ExitCode::from,
    )
}

fn observed(mut command: Command, meeting: &Meeting) -> Result<u8, CliError> {
    let (folder, table) = match prepare(&mut command, meeting) {
        Ok(prepared) => prepared,
        // Whatever is in the way of observing is no reason for the program not to run.
        Err(why) => {
            error::print(Severity::Note, &format!("{} runs unobserved: {why}", meeting.program()));
            let why = command.exec();
            return Err(unrecorded::cannot_run(command.get_program(), &why));
        }
    };
    let raw = raw(&folder);
    let pass_on = PassOn::new();
    let spawned = command.env(RAW_VARIABLE, &raw).env(FOLLOWED_VARIABLE, "1").spawn();
    let mut child = spawned.map_err(|why| unrecorded::cannot_run(command.get_program(), &why))?;
    let has_ended = &Arc::new(AtomicBool::new(false));
    let status = std::thread::scope(|scope| {
        let (here, pass_on) = (std::thread::current(), &pass_on);
        let waiting = scope.spawn(move || {
            let status = wait(&mut child, pass_on, None);
            has_ended.store(true, Ordering::SeqCst);
            here.unpark();
            status
        });
        let mut teller = meeting.teller();
        let mut follower =
            Follower::new(raw, table, BETWEEN_LOOKS, GiveBack::Always, Arc::clone(has_ended), Arc::default());
        if let Err(why) = forward(&mut follower, &mut teller) {
            teller.give_up(&why.to_string());
        }
        waiting.join()
    });
    let status = status.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(exit::of_process(status.map_err(|why| CliError::output(meeting.program(), why))?))
}

/// The raw trace in a folder.
fn raw(folder: &Scratch) -> PathBuf {
    folder.path().join("raw")
}

/// What observing takes: a folder for the raw trace, and the table of locks. The command is told which variables are watched, and of which calls the values are recorded.
fn prepare(command: &mut Command, meeting: &Meeting) -> Result<(Scratch, LockTable), CliError> {
    let variables = meeting.variables();
    if !variables.is_empty() {
        recording::watch(command, &[], &variables)?;
    }
    let folder = Scratch::new()?;
    recording::hook(command, &meeting.calls(), &raw(&folder))?;
    Ok((folder, config::lock_table()?))
}

/// Sends the observer all that the program does, to its end.
fn forward(follower: &mut Follower, teller: &mut Teller<'_>) -> Result<(), CliError> {
    loop {
        let reached = follower.advance()?;
        if follower.is_complete() {
            teller.hurry();
        }
        let Some(reader) = follower.reader() else { continue };
        match reached {
            Reached::Event => teller.event(reader),
            Reached::Now => teller.after_look(reader),
            Reached::End => {
                teller.end(reader);
                return Ok(());
            }
        }
        follower.take_gone().into_iter().for_each(|thread| teller.forget(thread));
    }
}
