//! For people: the finding, the source lines, the calls, the locks, and the witness as a story.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use foresee_predict::finding::{Certainty, Finding, Kind};
use foresee_trace::{EventId, Mode, StrId};

use super::calls::{Frame, Place};
use super::details::Details;
use super::memory::{Memory, Moment};
use super::source::Sources;
use super::story::{Row, Story, tell, what_separated};
use super::wording::verb;
use super::{Report, Shown, title};
use crate::number::grouped;

const BAD: Style = Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
const STRONG: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const LINES: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Blue)));

/// So many findings are told in full; further ones in a line each.
const IN_FULL: usize = 40;

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
    let title = title(kind, shown.finding.certainty);
    let what = match (kind, shown.events.first()) {
        (Kind::Race, Some(event)) => {
            let size = match event.memory {
                Some((mem, _)) => format!(" ({})", bytes(mem.size)),
                None => String::new(),
            };
            format!(" on `{}`{size}", event.target)
        }
        (Kind::Deadlock, _) => format!(" of {} threads", shown.events.len()),
        _ => String::new(),
    };
    let _ = writeln!(out, "{BAD}{title}{BAD:#}{STRONG}{what}{STRONG:#}  {QUIET}[{}]{QUIET:#}", shown.id);
    if kind == Kind::Race {
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
        Some(line) => {
            let text = line.text.trim_end();
            let _ = writeln!(out, "{LINES}{:>width$} │{LINES:#} {text}", line.number);
            let indent = text.len() - text.trim_start().len();
            let column = if line.column == 0 { indent } else { (line.column as usize - 1).min(text.len()) };
            let _ = writeln!(out, "{:width$} {LINES}│{LINES:#} {:column$}{BAD}^{BAD:#} {said}", "", "");
        }
        None => {
            let _ = writeln!(out, "{:width$} {LINES}│{LINES:#} {said}", "");
        }
    }
    calls(out, report, &event.stack, width);
}

fn holding(report: &Report<'_>, event: &Details) -> String {
    let locks: Vec<String> = (event.held.iter())
        .map(|held| {
            let shared = if held.mode == Mode::Shared { " (shared)" } else { "" };
            format!("`{}`{shared} (locked at {})", report.lock(held.lock), report.place(held.loc))
        })
        .collect();
    if locks.is_empty() { "holding no lock".to_owned() } else { format!("holding {}", locks.join(", ")) }
}

/// The calls, innermost first; runs of library frames are folded.
fn calls(out: &mut String, report: &Report<'_>, stack: &[Frame], width: usize) {
    let is_library = |frame: &Frame| {
        let function = report.names.str(frame.function).trim_start_matches('<');
        ["std::", "core::", "alloc::", "__", "pthread_"].iter().any(|prefix| function.starts_with(prefix))
    };
    let mut folded = 0;
    let tell_folded = |out: &mut String, folded: &mut usize| {
        if *folded > 0 {
            let frames = if *folded == 1 { "frame" } else { "frames" };
            let _ = writeln!(
                out,
                "{:width$} {LINES}│{LINES:#}   {QUIET}… {folded} library {frames}{QUIET:#}",
                ""
            );
            *folded = 0;
        }
    };
    for frame in stack {
        if is_library(frame) {
            folded += 1;
            continue;
        }
        tell_folded(out, &mut folded);
        if frame.function != StrId::EMPTY {
            let _ = writeln!(
                out,
                "{:width$} {LINES}│{LINES:#}   {QUIET}in {} ({}){QUIET:#}",
                "",
                report.names.str(frame.function),
                report.place(frame.loc)
            );
        }
    }
    tell_folded(out, &mut folded);
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
    if finding.certainty == Certainty::Observed {
        let said = match finding.kind {
            Kind::Race => "Nothing in this run orders the two accesses: it is a data race as it stands.",
            Kind::Deadlock => "The run ended with these threads waiting for each other.",
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
    if let (Some(execution), false) = (report.execution, finding.witness.is_empty()) {
        let key: Vec<EventId> = finding.events.iter().map(|&index| EventId(index as u32)).collect();
        if finding.certainty == Certainty::Predicted {
            let separated = match (finding.kind, &key[..]) {
                (Kind::Race, &[a, b]) => what_separated(report, execution, a.min(b), a.max(b)),
                _ => None,
            };
            let said = match separated {
                Some(why) => format!("The run you saw was fine: {why}. Nothing makes it so:"),
                None => "The run you saw was fine, by luck. This one is possible as well:".to_owned(),
            };
            let _ = writeln!(out, "    {said}");
        }
        out.push('\n');
        story(out, report, &tell(report, execution, &finding.witness.to_vec(), &key));
        let _ = writeln!(
            out,
            "\n    {QUIET}witness: {} of {} events, checked{QUIET:#}",
            grouped(finding.witness.len() as u64),
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
        |certainty| report.findings.iter().filter(|shown| shown.finding.certainty == certainty).count();
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
            "{} candidates could not be decided within the time given: give more with --time",
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
