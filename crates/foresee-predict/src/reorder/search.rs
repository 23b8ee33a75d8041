//! The search for an order that keeps the rules.
//!
//! Saturate; put the events in line; if the line keeps the rules, done. If not, it shows two orders of which one has to
//! hold: try the one of the observed run first. Each decision settles something that was open, so the search ends; the
//! number of decisions is limited all the same, by work and not by time, so that the same question always gets the same answer.

use foresee_trace::EventId;

use super::line::{Choice, broken, line};
use super::order::{Contradiction, Order};
use super::question::Answer;
use super::saturate::{one_after_the_other, saturate};
use super::window::{At, Window};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Stays with the first order that saturation does not contradict: polynomial.
    Greedy,
    /// Tries all, until it has done so much work (about one unit for each event and thread looked at).
    Complete {
        /// The limit.
        work: u64,
    },
}

/// An order and what is still to be tried on it.
struct Branch {
    order: Order,
    try_next: Decision,
}

/// What to add to an order.
#[derive(Clone, Copy)]
enum Decision {
    Nothing,
    Before(At, At),
    Sections(super::window::Section, super::window::Section),
}

pub(super) fn search(window: &Window, search: Search) -> Answer {
    let size = (window.events.len() * window.threads()) as u64 + 1;
    let mut work = 0;
    let mut branches = vec![Branch { order: Order::of(window), try_next: Decision::Nothing }];
    while let Some(Branch { mut order, try_next }) = branches.pop() {
        if let Search::Complete { work: limit } = search
            && work > limit
        {
            return Answer::Unknown;
        }
        match apply(window, &mut order, try_next).and_then(|()| saturate(window, &mut order)) {
            Ok(rounds) => work += (rounds + 1) * size,
            Err(Contradiction) => {
                work += size;
                continue;
            }
        }
        let line = line(window, &order);
        let Some(choice) = broken(window, &order, &line) else {
            return Answer::Schedule(line.into_iter().map(|at| EventId(window.event(at))).collect());
        };
        if search == Search::Greedy {
            branches.clear();
        }
        let [first, second] = decisions(window, choice);
        branches.push(Branch { order: order.clone(), try_next: second });
        branches.push(Branch { order, try_next: first });
    }
    if window.truncated || search == Search::Greedy { Answer::Unknown } else { Answer::Impossible }
}

fn apply(window: &Window, order: &mut Order, decision: Decision) -> Result<(), Contradiction> {
    match decision {
        Decision::Nothing => Ok(()),
        Decision::Before(a, b) => order.add(window, a, b).map(|_| ()),
        Decision::Sections(first, second) => one_after_the_other(window, order, &first, &second).map(|_| ()),
    }
}

/// The two ways, that of the observed run first.
fn decisions(window: &Window, choice: Choice) -> [Decision; 2] {
    match choice {
        Choice::Sections { first, second } => {
            [Decision::Sections(first, second), Decision::Sections(second, first)]
        }
        Choice::Write { write, read, other } => {
            let (before, after) = (Decision::Before(other, write), Decision::Before(read, other));
            if window.event(other) < window.event(write) { [before, after] } else { [after, before] }
        }
    }
}
