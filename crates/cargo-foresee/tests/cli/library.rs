//! The property library in `specs/`, through the real program: every property has a run that breaks it and one that keeps it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Folder;

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs")
}

/// The files of a folder with this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    files.sort();
    files
}

/// All properties with the file they are in, as `foresee spec check` lists them; it has nothing to say against them.
fn properties(folder: &Folder) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for file in files(&library(), ".rv") {
        let listed = folder.foresee(&["spec", "check", file.to_str().unwrap()]).success();
        let (_, names) = listed.trim_end().rsplit_once(": ").unwrap();
        all.extend(names.split(", ").map(|name| (file.clone(), name.to_owned())));
    }
    all
}

#[test]
fn the_library_has_many_properties_each_once() {
    let properties = properties(&Folder::new());
    assert!(properties.len() >= 25, "{} properties", properties.len());
    let mut names: Vec<&str> = properties.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), properties.len(), "a name is used twice");
    let readme = fs::read_to_string(library().join("README.md")).unwrap();
    for name in names {
        assert!(readme.contains(&format!("| `{name}` |")), "{name} is missing in specs/README.md");
    }
}

#[test]
fn every_property_is_broken_by_its_bad_example_and_kept_by_its_good_one() {
    let folder = Folder::new();
    let properties = properties(&folder);
    for (file, name) in &properties {
        let monitor = |kind: &str| {
            let events = library().join("examples").join(format!("{name}.{kind}.std"));
            assert!(events.is_file(), "{name} has no {kind} example");
            folder.foresee(&["monitor", file.to_str().unwrap(), events.to_str().unwrap()])
        };
        let bad = monitor("bad");
        assert_eq!(bad.code, Some(66), "{name}: {}{}", bad.stdout, bad.stderr);
        assert!(bad.stdout.contains(&format!(": {name} (")), "no verdict of {name}: {}", bad.stdout);
        let good = monitor("good");
        assert_eq!((good.code, good.stdout.as_str()), (Some(0), ""), "{name}: {}", good.stderr);
    }
    // No example is left over from a property that has gone.
    assert_eq!(files(&library().join("examples"), ".std").len(), 2 * properties.len());
}

#[test]
fn the_library_is_formatted() {
    let folder = Folder::new();
    for file in files(&library(), ".rv") {
        let outcome = folder.foresee(&["spec", "fmt", "--check", file.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(0), "{}: {}{}", file.display(), outcome.stdout, outcome.stderr);
    }
}
