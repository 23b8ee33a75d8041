//! From the names of statics to what the runtime watches: `foresee record --watch NAME`.
//!
//! The runtime gets addresses and sizes as the program's file has them and adds where the program was loaded; so it needs no
//! symbol table. A name is that of the symbol, demangled, or its last parts: `radio` is also `tower::radio`. Statics within
//! functions of C are called `name.0` by gcc and `function.name` by clang. All statics of the name are watched.

use foresee_trace::matches_name;

use crate::image::{Image, ImageError, statics};

/// The variable by which the runtime knows what to watch.
pub const VARIABLE: &str = "FORESEE_WATCH";

/// Why statics cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The program's file is of no use.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// There is no static of this name.
    #[error(
        "no static `{0}`; `--watch` takes statics of the program itself, others are watched by annotations"
    )]
    NoStatic(String),
}

/// The value of that variable for statics of these names; `variables` need not be there.
pub fn addresses(image: &Image, names: &[String], variables: &[String]) -> Result<String, WatchError> {
    let statics = statics(&image.elf()?);
    let mut watched = Vec::new();
    for (name, needed) in
        names.iter().map(|name| (name, true)).chain(variables.iter().map(|name| (name, false)))
    {
        let before = watched.len();
        let found = statics.iter().filter(|symbol| matches_name(&symbol.name, name));
        watched.extend(found.map(|symbol| format!("{:x}:{:x}", symbol.addr, symbol.size)));
        if watched.len() == before && needed {
            return Err(WatchError::NoStatic(name.clone()));
        }
    }
    Ok(watched.join(","))
}

/// Where the statics of these names are, as `name=address:size`, as far as they are there.
pub fn named_addresses(image: &Image, names: &[String]) -> Result<String, WatchError> {
    let statics = statics(&image.elf()?);
    let mut places = Vec::new();
    for name in names {
        let found = statics.iter().filter(|symbol| matches_name(&symbol.name, name));
        places.extend(found.map(|symbol| format!("{name}={:x}:{:x}", symbol.addr, symbol.size)));
    }
    Ok(places.join(","))
}
