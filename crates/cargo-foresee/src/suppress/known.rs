//! Races that well-known libraries have, and why they live with them.
//!
//! A program that is built with such a library would report them in every run, and its author can do nothing about them. C and C++ know
//! no harmless data race, so they are not left out: they are suppressed by name, the report says so and why, and `--show-known` shows
//! them. A finding is one of these only if *all* its events are in the functions named, on the memory named: another race of the
//! same library is reported as ever.

use crate::report::model::{Event, Finding, Kind, KnownStats};

/// Something that a library is known for.
pub(super) struct Known {
    /// Which library.
    library: &'static str,
    /// Functions, of which one is the innermost of each event's stack.
    functions: &'static [&'static str],
    /// Statics, of which each event accesses one; none if the memory has no name.
    statics: &'static [&'static str],
    /// Why nothing comes of it.
    why: &'static str,
}

const KNOWN: [Known; 2] = [
    Known {
        library: "mimalloc",
        functions: &["mi_option_get", "mi_option_init", "_mi_option_get_fast"],
        statics: &["mi_options", "options"],
        why: "the first threads read each option from the environment without a lock, and all of them find and store the same",
    },
    Known {
        library: "mimalloc",
        functions: &[
            "mi_page_is_in_full",
            "mi_page_set_in_full",
            "mi_page_has_aligned",
            "mi_page_set_has_aligned",
        ],
        statics: &[],
        why: "two flags of a page share a byte; a thread that frees reads the one while the owner changes the other",
    },
];

/// What a finding is known as.
pub(super) fn find(finding: &Finding) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        let has = |event: &Event| known.has_function(event) && known.has_memory(event);
        finding.kind == Kind::Race && !finding.events.is_empty() && finding.events.iter().all(has)
    })
}

/// Whether a place, `file:line in function`, may be one of something known.
pub(super) fn may_be_at(place: &str) -> bool {
    place.rsplit_once(" in ").is_some_and(|(_, function)| KNOWN.iter().any(|one| one.is_in(function)))
}

impl Known {
    /// One finding of it.
    pub(super) fn stats(&self) -> KnownStats {
        KnownStats { library: self.library.to_owned(), why: self.why.to_owned(), findings: 1 }
    }

    fn is_in(&self, function: &str) -> bool {
        self.functions.contains(&function)
    }

    fn has_function(&self, event: &Event) -> bool {
        event.location.function.as_deref().is_some_and(|function| self.is_in(function))
    }

    fn has_memory(&self, event: &Event) -> bool {
        let name = event.target.split(['[', '.', '+']).next().unwrap_or_default();
        self.statics.is_empty() || self.statics.contains(&name)
    }
}
