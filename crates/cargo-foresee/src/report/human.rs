//! For people: the finding, the source lines, the calls, the locks, and the witness as a story.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use foresee_trace::{EventId, Mode};
use foresee_witness::judge::{Certainty, Finding, FindingKind};

use super::calls::{Frame, Place, is_library};
use super::details::Details;
use super::memory::{Memory, Moment};
use super::run::table;
use super::source::{Line, Sources};
use super::story::{Row, Story, tell, what_separated};
use super::wording::verb;
use super::{Report, Shown, title};
use crate::number::grouped;

pub(super) const BAD: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
const STRONG: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
const LINES: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Blue)));

/// So many findings are told in full; further ones in a line each.
const IN_FULL: usize = 40;

/// Larger deadlocks are not told by the names of all threads.
const MOST_NAMED: usize = 4;

/// So many calls of a stack are shown.
const MOST_CALLS: usize = 6;

/// The whole report, with colour codes; whoever prints it removes them where they do not belong.
pub(crate) fn write(report: &Report<'_>) -> String {
    let mut out = String::new();
    let mut sources = Sources::default();
    for shown in report.findings.iter().take(IN_FULL) {
        finding(&mut out, report, shown, &mut sources);
        out.push('\n');
    }
    for shown in report.findings.iter().skip(IN_FULL) {
        let _ = writeln!(out, "{}: {}", shown.id, shown.message);
    }
    summary(&mut out, report);
    out
}

/// One finding, without colours.
pub(crate) fn one(report: &Report<'_>, shown: &Shown) -> String {
    let mut out = String::new();
    finding(&mut out, report, shown, &mut Sources::default());
    anstream::adapter::strip_str(&out).to_string()
}

fn finding(out: &mut String, report: &Report<'_>, shown: &Shown, sources: &mut Sources) {
    let kind = shown.finding.kind;
    let title = title(kind, shown.finding.certainty());
    let what = match (kind, shown.events.first()) {
        (FindingKind::Race, Some(event)) => {
            let size = match event.memory {
                Some((mem, _)) => format!(" ({})", bytes(mem.size)),
                None => String::new(),
            };
            format!(" on `{}`{size}", event.target)
        }
        (FindingKind::Deadlock, _) => deadlocked(report, &shown.events),
        (FindingKind::Property, _) => match &shown.finding.statement {
            Some(said) => format!(" of `{}`: {}", said.property, said.message),
            None => String::new(),
        },
        _ => String::new(),
    };
    let _ = writeln!(out, "{BAD}{title}{BAD:#}{STRONG}{what}{STRONG:#}  {QUIET}[{}]{QUIET:#}", shown.id);
    if kind == FindingKind::Race {
        memory(out, report, &shown.events);
    }
    let mut told: Vec<u64> = Vec::new();
    for event in &shown.events {
        if !told.contains(&event.index) {
            told.push(event.index);
            access(out, report, event, sources);
        }
    }
    creation(out, report, shown);
    explanation(out, report, &shown.finding);
}

/// Who waits for each other, and for what.
fn deadlocked(report: &Report<'_>, waiting: &[Details]) -> String {
    if waiting.len() > MOST_NAMED {
        return format!(" of {} threads", waiting.len());
    }
    let all = |names: Vec<&str>| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match names.split_last() {
            Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => names.concat(),
        }
    };
    let threads = waiting.iter().map(|event| report.thread(event.thread)).collect();
    let locks = waiting.iter().map(|event| event.target.as_str()).collect();
    format!(" of {} over {}", all(threads), all(locks))
}

fn bytes(count: u32) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{} bytes", grouped(count.into())) }
}

/// The block of memory that it is about, if it has a history to tell.
fn memory(out: &mut String, report: &Report<'_>, events: &[Details]) {
    // The latest knows most.
    let latest = events.iter().max_by_key(|event| event.index);
    let Some((_, Memory::Heap { size, allocated, freed, .. })) = latest.and_then(|e| e.memory.as_ref())
    else {
        return;
    };
    let by = |what: &str, moment: &Moment| {
        let place = match moment.place(report.names) {
            Place::Line(loc) => format!(" at {}", report.place(loc)),
            Place::Function(name) => format!(" in {}", report.names.str(name)),
            Place::Unknown => String::new(),
        };
        format!(", {what} by `{}`{place}", report.thread(moment.thread))
    };
    let freed = freed.as_ref().map_or(String::new(), |moment| by("freed", moment));
    let _ = writeln!(out, "    heap block of {}{}{freed}", bytes(*size), by("allocated", allocated));
}

