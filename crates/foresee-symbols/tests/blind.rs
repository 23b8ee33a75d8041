//! What compilers make of small functions: nothing of one whose accesses are all announced is blind, and what is not announced is.
//! That holds for both compilers at all levels.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/covered.c");

/// A library of the functions.
fn build(folder: &Path, compiler: &str, flags: &[&str]) -> PathBuf {
    let (object, library) = (folder.join("covered.o"), folder.join("covered.so"));
    let mut compile = Command::new(compiler);
    compile.args(["-c", "-fPIC", "-fsanitize=thread", SOURCE, "-o"]).arg(&object).args(flags);
    assert!(compile.status().unwrap().success(), "{compile:?}");
    let mut link = Command::new("ld");
    link.args(["-shared", "-o"]).arg(&library).arg(&object);
    assert!(link.status().unwrap().success(), "{link:?}");
    library
}

/// The functions in the source whose names begin so.
fn functions(beginning: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(SOURCE).unwrap();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with(beginning) && word.len() > beginning.len())
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_is_announced_is_seen_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let levels: [&[&str]; 5] = [&["-O0"], &["-O1"], &["-O2"], &["-O3", "-fno-tree-vectorize"], &["-Os"]];
    let (seen, blind) = (functions("seen_"), functions("blind_"));
    assert!(seen.len() >= 10 && blind.len() >= 5);
    for compiler in ["gcc", "clang"] {
        for flags in levels {
            let library = build(folder.path(), compiler, flags);
            let places = foresee_symbols::blind_code(&[library]).unwrap();
            let found: BTreeSet<String> = places.iter().map(|place| place.function.clone()).collect();
            assert_eq!(found, blind, "{compiler} {flags:?}: {places:#?}");
        }
    }
}
