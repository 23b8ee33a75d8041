//! Files: histories and logs as other programs write them. Nothing here panics, whatever is in a file.
//!
//! | form | what it looks like |
//! |---|---|
//! | JSON | `{"cases": […]}`, a list of cases, or one: histories (`ops`) and refinement logs (`events`) |
//! | JSON lines | the log of a program: a line that describes it, then an event in each line |
//! | EDN | Jepsen's and Knossos' histories: `{:process 0, :type :invoke, :f :read, :value nil}` |
//! | log | what Jepsen prints: `INFO  jepsen.util - 0 :invoke :read nil` |

mod case;
mod edn;
mod entry;
mod jepsen;
mod json;
mod strict;

pub use case::{Case, Place, ReadError, Subject};

use crate::named::Structure;

/// Reads a file. What the user says that the operations are of counts, and otherwise what the file says.
pub fn read(bytes: &[u8], said: Option<Structure>) -> Result<Vec<Case>, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|wrong| ReadError::Line {
        line: 1 + bytes[..wrong.valid_up_to()].iter().filter(|byte| **byte == b'\n').count(),
        what: "not a text: expected UTF-8".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    let after_brackets = start.trim_start_matches(|next: char| next.is_whitespace() || "{[(,".contains(next));
    if start.is_empty() {
        Err(ReadError::Unknown)
    } else if start.starts_with(['{', '[', '(', '#', ';']) && after_brackets.starts_with([':', ';', '#'])
        || start.starts_with([';', '(', '#'])
    {
        jepsen::histories(edn::operations(text)?, said)
    } else if start.starts_with(['{', '[']) {
        json::read(text, said)
    } else {
        jepsen::histories(jepsen::lines(text)?, said)
    }
}
