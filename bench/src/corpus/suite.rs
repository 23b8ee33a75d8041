//! Suites of tests for tools like this one: of each program they say whether a race is to be found in it.
//!
//! A test is a file whose comments say how it is built and run (`RUN:`) and what is reported (`CHECK:`), as LLVM's `lit` and
//! `FileCheck` read them. Read here is what ThreadSanitizer's tests need of that. A report in a program of which the test expects
//! none is a false alarm, unless the entry explains it; a test that expects a race and gets none is a miss, which the entry has to
//! explain, too. Candidates count as nothing found.
//!
//! As the suite does itself, a test whose race depends on the schedule is run again if it was not found.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Failed;
use super::debian::Debian;
use super::entry::Expected;
use super::outcome::Outcome;

/// How often a test is run until its race is found.
const TRIES: usize = 3;
/// What the tests of ThreadSanitizer's reports begin with.
const REPORT: &str = "ThreadSanitizer: ";

/// Where the tests come from, how they are built, and what of them is not as they expect.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suite {
    /// Of Debian's.
    package: String,
    pub(crate) version: String,
    /// Folders of it that are needed, and folders that the tests are in.
    unpack: Vec<String>,
    tests: Vec<String>,
    /// For the compiler; `$source` is where the package is.
    flags: String,
    /// A C file beside the entry with functions that the tests call; it is not instrumented.
    helper: Option<String>,
    /// Words of the suite's own in the lines to run, each with what it stands for.
    #[serde(default)]
    words: Vec<(String, String)>,
    /// For foresee: `.config/foresee.toml`.
    settings: String,
    /// Findings where the tests expect none, which are right.
    #[serde(default)]
    pub(crate) expected: Vec<Expected>,
    #[serde(default)]
    missed: Vec<Exception>,
    #[serde(default)]
    unbuilt: Vec<Exception>,
    #[serde(default)]
    left_out: Vec<Exception>,
}

/// Tests that are not what the others are, and why. A name may end in `*`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    pub(crate) tests: Vec<String>,
    pub(crate) why: String,
}

/// What a test expects of one of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Report {
    Race,
    /// Another one: of a leak, a wrong use of a lock.
    Other,
    None,
}

/// One line of a test, for the shell.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    /// What is done before the run, if it is one.
    build: String,
    run: Option<Run>,
}

#[derive(Debug, PartialEq, Eq)]
struct Run {
    script: String,
    suppressions: Option<String>,
    report: Report,
}

impl Suite {
    /// All exceptions from what the tests expect.
    #[cfg(test)]
    pub(crate) fn exceptions(&self) -> impl Iterator<Item = &Exception> {
        self.missed.iter().chain(&self.unbuilt).chain(&self.left_out)
    }

    /// Builds and runs all tests. What is printed goes to the log.
    pub(crate) fn test(
        &self,
        name: &str,
        entries: &Path,
        debian: &Debian,
        log: &File,
    ) -> Result<Outcome, Failed> {
        let folder = debian.work.join(SUITES).join(format!("{name}-{}", self.version.replace(':', "_")));
        let source = folder.join(&self.package);
        let fetched = folder.join("fetched");
        if !fetched.exists() {
            let package = format!("{}={}", self.package, self.version);
            debian.fetch(&folder, &[&package], &self.unpack, log)?;
            File::create(fetched)?;
        }
        let place = folder.join("programs");
        fs::create_dir_all(place.join(".config"))?;
        fs::write(place.join(".config/foresee.toml"), &self.settings)?;
        let object = match &self.helper {
            None => String::new(),
            Some(helper) => {
                let object = place.join("helper.o");
                let (from, to) = (entries.join(helper), object.display());
                let compile = format!("cc -O1 -c {} -o {to}", from.display());
                if !debian.shell(&place, &compile, &[], log)?.success() {
                    return Err(format!("{helper}: cannot be built").into());
                }
                to.to_string()
            }
        };
        let flags = format!("{object} {}", self.flags.replace("$source", &source.to_string_lossy()));
        let mut outcome = Outcome::default();
        for (name, file) in self.files(&source)? {
            if reason(&self.left_out, &name).is_none() {
                self.one(&name, &Test::read(&file, &place, &flags, &self.words)?, debian, &mut outcome, log)?;
            }
        }
        Ok(outcome)
    }

