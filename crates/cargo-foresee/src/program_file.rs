//! The file of the program that is about to run, for what its symbols decide before it does.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::time::Instant;

use foresee_symbols::calls::{self, CallTable, WantedCall};
use foresee_symbols::recorded_code::{self, Selection};
use foresee_symbols::watched_statics::{self, Watched};
use foresee_symbols::{FileSymbols, Image, ImageError};

use crate::config;
use crate::error::{self, CliError, Severity, without_code};
use crate::unrecorded::find;

/// Reads the file that running this program would run.
fn read(program: &OsStr) -> Result<Image, CliError> {
    let path = find(program);
    Image::read(&path).map_err(|why| match why {
        ImageError::Unreadable(why) => {
            CliError::Usage(format!("{}: cannot read: {}", path.display(), without_code(&why)))
        }
        why => CliError::Usage(format!("{}: {why}", path.display())),
    })
}

/// Whether a program may order threads in ways that are not recorded. One that cannot be read may.
pub(crate) fn may_order_unseen(program: &OsStr) -> bool {
    foresee_symbols::may_order_unseen(&find(program)).unwrap_or(true)
}

/// By which clock a program is best recorded, if it can be read.
pub(crate) fn best_clock(program: &OsStr) -> Option<&'static str> {
    foresee_symbols::best_clock(&find(program)).ok()
}

/// The table of the accesses that need no record of their own, as far as they are found in time; nothing of a program that cannot be read.
pub(crate) fn joined(program: &OsStr, until: Instant) -> Option<Vec<u8>> {
    foresee_symbols::joined::table(&find(program), until).ok().flatten()
}

/// The table of the code whose accesses are recorded.
pub(crate) fn code_table(program: &OsStr, selection: &Selection) -> Result<Vec<u8>, CliError> {
    let image = read(program)?;
    let named = |why| CliError::Usage(format!("{}: {why}", image.path().display()));
    recorded_code::table(&image, selection).map_err(named)
}

/// The table of the calls whose arguments or results are recorded, if there can be any.
pub(crate) fn call_table(program: &OsStr, wanted: &[WantedCall]) -> Result<Option<CallTable>, CliError> {
    let image = read(program)?;
    calls::table(&image, wanted).map_err(|why| CliError::Usage(format!("{}: {why}", image.path().display())))
}

/// Those of these names that functions of the program have, with where its file has them.
pub(crate) fn functions<'n>(
    program: &OsStr,
    names: &BTreeSet<&'n str>,
) -> Result<Vec<(&'n str, u64)>, CliError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let image = read(program)?;
    calls::addresses(&image, names)
        .map_err(|why| CliError::Usage(format!("{}: {why}", image.path().display())))
}

/// Those of the functions that a program does not have.
pub(crate) fn missing_calls(program: &OsStr, wanted: &[WantedCall]) -> Result<Vec<String>, CliError> {
    let image = read(program)?;
    calls::missing(&image, wanted)
        .map_err(|why| CliError::Usage(format!("{}: {why}", image.path().display())))
}

/// The statics of these names, and parts of statics, which the runtime is to watch; `variables` need not be there.
pub(crate) fn watched(program: &OsStr, names: &[String], variables: &[String]) -> Result<Watched, CliError> {
    let image = read(program)?;
    let named = |why| CliError::Usage(format!("{}: {why}", image.path().display()));
    watched_statics::watched(&image, names, variables).map_err(named)
}

/// Symbols of a recorded program, with what the settings say of its functions. A file of code that cannot be read is reported once: a
/// report without lines would be a riddle.
pub(crate) fn symbols() -> Result<Box<FileSymbols>, CliError> {
    let mut symbols = FileSymbols::reporting(|missing| {
        let (path, why) = (missing.path, without_code(&missing.why));
        let message = format!(
            "{path}: cannot read: {why}; what it did has no names and lines: keep it until the run is packed"
        );
        error::print(Severity::Warning, &message);
    });
    for (function, effect) in config::effects()? {
        symbols.add_effect(&function, effect);
    }
    Ok(Box::new(symbols))
}
