//! `cargo foresee run|test|build|nextest`: cargo itself, with an environment in which what it builds and runs is recorded.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cargo::arguments::Arguments;
use crate::cargo::flags::{self, Build};
use crate::cargo::project::{Project, cargo};
use crate::cargo::results;
use crate::cargo::settings::{Mode, RunnerSettings, VARIABLE};
use crate::cli::{CargoOptions, Extent};
use crate::commands::check::{self, Check};
use crate::commands::{runner, rustc};
use crate::compiler::{self, std_wraps, toolchain};
use crate::config::{self, Settings};
use crate::error::{self, CliError, Severity, without_code};
use crate::exit;
use crate::interrupt::PassOn;
use crate::observer;
use crate::report::caveats::caveats;
use crate::report::format::ReportFormat;
use crate::report::results::{Outcome, Results};
use crate::scratch::Scratch;
use crate::specs::{self, Warnings};
use crate::target::TARGET;
use crate::unmatched::{self, has_mistake};

const RUSTFLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
const RUSTDOCFLAGS: &str = "CARGO_ENCODED_RUSTDOCFLAGS";
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";
const BOOTSTRAP: &str = "RUSTC_BOOTSTRAP";
const WRAPPER: &str = "RUSTC_WRAPPER";

/// What cargo says for a mistake in its arguments.
const CARGO_USAGE: i32 = 1;

pub(crate) fn run(args: &[OsString]) -> Result<ExitCode, CliError> {
    let (subcommand, mode, rest) = subcommand(args)?;
    let arguments = Arguments::parse(rest)?;
    let parsed = CargoOptions::command().try_get_matches_from(&arguments.ours);
    let options = match parsed.and_then(|found| CargoOptions::from_arg_matches(&found)) {
        Ok(options) => options,
        Err(message) => {
            // Nobody to tell if that fails: the reader of the output has gone.
            let _ = message.print();
            return Ok(ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(exit::BAD_INPUT)));
        }
    };
    if !options.monitor.is_empty() && mode != Some(Mode::Run) {
        let message =
            "--monitor is for `cargo foresee run`: tests are recorded, and held against properties by --spec";
        return Err(CliError::Usage(message.to_owned()));
    }
    warn_of_lost_flags(&arguments);
    let mut settings = absolute(config::settings(&options.check)?);
    settings.bound = check::bound(options.timeout);
    // A mistake in them is reported before anything long begins.
    let check = Check::by(settings.clone(), Warnings::Printed)?;
    let Some(project) = Project::find(&arguments)? else {
        return Ok(ExitCode::from(exit::BUILD_FAILED));
    };
    let results = Scratch::new()?;

    let mut command = cargo();
    command.args(subcommand).arg("--target").arg(TARGET).arg("--target-dir").arg(&project.target_dir);
    command.args(&arguments.cargo).args(&arguments.program);
    let extent = config::extent(&options.extent)?;
    let (calls, variables) = wanted(&check, &project, &options.monitor)?;
    let build = Build { branches: extent.branches, calls, variables };
    instrument(&mut command, &project, build)?;
    if let Some(mode) = mode {
        set_runner(&mut command, mode, &options, &settings, extent, &project, results.path())?;
    }
    let wants_document = mode.is_some_and(|mode| wants_document(mode, &settings));
    if wants_document && settings.output.is_none() {
        // Standard output is for the document.
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
    }
    let status = execute(&mut command)?;
    // After Ctrl-C cargo is gone at once; a runner stays to report what is known.
    let _ = File::open(results.path()).and_then(|folder| folder.lock());

    let outcomes = results::collect(results.path());
    let anything_ran = status.success() || !outcomes.is_empty();
    if wants_document && anything_ran {
        check::write(Results::Tests(&outcomes), &settings)?;
    }
    for unused in results::unused_suppressions(&outcomes) {
        error::print(Severity::Warning, &format!("suppression `{unused}` matched nothing"));
    }
    let merged = Results::Tests(&outcomes).merged();
    if mode.is_some_and(|mode| mode != Mode::Run) && anything_ran {
        if !wants_document {
            tell_limits(&outcomes);
        }
        unmatched::tell(&merged.stats.unmatched, settings.mistakes());
    }
    if mode.is_some_and(|mode| mode != Mode::Run) {
        let reports = outcomes.iter().flat_map(|outcome| &outcome.reports);
        let suppressed = reports.map(|report| report.stats.suppressed).sum();
        settings.tell_what_the_file_decided(outcomes.iter().any(Outcome::has_alarm), suppressed);
    }
    let is_wrong = mode != Some(Mode::Run) && settings.strict && has_mistake(&merged.stats.unmatched);
    Ok(ExitCode::from(if is_wrong { exit::BAD_INPUT } else { exit_code(status, mode, &outcomes) }))
}