    /// The files of all tests, by their names in the first folder of the suite.
    fn files(&self, source: &Path) -> Result<Vec<(String, PathBuf)>, Failed> {
        let mut files = Vec::new();
        for part in &self.tests {
            for file in fs::read_dir(source.join(part))? {
                let path = file?.path();
                let name = path.strip_prefix(source.join(&self.tests[0]))?.to_string_lossy().into_owned();
                if path.extension().is_some_and(|ending| ending == "c" || ending == "cpp") {
                    files.push((name, path));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn one(
        &self,
        name: &str,
        test: &Test,
        debian: &Debian,
        outcome: &mut Outcome,
        log: &File,
    ) -> Result<(), Failed> {
        let (mut expects, mut found) = (false, false);
        for command in &test.commands {
            let environment = [("FORESEE_CC", "clang"), ("FORESEE_CXX", "clang++")];
            if !debian.shell(&test.place, &command.build, &environment, log)?.success() {
                outcome.recall.add("not built", name, reason(&self.unbuilt, name));
                return Ok(());
            }
            let Some(run) = &command.run else { continue };
            expects |= run.report == Report::Race;
            for _ in 0..if run.report == Report::Race { TRIES } else { 1 } {
                outcome.tests += 1;
                let before = outcome.findings.len();
                let suppressions = run.suppressions.iter().flat_map(|file| ["--suppressions", file]);
                let options: Vec<String> = suppressions.map(str::to_owned).collect();
                let ended = debian.run(&run.script, &test.place, &options, outcome, log)?;
                if run.report == Report::None && ended.is_broken() {
                    outcome.failed += 1;
                    outcome.recall.add("broken", name, None);
                }
                let mut findings = outcome.findings.split_off(before);
                findings.retain(|finding| finding.certainty != "candidate");
                if run.report == Report::None {
                    outcome.findings.append(&mut findings);
                } else if findings.iter().any(|finding| finding.kind == "race") {
                    found = true;
                    break;
                }
            }
        }
        outcome.recall.expected += usize::from(expects);
        outcome.recall.found += usize::from(expects && found);
        if expects && !found {
            outcome.recall.add("missed", name, reason(&self.missed, name));
        }
        Ok(())
    }
}

/// Where suites are worked on.
const SUITES: &str = "suites";

/// Why a test is not what it is expected to be, if that is known.
fn reason<'a>(exceptions: &'a [Exception], name: &str) -> Option<&'a str> {
    let is_it = |test: &String| match test.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == test,
    };
    exceptions.iter().find(|one| one.tests.iter().any(is_it)).map(|one| one.why.as_str())
}

/// What to do for one test.
struct Test {
    /// Where its programs are made.
    place: PathBuf,
    commands: Vec<Command>,
}

impl Test {
    fn read(file: &Path, programs: &Path, flags: &str, words: &[(String, String)]) -> Result<Test, Failed> {
        let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
        let text = words.iter().fold(text, |text, (word, what)| text.replace(word, what));
        let place = programs.join(file.file_name().unwrap_or_default());
        fs::create_dir_all(&place)?;
        let fill = |line: &str| {
            let objects = line.contains("-shared") || line.contains(" -c ");
            // The helper is first among the flags.
            let flags = if objects { flags.split_once(' ').map_or("", |(_, rest)| rest) } else { flags };
            let library = place.join("library.so");
            line.replace("%clangxx_tsan ", &format!("$CXX -std=c++11 {flags} "))
                .replace("%clang_tsan ", &format!("$CC {flags} "))
                .replace("%link_libcxx_tsan", "")
                .replace("%darwin_min_target_with_tls_support", "")
                .replace("%ld_flags_rpath_exe", &library.to_string_lossy())
                .replace("%ld_flags_rpath_so", "")
                .replace("%dynamiclib", &library.to_string_lossy())
                .replace("%s", &file.to_string_lossy())
                .replace("%t", &place.join("program").to_string_lossy())
        };
        let commands = lines(&text).iter().filter_map(|line| command(line, &text, &fill)).collect();
        Ok(Test { place, commands })
    }
}

/// The lines to run; one that ends in a backslash goes on in the next.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines().filter_map(|line| Some(line.split_once("RUN:")?.1.trim())) {
        let (rest, more) = line.strip_suffix('\\').map_or((line, false), |rest| (rest, true));
        match lines.last_mut() {
            Some(last) if goes_on => last.push_str(rest),
            _ => lines.push(rest.to_owned()),
        }
        goes_on = more;
    }
    lines
}

