//! Standard output.

use std::io::Write as _;

use crate::error::{CliError, printable_lines};

/// Prints at once, without characters that would do something to a terminal; a reader that has gone is reported as such.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let text = printable_lines(text);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|why| CliError::output("standard output", why))
}
