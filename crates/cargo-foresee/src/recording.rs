//! Runs an instrumented program and packs what its runtime recorded into a trace.
//!
//! The runtime inside the program writes a raw trace, made to be cheap to write and to survive any death of the program.
//! It goes to a folder of its own beside the trace, and is read, symbolised and packed while the program runs (`live`) or when it has ended. Other
//! processes of the program (forks, programs that it runs) write files of their own there, which become traces of their own; of
//! a process that outlives the program, what it has done until then. One that was killed before it began to record is passed over.
//!
//! Whoever also checks the trace has so much time for both (`--time`), from the end of the program on: packing takes half of it at
//! most, so that what was packed is looked at.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use foresee_symbols::calls::{self, CallTable, WantedCall};
use foresee_symbols::{CLOCK_VARIABLE, joined, recorded_code, watched_statics};
use foresee_trace::raw::{LockTable, RawReader, has_begun, is_side_file, join};
use foresee_trace::{EventBatch, EventSource as _, Gap, NoEnd, TraceError, Trust};
use rustix::process::Signal;

use crate::cli::Extent;
use crate::config;
use crate::error::{self, CliError, Severity};
use crate::exit;
use crate::input::AT_ONCE;
use crate::interrupt::{self, PassOn};
use crate::output::{Output, Target};
use crate::processes;
use crate::program_file;
use crate::scratch::Scratch;
use crate::uncovered::ENDED_BY;
use crate::unrecorded;

/// How long a program that was told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// How many events are packed between two looks at the clock.
const LOOK_AT_CLOCK: u64 = 1 << 16;

/// The variable that tells the runtime where to record to.
pub(crate) const RAW_VARIABLE: &str = "FORESEE_RAW";
/// Set if the raw trace is read while it is written.
pub(crate) const FOLLOWED_VARIABLE: &str = "FORESEE_FOLLOWED";

/// The variable that tells the runtime how long that file may be.
const MAX_SIZE_VARIABLE: &str = "FORESEE_MAX_SIZE";

/// How long it may be if the user does not say: what nobody has asked for should not take a disk.
const USUAL_SIZE: u64 = 16_000_000_000;

/// The variable that tells the runtime how much of the run to keep in it.
const KEEP_LAST_VARIABLE: &str = "FORESEE_KEEP_LAST";

/// The variable that tells the runtime for how many milliseconds it may put off the end of the program, and how many that are usually.
const EXIT_WAIT_VARIABLE: &str = "FORESEE_EXIT_WAIT";
const USUAL_EXIT_WAIT: Duration = Duration::from_secs(1);

/// The variable that tells the runtime to record what reads see.
const VALUES_VARIABLE: &str = "FORESEE_VALUES";

/// The variable by which the runtime knows what to monitor in the process.
pub(crate) const KNOWLEDGE_VARIABLE: &str = "FORESEE_KNOWLEDGE";

/// What the raw trace is called.
const RAW_NAME: &str = "raw";

/// What the table is called that tells which code's accesses are recorded.
const CODE_NAME: &str = "code";

/// What the table is called that tells which calls are recorded.
const CALLS_NAME: &str = "calls";

/// What the table is called that tells which accesses need no record of their own.
const JOINED_NAME: &str = "joined";
/// How long may be looked for them.
const JOINING: Duration = Duration::from_millis(500);

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program<'a> {
    /// The program and its arguments.
    pub(crate) line: &'a [OsString],
    /// When to end it.
    pub(crate) timeout: Option<Duration>,
    /// Statics whose values are recorded.
    pub(crate) watch: &'a [String],
    /// More of them, if the program has them.
    pub(crate) variables: &'a [String],
    /// Calls whose arguments or results are recorded.
    pub(crate) calls: &'a [WantedCall],
    /// Files of properties that are also monitored in the process, as they have something done there.
    pub(crate) inside: &'a [PathBuf],
    /// Whether it is asked what threads know of each other, which also follows from the order of accesses that race.
    pub(crate) asks_who_knows: bool,
    /// How much is recorded.
    pub(crate) extent: Extent,
    /// Where everything that it prints goes, instead of to the user; how it ends is not told either.
    pub(crate) printed: Option<&'a File>,
    /// Variables to set or to remove.
    pub(crate) environment: &'a [(String, Option<OsString>)],
}

/// What came of a recording.
pub(crate) struct Recorded {
    /// The program's exit code, with 128 + n for signal n.
    pub(crate) code: u8,
    /// How long packing its own trace took.
    pub(crate) packing: Duration,
    /// The traces of other processes that it started: its forks, and programs that were built by foresee, too.
    pub(crate) others: Vec<Other>,
}