/// What a line is for us, if anything; `fill` puts in what stands for names and compilers.
fn command(line: &str, text: &str, fill: &dyn Fn(&str) -> String) -> Option<Command> {
    let (done, check) = line.split_once("| FileCheck").unwrap_or((line, ""));
    if done.starts_with("FileCheck") || done.starts_with("llvm-objdump") {
        return None;
    }
    let Some((before, program)) = done.split_once("%run ") else {
        return Some(Command { build: fill(done), run: None });
    };
    let (build, wrapped) = before.rsplit_once("&&").unwrap_or(("", before));
    // What is left of the words before: settings of the environment.
    let words: Vec<&str> = wrapped.split_whitespace().collect();
    let is_tool = |word: &&str| word.starts_with('%') || matches!(*word, "not" | "env");
    let environment: Vec<&str> = words.iter().copied().filter(|word| !is_tool(word)).collect();
    let suppressions = wrapped.split_once("suppressions='").and_then(|(_, rest)| rest.split_once('\''));
    let wants_none = words.windows(2).any(|pair| pair == ["not", "%deflake"]);
    let report =
        if wants_none { Report::None } else { report(text, &prefixes(check), words.contains(&"%deflake")) };
    let script = format!("{} $record {program}", environment.join(" "));
    let suppressions = suppressions.map(|(file, _)| fill(file));
    Some(Command { build: fill(build), run: Some(Run { script: fill(&script), suppressions, report }) })
}

/// Which of a test's comments count, by the arguments of `FileCheck`.
fn prefixes(arguments: &str) -> Vec<&str> {
    let named = |word: &'static str| {
        arguments.split_whitespace().filter_map(move |one| one.trim_start_matches('-').strip_prefix(word))
    };
    let several = named("check-prefixes=").flat_map(|names| names.split(','));
    let all: Vec<&str> = named("check-prefix=").chain(several).collect();
    if all.is_empty() { vec!["CHECK"] } else { all }
}

/// What the comments with these prefixes expect. A test that is run until it fails expects a report, whatever it looks for in it.
fn report(text: &str, prefixes: &[&str], runs_until_it_fails: bool) -> Report {
    let mut reports = text.lines().filter_map(|line| {
        let (_, comment) = line.split_once("//")?;
        let (prefix, what) = comment.trim_start().split_once(':')?;
        prefixes.contains(&prefix).then_some(what.split_once(REPORT)?.1)
    });
    match reports.find(|what| !what.starts_with("reported ")) {
        Some(what) if what.starts_with("data race") => Report::Race,
        Some(_) => Report::Other,
        None if runs_until_it_fails => Report::Race,
        None => Report::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Vec<Command> {
        let fill = |line: &str| line.replace("%s", "a.c").replace("%t", "a");
        lines(text).iter().filter_map(|line| command(line, text, &fill)).collect()
    }

    #[test]
    fn a_test_says_how_it_is_built_and_run_and_what_it_expects() {
        let text = "// RUN: %clang_tsan -O1 %s -o %t && \\\n// RUN: %deflake %run %t 2>&1 | FileCheck %s\n\
                    // CHECK: WARNING: ThreadSanitizer: data race\n";
        let run = Run { script: " $record a 2>&1 ".to_owned(), suppressions: None, report: Report::Race };
        assert_eq!(parse(text), [Command { build: "%clang_tsan -O1 a.c -o a ".to_owned(), run: Some(run) }]);
    }

    #[test]
    fn what_is_expected_depends_on_the_prefix() {
        let text = "// RUN: %run %t | FileCheck %s --check-prefix=B\n// RUN: %run %t | FileCheck %s --check-prefixes=A,C\n\
                    // RUN: not %deflake %run %t\n// RUN: %env_tsan_opts=suppressions='%s.supp' X=1 %run %t\n\
                    // A: ThreadSanitizer: thread leak\n// B-NOT: ThreadSanitizer: data race\n";
        let runs: Vec<Run> = parse(text).into_iter().filter_map(|command| command.run).collect();
        let reports: Vec<Report> = runs.iter().map(|run| run.report).collect();
        assert_eq!(reports, [Report::None, Report::Other, Report::None, Report::None]);
        assert_eq!(runs[3].script, "X=1 $record a");
        assert_eq!(runs[3].suppressions.as_deref(), Some("a.c.supp"));
    }

    #[test]
    fn names_may_end_in_a_star() {
        let one = Exception { tests: vec!["java_*".to_owned(), "x.c".to_owned()], why: String::new() };
        let exceptions = [one];
        assert!(reason(&exceptions, "java_race.cpp").is_some() && reason(&exceptions, "x.c").is_some());
        assert_eq!(reason(&exceptions, "x.cpp"), None);
    }
}
