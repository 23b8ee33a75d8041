//! Correct programs, in which nothing may be found: the tests of well-known concurrent crates, at fixed versions, and
//! programs that put such crates under stress; and C and C++ programs of Debian's ([`debian`]). And suites of tests for tools
//! like this ([`suite`]), which say of each program whether something is to be found.
//!
//! `foresee-bench corpus [NAME…]` takes each crate of `bench/corpus`, copies its published source to `target/corpus`,
//! runs `cargo foresee test` there (or runs the programs in `bench/corpus/stress` that the entry names) and prints a line of
//! a table. A finding is either explained in the crate's entry, or in `stress/deliberate.supp`, or a failure, as are tests
//! that fail and warnings that the recording is not what can have happened. What was printed stays in `target/corpus`, as
//! `NAME.log`, and what cargo foresee found as `NAME.json`.

mod debian;
mod entry;
mod outcome;
mod source;
mod suite;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use debian::Debian;
use entry::{Crate, Entry, What};
use outcome::Outcome;

/// Whatever is in the way of an answer, as a message.
pub(crate) type Failed = Box<dyn std::error::Error>;

/// No test is let run longer; those that need it are for other tools.
const LONGEST_TEST: &str = "2m";

pub(crate) fn run(names: &[&str]) -> ExitCode {
    match table(names) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("corpus: {why}");
            ExitCode::from(2)
        }
    }
}

/// Whether all is well: tests passed, and whatever was found is explained.
fn table(names: &[&str]) -> Result<bool, Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    let entries = Entry::all(&root.join("bench/corpus"), names)?;
    let place = Place::prepare(root)?;
    println!(
        "{:<20} {:>24} {:>6} {:>7} {:>12} {:>10} {:>9} {:>12} {:>9} {:>8}  findings",
        "name",
        "version",
        "tests",
        "failed",
        "events",
        "undecided",
        "explained",
        "unexplained",
        "warnings",
        "seconds"
    );
    let mut good = true;
    for entry in &entries {
        let started = Instant::now();
        let outcome = place.test(entry)?;
        let unexplained: Vec<_> = outcome.unexplained(entry).collect();
        println!(
            "{:<20} {:>24} {:>6} {:>7} {:>12} {:>10} {:>9} {:>12} {:>9} {:>8.1}  {}",
            entry.name,
            entry.version(),
            outcome.tests,
            outcome.failed,
            outcome.events,
            outcome.undecided,
            outcome.explained(entry),
            unexplained.len(),
            outcome.warnings.len(),
            started.elapsed().as_secs_f64(),
            outcome.by_kind(),
        );
        unexplained.iter().for_each(|finding| println!("    unexplained: {finding}"));
        outcome.warnings.iter().for_each(|warning| println!("    warning: {warning}"));
        outcome.missing(entry).for_each(|one| println!("    not seen this time: {} ({})", one.kind, one.why));
        let recall = &outcome.recall;
        if recall.expected > 0 {
            println!("    races: {} expected, {} found", recall.expected, recall.found);
        }
        recall.exceptions.iter().for_each(|one| println!("    {one}"));
        if outcome.refused > 0 {
            println!("    {} witnesses were refused by the checker: a bug of an engine", outcome.refused);
        }
        good &= unexplained.is_empty() && outcome.warnings.is_empty();
        good &= outcome.failed == 0 && outcome.refused == 0 && recall.unexplained == 0;
    }
    Ok(good)
}

/// Where it all happens.
struct Place {
    /// Where the entries and their programs are.
    corpus: PathBuf,
    /// Where the copies, documents and builds are.
    work: PathBuf,
    /// `cargo-foresee` itself, built as this program is.
    foresee: PathBuf,
    debian: Debian,
}

impl Place {
    fn prepare(root: &Path) -> Result<Place, Failed> {
        let us = std::env::current_exe()?;
        let profile = us.parent().ok_or("this program is nowhere")?;
        let work = profile.with_file_name("corpus");
        std::fs::create_dir_all(&work)?;
        let mut build = Command::new("cargo");
        build.args(["build", "--quiet", "-p", "cargo-foresee", "-p", "foresee-rt"]).current_dir(root);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        if !build.status()?.success() {
            return Err("foresee cannot be built".into());
        }
        let foresee = profile.join("foresee");
        let debian = Debian::prepare(&work, &foresee)?;
        Ok(Place { corpus: root.join("bench/corpus"), work, foresee: profile.join("cargo-foresee"), debian })
    }

    fn test(&self, entry: &Entry) -> Result<Outcome, Failed> {
        let log = self.work.join(format!("{}.log", entry.name));
        let output = File::create(&log)?;
        let outcome = match &entry.what {
            What::Crate(one) => self.test_crate(&entry.name, one, &output),
            What::Debian(one) => self.debian.test(&entry.name, one, &output),
            What::Suite(one) => {
                one.test(&entry.name, &self.corpus.join(entry::SUITES), &self.debian, &output)
            }
        };
        // A suite has programs that do what no program may, and foresee rightly warns of their recordings.
        let is_suite = matches!(entry.what, What::Suite(_));
        outcome
            .and_then(|outcome| if is_suite { Ok(outcome) } else { outcome.with_warnings(&log) })
            .map_err(|why| format!("{why}; see {}", log.display()).into())
    }

    fn test_crate(&self, name: &str, entry: &Crate, log: &File) -> Result<Outcome, Failed> {
        let stress = self.corpus.join("stress");
        let project = if entry.stress.is_empty() {
            source::prepare(name, entry, &self.corpus, &self.work)?
        } else {
            stress.clone()
        };
        let document = self.work.join(format!("{name}.json"));
        if document.exists() {
            std::fs::remove_file(&document)?;
        }
        let mut command = Command::new(&self.foresee);
        command.args(["test", "--no-fail-fast", "--timeout", LONGEST_TEST, "--format", "json", "--output"]);
        command.arg(&document).current_dir(project);
        if !entry.stress.is_empty() {
            command.arg("--locked").arg("--suppressions").arg(stress.join("deliberate.supp"));
            command.args(entry.stress.iter().flat_map(|program| ["--example", program]));
        }
        command.args(&entry.args);
        // Lints that came after a crate's release are not what it is here for.
        command.env("CARGO_TARGET_DIR", self.work.join("build")).env("RUSTFLAGS", "--cap-lints=warn");
        command.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?;
        Outcome::of_tests(&document)
    }
}
