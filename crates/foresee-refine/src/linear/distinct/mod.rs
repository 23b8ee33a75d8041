//! Objects that hold values, each put at most once: procedures that need no search.
//!
//! Such a value has a *life*: it is put once, perhaps seen, and taken at most once. From when it surely is there until it surely still is, it
//! is *present*: from the first return of its put and of whoever saw it to the last call of its take and of whoever saw it.
//! In terms of the gaps between events (gap i lies between event i and the next): a set of gaps without holes. Where no value is
//! present, all can be absent at once (each procedure has the argument), and that is what all of them rest on.
//!
//! - An operation of unknown outcome that put a value which nobody met is left out: it need not have had an effect.
//! - One that may have taken any value is a choice. Without it the history may be fine; and if it is not, even when all values that were
//!   left behind are forgotten, no choice can help. In between the procedures say that they do not know.

mod gaps;
mod pqueue;
mod queue;
mod register;
mod stack;
mod tree;

use rustc_hash::FxHashMap;

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

impl Answer {
    fn not(why: &'static str, ops: impl IntoIterator<Item = usize>) -> Answer {
        Answer::Not { ops: ops.into_iter().collect(), why }
    }
}

/// Decides about these operations, which are in the order of their calls, if that is possible without a search.
pub(crate) fn decide<S: Specification>(input: &Input<'_, S>, ops: &[usize]) -> Answer {
    let shape = input.spec.shape();
    if shape == Shape::General {
        return Answer::Unknown;
    }
    let (mut lives, mut rest) = match collect(input, ops) {
        Ok(Some(collected)) => collected,
        Ok(None) => return Answer::Unknown,
        Err(wrong) => return wrong,
    };
    let procedure = |lives: &[Life], rest: &Rest| match shape {
        Shape::Queue => queue::decide(lives, rest),
        Shape::Stack => stack::decide(lives, rest),
        Shape::PriorityQueue => pqueue::decide(lives, rest),
        Shape::Register => register::decide(lives),
        Shape::General => Answer::Unknown,
    };
    let without = procedure(&lives, &rest);
    if without == Answer::Linearizable || !std::mem::take(&mut rest.any_taken) {
        return without;
    }
    lives.retain(|life| life.take.is_some());
    match procedure(&lives, &rest) {
        Answer::Linearizable => Answer::Unknown,
        not => not,
    }
}

/// When an operation was under way: it takes effect in one of the gaps from its call to just before its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    op: usize,
    call: u32,
    /// Of what does not return: the end of the history.
    end: u32,
}

/// What happened to a value.
#[derive(Clone, Debug)]
struct Life {
    value: Value,
    put: Span,
    take: Option<Span>,
    seen: Vec<Span>,
}

impl Life {
    /// When the value surely had been put.
    fn there_from(&self) -> u32 {
        self.seen.iter().map(|span| span.end).fold(self.put.end, u32::min)
    }

    /// Until when the value surely had not been taken.
    fn there_until(&self, end: u32) -> u32 {
        let taken = self.take.map_or(end, |take| take.call);
        self.seen.iter().map(|span| span.call).fold(taken, u32::max)
    }

    fn ops(&self) -> impl Iterator<Item = usize> {
        [self.put.op].into_iter().chain(self.take.map(|take| take.op))
    }
}

/// What is not about one value.
#[derive(Clone, Debug, Default)]
struct Rest {
    /// Who saw that nothing is there.
    empty: Vec<Span>,
    /// Whether an operation of unknown outcome may have taken anything.
    any_taken: bool,
    /// The number of events of the history.
    end: u32,
}

/// The lives of all values; `None` if a value is put twice or something else happens; an answer if somebody met a value that is
/// not there.
fn collect<S: Specification>(
    input: &Input<'_, S>,
    ops: &[usize],
) -> Result<Option<(Vec<Life>, Rest)>, Answer> {
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
            Access::TakeUnknown => rest.any_taken = true,
            Access::Nothing => {}
            Access::Other => return Ok(None),
        }
    }
    let find = |value: &Value, span: &Span| match by_value.get(value) {
        None => Err(Answer::not("nobody put this value", [span.op])),
        Some(&life) => Ok(life),
    };
    for (value, span) in taken {
        let life = &mut lives[find(&value, &span)?];
        if let Some(before) = life.take.replace(span) {
            return Err(Answer::not(
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
            return Err(Answer::not("the value was met before it was put", [life.put.op, early.op]));
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
