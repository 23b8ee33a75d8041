//! One crate of the corpus: `bench/corpus/NAME.toml`.

use std::path::Path;

use serde::Deserialize;

use super::Failed;
use super::outcome::Finding;

/// What is run of one crate, and what may be found in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The crate's name: that of the file.
    #[serde(skip)]
    pub(crate) name: String,
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

/// Findings that are right, and the argument for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) kind: String,
    /// Every event of the finding is at one of these: parts of `FILE:LINE FUNCTION`.
    pub(crate) at: Vec<String>,
    /// Why this is a bug of theirs, or a deliberate race.
    pub(crate) why: String,
}

impl Entry {
    pub(crate) fn read(path: &Path) -> Result<Entry, Failed> {
        let text = std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
        let mut entry: Entry = toml::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))?;
        entry.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(entry)
    }

    /// All of a folder, by name; only those in `names` if it is not empty.
    pub(crate) fn all(folder: &Path, names: &[&str]) -> Result<Vec<Entry>, Failed> {
        if !names.is_empty() {
            return names.iter().map(|name| Entry::read(&folder.join(format!("{name}.toml")))).collect();
        }
        let mut paths = Vec::new();
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                paths.push(path);
            }
        }
        paths.sort();
        paths.iter().map(|path| Entry::read(path)).collect()
    }
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
        assert!(entries.len() >= 12, "{} crates", entries.len());
        for entry in entries {
            let program = entry.program.iter().all(|name| folder.join(name).is_file());
            assert!(program, "{}: its program is missing", entry.name);
            let argued = entry.expected.iter().all(|one| one.why.len() > 80 && !one.at.is_empty());
            assert!(argued, "{}: an expected finding without an argument", entry.name);
        }
    }

    #[test]
    fn every_stress_program_is_run_and_of_the_version_that_its_entry_names() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let lock = std::fs::read_to_string(folder.join("stress/Cargo.lock")).unwrap();
        let mut run = Vec::new();
        for entry in Entry::all(&folder, &[]).unwrap() {
            let package = if entry.name == "scc2" { "scc" } else { &entry.name };
            let locked = format!("name = \"{package}\"\nversion = \"{}\"", entry.version);
            assert!(
                entry.stress.is_empty() || lock.contains(&locked),
                "{}: not {}",
                entry.name,
                entry.version
            );
            run.extend(entry.stress.into_iter().map(|name| format!("{name}.rs")));
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
