//! `foresee forward EXE ARGV0 ARGS…`: runs a program and tells its observer what it does. Programs call it themselves, when they are built by
//! foresee and `FORESEE_OBSERVER` is set; nobody types it.
//!
//! The program records as always; this process reads along, computes the clocks of the events that the observer's properties look
//! at, and sends them. What was read of the raw trace is given back to the disk at once. Whatever happens to the observer,
//! the program notices nothing.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foresee_trace::EventSource as _;
use foresee_trace::raw::{LockTable, RawReader};

use crate::config;
use crate::error::{self, CliError, Severity};
use crate::exit;
use crate::interrupt::PassOn;
use crate::live;
use crate::observer::teller::{Meeting, Teller};
use crate::observer::{OBSERVER_VARIABLE, SECRET_VARIABLE};
use crate::recording::{FOLLOWED_VARIABLE, RAW_VARIABLE, unreadable, wait};
use crate::symbolize::FileSymbols;
use crate::unrecorded;
use crate::watch;

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
    let mut command = Command::new(executable);
    command.arg0(name).args(args).env_remove(OBSERVER_VARIABLE).env_remove(SECRET_VARIABLE);
    let ran = match Meeting::of(&name.to_string_lossy()) {
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
    let folder =
        tempfile::tempdir().map_err(|why| CliError::output("the folder for temporary files", why))?;
    let raw = folder.path().join("raw");
    let variables = meeting.variables();
    if !variables.is_empty() {
        let addresses = watch::addresses(command.get_program(), &[], &variables)?;
        command.env(watch::VARIABLE, addresses);
    }
    let table = config::lock_table()?;
    let pass_on = PassOn::new();
    let spawned = command.env(RAW_VARIABLE, &raw).env(FOLLOWED_VARIABLE, "1").spawn();
    let mut child = spawned.map_err(|why| unrecorded::cannot_run(command.get_program(), &why))?;
    let has_ended = AtomicBool::new(false);
    let status = std::thread::scope(|scope| {
        let (here, pass_on, has_ended) = (std::thread::current(), &pass_on, &has_ended);
        let waiting = scope.spawn(move || {
            let status = wait(&mut child, pass_on, None);
            has_ended.store(true, Ordering::SeqCst);
            here.unpark();
            status
        });
        let mut teller = meeting.teller();
        let mut reader = None;
        while !has_ended.load(Ordering::SeqCst) {
            if let Err(why) = look(&raw, &table, &mut reader, &mut teller) {
                teller.give_up(&why.to_string());
            }
            std::thread::park_timeout(BETWEEN_LOOKS);
        }
        if let Err(why) = complete(&raw, &table, reader, &mut teller) {
            teller.give_up(&why.to_string());
        }
        waiting.join()
    });
    let status = status.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(exit::of_process(status.map_err(|why| CliError::output(meeting.program(), why))?))
}

/// Reads what the program has written by now, and gives its space back.
fn look(
    raw: &Path,
    table: &LockTable,
    reader: &mut Option<RawReader>,
    teller: &mut Teller<'_>,
) -> Result<(), CliError> {
    let failed = |why| unreadable(raw, why);
    match reader {
        None => {
            // It may not have begun, or never begin.
            let Ok(file) = File::options().read(true).write(true).open(raw) else { return Ok(()) };
            *reader =
                RawReader::follow(file, Box::new(FileSymbols::default()), table.clone()).map_err(failed)?;
        }
        Some(reader) => reader.look_again().map_err(failed)?,
    }
    let Some(reader) = reader else { return Ok(()) };
    while reader.advance().map_err(failed)? {
        teller.event(reader.names(), &reader.event());
    }
    live::give_back(reader);
    teller.after_look(reader);
    Ok(())
}

/// The program has ended: the rest.
fn complete(
    raw: &Path,
    table: &LockTable,
    reader: Option<RawReader>,
    teller: &mut Teller<'_>,
) -> Result<(), CliError> {
    let failed = |why| unreadable(raw, why);
    let mut reader = match reader {
        Some(mut reader) => {
            reader.end_following().map_err(failed)?;
            reader
        }
        None => RawReader::open(raw, Box::new(FileSymbols::default()), table.clone()).map_err(failed)?,
    };
    while reader.advance().map_err(failed)? {
        teller.event(reader.names(), &reader.event());
    }
    teller.end(&reader);
    Ok(())
}
