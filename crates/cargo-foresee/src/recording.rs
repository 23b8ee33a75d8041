//! Runs an instrumented program and packs what its runtime recorded into a trace.
//!
//! The runtime inside the program writes a raw trace, made to be cheap to write and to survive any death of the program.
//! It goes to a folder of its own beside the trace, and is read, symbolised and packed when the program has ended. Other
//! processes of the program (forks, programs that it runs) write files of their own there, which become traces of their own; of
//! a process that outlives the program, what it has done until then.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use foresee_trace::raw::{LockTable, RawReader};
use foresee_trace::{DOUBT, EventSource as _, TraceError};
use rustix::process::Signal;

use crate::config;
use crate::error::{self, CliError, Severity};
use crate::exit;
use crate::output::{Output, Target};
use crate::signals::{self, PassOn};
use crate::symbolize::FileSymbols;
use crate::unrecorded;
use crate::watch;

/// How long a program that was told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// The variable that tells the runtime where to record to.
const RAW_VARIABLE: &str = "FORESEE_RAW";

/// What the raw trace is called.
const RAW_NAME: &str = "raw";

/// What to run, and how.
#[derive(Debug, Default)]
pub(crate) struct Program<'a> {
    /// The program and its arguments.
    pub(crate) line: &'a [OsString],
    /// When to end it.
    pub(crate) timeout: Option<Duration>,
    /// Statics whose values are recorded.
    pub(crate) watch: &'a [String],
    /// Where everything that it prints goes, instead of to the user; how it ends is not told either.
    pub(crate) printed: Option<&'a File>,
    /// Variables to set or to remove.
    pub(crate) environment: &'a [(String, Option<OsString>)],
}

/// What came of a recording.
pub(crate) struct Recorded {
    /// The program's exit code, with 128 + n for signal n.
    pub(crate) code: u8,
    /// The traces of other processes that it started: its forks, and programs that were built by foresee, too.
    pub(crate) others: Vec<Other>,
}

/// The trace of another process.
pub(crate) struct Other {
    /// The process id; with a number if the process became another program.
    pub(crate) process: String,
    pub(crate) trace: PathBuf,
}

/// Runs the program and writes its trace, and those of other processes beside it: `run.ft` and `run.1234.ft`. What the
/// program itself wrote is moved to `keep`, if given.
pub(crate) fn record(program: &Program<'_>, trace: &Path, keep: Option<&Path>) -> Result<Recorded, CliError> {
    let target = Target::file(trace)?;
    let table = config::lock_table()?;
    let folder = trace.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The program may go to another folder before it opens its trace.
    let folder = folder.canonicalize().map_err(|why| CliError::output(folder.display(), why))?;
    let beside = tempfile::Builder::new()
        .prefix(".foresee-")
        .tempdir_in(&folder)
        .map_err(|why| CliError::output(folder.display(), why))?;
    let raw = beside.path().join(RAW_NAME);

    let code = run(program, &raw)?;
    signals::was_for_the_program();
    if !raw.exists() {
        return Err(unrecorded::recorded_nothing(program.line.first().map_or(OsStr::new(""), |name| name)));
    }
    pack_and_keep(&raw, target, &table, keep)?;
    let mut others = Vec::new();
    for (process, raw) in raw_of_others(beside.path()) {
        let of_process = |path: &Path| {
            let ending = path.extension().unwrap_or_default().display();
            path.with_extension(format!("{process}.{ending}"))
        };
        let trace = of_process(trace);
        pack_and_keep(&raw, Target::file(&trace)?, &table, keep.map(of_process).as_deref())?;
        others.push(Other { process, trace });
    }
    Ok(Recorded { code, others })
}

/// What other processes wrote, by their ids: the runtime adds them to the name that it was given.
fn raw_of_others(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let process = name.strip_prefix(RAW_NAME)?.strip_prefix('.')?.to_owned();
            Some((process, entry.path()))
        })
        .collect();
    found.sort();
    found
}

fn pack_and_keep(raw: &Path, target: Target, table: &LockTable, keep: Option<&Path>) -> Result<(), CliError> {
    let packed = pack(raw, target, table.clone());
    if let Some(kept) = keep {
        std::fs::rename(raw, kept).map_err(|why| CliError::output(kept.display(), why))?;
    }
    packed
}

