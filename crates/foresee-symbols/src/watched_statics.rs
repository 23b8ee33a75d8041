//! From the names of statics to what the runtime watches: `foresee record --watch NAME`, and the variables of specs.
//!
//! The runtime gets addresses and sizes as the program's file has them and adds where the program was loaded; so it needs no
//! symbol table. Which statics a name means is the rule for all names of variables ([`VariablePattern`]). `--watch` takes all statics of a name; a
//! variable of a spec is one static, and a name that means several is refused. Where no static has the name, it may be a part of one: `config.opened`,
//! `slots[3].owner`. Parts have names in the trace only if they were asked for when it was recorded.

use foresee_trace::raw::DataSymbol;
use foresee_trace::{VariablePattern, nearest, perhaps};
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use crate::demangle::demangled;
use crate::image::{Image, ImageError, statics};
use crate::static_parts::{self, NumberKind, PartError};

/// The variable by which the runtime knows what to watch.
pub const VARIABLE: &str = "FORESEE_WATCH";

/// The variable by which it knows what watched statics are called: the trace says what each was at first.
pub const NAMES_VARIABLE: &str = "FORESEE_VARIABLES";

/// Why statics cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The program's file is of no use.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// There is no static of this name.
    #[error(
        "no static `{name}`{}; `--watch` takes statics of the program itself, others are watched by annotations",
        perhaps(nearest)
    )]
    NoStatic {
        /// The name.
        name: String,
        /// Statics of similar names.
        nearest: Vec<String>,
    },
    /// A static has no part of this name.
    #[error("no variable `{name}`: {why}")]
    NoPart {
        /// The name.
        name: String,
        /// Why not.
        why: PartError,
    },
    /// The variable of a spec is no whole number.
    #[error("variable `{name}` of the spec is a floating-point number; properties speak of whole numbers")]
    FloatingPoint {
        /// The name.
        name: String,
    },
    /// The variable of a spec is one of each thread.
    #[error(
        "variable `{name}` of the spec is thread-local: each thread has one of its own; properties speak of statics that threads share"
    )]
    ThreadLocal {
        /// The name.
        name: String,
    },
    /// The variable of a spec is in no memory.
    #[error(
        "variable `{name}` of the spec is a constant, which the program has no memory for; write its value"
    )]
    Constant {
        /// The name.
        name: String,
    },
    /// The variable of a spec is several statics.
    #[error("variable `{name}` of the spec is ambiguous: {}; write one of these names", quoted(candidates))]
    Ambiguous {
        /// The name.
        name: String,
        /// The statics that it means.
        candidates: Vec<String>,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What is to be watched: statics of a program, and parts of them.
pub struct Watched {
    /// Those that are named by patterns, and the variables of specs; these with the name that the spec has for them.
    found: Vec<(Option<String>, Found)>,
}

/// A static, or a part of one.
#[derive(Clone, Debug)]
struct Found {
    symbol: DataSymbol,
    is_part: bool,
    kind: NumberKind,
}

/// Finds the statics of these names; `variables` need not be there, and are one static, or one part of one, each.
pub fn watched(image: &Image, names: &[String], variables: &[String]) -> Result<Watched, WatchError> {
    let statics = Statics { image, all: statics(&image.elf()?) };
    let mut found: Vec<(Option<String>, Found)> = Vec::new();
    for name in names {
        let pattern = VariablePattern::new(name);
        let before = found.len();
        let meant = statics.all.iter().filter(|symbol| pattern.matches(&symbol.name));
        found.extend(meant.map(|symbol| (None, Found::whole(symbol))));
        if found.len() == before {
            let nearest = nearest(name, statics.all.iter().map(|symbol| symbol.name.as_str()));
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            let none = || WatchError::NoStatic { name: name.clone(), nearest };
            found.push((None, statics.part(name)?.ok_or_else(none)?));
        }
    }
    for name in variables {
        let variable = match statics.variable(name)? {
            Some(symbol) => Some(Found::whole(symbol)),
            None => statics.part(name)?,
        };
        if variable.is_none() {
            statics.refuse(name)?;
        }
        found.extend(variable.map(|variable| (Some(name.clone()), variable)));
    }
    find_kinds(image, &mut found)?;
    for (variable, Found { kind, .. }) in &found {
        if let (Some(name), NumberKind::FloatingPoint) = (variable, kind) {
            return Err(WatchError::FloatingPoint { name: name.clone() });
        }
    }
    Ok(Watched { found })
}

/// Finds out what whole statics are.
fn find_kinds(image: &Image, found: &mut [(Option<String>, Found)]) -> Result<(), WatchError> {
    let whole = || found.iter().filter(|(_, found)| !found.is_part);
    let addresses: Vec<u64> = whole().map(|(_, found)| found.symbol.addr).collect();
    let Some(first) = whole().next().map(|(_, found)| found.symbol.name.clone()) else { return Ok(()) };
    let kinds = static_parts::kinds(image, &addresses);
    let kinds = kinds.map_err(|why| WatchError::NoPart { name: first, why })?;
    let whole = found.iter_mut().filter(|(_, found)| !found.is_part);
    whole.zip(kinds).for_each(|((_, found), kind)| found.kind = kind);
    Ok(())
}

impl Found {
    fn whole(symbol: &DataSymbol) -> Found {
        Found { symbol: symbol.clone(), is_part: false, kind: NumberKind::Signed }
    }
}

impl Watched {
    /// The variables of specs of which nothing says whether they are ever negative.
    pub fn untyped(&self) -> impl Iterator<Item = &str> {
        let of_spec = self.found.iter().filter(|(_, found)| found.kind == NumberKind::Unknown);
        of_spec.filter_map(|(name, _)| name.as_deref())
    }

    /// Whether the variable of a spec is there.
    pub fn has_variable(&self, name: &str) -> bool {
        self.found.iter().any(|(variable, _)| variable.as_deref() == Some(name))
    }

    /// The value of [`VARIABLE`]. What properties speak of as a number, and is none, has no values: compilers say when such a thing is copied before they read what is copied.
    pub fn addresses(&self) -> String {
        let watched =
            self.found.iter().filter(|(name, found)| name.is_none() || found.kind != NumberKind::Several);
        let places = watched.map(|(_, Found { symbol, .. })| format!("{:x}:{:x}", symbol.addr, symbol.size));
        places.collect::<Vec<_>>().join(",")
    }

    /// The value of [`NAMES_VARIABLE`]: `name=address:size` of each, with `u` before the size of what is never negative and `n` before that of what is no number, and behind another `:` what a part is called in the trace. Variables have the name that
    /// the spec has for them, others their own.
    pub fn named_addresses(&self) -> String {
        let is_possible = |(_, found): &&(Option<String>, Found)| !found.symbol.name.contains([',', '=']);
        let place = |(name, Found { symbol, is_part, kind }): &(Option<String>, Found)| {
            let DataSymbol { name: own, addr, size } = symbol;
            let part = if *is_part { format!(":{own}") } else { String::new() };
            let kind = match kind {
                NumberKind::Signed | NumberKind::Unknown => "",
                NumberKind::Unsigned => "u",
                NumberKind::FloatingPoint | NumberKind::Several => "n",
            };
            format!("{}={addr:x}:{kind}{size:x}{part}", name.as_ref().unwrap_or(own))
        };
        self.found.iter().filter(is_possible).map(place).collect::<Vec<_>>().join(",")
    }
}

/// The statics of a program.
struct Statics<'i> {
    image: &'i Image,
    all: Vec<DataSymbol>,
}

