//! A finding in one line.

use crate::report::model::{Event, Finding, Kind};
use crate::report::viewpoint::Viewpoint;
use crate::report::wording::verb;

/// The one-line message of a finding that has everything else.
pub(super) fn message(finding: &Finding, viewpoint: &Viewpoint) -> String {
    let title = finding.title();
    let at = |event: &Event| match &event.location {
        unknown if unknown.is_unknown() => String::new(),
        location => format!(" at {}", viewpoint.text(location)),
    };
    let who = |event: &Event| format!("`{}`", event.thread);
    match (finding.kind, &finding.events[..]) {
        (Kind::Race, [a, b]) => format!(
            "{title} on `{}`: {} {}{}, {} {}{}",
            a.target,
            who(a),
            verb(&a.op, &a.target),
            at(a),
            who(b),
            verb(&b.op, &b.target),
            at(b)
        ),
        (Kind::Deadlock, blocked) => {
            let waits: Vec<String> =
                blocked.iter().map(|e| format!("{} waits for `{}`{}", who(e), e.target, at(e))).collect();
            format!("{title}: {}", waits.join(", "))
        }
        (Kind::Atomicity, [first, .., last]) => format!(
            "{title} of the block of {}{}, interleaved with {}{}",
            who(first),
            at(first),
            who(last),
            at(last)
        ),
        (Kind::Property, events) => match (&finding.property, &finding.property_message) {
            (Some(property), Some(reported)) => {
                let by = events.first().map(|event| format!(" ({}{})", who(event), at(event)));
                format!("{title} of `{property}`: {reported}{}", by.unwrap_or_default())
            }
            _ => title,
        },
        _ => title,
    }
}