/// One event: where, who, what, holding which locks, called from where.
fn access(out: &mut String, report: &Report<'_>, event: &Details, sources: &mut Sources) {
    let place = report.place(event.loc);
    let line = sources.line(report.names, event.loc);
    let width = line.as_ref().map_or(1, |line| line.number.to_string().len()).max(3);
    let doing = match (event.op, &event.memory) {
        ("request" | "acquire", _) => format!("waits here for `{}`", event.target),
        (op, Some((mem, memory @ Memory::Heap { .. }))) => {
            let part = memory.part(*mem).map_or(String::new(), |part| format!("{part} of "));
            format!("{} {part}the block here", verb(op))
        }
        (op, _) => format!("{} `{}` here", verb(op), event.target),
    };
    let said = format!("`{}` {doing}, {}", report.thread(event.thread), holding(report, event));
    let _ = writeln!(out, "{:width$} {LINES}┌─{LINES:#} {place}", "");
    match line {
        Some(Line { number, text, before, marked }) => {
            let _ = writeln!(out, "{LINES}{number:>width$} │{LINES:#} {text}");
            let marks = "^".repeat(marked);
            let _ = writeln!(out, "{:width$} {LINES}│{LINES:#} {:before$}{BAD}{marks}{BAD:#} {said}", "", "");
        }
        None => {
            let _ = writeln!(out, "{:width$} {LINES}│{LINES:#} {said}", "");
        }
    }
    for call in calls(report, event) {
        let _ = writeln!(out, "{:width$} {LINES}│{LINES:#}   {QUIET}{call}{QUIET:#}", "");
    }
}

fn holding(report: &Report<'_>, event: &Details) -> String {
    let here = report.names.location_at(event.loc).file;
    let locks: Vec<String> = (event.held.iter())
        .map(|held| {
            let shared = if held.mode == Mode::Shared { " (shared)" } else { "" };
            let at = report.names.location_at(held.loc);
            let place = match report.place(held.loc) {
                _ if at.file == here && at.line != 0 => format!("in line {}", at.line),
                place => format!("at {place}"),
            };
            format!("`{}`{shared} (locked {place})", report.lock(held.lock))
        })
        .collect();
    if locks.is_empty() { "holding no lock".to_owned() } else { format!("holding {}", locks.join(", ")) }
}

/// The calls, innermost first; those of libraries are folded, and left out where they only start a thread.
fn calls(report: &Report<'_>, event: &Details) -> Vec<String> {
    let is_library = |frame: &Frame| is_library(report.names, frame);
    let users = event.stack.iter().rposition(|frame| !is_library(frame)).map_or(0, |last| last + 1);
    let mut lines = Vec::new();
    let mut shown = 0;
    for frames in event.stack[..users].chunk_by(|a, b| is_library(a) && is_library(b)) {
        match frames {
            [frame] if !is_library(frame) => {
                let function = report.names.str(frame.function);
                let place = if frame.loc == event.loc {
                    String::new()
                } else {
                    format!(" ({})", report.place(frame.loc))
                };
                lines.push(format!("in {function}{place}"));
            }
            [_] => lines.push("… 1 library frame".to_owned()),
            frames => lines.push(format!("… {} library frames", frames.len())),
        }
        shown += frames.len();
        if lines.len() == MOST_CALLS && shown < users {
            lines.push(format!("… {} more", users - shown));
            break;
        }
    }
    lines
}

