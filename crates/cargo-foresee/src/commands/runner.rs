//! What cargo calls instead of the programs it built: records and checks them.
//!
//! | called for | what happens | exit code |
//! |---|---|---|
//! | `run` | the program is recorded and checked, as by `foresee run` | 0; the result file has the real one |
//! | `test`, a program of the harness | each test in its own process, several at a time | 101 if a test failed |
//! | `test`, any other program | recorded and checked as one test | the program's own |
//! | `test`, a doctest | the same; rustdoc shows what is printed only if it fails | as for findings |
//! | `test`, a program that is not instrumented | run as it is | the program's own |
//! | `nextest` | one test is recorded; questions (`--list`) are passed on | as for findings |
//!
//! With findings but no failure the exit code is 0 for tests: cargo goes on to the next test program, and whoever runs cargo
//! knows of the findings from the result files.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use foresee_symbols::calls::WantedCall;

use crate::cargo::libtest::{self, Test, Wanted};
use crate::cargo::results;
use crate::cargo::settings::{Mode, RunnerSettings};
use crate::commands::check::Check;
use crate::commands::monitored;
use crate::commands::run::{check_recorded, record_and_check};
use crate::error::{self, CliError, Severity};
use crate::exit;
use crate::program_file;
use crate::recording::{Program, record};
use crate::report::format::ReportFormat;
use crate::report::results::{Outcome, Results};
use crate::scratch::Scratch;
use crate::specs::Warnings;
use crate::unrecorded::cannot_run;

/// The first argument of this program when it is the runner.
pub(crate) const NAME: &str = "cargo-runner";

/// What the harness says for failed tests.
const TESTS_FAILED: u8 = 101;

/// The exit code of what Ctrl-C ended.
const INTERRUPTED: u8 = 130;

const GOOD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
const BAD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
const ODD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

pub(crate) fn run(args: &[OsString]) -> ExitCode {
    let done = RunnerSettings::from_variable().and_then(|settings| {
        // Whoever started cargo waits for this, as cargo itself may be gone before.
        let _at_work = File::open(&settings.results).and_then(|folder| folder.lock_shared().map(|()| folder));
        let program = Path::new(args.first().map_or("".as_ref(), OsString::as_os_str));
        let mut how = settings.check.clone();
        let warnings =
            match settings.specs.iter().find(|(name, _)| program.file_name() == Some(name.as_ref())) {
                Some((_, spec)) if settings.mode == Mode::Run && !how.spec.contains(spec) => {
                    how.spec.push(spec.clone());
                    Warnings::Printed
                }
                _ => Warnings::Known,
            };
        let mut check = Check::by(how, warnings)?;
        // Several at a time, each with a bar, would be no help.
        check.shows_progress = settings.mode == Mode::Run;
        let (variables, mut calls, inside) = (check.variables(), check.calls(), check.inside()?);
        if settings.mode != Mode::Run {
            leave_to_others(program, &mut calls)?;
        }
        let runner = Runner { settings: &settings, program, args, check, variables, calls, inside };
        match settings.mode {
            Mode::Run => runner.run(),
            Mode::Test => runner.test(),
            Mode::Nextest => runner.nextest(),
        }
    });
    ExitCode::from(done.unwrap_or_else(|why| {
        error::print(Severity::Error, &why);
        why.exit_code()
    }))
}

/// A program of tests need not have all functions that properties name: another has them. What none has is told at the end, as the property saw none of its events.
fn leave_to_others(program: &Path, calls: &mut Vec<WantedCall>) -> Result<(), CliError> {
    if calls.is_empty() {
        return Ok(());
    }
    let missing = program_file::missing_calls(program.as_os_str(), calls)?;
    calls.iter_mut().for_each(|call| call.functions.retain(|function| !missing.contains(function)));
    calls.retain(|call| !call.functions.is_empty());
    Ok(())
}

/// One program that cargo wants to be run.
struct Runner<'a> {
    settings: &'a RunnerSettings,
    /// Variables that properties speak of.
    variables: Vec<String>,
    /// Calls that properties want the values of.
    calls: Vec<WantedCall>,
    /// Files of properties that are also monitored in the process.
    inside: Vec<PathBuf>,
    program: &'a Path,
    /// The program and its arguments.
    args: &'a [OsString],
    check: Check,
}

