//! What a `Cargo.toml` says about our own crates.

use std::collections::BTreeSet;
use std::path::Path;

use toml::{Table, Value};

pub(crate) struct Manifest {
    pub(crate) name: String,
    /// Our crates among its dependencies, those for its build and for some targets only included; dev-dependencies are not.
    pub(crate) uses: BTreeSet<String>,
}

pub(crate) fn read(folder: &Path) -> Manifest {
    let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: Table = text.parse().unwrap();
    let mut uses = dependencies(&manifest);
    for target in manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values) {
        uses.extend(target.as_table().map(dependencies).unwrap_or_default());
    }
    Manifest { name: manifest["package"]["name"].as_str().unwrap().to_owned(), uses }
}

fn dependencies(section: &Table) -> BTreeSet<String> {
    ["dependencies", "build-dependencies"]
        .iter()
        .filter_map(|kind| section.get(*kind)?.as_table())
        .flatten()
        .map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned())
        .filter(|name| name.starts_with("foresee") || name == "cargo-foresee")
        .collect()
}
