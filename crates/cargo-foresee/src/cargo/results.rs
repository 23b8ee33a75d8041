//! What runners hand over.
//!
//! A runner leaves one file for each program or test it ran: the outcome, with the reports as values. When cargo has ended,
//! whoever started it collects them: for the exit code, and for the document that `--format` asks for.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{self, CliError, Severity};
use crate::report::results::Outcome;

/// Leaves an outcome for [`collect`].
pub(crate) fn save(outcome: &Outcome, folder: &Path) -> Result<(), CliError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{}-{number:06}.json", std::process::id()));
    let failed = |why| CliError::output(path.display(), why);
    let text = serde_json::to_vec(outcome).map_err(|why| failed(why.into()))?;
    std::fs::write(&path, text).map_err(failed)
}

/// All outcomes, by program and test.
pub(crate) fn collect(folder: &Path) -> Vec<Outcome> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let mut all: Vec<Outcome> = paths.iter().filter_map(|path| read(path)).collect();
    all.sort_by(|a, b| (&a.binary, &a.test).cmp(&(&b.binary, &b.test)));
    all
}

/// A runner that was killed may have left half a file.
fn read(path: &Path) -> Option<Outcome> {
    let read = std::fs::read(path).and_then(|text| Ok(serde_json::from_slice(&text)?));
    read.inspect_err(|why| {
        error::print(Severity::Warning, &format!("the result of a test is lost: {}: {why}", path.display()));
    })
    .ok()
}

/// Suppressions that none of them needed.
pub(crate) fn unused_suppressions(outcomes: &[Outcome]) -> Vec<String> {
    let Some((first, rest)) = outcomes.split_first() else { return Vec::new() };
    let in_all = |line: &&String| rest.iter().all(|outcome| outcome.unused.contains(line));
    first.unused.iter().filter(in_all).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{Finding, Report, Stats};

    #[test]
    fn a_suppression_is_unused_if_nobody_used_it() {
        let one = |unused: &[&str]| Outcome {
            unused: unused.iter().map(|&line| line.to_owned()).collect(),
            ..Outcome::default()
        };
        assert_eq!(unused_suppressions(&[one(&["race:a", "race:b"]), one(&["race:b"])]), ["race:b"]);
    }

    #[test]
    fn outcomes_arrive_as_they_were_left() {
        let folder = tempfile::tempdir().unwrap();
        let finding = Finding::of_property("monitor", "P", "match", "it \"matched\"".to_owned(), None);
        let report = Report::new(vec![finding], Stats { seconds: 0.1, ..Stats::default() });
        for test in ["b", "a"] {
            let test = Some(test.to_owned());
            let left = Outcome { test, verdict: 66, reports: vec![report.clone()], ..Outcome::default() };
            save(&left, folder.path()).unwrap();
        }
        std::fs::write(folder.path().join("cut.json"), "{").unwrap();
        let all = collect(folder.path());
        let names: Vec<_> = all.iter().map(|one| one.test.as_deref().unwrap()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(all.iter().all(|one| one.reports == [report.clone()] && one.verdict == 66));
    }
}
