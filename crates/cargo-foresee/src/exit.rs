//! What foresee's exit codes mean. This is the one place that defines them.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | nothing found; the command did what was asked |
//! | 1 | foresee itself failed: a full disk, an output that cannot be written |
//! | 2 | bad usage or bad input; one message names the file, the line or byte, and what was expected |
//! | 3 | undecided: nothing was found, but the search ended before it was complete, and `--time` or `--memory` was given (`refine`: or it took more memory than it has by default, or too many operations of a log never returned; `monitor`: or the values of a property's variables are not in the trace) |
//! | 66 | findings (as ThreadSanitizer does; `--exit-code N` changes it). Not for what the recording alone may be the reason of: candidates that code may have ordered which is not recorded, and all that is found in a trace that is no possible run |
//! | 101 | the instrumented build failed; as cargo has it, also: a test failed, and nothing was found |
//! | other | the recorded program's own exit code; 128 + n if signal n ended it |
//!
//! A damaged trace is no bad input where its readable part serves the user: `trace info`, `trace dump` and `trace convert`
//! use that part, warn, and exit with 0. `trace validate` exits with 2: the trace is not whole.
//! Output whose reader has gone (`foresee trace dump t.ft | head`) is no failure: exit code 0, no message.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Nothing found.
pub const NOTHING_FOUND: u8 = 0;

/// foresee itself failed.
pub const FAILED: u8 = 1;

/// Bad usage or bad input.
pub const BAD_INPUT: u8 = 2;

/// Undecided within the budget given.
pub const UNDECIDED: u8 = 3;

/// The instrumented build failed.
pub const BUILD_FAILED: u8 = 101;

/// Findings.
pub const FINDINGS: u8 = 66;

/// A process's own code; 128 + n if signal n ended it.
pub(crate) fn of_process(status: ExitStatus) -> u8 {
    let own = status.code().or_else(|| status.signal().map(|signal| signal + 128));
    own.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}