/// The trace of another process.
pub(crate) struct Other {
    /// The process id; with a number if the process became another program.
    pub(crate) process: String,
    pub(crate) trace: PathBuf,
    /// How long packing it took.
    pub(crate) packing: Duration,
}

/// Runs the program and writes its trace, and those of other processes beside it: `run.ft` and `run.1234.ft`. What the
/// program itself wrote is moved to `keep`, if given. `time` is there for packing and checking each.
pub(crate) fn record(
    program: &Program<'_>,
    trace: &Path,
    keep: Option<&Path>,
    time: Option<Duration>,
) -> Result<Recorded, CliError> {
    let recording = Recording::prepare(program, trace)?;
    // A mistake in the name is told before the program runs.
    let target = Target::file(trace)?;
    let code = recording.run(Reading::Afterwards)?;
    let packing = recording.pack(target, keep, time)?;
    Ok(Recorded { code, packing, others: recording.pack_others(keep, time)? })
}

/// When a raw trace is read: what is read while the program runs costs it more to write.
#[derive(Clone, Copy)]
pub(crate) enum Reading {
    Along,
    Afterwards,
}

/// A recording that is about to begin, or has begun.
pub(crate) struct Recording<'a> {
    program: &'a Program<'a>,
    trace: &'a Path,
    table: LockTable,
    /// Where the raw traces go.
    folder: Scratch,
    /// The signal that has ended the program, once one has.
    ending: Arc<OnceLock<Ending>>,
}

impl<'a> Recording<'a> {
    pub(crate) fn prepare(program: &'a Program<'a>, trace: &'a Path) -> Result<Recording<'a>, CliError> {
        let table = config::lock_table()?;
        let folder = trace.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |why| CliError::output(folder.display(), why);
        // The program may go to another folder before it opens its trace.
        let folder = folder.canonicalize().map_err(failed)?;
        let folder = Scratch::new_in(&folder).map_err(failed)?;
        Ok(Recording { program, trace, table, folder, ending: Arc::default() })
    }

    /// Where the program itself writes its raw trace.
    pub(crate) fn raw(&self) -> PathBuf {
        self.folder.path().join(RAW_NAME)
    }

    /// Runs the program to its end; its exit code.
    pub(crate) fn run(&self, reading: Reading) -> Result<u8, CliError> {
        let status = run(self.program, &self.raw(), reading)?;
        // It runs once.
        let _ = self.ending.set(status.signal().map_or(Ending::Exit, Ending::Signal));
        interrupt::was_for_the_program();
        let name = program_name(self.program.line);
        Ok(if self.program.printed.is_some() { exit::of_process(status) } else { told(&name, status) })
    }

    /// Knows how the program has ended, once it has.
    pub(crate) fn ending(&self) -> Arc<OnceLock<Ending>> {
        Arc::clone(&self.ending)
    }

    /// Fails if the program has recorded nothing.
    pub(crate) fn is_there(&self) -> Result<(), CliError> {
        let name = self.program.line.first().map_or(OsStr::new(""), |name| name);
        match File::open(self.raw()) {
            Ok(raw) if has_begun(&raw) => Ok(()),
            Ok(_) => Err(unrecorded::ended_at_once(name)),
            Err(_) => Err(unrecorded::recorded_nothing(name)),
        }
    }

    /// Which functions are operations on locks.
    pub(crate) fn lock_table(&self) -> LockTable {
        self.table.clone()
    }

    /// Packs what the program itself recorded; how long that took.
    pub(crate) fn pack(
        &self,
        target: Target,
        keep: Option<&Path>,
        time: Option<Duration>,
    ) -> Result<Duration, CliError> {
        self.is_there()?;
        pack_and_keep(&self.raw(), target, &self.table, keep, time, self.ending.get().copied())
    }

    /// Packs what other processes recorded.
    pub(crate) fn pack_others(
        self,
        keep: Option<&Path>,
        time: Option<Duration>,
    ) -> Result<Vec<Other>, CliError> {
        let mut others = Vec::new();
        for (process, raw) in raw_of_others(self.folder.path()) {
            let of_process = |path: &Path| {
                let ending = path.extension().unwrap_or_default().display();
                path.with_extension(format!("{process}.{ending}"))
            };
            if !File::open(&raw).is_ok_and(|raw| has_begun(&raw)) {
                let note = format!("process {process} ended before it began to record: it has no trace");
                error::print(Severity::Note, &note);
                continue;
            }
            let trace = of_process(self.trace);
            let keep = keep.map(of_process);
            let packing =
                pack_and_keep(&raw, Target::file(&trace)?, &self.table, keep.as_deref(), time, None)?;
            others.push(Other { process, trace, packing });
        }
        Ok(others)
    }
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
            (!is_side_file(&name)).then(|| (process, entry.path()))
        })
        .collect();
    found.sort();
    found
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Exit,
    Signal(i32),
}

