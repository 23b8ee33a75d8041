//! One entry of the corpus: `bench/corpus/NAME.toml` is a crate, `bench/corpus/debian/NAME.toml` a program of Debian's,
//! `bench/corpus/suites/NAME.toml` a suite of tests for tools like this.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Failed;
use super::outcome::Finding;
use super::suite::Suite;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Entry {
    /// That of the file: the crate's, or of Debian's source package.
    pub(crate) name: String,
    pub(crate) what: What,
}

/// What there is to run.
#[derive(Debug)]
pub(crate) enum What {
    Crate(Crate),
    Debian(Package),
    Suite(Suite),
}

/// What is run of one crate, and what may be found in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Crate {
    pub(crate) version: String,
    /// For `cargo foresee test`: features, `--test NAME`, and after `--` filters.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Texts in the crate's sources and what stands there in the copy: iteration counts made for other tools.
    #[serde(default)]
    pub(crate) replace: Vec<[String; 2]>,
    /// A test program in `bench/corpus` that is added to the crate's own.
    pub(crate) program: Option<String>,
    /// Programs of `bench/corpus/stress` that use the crate: run instead of the crate's own tests.
    #[serde(default)]
    pub(crate) stress: Vec<String>,
    #[serde(default)]
    pub(crate) expected: Vec<Expected>,
}

/// How to build a program of Debian's, what to run of it, and what may be found in it. Commands are for the shell, in the
/// folder of the source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Package {
    pub(crate) version: String,
    /// Other source packages that it is built with, as `NAME=VERSION`; their folders are beside its own.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    pub(crate) build: String,
    /// Each is one run; what follows `$record` in it is recorded.
    pub(crate) runs: Vec<String>,
    #[serde(default)]
    pub(crate) expected: Vec<Expected>,
}

/// Findings that are right, and the argument for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) kind: String,
    /// Every event of the finding is at one of these: parts of `FILE:LINE FUNCTION on TARGET`.
    pub(crate) at: Vec<String>,
    /// Why this is a bug of theirs, or a deliberate race.
    pub(crate) why: String,
}

impl Entry {
    pub(crate) fn version(&self) -> &str {
        match &self.what {
            What::Crate(one) => &one.version,
            What::Debian(one) => &one.version,
            What::Suite(one) => &one.version,
        }
    }

    pub(crate) fn expected(&self) -> &[Expected] {
        match &self.what {
            What::Crate(one) => &one.expected,
            What::Debian(one) => &one.expected,
            What::Suite(one) => &one.expected,
        }
    }

    fn read(path: &Path) -> Result<Entry, Failed> {
        let is_in = |name: &str| path.parent().is_some_and(|folder| folder.ends_with(name));
        let what = if is_in(DEBIAN) {
            What::Debian(parse(path)?)
        } else if is_in(SUITES) {
            What::Suite(parse(path)?)
        } else {
            What::Crate(parse(path)?)
        };
        Ok(Entry { name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), what })
    }

    /// All of the corpus, crates first, by name; only those in `names` if it is not empty.
    pub(crate) fn all(corpus: &Path, names: &[&str]) -> Result<Vec<Entry>, Failed> {
        let folders = [corpus.to_owned(), corpus.join(DEBIAN), corpus.join(SUITES)];
        let mut paths = Vec::new();
        for name in names {
            let file = format!("{name}.toml");
            let there = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
            paths.push(there.ok_or_else(|| format!("{file} is not in {}", corpus.display()))?);
        }
        if names.is_empty() {
            for folder in &folders {
                paths.extend(files(folder)?);
            }
        }
        paths.iter().map(|path| Entry::read(path)).collect()
    }
}

/// Where the entries of Debian's programs are.
const DEBIAN: &str = "debian";
/// Where those of suites are.
pub(crate) const SUITES: &str = "suites";

fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, Failed> {
    let text = std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(toml::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))?)
}

/// All entries in a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut paths = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl Expected {
    pub(crate) fn explains(&self, finding: &Finding) -> bool {
        let here = |place: &String| self.at.iter().any(|part| place.contains(part.as_str()));
        self.kind == finding.kind && !finding.places.is_empty() && finding.places.iter().all(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_entries_are_well_formed_and_argued() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let entries = Entry::all(&folder, &[]).unwrap();
        let crates = entries.iter().filter(|entry| matches!(entry.what, What::Crate(_))).count();
        assert!(crates >= 12 && entries.len() - crates >= 11, "{crates} crates of {}", entries.len());
        for entry in entries {
            if let What::Crate(Crate { program: Some(program), .. }) = &entry.what {
                assert!(folder.join(program).is_file(), "{}: its program is missing", entry.name);
            }
            if let What::Debian(package) = &entry.what {
                let recorded = package.runs.iter().all(|run| run.contains("$record "));
                assert!(recorded && !package.runs.is_empty(), "{}: a run without a recording", entry.name);
            }
            if let What::Suite(suite) = &entry.what {
                let argued = suite.exceptions().all(|one| one.why.len() > 60 && !one.tests.is_empty());
                assert!(argued, "{}: an exception without an argument", entry.name);
            }
            let argued = entry.expected().iter().all(|one| one.why.len() > 80 && !one.at.is_empty());
            assert!(argued, "{}: an expected finding without an argument", entry.name);
        }
    }

    #[test]
    fn every_stress_program_is_run_and_of_the_version_that_its_entry_names() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let lock = std::fs::read_to_string(folder.join("stress/Cargo.lock")).unwrap();
        let mut run = Vec::new();
        for entry in Entry::all(&folder, &[]).unwrap() {
            let What::Crate(Crate { version, stress, .. }) = entry.what else { continue };
            let package = if entry.name == "scc2" { "scc" } else { &entry.name };
            let locked = format!("name = \"{package}\"\nversion = \"{version}\"");
            assert!(stress.is_empty() || lock.contains(&locked), "{}: not {version}", entry.name);
            run.extend(stress.into_iter().map(|name| format!("{name}.rs")));
        }
        let there = std::fs::read_dir(folder.join("stress/examples")).unwrap();
        let mut there: Vec<_> =
            there.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        run.sort();
        there.sort();
        assert_eq!(run, there);
    }

    #[test]
    fn a_finding_is_explained_if_all_its_events_are() {
        let expected = Expected {
            kind: "race".to_owned(),
            at: vec!["Buffer<".to_owned(), "a.rs:7".to_owned()],
            why: String::new(),
        };
        let finding = |kind: &str, places: &[&str]| {
            let place = |text: &&str| {
                let (file, function) = text.split_once(' ').unwrap();
                let (file, line) = file.split_once(':').unwrap();
                let line: u64 = line.parse().unwrap();
                serde_json::json!({"location": {"file": file, "line": line, "function": function}})
            };
            let events: Vec<_> = places.iter().map(place).collect();
            Finding::of(&serde_json::json!({"kind": kind, "certainty": "observed", "events": events}))
        };
        assert!(expected.explains(&finding("race", &["a.rs:7 main", "b.rs:9 Buffer<T>::read"])));
        assert!(!expected.explains(&finding("race", &["a.rs:7 main", "b.rs:9 main"])));
        assert!(!expected.explains(&finding("deadlock", &["a.rs:7 main"])));
        assert!(!expected.explains(&finding("race", &[])));
    }
}
