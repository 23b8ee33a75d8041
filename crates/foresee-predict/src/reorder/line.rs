//! A line of events that keeps an order, and where it breaks a rule.

use super::order::Order;
use super::window::{At, Section, Touch, Value, Window, is_same};

/// Two ways to keep a rule that a line breaks; one of them holds in every correct reordering.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// One of two sections comes first. In the observed run it was `first`.
    Sections { first: Section, second: Section },
    /// A write comes before the one that is read, or after the read.
    Write { write: At, read: At, other: At },
}

/// The events of the schedule in a line that keeps the order and, as far as that lets it, the observed order.
pub(super) fn line(window: &Window, order: &Order) -> Vec<At> {
    let threads = window.threads();
    let mut done = vec![0; threads];
    // What each thread waits for: so many events of a thread.
    let mut waits_for = vec![(0, 0); threads];
    let mut line = Vec::new();
    loop {
        let mut best: Option<(u32, At)> = None;
        for thread in 0..threads as u32 {
            let at = At { thread, position: done[thread as usize] };
            if !order.has(at) {
                continue;
            }
            let event = window.event(at);
            if best.is_some_and(|(earliest, _)| earliest < event) {
                continue;
            }
            let (blocker, count) = waits_for[thread as usize];
            if done[blocker] < count {
                continue;
            }
            let clock = order.clock(window, at);
            match clock.iter().zip(&done).position(|(needed, done)| needed > done) {
                Some(blocker) => waits_for[thread as usize] = (blocker, clock[blocker]),
                None => best = Some((event, at)),
            }
        }
        let Some((_, at)) = best else { return line };
        done[at.thread as usize] += 1;
        line.push(at);
    }
}

/// The first broken rule of a line, if any.
pub(super) fn broken(window: &Window, order: &Order, line: &[At]) -> Option<Choice> {
    let mut holders: Vec<Vec<Section>> = Vec::with_capacity(window.locks.len());
    for lock in &window.locks {
        holders.push(lock.sections.iter().filter(|section| section.acquire.is_none()).copied().collect());
    }
    let mut writers: Vec<Option<(At, Value)>> = vec![None; window.cells.len()];
    for &at in line {
        let node = window.node(at);
        if let Some(handover) = window.handovers.get(&(node as u32)) {
            let holders = &mut holders[handover.lock as usize];
            let section = window.locks[handover.lock as usize].sections[handover.section as usize];
            if !handover.takes {
                holders.retain(|held| held.thread != section.thread);
            } else if let Some(&held) = holders.iter().find(|held| held.excludes(&section)) {
                let when = |section: &Section| section.begin().map(|begin| window.event(begin));
                let (first, second) =
                    if when(&held) < when(&section) { (held, section) } else { (section, held) };
                return Some(Choice::Sections { first, second });
            } else {
                holders.push(section);
            }
        }
        let touches = window.first_touch[node] as usize..window.first_touch[node + 1] as usize;
        for &touch in &window.touches[touches] {
            match touch {
                Touch::Write { cell, value } => writers[cell as usize] = Some((at, value)),
                Touch::Read { cell, value, write: Some(write) } => {
                    if let Some((other, written)) = writers[cell as usize]
                        && other != write
                        && order.counts(at)
                        && !(is_same(value, written) && order.is_known(window, other))
                    {
                        return Some(Choice::Write { write, read: at, other });
                    }
                }
                // Saturation puts all writes after it.
                Touch::Read { write: None, .. } => {}
            }
        }
    }
    None
}
