//! Queues: the four reasons of Henzinger, Sezgin and Vafeiadis (*Aspect-oriented linearizability proofs*, CONCUR 2013), of which any
//! history of a queue with distinct values that has no linearization has one: a value nobody put; a value taken twice; two values
//! taken in the wrong order; somebody who found the queue empty although at each moment some value was present.
//!
//! Cost: sorting. The first two reasons are known when the lives are collected.

use super::gaps::Gaps;
use super::life::{Life, Rest, Wrong, left_behind};

pub(super) fn decide(lives: &[Life], rest: &Rest) -> Result<(), Wrong> {
    wrong_order(lives).or_else(|| never_empty(lives, rest)).map_or(Ok(()), Err)
}

/// Values a and b with put(a) before put(b), and take(b) before take(a) or a not taken at all: by a sweep over the calls of puts
/// with the latest take of all values whose put has returned.
fn wrong_order(lives: &[Life]) -> Option<Wrong> {
    let mut by_return: Vec<usize> = (0..lives.len()).collect();
    let mut by_call = by_return.clone();
    by_return.sort_unstable_by_key(|nth| lives[*nth].put.end);
    by_call.sort_unstable_by_key(|nth| lives[*nth].put.call);
    let taken_from = |nth: usize| lives[nth].take.map_or(u32::MAX, |take| take.call);
    let mut returned = by_return.into_iter().peekable();
    let mut latest: Option<usize> = None;
    for second in by_call {
        while let Some(first) = returned.next_if(|first| lives[*first].put.end < lives[second].put.call) {
            if latest.is_none_or(|latest| taken_from(latest) < taken_from(first)) {
                latest = Some(first);
            }
        }
        if let (Some(first), Some(take)) = (latest, lives[second].take)
            && take.end < taken_from(first)
        {
            let ops = lives[first].ops().chain(lives[second].ops());
            let wrong = Wrong::new("the value that was put first is taken last", ops);
            let is_left = lives[first].take.is_none();
            return Some(wrong.of(is_left.then_some(first).into_iter().collect()));
        }
    }
    None
}

fn never_empty(lives: &[Life], rest: &Rest) -> Option<Wrong> {
    let mut gaps = Gaps::new(rest.end);
    for life in lives {
        gaps.cover(life.there_from(), life.there_until(rest.end));
    }
    let wrong = rest.empty.iter().find(|span| gaps.at_or_after(span.call) >= span.end)?;
    let culprits = left_behind(lives, *wrong, |_| true);
    Some(Wrong::new("some value is there at each moment", [wrong.op]).of(culprits))
}
