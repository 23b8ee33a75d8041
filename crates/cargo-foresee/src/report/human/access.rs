//! The events of a finding: where, who, what, holding which locks, called from where.

use std::fmt::Write as _;

use super::calls::calls;
use super::source::{Line, Sources};
use super::style::{BAD, LINES, QUIET};
use crate::number::grouped;
use crate::report::model::{Creation, Event, Finding, LockMode, Memory, Moment};
use crate::report::viewpoint::Viewpoint;
use crate::report::wording::verb;

pub(super) fn bytes(count: u32) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{} bytes", grouped(count.into())) }
}

/// The block of memory that a race is about, if its history is known.
pub(super) fn block(out: &mut String, events: &[Event], viewpoint: &Viewpoint) {
    // The latest knows most.
    let latest = events.iter().max_by_key(|event| event.index);
    let Some(Memory::Heap { size, allocated, freed, .. }) = latest.and_then(|event| event.memory.as_ref())
    else {
        return;
    };
    let by = |what: &str, moment: &Moment| {
        let place = match &moment.origin {
            Some(origin) if origin.line.is_some() => format!(" at {}", viewpoint.place(origin)),
            Some(origin) => format!(" in {}", origin.function.as_deref().unwrap_or("?")),
            None => String::new(),
        };
        format!(", {what} by `{}`{place}", moment.thread)
    };
    let freed = freed.as_ref().map_or(String::new(), |moment| by("freed", moment));
    let _ = writeln!(out, "    heap block of {}{}{freed}", bytes(*size), by("allocated", allocated));
}

/// One event of a finding, with the source line and the calls.
pub(super) fn access(
    out: &mut String,
    finding: &Finding,
    event: &Event,
    viewpoint: &Viewpoint,
    sources: &mut Sources<'_>,
) {
    let place = viewpoint.place(&event.location);
    let line = sources.line(&event.location);
    let width = line.as_ref().map_or(1, |line| line.number.to_string().len()).max(3);
    let doing = match (event.op.as_str(), &event.memory) {
        // In a deadlock of other runs, a lock that this run got is waited for.
        ("acquire", _) if finding.has_stuck_threads() => format!("locks `{}` here", event.target),
        ("request" | "acquire", _) => format!("waits here for `{}`", event.target),
        (op, Some(Memory::Heap { offset, size, .. })) => {
            let part = match event.size {
                Some(touched) if touched < *size => {
                    format!("bytes {offset}..{} of ", u128::from(*offset) + u128::from(touched))
                }
                _ => String::new(),
            };
            format!("{} {part}the block here", verb(op, &event.target))
        }
        (op, _) => format!("{} `{}` here", verb(op, &event.target), event.target),
    };
    let what = format!("`{}` {doing}{}", event.thread, holding(event, viewpoint));
    let _ = writeln!(out, "{:width$} {LINES}┌─{LINES:#} {place}", "");
    match line {
        Some(Line { number, text, before, marked }) => {
            let _ = writeln!(out, "{LINES}{number:>width$} │{LINES:#} {text}");
            let marks = "^".repeat(marked);
            let _ = writeln!(out, "{:width$} {LINES}│{LINES:#} {:before$}{BAD}{marks}{BAD:#} {what}", "", "");
        }
        None => {
            let _ = writeln!(out, "{:width$} {LINES}│{LINES:#} {what}", "");
        }
    }
    for call in calls(event, viewpoint) {
        let _ = writeln!(out, "{:width$} {LINES}│{LINES:#}   {QUIET}{call}{QUIET:#}", "");
    }
}

fn holding(event: &Event, viewpoint: &Viewpoint) -> String {
    let Some(held) = &event.held else { return String::new() };
    let locks: Vec<String> = (held.iter())
        .map(|held| {
            let shared = if held.mode == LockMode::Shared { " (shared)" } else { "" };
            let place = match held.location.line {
                Some(line) if held.location.file == event.location.file => format!("in line {line}"),
                _ => format!("at {}", viewpoint.place(&held.location)),
            };
            format!("`{}`{shared} (locked {place})", held.lock)
        })
        .collect();
    if locks.is_empty() { ", holding no lock".to_owned() } else { format!(", holding {}", locks.join(", ")) }
}

/// Who started the threads of the events.
pub(super) fn creation(out: &mut String, events: &[Event], viewpoint: &Viewpoint) {
    let mut shown: Vec<(&str, &Creation)> = Vec::new();
    for event in events {
        let Some(created) = &event.thread_created else { continue };
        if !shown.contains(&(&event.thread, created)) {
            shown.push((&event.thread, created));
            let place = viewpoint.place(&created.location);
            let _ = writeln!(out, "    `{}` was started by `{}` at {place}", event.thread, created.by);
        }
    }
}