impl Ending {
    /// Whether a thread may have been ended by what it did itself, in the middle of something.
    pub(crate) fn may_be_a_fault(ending: Option<Ending>) -> bool {
        // SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
        const FAULTS: [i32; 6] = [4, 5, 7, 8, 11, 31];
        match ending {
            Some(Ending::Exit) => false,
            Some(Ending::Signal(signal)) => FAULTS.contains(&signal),
            None => true,
        }
    }
}

fn pack_and_keep(
    raw: &Path,
    target: Target,
    table: &LockTable,
    keep: Option<&Path>,
    time: Option<Duration>,
    ending: Option<Ending>,
) -> Result<Duration, CliError> {
    let started = Instant::now();
    let deadline = time.and_then(|time| started.checked_add(time / 2));
    let packed = pack(raw, target, table.clone(), deadline, ending);
    if let Some(kept) = keep {
        join(raw)
            .and_then(|()| std::fs::rename(raw, kept))
            .map_err(|why| CliError::output(kept.display(), why))?;
    }
    packed.map(|()| started.elapsed())
}

/// What the user called the program.
pub(crate) fn program_name(program: &[OsString]) -> String {
    program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Program<'_> {
    /// The program with its arguments and variables, not yet told to record.
    pub(crate) fn command(&self) -> Result<Command, CliError> {
        let Some((name, args)) = self.line.split_first() else {
            return Err(CliError::Usage("no program given; expected one after `--`".to_owned()));
        };
        let mut command = processes::command(name);
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

fn run(program: &Program<'_>, raw: &Path, reading: Reading) -> Result<ExitStatus, CliError> {
    let (mut command, _) = prepared(program)?;
    match reading {
        Reading::Along => command.env(FOLLOWED_VARIABLE, "1"),
        Reading::Afterwards => command.env_remove(FOLLOWED_VARIABLE),
    };
    if !program.inside.is_empty() {
        command.env(KNOWLEDGE_VARIABLE, lines(program.inside));
    }
    let most = program.extent.max_size.or(program.extent.keep_last.is_none().then_some(USUAL_SIZE));
    if let Some(bytes) = most {
        command.env(MAX_SIZE_VARIABLE, bytes.to_string());
    }
    if let Some(bytes) = program.extent.keep_last {
        command.env(KEEP_LAST_VARIABLE, bytes.to_string());
    }
    if program.extent.values {
        command.env(VALUES_VARIABLE, "1");
    }
    let needs_counter = program.extent.keep_last.is_some() || program.extent.values;
    if std::env::var_os(CLOCK_VARIABLE).is_none() && !needs_counter {
        let clock = match program.asks_who_knows {
            true => Some("moments"),
            false => program_file::best_clock(command.get_program()),
        };
        command.envs(clock.map(|clock| (CLOCK_VARIABLE, clock)));
    }
    if program.extent.leaves_out() {
        let table = program_file::code_table(command.get_program(), &program.extent.selection())?;
        let path = raw.with_file_name(CODE_NAME);
        std::fs::write(&path, table).map_err(|why| CliError::output(path.display(), why))?;
        command.env(recorded_code::VARIABLE, path);
    }
    hook(&mut command, program.calls, raw)?;
    if records_plainly(program) && std::env::var_os(joined::VARIABLE).is_none() {
        note_joined(&mut command, raw);
    }
    run_to_end(program, command.env(RAW_VARIABLE, raw))
}

/// Whether calls for accesses record these, and do nothing else.
fn records_plainly(program: &Program<'_>) -> bool {
    let Extent { keep_last, values, .. } = &program.extent;
    let asks_for_values = !program.watch.is_empty() || !program.variables.is_empty() || *values;
    let asks_for_calls = !program.calls.is_empty() || !program.inside.is_empty();
    keep_last.is_none() && !asks_for_values && !asks_for_calls && !program.extent.leaves_out()
}

/// Has the runtime leave out records of accesses that others tell of, if there are any and that can be said: without it, all are recorded.
fn note_joined(command: &mut Command, beside: &Path) {
    let path = beside.with_file_name(JOINED_NAME);
    let table = program_file::joined(command.get_program(), Instant::now() + JOINING);
    if table.is_some_and(|table| std::fs::write(&path, table).is_ok()) {
        command.env(joined::VARIABLE, path);
    }
}

/// Paths as a variable has them.
pub(crate) fn lines(paths: &[PathBuf]) -> OsString {
    let paths: Vec<OsString> = paths.iter().map(|path| path.clone().into_os_string()).collect();
    paths.join(OsStr::new("\n"))
}

/// The program with what does not depend on whether it is recorded or monitored; and those of the variables that it does not have.
pub(crate) fn prepared(program: &Program<'_>) -> Result<(Command, Vec<String>), CliError> {
    let mut command = program.command()?;
    let mut missing = Vec::new();
    if !program.watch.is_empty() || !program.variables.is_empty() {
        let watched = watch(&mut command, program.watch, program.variables)?;
        for name in watched.untyped() {
            let message = format!(
                "variable `{name}` of the spec: the program does not say what type it is, so its values are taken for signed numbers; build with `-g` (Rust: `debug = \"full\"`)"
            );
            error::print(Severity::Warning, &message);
        }
        missing.extend(program.variables.iter().filter(|name| !watched.has_variable(name)).cloned());
    }
    let exit_wait = program.extent.exit_wait.unwrap_or(USUAL_EXIT_WAIT);
    command.env(EXIT_WAIT_VARIABLE, exit_wait.as_millis().to_string());
    Ok((command, missing))
}

/// Has the runtime watch the statics of these names, and these variables of specs.
pub(crate) fn watch(
    command: &mut Command,
    names: &[String],
    variables: &[String],
) -> Result<watched_statics::Watched, CliError> {
    let watched = program_file::watched(command.get_program(), names, variables)?;
    command.env(watched_statics::VARIABLE, watched.addresses());
    command.env(watched_statics::NAMES_VARIABLE, watched.named_addresses());
    Ok(watched)
}

/// The hooks for the calls that are asked for.
pub(crate) fn call_table(program: &Program<'_>, command: &Command) -> Result<Option<CallTable>, CliError> {
    match program.calls {
        [] => Ok(None),
        calls => program_file::call_table(command.get_program(), calls),
    }
}

/// Has the runtime record these calls. Those without values that cannot be hooked (a function that was inlined) are left to what instrumented code tells by itself: the trace says that some may be missing.
pub(crate) fn hook(command: &mut Command, calls: &[WantedCall], beside: &Path) -> Result<(), CliError> {
    if calls.is_empty() {
        return Ok(());
    }
    let executable = command.get_program().to_owned();
    let table = |calls: &[WantedCall]| program_file::call_table(&executable, calls);
    let mut some = String::new();
    let (table, hooked) = match table(calls) {
        Ok(whole) => (whole, calls.to_vec()),
        Err(_) => {
            let mut hooked = Vec::new();
            for call in calls {
                match table(std::slice::from_ref(call)) {
                    Err(why) if !call.has_values() => {
                        let why = why.to_string().replace(['\n', '\t'], " ");
                        some.extend(call.functions.iter().map(|function| format!("{why}\t{function}\n")));
                    }
                    _ => hooked.push(call.clone()),
                }
            }
            let whole = if hooked.is_empty() { None } else { table(&hooked)? };
            (whole, hooked)
        }
    };
    if !some.is_empty() {
        command.env(calls::SOME_VARIABLE, some);
    }
    table.map_or(Ok(()), |table| note_calls(command, &table, &hooked, beside))
}

/// Has the runtime put these hooks in place.
pub(crate) fn note_calls(
    command: &mut Command,
    table: &CallTable,
    wanted: &[WantedCall],
    beside: &Path,
) -> Result<(), CliError> {
    let path = beside.with_file_name(CALLS_NAME);
    std::fs::write(&path, &table.bytes).map_err(|why| CliError::output(path.display(), why))?;
    let wanted: String = wanted.iter().flat_map(WantedCall::lines).collect();
    command.env(calls::VARIABLE, path).env(calls::RECORDED_VARIABLE, wanted);
    Ok(())
}

/// Runs the program to its end, and says how it has ended.
pub(crate) fn run_to_end(program: &Program<'_>, command: &mut Command) -> Result<ExitStatus, CliError> {
    let pass_on = PassOn::new();
    let mut child = command.spawn().map_err(|why| unrecorded::cannot_run(command.get_program(), &why))?;
    wait(&mut child, &pass_on, program.timeout)
        .map_err(|why| CliError::output(program_name(program.line), why))
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
                interrupt::send(child, Signal::TERM);
            }
            if elapsed >= timeout.saturating_add(GRACE) && !killed {
                killed = true;
                interrupt::send(child, Signal::KILL);
            }
        }
        std::thread::sleep((elapsed / 16).clamp(Duration::from_micros(200), Duration::from_millis(10)));
    }
}