/// What is to be said of tests in which nothing was found, whose reports people do not see: in one line.
fn tell_limits(outcomes: &[Outcome]) {
    let clean = outcomes.iter().filter(|outcome| outcome.findings() == 0).cloned().collect::<Vec<_>>();
    let limits = caveats(&Results::Tests(&clean).merged());
    if !limits.is_empty() {
        error::print(
            Severity::Note,
            &format!("of the tests in which nothing was found: {}", limits.join("; ")),
        );
    }
}

/// Whether there is to be one document over all tests: not for a single program, nor for people who read along.
fn wants_document(mode: Mode, settings: &Settings) -> bool {
    let is_for_people = settings.format.unwrap_or_default() == ReportFormat::Human;
    mode != Mode::Run && (!is_for_people || settings.output.is_some())
}

/// What cargo is called with, what its runner is for, and the arguments that follow.
type Subcommand<'a> = (&'static [&'static str], Option<Mode>, &'a [OsString]);

fn subcommand(args: &[OsString]) -> Result<Subcommand<'_>, CliError> {
    let (name, rest) = args.split_first().map_or((OsStr::new(""), args), |(name, rest)| (name, rest));
    let of_nextest = rest.first().and_then(|arg| arg.to_str());
    match (name.to_str(), of_nextest) {
        (Some("run"), _) => Ok((&["run"], Some(Mode::Run), rest)),
        (Some("test"), _) => Ok((&["test"], Some(Mode::Test), rest)),
        (Some("build"), _) => Ok((&["build"], None, rest)),
        (Some("nextest"), Some("list")) => Ok((&["nextest", "list"], Some(Mode::Nextest), &rest[1..])),
        (Some("nextest"), Some("run" | "r")) => Ok((&["nextest", "run"], Some(Mode::Nextest), &rest[1..])),
        (Some("nextest"), _) => Ok((&["nextest", "run"], Some(Mode::Nextest), rest)),
        _ => Err(CliError::Usage(format!("`{}`: expected one of run, test, build, nextest", name.display()))),
    }
}

/// Flags in a variable, as ours are, win over configured ones; those in files and variables we know and keep.
fn warn_of_lost_flags(arguments: &Arguments) {
    if arguments.cargo.iter().any(|arg| arg.to_string_lossy().contains("rustflags")) {
        let message = "rustflags in --config are not kept; give them by RUSTFLAGS or in .cargo/config.toml";
        error::print(Severity::Warning, &message);
    }
}

/// Whether calls are events of properties, and whether these speak of variables: those that are given, or those of one of the project's programs.
fn wanted(check: &Check, project: &Project, monitored: &[PathBuf]) -> Result<(bool, bool), CliError> {
    let (mut calls, mut variables) = (!check.calls().is_empty(), !check.variables().is_empty());
    for path in monitored.iter().chain(project.specs.iter().map(|(_, path)| path)) {
        let properties = specs::load(path, Warnings::Known)?.properties;
        calls |= !specs::calls(&properties).is_empty();
        variables |= properties.iter().any(|property| !property.vars.is_empty());
    }
    Ok((calls, variables))
}

/// Sets the flags of rustc and rustdoc.
fn instrument(command: &mut Command, project: &Project, build: Build) -> Result<(), CliError> {
    let mut link = toolchain::runtime_arguments(build.branches)?;
    link.extend(std_wraps::link_arguments(project.rustc(), &project.target_dir)?);
    let runtime = toolchain::runtime()?;
    for (variable, users) in [(RUSTFLAGS, project.rustflags()?), (RUSTDOCFLAGS, project.rustdocflags()?)] {
        command.env(variable, flags::all(&users, &link, Some(&runtime), build)?.join("\x1f"));
    }
    command.env_remove("RUSTFLAGS").env_remove("RUSTDOCFLAGS").env(BOOTSTRAP, "1");
    if build.branches {
        // For our compilers, which build scripts call.
        let users = std::env::var(config::VARIABLE).unwrap_or_default();
        command.env(config::VARIABLE, format!("{users}:branches=true"));
    }
    let users = project.rustc_wrapper().map(OsStr::to_owned).unwrap_or_default();
    command.env(WRAPPER, link_to_us(project, rustc::NAME)?).env(rustc::USERS, users);
    instrument_c(command, project)
}

/// This program under another name, by which it is called as a compiler.
fn link_to_us(project: &Project, name: &str) -> Result<PathBuf, CliError> {
    let folder = project.target_dir.join("bin");
    let failed = |why| CliError::output(folder.display(), why);
    let us = std::env::current_exe().map_err(failed)?;
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let link = folder.join(name);
    if std::fs::read_link(&link).ok().as_deref() != Some(&us) {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&us, &link).map_err(failed)?;
    }
    Ok(link)
}

