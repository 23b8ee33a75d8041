//! Which module of a crate uses which.
//!
//! A module is a file; modules in braces belong to the file they are in. There is an arrow from file A to file B if code in A mentions
//! something that B *defines*, in an import or in a path. A path through a re-export is therefore an arrow to the definition, and none to the
//! file of the re-export. Declaring `mod x;`, importing a module as such, and re-exporting from below (`pub use x::Y;`) are no arrows. But
//! a parent that uses something of its child, while the child uses something defined in the parent's file, is a cycle.
//!
//! Code for tests (`#[cfg(test)]`) is left out. Paths inside macro calls and macro definitions count; since their grammar is not known, every
//! name there that does not follow a dot is taken for a path.
//!
//! Not seen: method calls and field accesses (usually their type is mentioned in the same file), names inside strings and attributes
//! (`#[serde(with = "…")]`), what macros of other crates expand to, and variants imported by `use Enum::*`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::names::{Meaning, Names};
use crate::source;

pub(crate) struct Graph {
    /// From a file to the files that it uses, each with the paths that say so.
    pub(crate) uses: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Graph {
    pub(crate) fn of(root: &Path) -> Graph {
        let modules = source::modules(root);
        let names = Names(&modules);
        let mut graph =
            Graph { uses: modules.iter().map(|module| (module.file.clone(), BTreeMap::new())).collect() };
        for (index, module) in modules.iter().enumerate() {
            let mut mention = |path: String, meanings: Vec<Meaning>, below_too: bool| {
                let owners: Vec<usize> = meanings.into_iter().filter_map(Meaning::owner).collect();
                if owners.iter().any(|&owner| modules[owner].file == module.file) {
                    return; // the others are for other configurations
                }
                for owner in owners {
                    let below =
                        || std::iter::successors(Some(owner), |&at| modules[at].parent).any(|at| at == index);
                    if below_too || !below() {
                        let uses = graph.uses.entry(module.file.clone()).or_default();
                        uses.entry(modules[owner].file.clone()).or_default().insert(path.clone());
                    }
                }
            };
            for import in module.imports.iter().filter(|import| import.name.is_some()) {
                mention(import.path.join("::"), names.meanings(index, &import.path), !import.public);
            }
            for path in &module.paths {
                mention(path.join("::"), names.meanings(index, path), true);
            }
            for name in &module.macro_calls {
                mention(format!("{name}!"), names.macros(index, name), true);
            }
        }
        graph
    }
}