/// What the user called the program.
pub(crate) fn program_name(program: &[OsString]) -> String {
    program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Program<'_> {
    /// The program with its arguments and variables, not yet told to record.
    pub(crate) fn command(&self) -> Result<Command, CliError> {
        let Some((name, args)) = self.line.split_first() else {
            return Err(CliError::Usage("which program? expected one after `--`".to_owned()));
        };
        let mut command = Command::new(name);
        command.args(args);
        for (variable, value) in self.environment {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        if let Some(file) = self.printed {
            let copy = || file.try_clone().map_err(|why| CliError::output("what the program prints", why));
            command.stdout(copy()?).stderr(copy()?).stdin(Stdio::null());
        }
        Ok(command)
    }
}

fn run(program: &Program<'_>, raw: &Path) -> Result<u8, CliError> {
    let mut command = program.command()?;
    if !program.watch.is_empty() {
        let addresses = watch::addresses(command.get_program(), program.watch)?;
        command.env(watch::VARIABLE, addresses);
    }
    let pass_on = PassOn::new();
    let mut child = command
        .env(RAW_VARIABLE, raw)
        .spawn()
        .map_err(|why| unrecorded::cannot_run(command.get_program(), &why))?;
    let name = program_name(program.line);
    let status = wait(&mut child, &pass_on, program.timeout).map_err(|why| CliError::output(&name, why))?;
    Ok(if program.printed.is_some() { exit::of_process(status) } else { told(&name, status) })
}

/// Waits for the end of the program. Looks often at first, as most programs are short.
pub(crate) fn wait(
    child: &mut Child,
    pass_on: &PassOn,
    timeout: Option<Duration>,
) -> std::io::Result<ExitStatus> {
    let started = Instant::now();
    let (mut told_to_end, mut killed) = (false, false);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        pass_on.pass_to(child);
        let elapsed = started.elapsed();
        if let Some(timeout) = timeout {
            if elapsed >= timeout && !told_to_end {
                told_to_end = true;
                error::print(Severity::Note, &format!("the program still runs after {timeout:?}: ending it"));
                signals::send(child, Signal::TERM);
            }
            if elapsed >= timeout.saturating_add(GRACE) && !killed {
                killed = true;
                signals::send(child, Signal::KILL);
            }
        }
        std::thread::sleep((elapsed / 16).clamp(Duration::from_micros(200), Duration::from_millis(10)));
    }
}

/// The exit code of the program, said if it is not success: it is no verdict of ours.
fn told(name: &str, status: ExitStatus) -> u8 {
    let code = exit::of_process(status);
    if let Some(signal) = status.signal() {
        let known = signal_hook::low_level::signal_name(signal).map(|name| format!(" ({name})"));
        let known = known.unwrap_or_default();
        error::print(Severity::Note, &format!("{name} was ended by signal {signal}{known}"));
    } else if code != 0 {
        error::print(Severity::Note, &format!("{name} exited with code {code}"));
    }
    code
}

/// From the raw trace to one that every command reads. Ctrl-C ends it with what was packed so far.
fn pack(raw: &Path, target: Target, table: LockTable) -> Result<(), CliError> {
    signals::finish_on_interrupt();
    let failed = |why| match why {
        TraceError::NewerVersion { found, known } => CliError::Usage(format!(
            "the program was built by another version of foresee: it records in format {found}, this foresee reads up to \
             {known}; build it again, or use that foresee"
        )),
        why => CliError::input(raw, why),
    };
    let mut reader = RawReader::open(raw, Box::new(FileSymbols::default()), table).map_err(failed)?;
    let mut output = Output::new(target, reader.facts())?;
    let stop = signals::interrupted();
    let mut packed = 0_u64;
    while !stop.load(std::sync::atomic::Ordering::Relaxed) && reader.advance().map_err(failed)? {
        output.push(reader.names(), &reader.event())?;
        packed += 1;
    }
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        error::print(
            Severity::Warning,
            &format!("interrupted: only the first {packed} events are in the trace"),
        );
    }
    if let Some(damage) = reader.damage() {
        error::print(Severity::Warning, &format!("the recording is incomplete: {damage}"));
    }
    if let Some(doubt) = doubt(&reader) {
        output.fact(DOUBT, &doubt)?;
    }
    output.finish(reader.names())
}

/// Why a recording may not tell all that matters, if so.
fn doubt(reader: &RawReader) -> Option<String> {
    let is_rust = reader.facts().iter().any(|(key, _)| key == "rust");
    if is_rust && reader.lacks_debug_info() {
        return Some(
            "the program has no debug information, by which Rust's locks are recognised (build it by `cargo foresee`, and \
             do not strip it)"
                .to_owned(),
        );
    }
    if reader.damage().is_some() {
        return Some("the recording is damaged, so events of some threads may be missing".to_owned());
    }
    if let Some(unseen) = reader.unseen() {
        return Some(format!("the program has {unseen}, which compilers do not instrument"));
    }
    match reader.unclear() {
        0 => None,
        unclear => {
            Some(format!("{unclear} atomic operations on locks could not be told to lock or to unlock"))
        }
    }
}
