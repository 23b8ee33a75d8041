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
            let mut last = "";
            let waits = blocked.iter().map(|event| match event.op.as_str() {
                "await" => format!("{} waits for the end of `{}`{}", who(event), event.target, at(event)),
                "wait" => {
                    format!("{} waits for a notification of `{}`{}", who(event), event.target, at(event))
                }
                "acquire" if finding.has_stuck_threads() && event.thread == last => {
                    format!("which it has locked itself{}", at(event))
                }
                "acquire" if finding.has_stuck_threads() => {
                    format!("which {} has locked{} and not given back: it has ended", who(event), at(event))
                }
                _ => {
                    last = &event.thread;
                    format!("{} waits for `{}`{}", who(event), event.target, at(event))
                }
            });
            format!("{title}: {}", waits.collect::<Vec<_>>().join(", "))
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
