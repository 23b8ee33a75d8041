//! Every message a user can get: one line on standard error that names the file and what is wrong.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use foresee_trace::{TraceError, is_printable};

use crate::exit;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A trace could not be read.
    #[error("{name}: {}", describe(.why))]
    Input { name: String, why: TraceError },
    /// What was asked for does not fit the input or cannot be done.
    #[error("{0}")]
    Usage(String),
    /// The output could not be written.
    #[error("{name}: cannot write: {}", without_code(.why))]
    Output { name: String, why: io::Error },
    /// The reader of standard output has gone: no failure, and nothing to report.
    #[error("nobody reads the output")]
    NobodyReads,
}

impl CliError {
    pub(crate) fn input(path: &Path, why: TraceError) -> Self {
        CliError::Input { name: display_name(path), why }
    }

    pub(crate) fn output(name: impl Display, why: io::Error) -> Self {
        match why.kind() {
            io::ErrorKind::BrokenPipe => CliError::NobodyReads,
            _ => CliError::Output { name: name.to_string(), why },
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            CliError::Input { .. } | CliError::Usage(_) => exit::BAD_INPUT,
            CliError::Output { .. } => exit::FAILED,
            CliError::NobodyReads => exit::NOTHING_FOUND,
        }
    }
}

/// How a path is called in messages.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

fn describe(why: &TraceError) -> String {
    match why {
        TraceError::Io(why) => format!("cannot read: {}", without_code(why)),
        // A mistake in the very first line is most often a file that is something else.
        TraceError::Text { line: 1, .. } => {
            format!("neither a foresee trace nor a text trace: {why}")
        }
        other => other.to_string(),
    }
}

/// `No such file or directory`, without ` (os error 2)`.
pub(crate) fn without_code(why: &io::Error) -> String {
    let text = why.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// How bad a message is.
#[derive(Clone, Copy)]
pub(crate) enum Severity {
    Note,
    Warning,
    Error,
}

/// Prints a message to standard error, in colour on a terminal. It stays one line, whatever a file is called.
pub(crate) fn print(severity: Severity, message: &dyn Display) {
    print_lines(severity, &message.to_string().replace(['\n', '\r'], " "));
}

/// The same for a message that has lines.
pub(crate) fn print_lines(severity: Severity, message: &str) {
    let (label, colour) = match severity {
        Severity::Note => ("note", AnsiColor::Cyan),
        Severity::Warning => ("warning", AnsiColor::Yellow),
        Severity::Error => ("error", AnsiColor::Red),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let message = printable_lines(message);
    // If that fails there is no place left to report it.
    let _ = writeln!(anstream::stderr(), "foresee: {style}{label}:{style:#} {message}");
}

/// A text of several lines without what would do something to a terminal: names of files and pieces of them are in messages, too.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars()
        .map(|c| if is_printable(c) || c == '\n' || c == '\t' { c } else { char::REPLACEMENT_CHARACTER })
        .collect()
}