fn creation(out: &mut String, report: &Report<'_>, shown: &Shown) {
    let mut threads: Vec<_> = shown.events.iter().map(|event| event.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    for thread in threads {
        if let Some(created) = report.collected.created.get(&thread) {
            let _ = writeln!(
                out,
                "    `{}` was started by `{}` at {}",
                report.thread(thread),
                report.thread(created.by),
                report.place(created.loc)
            );
        }
    }
}

/// Why it did not show in this run and how it can: the witness as a story.
fn explanation(out: &mut String, report: &Report<'_>, finding: &Finding) {
    out.push('\n');
    if finding.certainty() == Certainty::Observed {
        let said = match finding.kind {
            FindingKind::Race => {
                "Nothing in this run orders the two accesses: it is a data race as it stands."
            }
            FindingKind::Deadlock => "The run ended with these threads waiting for each other.",
            FindingKind::Property if finding.events.is_empty() => "It came at the end of this run.",
            _ => "It happened in this run.",
        };
        let _ = writeln!(out, "    {said}");
        if !finding.schedulable {
            let _ = writeln!(
                out,
                "    It comes after another race, on whose outcome it may depend: fix that one first."
            );
        }
    }
    if let (Some(execution), false) = (report.execution, finding.witness().is_empty()) {
        let key: Vec<EventId> = finding.events.iter().map(|&index| EventId(index as u32)).collect();
        if finding.certainty() == Certainty::Predicted {
            let separated = match (finding.kind, &key[..]) {
                (FindingKind::Race, &[a, b]) => what_separated(report, execution, a.min(b), a.max(b)),
                _ => None,
            };
            let said = match separated {
                Some(why) => format!("The run you saw was fine: {why}. Nothing makes it so:"),
                None => "The run you saw was fine, by luck. This one is possible as well:".to_owned(),
            };
            let _ = writeln!(out, "    {said}");
        }
        out.push('\n');
        match &finding.run {
            Some(run) => out.push_str(&table(report, execution, run, key.is_empty())),
            None => story(out, report, &tell(report, execution, &finding.witness().to_vec(), &key)),
        }
        let _ = writeln!(
            out,
            "\n    {QUIET}witness: {} of {} events, checked{QUIET:#}",
            grouped(finding.witness().len() as u64),
            grouped(execution.len() as u64)
        );
    }
    if finding.instances > 1 {
        let _ = writeln!(out, "    {QUIET}seen {} times{QUIET:#}", grouped(finding.instances));
    }
}

/// A column per thread, a line per step.
fn story(out: &mut String, report: &Report<'_>, story: &Story) {
    let widths: Vec<usize> = (story.threads.iter().enumerate())
        .map(|(column, &thread)| {
            let steps = story.rows.iter().filter_map(|row| match row {
                Row::Step { column: at, text, .. } if *at == column => Some(text.chars().count() + 6),
                _ => None,
            });
            steps.chain([report.thread(thread).chars().count() + 2]).max().unwrap_or(0).clamp(12, 56)
        })
        .collect();
    out.push_str("      ");
    for (nth, (&thread, &width)) in story.threads.iter().zip(&widths).enumerate() {
        let width = if nth + 1 == story.threads.len() { 0 } else { width };
        let _ = write!(out, "{STRONG}{:<width$}{STRONG:#}", report.thread(thread));
    }
    out.push('\n');
    for row in &story.rows {
        match row {
            Row::Passed { events, others } => {
                let events_word = if *events == 1 { "event" } else { "events" };
                let others = match others {
                    0 => String::new(),
                    n if n == events => ", of other threads".to_owned(),
                    n => format!(", {} of other threads", grouped(*n as u64)),
                };
                let _ = writeln!(
                    out,
                    "      {QUIET}⋮ {} {events_word}{others}{QUIET:#}",
                    grouped(*events as u64)
                );
            }
            Row::Step { column, number, text, key } => {
                let indent: usize = widths[..*column].iter().sum();
                let mark = if *key { " ⚡" } else { "" };
                let style = if *key { BAD } else { Style::new() };
                let _ = writeln!(
                    out,
                    "      {:indent$}{QUIET}{number:>2}{QUIET:#}  {style}{text}{style:#}{mark}",
                    ""
                );
            }
        }
    }
}

fn summary(out: &mut String, report: &Report<'_>) {
    let stats = &report.stats;
    let count =
        |certainty| report.findings.iter().filter(|shown| shown.finding.certainty() == certainty).count();
    let mut parts = Vec::new();
    for certainty in [Certainty::Observed, Certainty::Predicted, Certainty::Candidate] {
        if count(certainty) > 0 {
            parts.push(format!("{} {}", count(certainty), certainty.name()));
        }
    }
    let found = match report.findings.len() {
        0 => "nothing found".to_owned(),
        1 => format!("1 finding ({})", parts.join(", ")),
        n => format!("{n} findings ({})", parts.join(", ")),
    };
    let engines: Vec<&str> = stats.engines.iter().map(|engine| engine.name).collect();
    let _ = writeln!(
        out,
        "{STRONG}{found}{STRONG:#} in {} events of {} ({}; {:.1} s)",
        grouped(stats.events),
        report.trace,
        engines.join(", "),
        stats.seconds
    );
    for missing in &stats.missing {
        let _ = writeln!(out, "{missing}");
    }
    if let Some(seen) = stats.partial {
        let _ = writeln!(
            out,
            "prediction looked at the first {} events: give it more with --memory",
            grouped(seen)
        );
    }
    if stats.undecided() > 0 {
        let _ = writeln!(
            out,
            "{} candidates could not be decided within the time and memory given: give more with --time or --memory",
            grouped(stats.undecided())
        );
    }
    if stats.suppressed > 0 {
        let _ = writeln!(out, "{} findings suppressed", grouped(stats.suppressed));
    }
    if stats.interrupted {
        let _ = writeln!(out, "interrupted: this is what was found until then");
    }
    if stats.refused() > 0 {
        let _ = writeln!(
            out,
            "{} predictions were dropped because the witness checker refused them: the trace is not a possible run \
             (see `foresee trace validate`), or an engine has a bug",
            grouped(stats.refused())
        );
    }
}
