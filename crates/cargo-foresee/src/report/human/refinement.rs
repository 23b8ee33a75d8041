//! A violation of a specification: the operation, what was expected, the orders, and the smallest history that shows it.

use std::fmt::Write as _;

use super::style::{QUIET, STRONG};
use crate::report::model::{PlacedOperation, Refinement};
use crate::report::viewpoint::Viewpoint;

/// Of longer orders only the end is shown.
const MOST_SHOWN: usize = 16;

pub(super) fn refinement(out: &mut String, found: &Refinement, viewpoint: &Viewpoint) {
    let case = found.case.as_ref().map_or(String::new(), |case| format!(" in `{case}`"));
    let _ = writeln!(out, "    {QUIET}{} of `{}`{case}{QUIET:#}", found.violation, found.model);
    if let Some(own) = &found.operation {
        let line = own.line.map_or(String::new(), |line| format!(" (line {line})"));
        let _ = writeln!(
            out,
            "    {STRONG}{}{STRONG:#} by {}, called at event {}{line}{}",
            own.operation,
            own.thread,
            own.call,
            place(own, viewpoint)
        );
    }
    if !found.expected.is_empty() {
        let actual = found.actual.as_ref().map_or(String::new(), |actual| format!(", not {actual}"));
        let _ = writeln!(out, "    the specification allows {}{actual}", found.expected.join(" or "));
    }
    for difference in found.differences.iter().take(MOST_SHOWN) {
        let show = |contents: &Option<String>| contents.clone().unwrap_or_else(|| "nothing".to_owned());
        let _ = writeln!(
            out,
            "    {}: the structure has {}, the specification {}",
            difference.part,
            show(&difference.implementation),
            show(&difference.specification)
        );
    }
    for note in &found.notes {
        let _ = writeln!(out, "    {note}");
    }
    operations(out, "under way at the same time", &found.overlapping, viewpoint);
    operations(out, "the order that was tried", &found.order, viewpoint);
    if let Some(other) = &found.other_order {
        operations(out, "an order that explains everything", other, viewpoint);
    }
    operations(out, "the smallest part that does not fit", &found.minimal, viewpoint);
}

/// Where an operation is called, if that is known.
fn place(own: &PlacedOperation, viewpoint: &Viewpoint) -> String {
    if own.location.is_unknown() {
        return String::new();
    }
    format!("  {QUIET}{}{QUIET:#}", viewpoint.place(&own.location))
}

fn operations(out: &mut String, title: &str, operations: &[PlacedOperation], viewpoint: &Viewpoint) {
    if operations.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n    {title}:");
    let left_out = operations.len().saturating_sub(MOST_SHOWN);
    if left_out > 0 {
        let _ = writeln!(out, "      {QUIET}⋮ {left_out} before{QUIET:#}");
    }
    for own in &operations[left_out..] {
        let until = own.returned.map_or("…".to_owned(), |event| event.to_string());
        let _ = writeln!(
            out,
            "      {QUIET}{:>5}–{until:<5}{QUIET:#} {:<8} {}{}",
            own.call,
            own.thread,
            own.operation,
            place(own, viewpoint)
        );
    }
}
