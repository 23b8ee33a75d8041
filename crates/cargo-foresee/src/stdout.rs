//! Standard output.

use std::io::Write as _;

use crate::error::CliError;

/// Prints at once; a reader that has gone is reported as such.
pub(crate) fn print(text: &[u8]) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    out.write_all(text).and_then(|()| out.flush()).map_err(|why| CliError::output("standard output", why))
}
