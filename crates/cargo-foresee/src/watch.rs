//! From the names of statics to what the runtime watches: `foresee record --watch NAME`.
//!
//! The runtime gets addresses and sizes as the program's file has them and adds where the program was loaded; so it needs no
//! symbol table. A name is that of the symbol, demangled, or its last parts: `radio` is also `tower::radio`. Statics within
//! functions of C are called `name.0` by gcc and `function.name` by clang. All statics of the name are watched.

use std::ffi::OsStr;

use foresee_trace::is_called;
use object::read::elf::ElfFile64;

use crate::error::{CliError, without_code};
use crate::symbolize::statics;
use crate::unrecorded::find;

/// The variable that tells the runtime what to watch.
pub(crate) const VARIABLE: &str = "FORESEE_WATCH";

/// The value of that variable for statics of these names; `variables` need not be there.
pub(crate) fn addresses(program: &OsStr, names: &[String], variables: &[String]) -> Result<String, CliError> {
    let path = find(program);
    let shown = path.display();
    let bytes = std::fs::read(&path)
        .map_err(|why| CliError::Usage(format!("{shown}: cannot read: {}", without_code(&why))))?;
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).map_err(|_| {
        CliError::Usage(format!("{shown}: no ELF program, so `--watch` finds no statics in it"))
    })?;
    let statics = statics(&file);
    let mut watched = Vec::new();
    for (name, needed) in
        names.iter().map(|name| (name, true)).chain(variables.iter().map(|name| (name, false)))
    {
        let before = watched.len();
        let found = statics.iter().filter(|symbol| is_called(&symbol.name, name));
        watched.extend(found.map(|symbol| format!("{:x}:{:x}", symbol.addr, symbol.size)));
        if watched.len() == before && needed {
            return Err(CliError::Usage(format!(
                "{shown}: no static `{name}`; `--watch` takes statics of the program itself, others are watched by \
                 annotations"
            )));
        }
    }
    Ok(watched.join(","))
}