impl Statics<'_> {
    /// The static that a variable of a spec is, if there is one.
    fn variable(&self, name: &str) -> Result<Option<&DataSymbol>, WatchError> {
        variable(&self.all, name)
    }

    /// Refuses what is a variable, and no static.
    fn refuse(&self, name: &str) -> Result<(), WatchError> {
        let pattern = VariablePattern::new(name);
        let file = self.image.elf()?;
        let mut of_threads = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Tls);
        if of_threads.any(|symbol| symbol.name().is_ok_and(|name| is_of_threads(&demangled(name), &pattern)))
        {
            return Err(WatchError::ThreadLocal { name: name.to_owned() });
        }
        let last = name.rsplit(':').next().unwrap_or(name);
        let is_constant = static_parts::is_constant(self.image, last);
        match is_constant.map_err(|why| WatchError::NoPart { name: name.to_owned(), why })? {
            true => Err(WatchError::Constant { name: name.to_owned() }),
            false => Ok(()),
        }
    }

    /// The part of a static that a name means, if it is one.
    fn part(&self, name: &str) -> Result<Option<Found>, WatchError> {
        let Some((base, part)) = static_parts::split(name) else { return Ok(None) };
        let Some(base) = self.variable(base)? else { return Ok(None) };
        let found = static_parts::find(self.image, base, part);
        let (symbol, kind) = found.map_err(|why| WatchError::NoPart { name: name.to_owned(), why })?;
        Ok(Some(Found { symbol, is_part: true, kind }))
    }
}

/// Whether a thread-local variable is meant: Rust has its memory within what it is called.
fn is_of_threads(symbol: &str, pattern: &VariablePattern) -> bool {
    let within = symbol.match_indices("::").map(|(end, _)| &symbol[..end]);
    within.chain([symbol]).any(|name| pattern.matches(name))
}

/// The static that a variable of a spec is, if there is one.
fn variable<'s>(statics: &'s [DataSymbol], name: &str) -> Result<Option<&'s DataSymbol>, WatchError> {
    let pattern = VariablePattern::new(name);
    let meant = |is_meant: &dyn Fn(&str) -> bool| -> Vec<&'s DataSymbol> {
        statics.iter().filter(|symbol| is_meant(&symbol.name)).collect()
    };
    let mut found = meant(&|symbol| pattern.is_whole(symbol));
    if found.is_empty() {
        found = meant(&|symbol| pattern.matches(symbol));
    }
    if let [_, _, ..] = found.as_slice() {
        let candidates = found.iter().map(|symbol| symbol.name.clone()).collect();
        return Err(WatchError::Ambiguous { name: name.to_owned(), candidates });
    }
    Ok(found.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_one_static() {
        let symbol = |name: &str, addr| DataSymbol { name: name.to_owned(), addr, size: 4 };
        let statics =
            [symbol("a.c:opened", 0), symbol("b.c:opened", 4), symbol("x", 8), symbol("inner::x", 12)];
        let found = |name| variable(&statics, name).map(|found| found.map(|symbol| symbol.addr));
        assert_eq!(found("b.c:opened").unwrap(), Some(4));
        assert_eq!((found("x").unwrap(), found("inner::x").unwrap()), (Some(8), Some(12)));
        assert_eq!(found("closed").unwrap(), None);
        let why = found("opened").unwrap_err().to_string();
        assert!(why.contains("`opened` of the spec is ambiguous: `a.c:opened`, `b.c:opened`"), "{why}");
    }
}