/// The exit code of the program, said if it is not success: it is no verdict of ours.
pub(crate) fn told(name: &str, status: ExitStatus) -> u8 {
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

/// From the raw trace to one that every command reads. Ctrl-C and the deadline end it with what was packed so far.
fn pack(
    raw: &Path,
    target: Target,
    table: LockTable,
    deadline: Option<Instant>,
    ending: Option<Ending>,
) -> Result<(), CliError> {
    interrupt::finish_on_interrupt();
    let failed = |why| unreadable(raw, why);
    let mut reader = RawReader::open(raw, program_file::symbols()?, table).map_err(failed)?;
    if !Ending::may_be_a_fault(ending) {
        reader.complete_last_accesses();
    }
    let mut packing = Packing::begin(&reader, target)?;
    let mut batch = EventBatch::default();
    let mut more = true;
    while more && !packing.must_end(deadline) {
        batch.clear();
        more = reader.take_many(&mut batch, AT_ONCE).map_err(failed)?;
        packing.events(&reader, &batch)?;
    }
    packing.finish(&reader, ending)
}

/// Why a raw trace cannot be read.
pub(crate) fn unreadable(raw: &Path, why: TraceError) -> CliError {
    match why {
        TraceError::NewerVersion { found, known } => CliError::Usage(format!(
            "the program was built by another version of foresee: it records in format {found}, this foresee reads up to \
             {known}; build it again, or use that foresee"
        )),
        why => CliError::input(raw, why),
    }
}

/// A raw trace on its way into a trace that every command reads.
pub(crate) struct Packing {
    output: Option<Output>,
    packed: u64,
    /// From how many events on the clock is looked at again.
    next_look: u64,
    /// How many facts are written.
    facts: usize,
    /// Why it did not come to the end of the raw trace.
    cut: Option<NoEnd>,
}

impl Packing {
    pub(crate) fn begin(reader: &RawReader, target: Target) -> Result<Packing, CliError> {
        let output = Some(Output::new(target, reader.facts())?);
        Ok(Packing { output, packed: 0, next_look: LOOK_AT_CLOCK, facts: reader.facts().len(), cut: None })
    }

    /// Whether Ctrl-C or the deadline ends it: then nothing more is packed.
    pub(crate) fn must_end(&mut self, deadline: Option<Instant>) -> bool {
        if interrupt::interrupted().load(Ordering::Relaxed) {
            self.cut = Some(NoEnd::Interrupted);
        } else if self.packed >= self.next_look {
            self.next_look = self.packed + LOOK_AT_CLOCK;
            self.cut = deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| NoEnd::OutOfTime);
        }
        self.cut.is_some()
    }

    /// Packs all events of a batch that the reader has given.
    pub(crate) fn events(&mut self, reader: &RawReader, batch: &EventBatch) -> Result<(), CliError> {
        let Some(output) = &mut self.output else { return Ok(()) };
        self.packed += batch.len() as u64;
        output.push_all(reader.names(), batch)
    }

    /// Packs the event that the reader has reached.
    pub(crate) fn event(&mut self, reader: &RawReader) -> Result<(), CliError> {
        let Some(output) = &mut self.output else { return Ok(()) };
        self.packed += 1;
        output.push(reader.names(), &reader.event())
    }

    /// Completes the trace of a program that perhaps a signal has ended, and reports what is wrong with it.
    pub(crate) fn finish(&mut self, reader: &RawReader, ending: Option<Ending>) -> Result<(), CliError> {
        let Some(mut output) = self.output.take() else { return Ok(()) };
        if let Some(cut) = self.cut {
            let why = if cut == NoEnd::OutOfTime { "out of time" } else { "interrupted" };
            let packed = self.packed;
            error::print(
                Severity::Warning,
                &format!("{why}: only the first {packed} events are in the trace"),
            );
        }
        if let Some(damage) = reader.damage() {
            error::print(Severity::Warning, &format!("the recording is incomplete: {damage}"));
        }
        // What became known while the program ran.
        for (key, value) in reader.facts().get(self.facts..).unwrap_or_default() {
            output.fact(key, value)?;
        }
        if let Some(Ending::Signal(signal)) = ending {
            output.fact(ENDED_BY, &signal.to_string())?;
        }
        output.finish(reader.names(), &self.trust(reader))
    }

    /// What of the run is not in the trace.
    pub(crate) fn trust(&self, reader: &RawReader) -> Trust {
        let mut trust = reader.trust();
        if let Some(cut) = self.cut {
            trust.add(Gap::NoEnd(cut));
        }
        trust
    }
}
