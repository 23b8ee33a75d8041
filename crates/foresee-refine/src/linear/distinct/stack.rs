//! Stacks: values are nested, and the outermost ones can be found first.
//!
//! A value is in the stack from its push to its pop; two such stays are nested or apart. Its *core* are the gaps in which it is present: from the
//! return of its push to the call of its pop.
//!
//! 1. *A value without a core*, whose push and pop overlap, can be pushed and popped at once, and disturbs nobody: it is left out.
//! 2. *Where no core is, the stack can be empty.* Let g be such a gap. Of the values in the stack at g each has its pop called before g, or its
//!    push returning after g. Let the former be popped just before g, the latter be pushed just after g, in the order in which they lie on each
//!    other: all others are nested or apart as before. So each connected piece of cores can be looked at alone.
//! 3. *A connected piece has one outermost value*: stays that are apart leave a moment between them in which the stack is empty, and there a core is.
//!    A value v can be the outermost if its push may come before all other pushes and its pop after all other pops, that is, if
//!    call(push v) < return(push w) and return(pop v) > call(pop w) for all others w: orders are possible if they are possible pair by pair.
//! 4. *Any such value will do*: in a linearization in which another is the outermost, v can be moved around all.
//!
//! So: take such a value away and go on with the pieces that are left. If there is none, there is no linearization. And who found
//! the stack empty needs a gap without a core.
//!
//! Cost: n log n. Pieces are ranges of the values in the order of push returns. A value whose push is called early enough for its piece stays so in
//! any smaller piece, so it is moved once from one tree (by call of push) to another (by return of pop).

use super::life::{Life, Rest, Wrong, left_behind};
use super::tree::{Coverage, Smallest};

/// A value with a core.
struct Nested {
    life: usize,
    push_call: u32,
    /// The core is from here to just before `pop_call`.
    push_end: u32,
    pop_call: u32,
    pop_end: u32,
}

pub(super) fn decide(lives: &[Life], rest: &Rest) -> Result<(), Wrong> {
    let values = nested(lives, rest.end);
    let gaps = rest.end as usize + lives.len() + 2;
    let mut coverage = Coverage::new(gaps);
    for value in &values {
        coverage.add(value.push_end as usize, value.pop_call as usize, 1);
    }
    let is_never_empty =
        |call: u32, end: u32| coverage.first_uncovered(call as usize).is_none_or(|gap| gap >= end as usize);
    if let Some(wrong) = rest.empty.iter().find(|span| is_never_empty(span.call, span.end)) {
        let culprits = left_behind(lives, *wrong, |_| true);
        return Err(Wrong::new("some value is there at each moment", [wrong.op]).of(culprits));
    }
    Pieces::new(&values, coverage).take_all().map_err(|piece| {
        let piece: Vec<usize> = piece.into_iter().map(|nth| values[nth].life).collect();
        let ops = piece.iter().take(8).flat_map(|nth| lives[*nth].ops());
        let wrong = Wrong::new("none of these values can lie below the others", ops);
        wrong.of(piece.iter().copied().filter(|nth| lives[*nth].take.is_none()).collect())
    })
}

/// The values with a core, in the order of their push's return. What is never popped is popped after the end, all at once.
fn nested(lives: &[Life], end: u32) -> Vec<Nested> {
    let mut values = Vec::new();
    for (nth, life) in lives.iter().enumerate() {
        let later = end + nth as u32;
        let (pop_call, pop_end) = life.take.map_or((later, u32::MAX), |take| (take.call, take.end));
        if life.put.end < pop_call {
            let (push_call, push_end) = (life.put.call, life.put.end);
            values.push(Nested { life: nth, push_call, push_end, pop_call, pop_end });
        }
    }
    values.sort_unstable_by_key(|value| value.push_end);
    values
}

/// The values that are left, by their place in the order of push returns.
struct Pieces<'a> {
    values: &'a [Nested],
    coverage: Coverage,
    /// All that are left, by their place itself, and by the call of their pop, the latest first.
    left: Smallest,
    by_pop_call: Smallest,
    /// By the call of their push: those of which it is not known to be early enough.
    by_push_call: Smallest,
    /// By the return of their pop, the latest first: those of which it is.
    early: Smallest,
}

/// The latest first, in a tree for the smallest.
fn late(moment: u32) -> u64 {
    u64::from(u32::MAX - moment)
}

impl<'a> Pieces<'a> {
    fn new(values: &'a [Nested], coverage: Coverage) -> Self {
        let all =
            |number: &dyn Fn(usize) -> u64| Smallest::new((0..values.len()).map(|nth| Some(number(nth))));
        Pieces {
            values,
            coverage,
            left: all(&|nth| nth as u64),
            by_pop_call: all(&|nth| late(values[nth].pop_call)),
            by_push_call: all(&|nth| u64::from(values[nth].push_call)),
            early: Smallest::new(values.iter().map(|_| None)),
        }
    }

    /// Takes all values away, outermost first; the values of a piece without an outermost one, if there is one.
    fn take_all(&mut self) -> Result<(), Vec<usize>> {
        let mut ranges = vec![(0, self.values.len())];
        while let Some((from, to)) = ranges.pop() {
            // The piece at the beginning of the range, and what comes after it.
            let Some((first, _)) = self.left.of(from, to) else { continue };
            let begin = self.values[first].push_end;
            let end = self.coverage.first_uncovered(begin as usize).map_or(u32::MAX, |gap| gap as u32);
            let after = self.values.partition_point(|value| value.push_end < end).min(to);
            if after < to {
                ranges.push((after, to));
            }
            let outermost = self.outermost(first, after).ok_or_else(|| self.members(first, after))?;
            self.remove(outermost);
            ranges.push((first, after));
        }
        Ok(())
    }

    fn members(&self, from: usize, to: usize) -> Vec<usize> {
        let mut members = Vec::new();
        let mut at = from;
        while let Some((nth, _)) = self.left.of(at, to) {
            members.push(nth);
            at = nth + 1;
        }
        members
    }

    /// A value that can lie below all others of the piece, of which `first` is the one whose push returns first.
    fn outermost(&mut self, first: usize, to: usize) -> Option<usize> {
        let (last, _) = self.by_pop_call.of(first, to)?;
        let (begin, end) = (self.values[first].push_end, self.values[last].pop_call);
        while let Some((nth, call)) = self.by_push_call.of(first, to)
            && call < u64::from(begin)
        {
            self.by_push_call.set(nth, None);
            self.early.set(nth, Some(late(self.values[nth].pop_end)));
        }
        if let Some((nth, _)) = self.early.of(first, to)
            && self.values[nth].pop_end > end
        {
            return Some(nth);
        }
        // These two are compared with the others only.
        [first, last].into_iter().find(|&nth| {
            let value = &self.values[nth];
            let next =
                if nth == first { self.left.of(first + 1, to).map(|(next, _)| next) } else { Some(first) };
            let others = [self.by_pop_call.of(first, nth), self.by_pop_call.of(nth + 1, to)];
            let latest = others.into_iter().flatten().map(|(other, _)| self.values[other].pop_call).max();
            next.is_none_or(|next| value.push_call < self.values[next].push_end)
                && latest.is_none_or(|latest| value.pop_end > latest)
        })
    }

    fn remove(&mut self, nth: usize) {
        for tree in [&mut self.left, &mut self.by_pop_call, &mut self.by_push_call, &mut self.early] {
            tree.set(nth, None);
        }
        let value = &self.values[nth];
        self.coverage.add(value.push_end as usize, value.pop_call as usize, -1);
    }
}