impl Runner<'_> {
    fn run(&self) -> Result<u8, CliError> {
        let (line, secret) = (self.line(self.args), self.settings.secret());
        let name = self.program.display().to_string();
        let program = self.to_record(&line, None);
        let checked = match &*self.settings.monitor {
            [] => record_and_check(&program, &name, self.trace(None).as_deref(), &self.check, secret),
            specs => monitored::run(&program, specs, &name, &self.check),
        };
        let verdict = checked.unwrap_or_else(|why| {
            error::print(Severity::Error, &why);
            why.exit_code()
        });
        self.leave(&Outcome { binary: name, verdict, ..Outcome::default() })?;
        Ok(exit::NOTHING_FOUND)
    }

    fn test(&self) -> Result<u8, CliError> {
        if libtest::is_doctest(self.program) {
            let outcome = self.whole()?;
            return Ok(if outcome.has_alarm() { outcome.verdict } else { outcome.code });
        }
        if !libtest::is_instrumented(self.program) {
            let name = libtest::name_of(self.program);
            let why = "it is built for the compiler, as tests of procedural macros are";
            error::print(Severity::Note, &format!("{name}: not recorded: {why}"));
            return self.pass_through();
        }
        let arguments = self.args.get(1..).unwrap_or_default();
        let wanted = Wanted::parse(arguments);
        if !libtest::has_harness(self.program) {
            return Ok(self.whole()?.code);
        }
        if wanted.only_asks { self.pass_through() } else { self.all_tests(&wanted) }
    }

    fn nextest(&self) -> Result<u8, CliError> {
        let asks = self.args.iter().any(|arg| arg == "--list");
        let asks = asks || !libtest::is_instrumented(self.program);
        let exact = self.args.iter().position(|arg| arg == "--exact");
        let Some(test) = exact.and_then(|at| self.args.get(at + 1)).filter(|_| !asks) else {
            return self.pass_through();
        };
        let test = test.to_string_lossy();
        let outcome = self.one(Some(&test), &self.line(self.args), None)?;
        self.show_findings(&outcome)?;
        self.leave(&outcome)?;
        Ok(if outcome.has_alarm() { outcome.verdict } else { outcome.code })
    }

    /// A program without the harness.
    fn whole(&self) -> Result<Outcome, CliError> {
        let outcome = self.one(None, &self.line(self.args), None)?;
        say(&format!("test {} ... {}\n", outcome.binary, result(&outcome)))?;
        self.show_findings(&outcome)?;
        self.leave(&outcome)?;
        Ok(outcome)
    }

    /// Each in its own process, as many at a time as there are processors.
    fn all_tests(&self, wanted: &Wanted) -> Result<u8, CliError> {
        let base = self.line(self.args.get(..1).unwrap_or_default());
        let tests = libtest::list(&|| self.to_record(&base, None).command(), wanted)?;
        let started = Instant::now();
        say(&match tests.len() {
            0 => "\nrunning 0 tests\n".to_owned(),
            1 => "\nrunning 1 test\n".to_owned(),
            n => format!("\nrunning {n} tests, each in its own process\n"),
        })?;
        // Ctrl-C ends the tests that run, and no other begins.
        let stopped = AtomicBool::new(false);
        let threads =
            wanted.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
        let waiting = Mutex::new(tests.iter());
        let done: Mutex<Vec<Outcome>> = Mutex::default();
        let worker = || -> Result<(), CliError> {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(test) = next.filter(|_| !stopped.load(Ordering::Relaxed)) else {
                    return Ok(());
                };
                let (outcome, printed) = self.one_test(test, &base)?;
                stopped.fetch_or(outcome.code == INTERRUPTED, Ordering::Relaxed);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                self.show_test(&outcome, &printed, wanted.show_output)?;
                done.push(outcome);
            }
        };
        std::thread::scope(|scope| -> Result<(), CliError> {
            let workers: Vec<_> = (1..threads.min(tests.len())).map(|_| scope.spawn(worker)).collect();
            let first = worker();
            workers.into_iter().fold(first, |all, worker| all.and(worker.join().unwrap_or(Ok(()))))
        })?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        for outcome in &mut done {
            outcome.unused = self.check.unused_suppressions();
            self.leave(outcome)?;
        }
        let failed = done.iter().filter(|outcome| outcome.failed()).count();
        say(&summary(&done, started.elapsed().as_secs_f64()))?;
        Ok(if failed > 0 { TESTS_FAILED } else { 0 })
    }

    fn one_test(&self, test: &Test, base: &[OsString]) -> Result<(Outcome, String), CliError> {
        if test.ignored {
            let outcome = Outcome {
                binary: libtest::name_of(self.program),
                test: Some(test.name.clone()),
                ignored: true,
                ..Outcome::default()
            };
            return Ok((outcome, String::new()));
        }
        let failed = |why| CliError::output("the file for what a test prints", why);
        let mut file = tempfile::tempfile().map_err(failed)?;
        let line: Vec<OsString> = base.iter().cloned().chain(libtest::only(&test.name)).collect();
        let mut outcome = self.one(Some(&test.name), &line, Some(&file))?;
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(failed)?;
        let printed = String::from_utf8_lossy(&bytes).into_owned();
        if outcome.failed() {
            outcome.printed.clone_from(&printed);
        }
        Ok((outcome, printed))
    }

    /// Records and checks one program or test.
    fn one(
        &self,
        test: Option<&str>,
        line: &[OsString],
        printed: Option<&File>,
    ) -> Result<Outcome, CliError> {
        let started = Instant::now();
        let temporary = Scratch::new()?;
        let trace = self.trace(test).unwrap_or_else(|| temporary.path().join("run.ft"));
        if let Some(folder) = trace.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|why| CliError::output(folder.display(), why))?;
        }
        let recorded = record(&self.to_record(line, printed), &trace, None, self.check.time())?;
        let (binary, test) = (libtest::name_of(self.program), test.map(str::to_owned));
        let whole = Outcome { binary, test, code: recorded.code, ..Outcome::default() };
        let mut outcome = check_recorded(&self.check, &recorded, &trace, whole)?;
        outcome.seconds = started.elapsed().as_secs_f64();
        outcome.unused = self.check.unused_suppressions();
        Ok(outcome)
    }

    /// Leaves an outcome for whoever runs cargo.
    fn leave(&self, outcome: &Outcome) -> Result<(), CliError> {
        results::save(outcome, &self.settings.results)
    }

    /// As cargo would have done.
    fn pass_through(&self) -> Result<u8, CliError> {
        let line = self.line(self.args);
        let mut command = self.to_record(&line, None).command()?;
        command.status().map(exit::of_process).map_err(|why| cannot_run(command.get_program(), &why))
    }

    /// With the user's own runner before it, if there is one.
    fn line(&self, args: &[OsString]) -> Vec<OsString> {
        self.settings.through.iter().chain(args).cloned().collect()
    }

    fn to_record<'b>(&'b self, line: &'b [OsString], printed: Option<&'b File>) -> Program<'b> {
        let RunnerSettings { timeout, watch, extent, environment, .. } = self.settings;
        let (variables, calls, inside) = (&self.variables, &self.calls, &self.inside);
        Program {
            line,
            timeout: *timeout,
            watch,
            variables,
            calls,
            inside,
            asks_who_knows: self.check.asks_who_knows(),
            extent: extent.clone(),
            printed,
            environment,
        }
    }

    /// Where the trace is to be kept: for tests, in a file named after the test.
    fn trace(&self, test: Option<&str>) -> Option<PathBuf> {
        let kept = self.settings.trace.as_deref()?;
        if self.settings.mode == Mode::Run {
            return Some(kept.to_owned());
        }
        let name = format!("{}-{}", libtest::name_of(self.program), test.unwrap_or("all"));
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        Some(kept.join(format!("{}.ft", name.replace("::", ".").chars().map(plain).collect::<String>())))
    }

    fn show_test(&self, outcome: &Outcome, printed: &str, show_output: bool) -> Result<(), CliError> {
        let name = outcome.test.as_deref().unwrap_or_default();
        say(&format!("test {name} ... {}\n", result(outcome)))?;
        if !outcome.ignored && (outcome.failed() || show_output) {
            say(&format!("---- {name} printed ----\n{}\n----\n", printed.trim()))?;
        }
        self.show_findings(outcome)
    }

    /// People get the report at once; machines get one document at the end.
    fn show_findings(&self, outcome: &Outcome) -> Result<(), CliError> {
        let is_for_people = self.settings.check.format.unwrap_or_default() == ReportFormat::Human;
        if outcome.findings() == 0 || !is_for_people || self.settings.check.output.is_some() {
            return Ok(());
        }
        let text = format!("\n{}\n", self.check.for_people(Results::Run(&outcome.reports)));
        anstream::stderr().write_all(text.as_bytes()).map_err(|why| CliError::output("standard error", why))
    }
}

