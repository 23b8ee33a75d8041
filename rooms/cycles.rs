//! The cycles between a crate's modules.
//!
//! They are searched for on every level: the modules in one folder, each with everything below it, and the folder's own file (`mod.rs`, or
//! `lib` at the top) on its own. Two files on a cycle thus form a cycle in the folder that they have in common; and two folders
//! that use each other are a cycle, even if no two of their files are.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrows::Graph;

/// From each module to the modules that it uses.
type Level<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(crate) fn of(graph: &Graph) -> BTreeSet<BTreeSet<String>> {
    let mut levels: BTreeMap<&str, Level<'_>> = BTreeMap::new();
    for (from, uses) in &graph.uses {
        for to in uses.keys() {
            let (folder, from, to) = split(from, to);
            levels.entry(folder).or_default().entry(from).or_default().insert(to);
        }
    }
    levels.values().flat_map(components).collect()
}

/// The arrows on a cycle, one per line.
pub(crate) fn reasons(graph: &Graph, cycle: &BTreeSet<String>) -> String {
    let mut lines = String::new();
    for (from, uses) in &graph.uses {
        for (to, paths) in uses {
            let (_, one, other) = split(from, to);
            if cycle.contains(one) && cycle.contains(other) {
                let paths = paths.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                lines.push_str(&format!("    {from} -> {to} by {paths}\n"));
            }
        }
    }
    lines
}

/// The folder that two files have in common, and the two modules in it that they are or belong to.
fn split<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str, &'a str) {
    let mut folder = 0;
    let part = |path: &'a str, folder: usize| -> &'a str {
        let from = if folder == 0 { 0 } else { folder + 1 };
        path.get(from..).and_then(|rest| rest.find('/')).map_or(path, |end| &path[..from + end])
    };
    while part(one, folder) == part(other, folder) {
        folder = part(one, folder).len();
    }
    (&one[..folder], part(one, folder), part(other, folder))
}

/// The strongly connected components of more than one module. The graphs are small: what can be reached is searched for from each.
fn components(level: &Level<'_>) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        level.keys().map(|module| (*module, reachable(level, module))).collect();
    let mut found = BTreeSet::new();
    for (module, ahead) in &reached {
        let both = ahead.iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(module)));
        found.insert(both.map(ToString::to_string).collect::<BTreeSet<String>>());
    }
    found.into_iter().filter(|component| !component.is_empty()).collect()
}

/// What can be reached by one arrow or more.
fn reachable<'a>(level: &Level<'a>, from: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(module) = open.pop() {
        open.extend(level.get(module).into_iter().flatten().filter(|next| reached.insert(**next)));
    }
    reached
}
