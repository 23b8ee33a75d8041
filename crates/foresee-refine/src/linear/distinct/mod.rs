//! Objects that hold values, each put at most once: procedures that need no search.
//!
//! Such a value has a *life*: it is put once, perhaps seen, and taken at most once. From when it surely is there until it surely still is, it
//! is *present*: from the first return of its put and of whoever saw it to the last call of its take and of whoever saw it.
//! In terms of the gaps between events (gap i lies between event i and the next): a set of gaps without holes. Where no value is
//! present, all can be absent at once (each procedure has the argument), and that is what all of them rest on.
//!
//! - An operation of unknown outcome that put a value which nobody met is left out: it need not have had an effect.
//! - One that may have taken any value is a choice. Without it the history may be fine. If not, a procedure names values one of which must have
//!   been taken for what is wrong to be right; each is tried with each such operation, and so on. If not even a history without all values that
//!   were left behind is fine, no choice can help. When there are too many choices the procedures say that they do not know.

mod gaps;
mod life;
mod pqueue;
mod queue;
mod register;
mod stack;
mod tree;

use rustc_hash::FxHashMap;

use life::{Life, Rest, Span, Wrong};

use super::input::Input;
use crate::history::NEVER;
use crate::spec::{Access, Shape, Specification};
use crate::value::Value;

/// What a procedure says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Linearizable,
    /// These operations together have no order; why, in a few words.
    Not {
        ops: Vec<usize>,
        why: &'static str,
    },
    /// Not a case for these procedures.
    Unknown,
}

impl From<Wrong> for Answer {
    fn from(wrong: Wrong) -> Answer {
        Answer::Not { ops: wrong.ops, why: wrong.why }
    }
}

/// So many times a procedure is run for one history.
const MOST_TRIED: usize = 200;

/// Decides about these operations, which are in the order of their calls, if that is possible without a search.
pub(crate) fn decide<S: Specification>(input: &Input<'_, S>, ops: &[usize]) -> Answer {
    let shape = input.spec.shape();
    if shape == Shape::General {
        return Answer::Unknown;
    }
    let (mut lives, rest) = match collect(input, ops) {
        Ok(Some(collected)) => collected,
        Ok(None) => return Answer::Unknown,
        Err(wrong) => return wrong.into(),
    };
    let procedure = |lives: &[Life]| match shape {
        Shape::Queue => queue::decide(lives, &rest),
        Shape::Stack => stack::decide(lives, &rest),
        Shape::PriorityQueue => pqueue::decide(lives, &rest),
        Shape::Register | Shape::General => register::decide(lives),
    };
    let wrong = match procedure(&lives) {
        Ok(()) => return Answer::Linearizable,
        Err(wrong) => wrong,
    };
    if rest.any_taken.is_empty() {
        return wrong.into();
    }
    let taken: Vec<Life> = lives.iter().filter(|life| life.take.is_some()).cloned().collect();
    if let Err(wrong) = procedure(&taken) {
        return wrong.into();
    }
    let mut choices = Choices { procedure, takes: rest.any_taken.clone(), tried: 0 };
    match choices.repair(&mut lives, &wrong) {
        Some(true) => Answer::Linearizable,
        Some(false) => wrong.into(),
        None => Answer::Unknown,
    }
}

/// Which values were taken by operations of unknown outcome.
struct Choices<P> {
    procedure: P,
    /// Those that have taken nothing yet.
    takes: Vec<Span>,
    tried: usize,
}

impl<P: Fn(&[Life]) -> Result<(), Wrong>> Choices<P> {
    /// Whether some choice makes everything right; `None` if that is not known.
    fn repair(&mut self, lives: &mut [Life], wrong: &Wrong) -> Option<bool> {
        for &culprit in wrong.culprits.as_ref()? {
            for nth in 0..self.takes.len() {
                self.tried += 1;
                if self.tried > MOST_TRIED {
                    return None;
                }
                let take = self.takes.remove(nth);
                lives[culprit].take = Some(take);
                let repaired = match (self.procedure)(lives) {
                    Ok(()) => Some(true),
                    Err(wrong) => self.repair(lives, &wrong),
                };
                lives[culprit].take = None;
                self.takes.insert(nth, take);
                if repaired != Some(false) {
                    return repaired;
                }
            }
        }
        Some(false)
    }
}

/// The lives of all values; `None` if a value is put twice or something else happens; an answer if somebody met a value that is
/// not there.
fn collect<S: Specification>(
    input: &Input<'_, S>,
    ops: &[usize],
) -> Result<Option<(Vec<Life>, Rest)>, Wrong> {
    let end = input.history.events();
    let mut rest = Rest { end, ..Rest::default() };
    let mut lives: Vec<Life> = Vec::new();
    let mut by_value: FxHashMap<Value, usize> = FxHashMap::default();
    let (mut taken, mut seen) = (Vec::new(), Vec::new());
    let is_register = input.spec.shape() == Shape::Register;
    if is_register {
        // As if it had been written before all else.
        let initial = input.spec.returns(
            &input.spec.initial(),
            &match reader(input, ops) {
                Some(read) => input.ops[read].clone(),
                None => return Ok(None),
            },
        );
        let [value] = &initial[..] else { return Ok(None) };
        by_value.insert(value.clone(), 0);
        let put = Span { op: usize::MAX, call: 0, end: 0 };
        lives.push(Life { value: value.clone(), put, take: None, seen: Vec::new() });
    }
    for &op in ops {
        let span = Span { op, call: input.call(op), end: input.returned(op).min(end) };
        match input.spec.access(&input.ops[op], input.ret(op)) {
            Access::Put(value) => {
                if by_value.insert(value.clone(), lives.len()).is_some() {
                    return Ok(None);
                }
                lives.push(Life { value, put: span, take: None, seen: Vec::new() });
            }
            Access::Take(value) => taken.push((value, span)),
            Access::See(value) => seen.push((value, span)),
            Access::SeeNothing => rest.empty.push(span),
            Access::TakeUnknown => rest.any_taken.push(span),
            Access::Nothing => {}
            Access::Replace { .. } | Access::MayPut(_) | Access::Other => return Ok(None),
        }
    }
    let find = |value: &Value, span: &Span| match by_value.get(value) {
        None => Err(Wrong::new("nobody put this value", [span.op])),
        Some(&life) => Ok(life),
    };
    for (value, span) in taken {
        let life = &mut lives[find(&value, &span)?];
        if let Some(before) = life.take.replace(span) {
            return Err(Wrong::new(
                "the value was put once and taken twice",
                [life.put.op, before.op, span.op],
            ));
        }
    }
    for (value, span) in seen {
        lives[find(&value, &span)?].seen.push(span);
    }
    for life in &lives {
        let met = life.seen.iter().chain(&life.take);
        if let Some(early) = met.into_iter().find(|span| span.end < life.put.call) {
            return Err(Wrong::new("the value was met before it was put", [life.put.op, early.op]));
        }
    }
    let unknown = |life: &Life| life.put.op != usize::MAX && input.returned(life.put.op) == NEVER;
    lives.retain(|life| !(unknown(life) && life.take.is_none() && life.seen.is_empty()));
    Ok(Some((lives, rest)))
}

/// An operation that reads, whose result tells the initial value; any will do.
fn reader<S: Specification>(input: &Input<'_, S>, ops: &[usize]) -> Option<usize> {
    ops.iter().copied().find(|op| input.spec.is_observer(&input.ops[*op]))
}