/// `ok`, `FAILED`, `2 findings`, with the time it took.
fn result(outcome: &Outcome) -> String {
    let seconds = outcome.seconds;
    let found = match outcome.findings() {
        0 => String::new(),
        1 => format!("{BAD}1 finding{BAD:#}"),
        n => format!("{BAD}{n} findings{BAD:#}"),
    };
    let how = match (outcome.failed(), outcome.findings()) {
        _ if outcome.ignored => return format!("{ODD}ignored{ODD:#}"),
        (true, 0) => format!("{BAD}FAILED{BAD:#}"),
        (true, _) => format!("{BAD}FAILED{BAD:#}, {found}"),
        (false, 0) => format!("{GOOD}ok{GOOD:#}"),
        (false, _) => found,
    };
    let code = match outcome.code {
        0 | TESTS_FAILED => String::new(),
        code if code > 128 => format!(", signal {}", code - 128),
        code => format!(", exit code {code}"),
    };
    format!("{how} ({seconds:.2} s{code})")
}

fn summary(done: &[Outcome], seconds: f64) -> String {
    let count = |wanted: &dyn Fn(&Outcome) -> bool| done.iter().filter(|outcome| wanted(outcome)).count();
    let failed = count(&|one| one.failed());
    let ignored = count(&|one| one.ignored);
    let with = count(&|one| one.findings() > 0);
    let findings: usize = done.iter().map(Outcome::findings).sum();
    let passed = done.len() - failed - ignored;
    let result = match (failed, findings) {
        (0, 0) => format!("{GOOD}ok{GOOD:#}"),
        (0, _) => format!("{BAD}findings{BAD:#}"),
        _ => format!("{BAD}FAILED{BAD:#}"),
    };
    let found = match (findings, with) {
        (0, _) => "nothing found".to_owned(),
        (1, _) => "1 finding".to_owned(),
        (_, 1) => format!("{findings} findings in 1 test"),
        _ => format!("{findings} findings in {with} tests"),
    };
    format!(
        "\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored; {found}; finished in \
         {seconds:.2} s\n\n"
    )
}

fn say(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|why| CliError::output("standard output", why))
}
