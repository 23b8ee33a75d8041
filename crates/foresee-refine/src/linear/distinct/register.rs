//! Registers that are read and written: Gibbons and Korach (*Testing shared memories*, 1997).
//!
//! The write of a value and all reads of it are a *cluster*, which takes effect without another write in between. Let s be the latest call
//! and f the earliest return of its operations. If f comes before s the register has the value from f to s: a *forward zone*;
//! otherwise all of them are under way from s to f, and can take effect at any one moment in this *backward zone*. There is a linearization iff no
//! two forward zones overlap and no backward zone lies within a forward one. Cost: sorting.

use super::life::{Life, Wrong};

pub(super) fn decide(lives: &[Life]) -> Result<(), Wrong> {
    let mut forward: Vec<(i64, i64, &Life)> = Vec::new();
    let mut backward: Vec<(i64, i64, &Life)> = Vec::new();
    for life in lives {
        let spans = || life.seen.iter().chain([&life.put]);
        let is_initial = life.put.op == usize::MAX;
        if is_initial && life.seen.is_empty() {
            continue;
        }
        // The initial value is there before all events.
        let returns = spans().map(|span| if is_initial { -1 } else { i64::from(span.end) });
        let earliest_return = returns.min().unwrap_or(0);
        let latest_call = spans().map(|span| i64::from(span.call)).max().unwrap_or(0);
        if earliest_return < latest_call {
            forward.push((earliest_return, latest_call, life));
        } else {
            backward.push((latest_call, earliest_return, life));
        }
    }
    forward.sort_unstable_by_key(|zone| zone.0);
    let why = "one value is there before and after the other";
    for two in forward.windows(2) {
        if two[1].0 < two[0].1 {
            return Err(not(why, two[0].2, two[1].2));
        }
    }
    for (from, to, life) in backward {
        // The last forward zone that begins before this one is the only one that can contain it: the zones do not overlap.
        let before = forward.partition_point(|zone| zone.0 < from);
        if let Some(around) = before.checked_sub(1).map(|nth| forward[nth])
            && to < around.1
        {
            return Err(not(why, around.2, life));
        }
    }
    Ok(())
}

fn not(why: &'static str, a: &Life, b: &Life) -> Wrong {
    let ops = |life: &Life| {
        let spans = life.seen.iter().chain([&life.put]);
        let (first, last) = (spans.clone().min_by_key(|span| span.end), spans.max_by_key(|span| span.call));
        [life.put.op].into_iter().chain(first.map(|span| span.op)).chain(last.map(|span| span.op))
    };
    let mut ops: Vec<usize> = ops(a).chain(ops(b)).filter(|op| *op != usize::MAX).collect();
    ops.sort_unstable();
    ops.dedup();
    Wrong::new(why, ops)
}
