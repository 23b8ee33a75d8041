//! The rooms of the house: which crate may use which, and no cycles between the modules inside a crate.
//!
//! `cargo test -p foresee-rooms` checks all crates under `crates/`. It fails
//! - on a dependency between our crates that [`MAY_USE`] does not list,
//! - on a cycle between modules that [`KNOWN_CYCLES`] does not list,
//! - on an entry of the lists of known exceptions that is no longer needed: these lists only shrink.
//!
//! `arrows.rs` defines what an arrow between modules is and says what this test does not see; `cycles.rs` defines a cycle.

#![allow(clippy::unwrap_used)]

mod arrows;
mod cycles;
mod manifests;
mod names;
mod source;
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arrows::Graph;

/// Which of our crates each crate may use. Dev-dependencies are not restricted; `foresee-oracle` is for tests alone, so nobody may use it.
const MAY_USE: &[(&str, &[&str])] = &[
    ("foresee-format", &[]),
    ("foresee-trace", &["foresee-format"]),
    ("foresee-symbols", &["foresee-format", "foresee-trace"]),
    ("foresee-witness", &["foresee-trace"]),
    ("foresee-predict", &["foresee-trace", "foresee-witness"]),
    ("foresee-monitor", &[]),
    ("foresee-modules", &["foresee-monitor"]),
    ("foresee-mttl", &["foresee-monitor"]),
    ("foresee-lattice", &["foresee-trace", "foresee-witness", "foresee-monitor", "foresee-mttl"]),
    ("foresee-refine", &["foresee-trace", "foresee-witness"]),
    ("foresee-rt", &["foresee-format", "foresee-monitor", "foresee-mttl"]),
    ("foresee-macros", &["foresee-monitor"]),
    ("foresee", &["foresee-macros", "foresee-monitor", "foresee-mttl", "foresee-refine"]),
    ("foresee-oracle", &["foresee-trace"]),
    (
        "cargo-foresee",
        &[
            "foresee-format",
            "foresee-trace",
            "foresee-symbols",
            "foresee-witness",
            "foresee-predict",
            "foresee-monitor",
            "foresee-modules",
            "foresee-mttl",
            "foresee-lattice",
            "foresee-refine",
            "foresee-rt",
            "foresee-macros",
            "foresee",
        ],
    ),
];

/// Dependencies that [`MAY_USE`] forbids and that are still there.
const KNOWN_DEPENDENCIES: &[(&str, &str)] = &[];

/// Cycles that are still there: a crate, and the modules on one cycle.
const KNOWN_CYCLES: &[(&str, &[&str])] = &[];

#[test]
fn crates_use_only_what_their_room_allows() {
    let mut wrong = Vec::new();
    let mut known = KNOWN_DEPENDENCIES.to_vec();
    for folder in crates() {
        let manifest = manifests::read(&folder);
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == manifest.name) else {
            wrong.push(format!("{} has no entry in MAY_USE", manifest.name));
            continue;
        };
        for used in manifest.uses.iter().filter(|used| !allowed.contains(&used.as_str())) {
            match known.iter().position(|&arrow| arrow == (&manifest.name, used)) {
                Some(at) => drop(known.swap_remove(at)),
                None => wrong.push(format!("{} may not use {used}", manifest.name)),
            }
        }
    }
    wrong.extend(
        known
            .iter()
            .map(|(user, used)| format!("{user} no longer uses {used}: remove it from KNOWN_DEPENDENCIES")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_have_no_cycles() {
    let mut wrong = Vec::new();
    let mut known: BTreeSet<(String, BTreeSet<String>)> = KNOWN_CYCLES
        .iter()
        .map(|(name, files)| (name.to_string(), files.iter().map(ToString::to_string).collect()))
        .collect();
    for folder in crates() {
        let name = manifests::read(&folder).name;
        for root in source::roots(&folder) {
            let graph = Graph::of(&root);
            for cycle in cycles::of(&graph) {
                if !known.remove(&(name.clone(), cycle.clone())) {
                    wrong.push(format!(
                        "{name}: a cycle of {}\n{}",
                        list(&cycle),
                        cycles::reasons(&graph, &cycle)
                    ));
                }
            }
        }
    }
    wrong.extend(known.iter().map(|(name, cycle)| {
        format!("{name}: {} are no longer a cycle: remove it from KNOWN_CYCLES", list(cycle))
    }));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn crates() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("Cargo.toml").exists());
    folders.sort();
    assert!(folders.len() >= 8, "the crates are there");
    folders
}

fn list(files: &BTreeSet<String>) -> String {
    files.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
