//! Why the run did not show a finding and how another one can: the witness as a story.

use std::fmt::Write as _;

use anstyle::Style;

use super::run::table;
use super::style::{BAD, QUIET, STRONG};
use crate::number::grouped;
use crate::report::model::{
    Certainty, Finding, Kind, Known, Location, Row, Separation, Stats, Story, StoryStep,
};
use crate::report::viewpoint::Viewpoint;
use crate::report::wording::verb;

pub(super) fn explanation(out: &mut String, finding: &Finding, stats: &Stats, viewpoint: &Viewpoint) {
    out.push('\n');
    if finding.certainty == Certainty::Observed {
        let what = match finding.kind {
            Kind::Race => "Nothing in this run orders the two accesses: it is a data race as it stands.",
            Kind::Deadlock if finding.has_stuck_threads() => {
                "The run ended with threads waiting for what nobody can do any more."
            }
            Kind::Deadlock => "The run ended with these threads waiting for each other.",
            Kind::Property if finding.events.is_empty() => "It came at the end of this run.",
            Kind::Property if !finding.known.is_empty() => {
                "It is so in every run in which the same reads read the same writes, and locks go the same way."
            }
            _ => "It happened in this run.",
        };
        let _ = writeln!(out, "    {what}");
        if !finding.schedulable {
            let _ = writeln!(
                out,
                "    It comes after another race, on whose outcome it may depend: fix that one first."
            );
        }
    }
    for known in &finding.known {
        knowledge(out, finding, known, viewpoint);
    }
    if let Some(reason) = &finding.reason {
        let _ = writeln!(out, "    Not certain: {reason}.");
    }
    if let Some(witness) = &finding.witness {
        if finding.certainty == Certainty::Predicted {
            let separated = finding.story.as_ref().and_then(|story| story.separated_by.as_ref());
            let what = match separated {
                Some(by) => format!("The run you saw was fine: {}. Nothing makes it so:", why(by, viewpoint)),
                None => "The run you saw was fine, by luck. This one is possible as well:".to_owned(),
            };
            let _ = writeln!(out, "    {what}");
        }
        out.push('\n');
        match (&finding.run, &finding.story) {
            (Some(run), _) => out.push_str(&table(run, finding.events.is_empty(), viewpoint)),
            (None, Some(story)) => columns(out, story, viewpoint),
            (None, None) => {}
        }
        let _ = writeln!(
            out,
            "\n    {QUIET}witness: {} of {} events, checked{QUIET:#}",
            grouped(witness.len() as u64),
            grouped(stats.analysed)
        );
    }
    if finding.instances > 1 {
        let _ = writeln!(out, "    {QUIET}seen {} times{QUIET:#}", grouped(finding.instances));
    }
}

/// What the thread knew of another, since when, and who carried it.
fn knowledge(out: &mut String, finding: &Finding, known: &Known, viewpoint: &Viewpoint) {
    let who = finding.events.first().map_or("it", |event| event.thread.as_str());
    let Known { thread, says, events } = known;
    let Some(first) = events.first() else {
        let _ =
            writeln!(out, "    `{who}` knew of nothing that `{thread}` has done: `{says}` is how it began.");
        return;
    };
    let place = viewpoint.place(&first.location);
    let _ = writeln!(out, "    `{who}` knew of `{thread}`: `{says}`, since {place}.");
    for event in &events[1..] {
        let place = viewpoint.place(&event.location);
        let text = format!("{} {} {}", event.thread, verb(&event.op, &event.target), event.target);
        let _ = writeln!(out, "      {QUIET}→{QUIET:#} {text}  {QUIET}{place}{QUIET:#}");
    }
}

fn why(Separation { lock, released, acquired }: &Separation, viewpoint: &Viewpoint) -> String {
    format!(
        "`{}` had unlocked `{lock}` ({}) before `{}` locked it ({})",
        released.thread,
        viewpoint.place(&released.location),
        acquired.thread,
        viewpoint.place(&acquired.location)
    )
}

/// A column per thread, a line per step.
fn columns(out: &mut String, story: &Story, viewpoint: &Viewpoint) {
    let rows: Vec<(&Row, String)> = (story.rows.iter())
        .map(|row| match row {
            Row::Step(step) => (row, text(step, viewpoint)),
            Row::Passed(_) => (row, String::new()),
        })
        .collect();
    let widths: Vec<usize> = (story.threads.iter().enumerate())
        .map(|(column, thread)| {
            let steps = rows.iter().filter_map(|(row, text)| match row {
                Row::Step(step) if step.column.unwrap_or(0) == column => Some(text.chars().count() + 6),
                _ => None,
            });
            steps.chain([thread.chars().count() + 2]).max().unwrap_or(0).clamp(12, 56)
        })
        .collect();
    out.push_str("      ");
    for (nth, (thread, &width)) in story.threads.iter().zip(&widths).enumerate() {
        let width = if nth + 1 == story.threads.len() { 0 } else { width };
        let _ = write!(out, "{STRONG}{thread:<width$}{STRONG:#}");
    }
    out.push('\n');
    let mut number = 0;
    for (row, text) in &rows {
        match row {
            Row::Passed(passed) => {
                let events = if passed.events == 1 { "event" } else { "events" };
                let others = match passed.others {
                    0 => String::new(),
                    n if n == passed.events => ", of other threads".to_owned(),
                    n => format!(", {} of other threads", grouped(n)),
                };
                let _ = writeln!(out, "      {QUIET}⋮ {} {events}{others}{QUIET:#}", grouped(passed.events));
            }
            Row::Step(step) => {
                number += 1;
                let indent: usize = widths.iter().take(step.column.unwrap_or(0)).sum();
                let mark = if step.key { " ⚡" } else { "" };
                let style = if step.key { BAD } else { Style::new() };
                let _ = writeln!(
                    out,
                    "      {:indent$}{QUIET}{number:>2}{QUIET:#}  {style}{text}{style:#}{mark}",
                    ""
                );
            }
        }
    }
}

/// `locks CHECKING  bank.rs:20:27`; with the thread if it has no column.
fn text(step: &StoryStep, viewpoint: &Viewpoint) -> String {
    let who = if step.column.is_none() { format!("{} ", step.thread) } else { String::new() };
    let does = if step.blocked { "waits for" } else { verb(&step.op, &step.target) };
    let place = match &step.location {
        Location { file: None, line: None, .. } => String::new(),
        location => {
            let place = viewpoint.place(location);
            format!("  {}", place.rsplit('/').next().unwrap_or(&place))
        }
    };
    format!("{who}{does} {}{place}", step.target)
}
