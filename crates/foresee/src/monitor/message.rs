//! Messages to the user of the program.

use std::format;
use std::io::Write as _;

/// Writes one line to standard error, if that is possible.
pub(super) fn say(message: &str) {
    // In one piece, or other threads may write in between.
    let _ = std::io::stderr().write_all(format!("foresee: {message}\n").as_bytes());
}
