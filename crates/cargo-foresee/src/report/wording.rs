//! The words for what threads do.

use foresee_trace::{LocId, Names};
use foresee_witness::judge::{Finding, FindingKind, Statement};

use super::details::Details;
use super::title;
use super::viewpoint::Viewpoint;

/// `writes`, `atomically reads`: what an operation does to its target.
pub(crate) fn verb(op: &str) -> &str {
    match op {
        "read" => "reads",
        "write" => "writes",
        "load" => "atomically reads",
        "store" => "atomically writes",
        "rmw" => "atomically updates",
        "free" => "frees",
        "request" => "wants",
        "acquire" => "locks",
        "release" => "unlocks",
        "fork" => "starts",
        "join" => "joins",
        "wait" => "waits for",
        "notify" => "notifies",
        "named" => "does",
        "enter" => "enters",
        "exit" => "leaves",
        "block-begin" => "begins atomic block",
        "block-end" => "ends atomic block",
        other => other,
    }
}

/// The finding in one line.
pub(crate) fn message(finding: &Finding, events: &[Details], names: &Names, viewpoint: &Viewpoint) -> String {
    let title = title(finding.kind, finding.certainty());
    let at = |details: &Details| match viewpoint.location(names, details.loc) {
        _ if details.loc == LocId::UNKNOWN => String::new(),
        place => format!(" at {place}"),
    };
    let who = |details: &Details| format!("`{}`", names.thread_name(details.thread));
    match (finding.kind, events) {
        (FindingKind::Race, [a, b]) => format!(
            "{title} on `{}`: {} {}{}, {} {}{}",
            a.target,
            who(a),
            verb(a.op),
            at(a),
            who(b),
            verb(b.op),
            at(b)
        ),
        (FindingKind::Deadlock, blocked) => {
            let steps: Vec<String> =
                blocked.iter().map(|e| format!("{} waits for `{}`{}", who(e), e.target, at(e))).collect();
            format!("{title}: {}", steps.join(", "))
        }
        (FindingKind::Atomicity, [first, .., last]) => {
            format!(
                "{title} of the block of {}{}, interleaved with {}{}",
                who(first),
                at(first),
                who(last),
                at(last)
            )
        }
        (FindingKind::Property, events) => {
            let where_it_came = events.first().map(|event| format!(" ({}{})", who(event), at(event)));
            match &finding.statement {
                Some(Statement { property, message, .. }) => {
                    format!("{title} of `{property}`: {message}{}", where_it_came.unwrap_or_default())
                }
                None => title,
            }
        }
        _ => title,
    }
}