/// C and C++ code that build scripts compile is instrumented, too: the variables are those that the `cc` and `cmake` crates
/// look at first. A compiler that the user has chosen for it is driven; one chosen in another way is left alone.
fn instrument_c(command: &mut Command, project: &Project) -> Result<(), CliError> {
    for ((name, _), [usual, drives]) in
        compiler::NAMES.into_iter().zip([["CC", "FORESEE_CC"], ["CXX", "FORESEE_CXX"]])
    {
        let ours = format!("{usual}_{}", TARGET.replace('-', "_"));
        let special = [ours.clone(), format!("{usual}_{TARGET}"), format!("TARGET_{usual}")];
        if special.iter().any(|variable| std::env::var_os(variable).is_some()) {
            continue;
        }
        if let Some(users) = std::env::var_os(usual).filter(|users| !users.is_empty()) {
            if users.to_string_lossy().contains(char::is_whitespace) {
                continue;
            }
            command.env(drives, users);
        }
        command.env(ours, link_to_us(project, name)?);
    }
    Ok(())
}

/// Makes this program cargo's runner, and hands it all it has to know.
fn set_runner(
    command: &mut Command,
    mode: Mode,
    options: &CargoOptions,
    settings: &Settings,
    extent: Extent,
    project: &Project,
    results: &Path,
) -> Result<(), CliError> {
    let ours = [
        RUSTFLAGS,
        RUSTDOCFLAGS,
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        RUNNER,
        BOOTSTRAP,
        WRAPPER,
        rustc::USERS,
        config::VARIABLE,
        VARIABLE,
    ];
    let settings = RunnerSettings {
        mode,
        check: settings.clone(),
        specs: project.specs.clone(),
        timeout: options.timeout,
        watch: options.watch.clone(),
        monitor: options.monitor.iter().map(|spec| absolute_path(spec)).collect(),
        extent,
        trace: options.trace.as_deref().map(absolute_path),
        results: results.to_owned(),
        through: project.runner()?,
        environment: ours.iter().map(|&name| (name.to_owned(), std::env::var_os(name))).collect(),
    };
    command.env(VARIABLE, settings.to_variable()?).env(RUNNER, runner_line(results)?);
    if let Some(secret) = observer::secret() {
        RunnerSettings::leave_secret(results, &secret)?;
    }
    Ok(())
}

/// This program as cargo's runner. Cargo splits the line at white space, so a path with any gets another name.
fn runner_line(folder: &Path) -> Result<OsString, CliError> {
    let failed = |why| CliError::output("the path of foresee", why);
    let mut us = std::env::current_exe().map_err(failed)?;
    if us.to_string_lossy().contains(char::is_whitespace) {
        let link = folder.join("foresee");
        std::os::unix::fs::symlink(&us, &link).map_err(failed)?;
        us = link;
    }
    let mut line = us.into_os_string();
    line.push(" ");
    line.push(runner::NAME);
    Ok(line)
}

/// Runs cargo. Ctrl-C is cargo's and the program's; we stay for what they found until then.
fn execute(command: &mut Command) -> Result<ExitStatus, CliError> {
    let name = command.get_program().to_owned();
    let failed = |why: &std::io::Error| {
        CliError::Usage(format!("{}: cannot run cargo: {}", name.display(), without_code(why)))
    };
    let pass_on = PassOn::new();
    let mut child = command.spawn().map_err(|why| failed(&why))?;
    crate::recording::wait(&mut child, &pass_on, None).map_err(|why| failed(&why))
}

/// Of `run` the runner says it. Otherwise findings count first, then what cargo says.
fn exit_code(status: ExitStatus, mode: Option<Mode>, outcomes: &[Outcome]) -> u8 {
    if let (Some(Mode::Run), [outcome]) = (mode, outcomes) {
        return outcome.verdict;
    }
    let found = outcomes.iter().find(|outcome| outcome.has_alarm()).map(|outcome| outcome.verdict);
    let undecided = outcomes.iter().any(|outcome| outcome.verdict == exit::UNDECIDED);
    match (found, status.code()) {
        (Some(code), _) => code,
        (None, Some(0)) if undecided => exit::UNDECIDED,
        (None, Some(CARGO_USAGE)) if outcomes.is_empty() => exit::BAD_INPUT,
        (None, _) => exit::of_process(status),
    }
}

/// Cargo runs tests in the folder of their package.
fn absolute(mut settings: Settings) -> Settings {
    settings.folder = std::env::current_dir().ok();
    settings.ran = true;
    settings.output = settings.output.as_deref().map(absolute_path);
    let lists = [
        &mut settings.suppressions,
        &mut settings.spec,
        &mut settings.raw_monitors,
        &mut settings.source_root,
    ];
    lists.into_iter().flatten().for_each(|path| *path = absolute_path(path));
    settings
}

fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_runs_or_lists() {
        let line = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        for (text, called, rest) in [
            ("nextest run --workspace", ["nextest", "run"], 1),
            ("nextest r", ["nextest", "run"], 0),
            ("nextest --workspace run", ["nextest", "run"], 2),
            ("nextest list -p app", ["nextest", "list"], 2),
        ] {
            let args = line(text);
            let (subcommand, mode, left) = subcommand(&args).unwrap();
            assert_eq!((subcommand, left.len()), (&called[..], rest), "{text}");
            assert_eq!(mode, Some(Mode::Nextest));
        }
        assert!(subcommand(&line("bench")).is_err() && subcommand(&[]).is_err());
    }
}
