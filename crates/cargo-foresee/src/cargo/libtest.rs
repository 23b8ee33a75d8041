//! Test programs of Rust's own harness: which tests there are, and how to run one of them.
//!
//! The harness runs all tests in one process, at the same time: their events would be mixed, and one test's locks would order
//! another's accesses. So each test gets its own process, as `cargo nextest` does it. `--nocapture` is needed for
//! more than output: capturing goes through a mutex that all threads of a test share, which would hide races.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::CliError;
use crate::unrecorded::cannot_run;

/// In every program that was built by us: it needs the runtime.
const RUNTIME: &[u8] = b"__tsan_init";

/// In every program with the harness, and in no other: the function that its `main` calls.
const HARNESS: &[u8] = b"test_main_static";

/// Whether this is a test program of the harness. It is not asked by running it: a program without the harness would do
/// whatever it does.
pub(crate) fn has_harness(program: &Path) -> bool {
    has_symbol(program, HARNESS)
}

/// Whether it can be recorded. Tests of a procedural macro cannot: they are built for the compiler to load.
pub(crate) fn is_instrumented(program: &Path) -> bool {
    has_symbol(program, RUNTIME)
}

fn has_symbol(program: &Path, name: &[u8]) -> bool {
    std::fs::read(program).is_ok_and(|bytes| memchr::memmem::find(&bytes, name).is_some())
}

/// Whether rustdoc built this from an example in documentation.
pub(crate) fn is_doctest(program: &Path) -> bool {
    program.file_stem().is_some_and(|name| name == "rust_out")
        || program
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|folder| folder.to_string_lossy().starts_with("rustdoctest"))
}

/// `app` for `target/debug/deps/app-0123456789abcdef`; rustdoc gives its programs no names.
pub(crate) fn name_of(program: &Path) -> String {
    if is_doctest(program) {
        return "doctest".to_owned();
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    match name.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            stem.to_owned()
        }
        _ => name.into_owned(),
    }
}

/// What the user's arguments for the harness mean to us.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Which tests: filters, `--skip`, `--exact`, `--ignored`, `--include-ignored`.
    pub(crate) which: Vec<OsString>,
    /// How many at a time.
    pub(crate) threads: Option<usize>,
    /// Whether to show what tests print, even if they pass.
    pub(crate) show_output: bool,
    /// Ignored tests are run.
    pub(crate) with_ignored: bool,
    /// Only to be listed, or help: for the harness itself.
    pub(crate) only_asks: bool,
}

impl Wanted {
    pub(crate) fn parse(args: &[OsString]) -> Wanted {
        let mut wanted = Wanted::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.to_string_lossy();
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (&*text, None),
            };
            match name {
                "--test-threads" => {
                    let value = attached.or_else(|| Some(rest.next()?.to_str()?.to_owned()));
                    wanted.threads = value.and_then(|value| value.parse().ok()).filter(|&n| n > 0);
                }
                "--nocapture" | "--no-capture" | "--show-output" => wanted.show_output = true,
                "--list" | "--help" | "-h" => wanted.only_asks = true,
                "--ignored" | "--include-ignored" => {
                    wanted.with_ignored = true;
                    wanted.which.push(arg.clone());
                }
                "--skip" => {
                    wanted.which.push(arg.clone());
                    if attached.is_none() {
                        wanted.which.extend(rest.next().cloned());
                    }
                }
                // How the harness would show its own results: we show ours.
                "--format" | "--color" | "--logfile" | "--shuffle-seed" if attached.is_none() => {
                    rest.next();
                }
                "-Z" => {
                    rest.next();
                }
                "--exact" => wanted.which.push(arg.clone()),
                _ if name.starts_with('-') => {}
                _ => wanted.which.push(arg.clone()),
            }
        }
        wanted
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) name: String,
    /// Not to be run.
    pub(crate) ignored: bool,
}

/// The tests that the user wants, as the harness lists them. `command` gives the program, ready to be run.
pub(crate) fn list(
    command: &dyn Fn() -> Result<Command, CliError>,
    wanted: &Wanted,
) -> Result<Vec<Test>, CliError> {
    let names = |more: &[&str]| -> Result<Vec<String>, CliError> {
        let mut command = command()?;
        command.args(&wanted.which).args(["--list", "--format", "terse"]).args(more);
        let answer = command
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|why| cannot_run(command.get_program(), &why))?;
        if !answer.status.success() {
            let name = command.get_program().display();
            return Err(CliError::Usage(format!(
                "{name}: cannot list its tests: it ended with {}",
                answer.status
            )));
        }
        let text = String::from_utf8_lossy(&answer.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    };
    let all = names(&[])?;
    let ignored = if wanted.with_ignored { Vec::new() } else { names(&["--ignored"])? };
    Ok(all.into_iter().map(|name| Test { ignored: ignored.contains(&name), name }).collect())
}

/// Arguments that run one test, whether it is to be ignored or not.
pub(crate) fn only(test: &str) -> [OsString; 5] {
    [test, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"].map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Wanted {
        Wanted::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_selects_tests_is_kept() {
        let wanted =
            parse("bank --skip slow --exact --test-threads 3 --format pretty --color=always --nocapture -q");
        assert_eq!(wanted.which, ["bank", "--skip", "slow", "--exact"]);
        assert_eq!((wanted.threads, wanted.show_output, wanted.with_ignored), (Some(3), true, false));
        assert!(parse("--ignored").with_ignored && parse("--list").only_asks);
        assert_eq!(parse("--test-threads=0").threads, None);
    }

    #[test]
    fn programs_are_named_without_their_hash() {
        assert_eq!(name_of(Path::new("deps/my-app-0123456789abcdef")), "my-app");
        assert_eq!(name_of(Path::new("deps/my-app")), "my-app");
        assert_eq!(name_of(Path::new("/tmp/rustdoctestAbC/rust_out")), "doctest");
    }
}
