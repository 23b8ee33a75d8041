//! Priority queues: each value on its own, against the values that are smaller.
//!
//! A value m is taken or seen in a gap in which no smaller value is there. Where a smaller value is *present*, that is impossible. Everywhere
//! else it is possible: take any linearization of the smaller values, and a gap g in which none of them is present. Of those that are
//! in the queue at g, each has its take called before g, or its put returning after g. Let the former be seen and taken
//! just before g, the smallest first; let the latter be put, and seen, just after g, the largest first. All others meet a queue with less
//! in it than before, so all of it is still right, and at g the queue is empty of them. As values only become absent by this, it can be
//! done for all such gaps, one after the other. And m does not disturb the smaller ones.
//!
//! So a history is linearizable iff each value has gaps to be seen and taken in, in an order with its put, that are not covered by the presence
//! of smaller values; and who found the queue empty has one that is not covered at all. Cost: sorting.

use super::gaps::Gaps;
use super::life::{Life, Rest, Span, Wrong, left_behind};
use crate::value::Value;

pub(super) fn decide(lives: &[Life], rest: &Rest) -> Result<(), Wrong> {
    let mut by_value: Vec<&Life> = lives.iter().collect();
    by_value.sort_unstable_by(|a, b| a.value.cmp(&b.value));
    let mut gaps = Gaps::new(rest.end);
    for life in by_value {
        let last = match life.take {
            None => rest.end,
            // It is taken as late as possible, so that it can be seen before.
            Some(take) => match gaps.at_or_before(take.end - 1) {
                Some(gap) if gap >= take.call.max(life.put.call) => gap,
                _ => return Err(smaller_there(lives, take, &life.value)),
            },
        };
        for seen in &life.seen {
            let gap = gaps.at_or_after(seen.call.max(life.put.call));
            if gap >= seen.end || gap > last {
                return Err(smaller_there(lives, *seen, &life.value));
            }
        }
        gaps.cover(life.there_from(), life.there_until(rest.end));
    }
    match rest.empty.iter().find(|span| gaps.at_or_after(span.call) >= span.end) {
        Some(wrong) => {
            let culprits = left_behind(lives, *wrong, |_| true);
            Err(Wrong::new("some value is there at each moment", [wrong.op]).of(culprits))
        }
        None => Ok(()),
    }
}

fn smaller_there(lives: &[Life], span: Span, value: &Value) -> Wrong {
    // What was put later than the operation began may stand in the way of the value as well: all smaller ones that were left are tried.
    let smaller = |life: &Life| life.value < *value;
    let culprits = (0..lives.len()).filter(|nth| lives[*nth].take.is_none() && smaller(&lives[*nth]));
    Wrong::new("a smaller value is there at each moment", [span.op]).of(culprits.collect())
}
