//! From the names of statics to what the runtime watches: `foresee record --watch NAME`, and the variables of specs.
//!
//! The runtime gets addresses and sizes as the program's file has them and adds where the program was loaded; so it needs no
//! symbol table. Which statics a name means is the rule for all names of variables ([`VariablePattern`]). `--watch` takes all statics of a name; a
//! variable of a spec is one static, and a name that means several is refused.

use foresee_trace::raw::DataSymbol;
use foresee_trace::{VariablePattern, nearest, perhaps};

use crate::image::{Image, ImageError, statics};

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

/// The value of that variable for statics of these names; `variables` need not be there, and are one static each.
pub fn addresses(image: &Image, names: &[String], variables: &[String]) -> Result<String, WatchError> {
    let statics = statics(&image.elf()?);
    let mut watched: Vec<&DataSymbol> = Vec::new();
    for name in names {
        let pattern = VariablePattern::new(name);
        let before = watched.len();
        watched.extend(statics.iter().filter(|symbol| pattern.matches(&symbol.name)));
        if watched.len() == before {
            let nearest = nearest(name, statics.iter().map(|symbol| symbol.name.as_str()));
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(WatchError::NoStatic { name: name.clone(), nearest });
        }
    }
    for name in variables {
        watched.extend(variable(&statics, name)?);
    }
    let places: Vec<String> =
        watched.iter().map(|found| format!("{:x}:{:x}", found.addr, found.size)).collect();
    Ok(places.join(","))
}

/// The same statics as `name=address:size`: variables by the name that the spec has for them, others by their own.
pub fn named_addresses(image: &Image, names: &[String], variables: &[String]) -> Result<String, WatchError> {
    let statics = statics(&image.elf()?);
    let place = |name: &str, symbol: &DataSymbol| format!("{name}={:x}:{:x}", symbol.addr, symbol.size);
    let mut places = Vec::new();
    for name in variables {
        places.extend(variable(&statics, name)?.map(|symbol| place(name, symbol)));
    }
    let patterns: Vec<VariablePattern> = names.iter().map(|name| VariablePattern::new(name)).collect();
    let is_meant = |symbol: &&DataSymbol| {
        !symbol.name.contains([',', '=']) && patterns.iter().any(|pattern| pattern.matches(&symbol.name))
    };
    places.extend(statics.iter().filter(is_meant).map(|symbol| place(&symbol.name, symbol)));
    Ok(places.join(","))
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
