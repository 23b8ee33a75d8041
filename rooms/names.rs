//! From a path, as a module writes it, to the module that defines what it means. Re-exports are followed to the definition.

use std::collections::BTreeSet;

use crate::source::Module;

/// What a path means, if it is something of this crate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Module(usize),
    /// Something that this module defines.
    ItemOf(usize),
}

pub(crate) struct Names<'a>(pub(crate) &'a [Module]);

/// Names that are being looked up, each with its module: imports may go round in circles.
type Asked = BTreeSet<(usize, String)>;

impl Names<'_> {
    /// What `path` means in the module `from`: a list, as a name can be a module and a function at the same time; empty for what is not of
    /// this crate.
    pub(crate) fn meanings(&self, from: usize, path: &[String]) -> Vec<Meaning> {
        self.path(from, path, &mut Asked::new()).unwrap_or_default()
    }

    /// What the macro of this name is in the module `from`: one that is in scope as other names are, or, as `macro_rules!` is in scope for
    /// all that follows, the only one of this name in the crate.
    pub(crate) fn macros(&self, from: usize, name: &str) -> Vec<Meaning> {
        let defines = |module: &usize| self.0[*module].macros.contains_key(name);
        let mut found = self.name(from, name, &mut Asked::new()).unwrap_or_default();
        found.retain(|meaning| matches!(meaning, Meaning::ItemOf(module) if defines(module)));
        let mut owners = (0..self.0.len()).filter(defines);
        if let (true, Some(owner), None) = (found.is_empty(), owners.next(), owners.next()) {
            found.push(Meaning::ItemOf(owner));
        }
        found
    }

    /// `None` if its first name is not known here.
    fn path(&self, from: usize, path: &[String], asked: &mut Asked) -> Option<Vec<Meaning>> {
        let rooted =
            path.iter().take_while(|name| ["crate", "self", "super"].contains(&name.as_str())).count();
        let mut start = from;
        for name in &path[..rooted] {
            start = match name.as_str() {
                "crate" => 0,
                "super" => self.0[start].parent.unwrap_or(0),
                _ => start,
            };
        }
        let (mut here, rest) = match (rooted, path) {
            (0, [first, rest @ ..]) => (self.name(start, first, asked)?, rest),
            _ => (vec![Meaning::Module(start)], &path[rooted..]),
        };
        for name in rest {
            let modules: Vec<usize> = here.iter().filter_map(|meaning| meaning.module()).collect();
            if modules.is_empty() {
                break; // `Type::function`
            }
            // A name that nobody declares is made by a macro there.
            let within =
                |module| self.name(module, name, asked).unwrap_or_else(|| vec![Meaning::ItemOf(module)]);
            here = modules.into_iter().flat_map(within).collect();
        }
        Some(here)
    }

    /// What `name` means in a module: `None` if it is not known there, an empty list if it comes from another crate.
    fn name(&self, module: usize, name: &str, asked: &mut Asked) -> Option<Vec<Meaning>> {
        if !asked.insert((module, name.to_owned())) {
            return None;
        }
        let here = &self.0[module];
        let children = here.children.get(name).into_iter().flatten();
        let mut found: Vec<Meaning> = children.map(|&child| Meaning::Module(child)).collect();
        if here.items.contains(name) || here.macros.contains_key(name) {
            found.push(Meaning::ItemOf(module));
        }
        let mut known = !found.is_empty();
        for import in here.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            known = true;
            found.extend(self.path(module, &import.path, asked).unwrap_or_default());
        }
        if known {
            return Some(found);
        }
        for glob in here.imports.iter().filter(|import| import.name.is_none()) {
            let modules = self.path(module, &glob.path, asked).unwrap_or_default();
            for within in modules.iter().filter_map(|meaning| meaning.module()) {
                if let Some(found) = self.name(within, name, asked) {
                    return Some(found);
                }
            }
        }
        let exporters =
            (0..self.0.len()).filter(|&owner| module == 0 && self.0[owner].macros.get(name) == Some(&true));
        let found: Vec<Meaning> = exporters.map(Meaning::ItemOf).collect();
        (!found.is_empty()).then_some(found)
    }
}

impl Meaning {
    pub(crate) fn owner(self) -> Option<usize> {
        match self {
            Meaning::Module(_) => None,
            Meaning::ItemOf(module) => Some(module),
        }
    }

    fn module(self) -> Option<usize> {
        match self {
            Meaning::Module(module) => Some(module),
            Meaning::ItemOf(_) => None,
        }
    }
}
