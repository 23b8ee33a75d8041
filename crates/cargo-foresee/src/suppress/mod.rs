//! Suppressions: findings that the user knows and does not want to see, and those that well-known libraries are known for
//! ([`known`]), unless these are to be shown.
//!
//! ThreadSanitizer's files are read as they are. Each line is `kind:pattern`; `#` begins a comment. A pattern matches a
//! function, a file or a variable of any frame of the finding's stacks, anywhere in it; `*` stands for anything, `^` and
//! `$` anchor it to the beginning and the end. Functions match by their whole names and by their paths without type arguments and impl
//! brackets: `race:File::write` is also `<files::File>::write`.
//!
//! | kind | suppresses |
//! |---|---|
//! | `race` | races with the pattern in either stack, or on a variable it matches |
//! | `race_top` | races with the pattern in the innermost frame of either stack |
//! | `deadlock`, `mutex` | deadlocks with the pattern in a stack, or about a lock it matches |
//! | `called_from_lib` | anything whose stack has the pattern |
//! | `atomicity` | the same for atomic blocks |
//! | `property` | the same for violations of properties, and for a property whose name it matches |
//! | `thread`, `signal` | nothing: foresee does not report thread leaks or signal handlers; accepted and ignored |

mod known;

use std::path::Path;

use foresee_symbols::pattern::Pattern;
use foresee_trace::function_path;

use crate::bounded;
use crate::error::{CliError, without_code};
use crate::report::model::{Event, Finding, Kind, Location, Suppressed};

/// One line of a suppressions file.
struct Rule {
    kind: RuleKind,
    pattern: Pattern,
    /// Where it stands, for the report on unused ones.
    text: String,
    used: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleKind {
    Race,
    RaceTop,
    Deadlock,
    Any,
    Atomicity,
    Property,
    Ignored,
}

/// All suppressions.
pub(crate) struct Suppressions {
    rules: Vec<Rule>,
    shows_known: bool,
}

impl Suppressions {
    /// None of the user's yet.
    pub(crate) fn new(shows_known: bool) -> Suppressions {
        Suppressions { rules: Vec::new(), shows_known }
    }

    /// Whether a race at these places may be suppressed.
    pub(crate) fn may_suppress(&self, mut places: impl Iterator<Item = String>) -> bool {
        !self.rules.is_empty() || (!self.shows_known && places.all(|place| known::may_be_at(&place)))
    }

    /// Adds a file's lines.
    pub(crate) fn read(&mut self, path: &Path) -> Result<(), CliError> {
        let name = path.display();
        let text = bounded::read_text(path, bounded::SMALL)
            .map_err(|why| CliError::Usage(format!("{name}: cannot read: {}", without_code(&why))))?;
        self.add(&name.to_string(), &text)
    }

    /// Adds the lines of a text; where it is from is for messages.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> Result<(), CliError> {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule = line.split_once(':').and_then(|(kind, pattern)| {
                let kind = match kind.trim() {
                    "race" => RuleKind::Race,
                    "race_top" => RuleKind::RaceTop,
                    "deadlock" | "mutex" => RuleKind::Deadlock,
                    "called_from_lib" => RuleKind::Any,
                    "atomicity" => RuleKind::Atomicity,
                    "property" => RuleKind::Property,
                    "thread" | "signal" => RuleKind::Ignored,
                    _ => return None,
                };
                Some(Rule { kind, pattern: Pattern::new(pattern.trim()), text: line.to_owned(), used: false })
            });
            let Some(rule) = rule else {
                return Err(CliError::Usage(format!(
                    "{name}: line {}: expected `kind:pattern` with one of race, race_top, deadlock, mutex, \
                     called_from_lib, atomicity, property; found `{line}`",
                    number + 1
                )));
            };
            self.rules.push(rule);
        }
        Ok(())
    }

    /// By what a finding is suppressed, if it is; notes which rule did it.
    pub(crate) fn suppresses(&mut self, finding: &Finding) -> Option<Suppressed> {
        if let Some(rule) = self.rules.iter_mut().find(|rule| rule.matches(finding)) {
            rule.used = true;
            return Some(Suppressed::ByUser);
        }
        known::find(finding).filter(|_| !self.shows_known).map(|known| Suppressed::Known(known.stats()))
    }

    /// Lines that suppressed nothing.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter(|rule| !rule.used && rule.kind != RuleKind::Ignored).map(|rule| &*rule.text)
    }
}

impl Rule {
    fn matches(&self, finding: &Finding) -> bool {
        let kind = finding.kind;
        let (applies, frames) = match self.kind {
            RuleKind::Race => (kind == Kind::Race, usize::MAX),
            RuleKind::RaceTop => (kind == Kind::Race, 1),
            RuleKind::Deadlock => (kind == Kind::Deadlock, usize::MAX),
            RuleKind::Atomicity => (kind == Kind::Atomicity, usize::MAX),
            RuleKind::Property => (kind == Kind::Property, usize::MAX),
            RuleKind::Any => (true, usize::MAX),
            RuleKind::Ignored => (false, 0),
        };
        let property = finding.property.as_ref().filter(|_| self.kind == RuleKind::Property);
        let in_event = |event: &Event| {
            (self.kind != RuleKind::RaceTop && self.pattern.matches(&event.target))
                || self.matches_frames(event, frames)
        };
        applies
            && (property.is_some_and(|property| self.pattern.matches(property))
                || finding.events.iter().any(in_event))
    }

    fn matches_frames(&self, event: &Event, frames: usize) -> bool {
        let matches = |text: &Option<String>| text.as_ref().is_some_and(|text| self.pattern.matches(text));
        let is_function = |function: &String| {
            self.pattern.matches(function) || self.pattern.matches(&function_path(function))
        };
        let in_frame =
            |frame: &Location| frame.function.as_ref().is_some_and(is_function) || matches(&frame.file);
        matches(&event.location.file) || event.stack.iter().take(frames).any(in_frame)
    }
}
