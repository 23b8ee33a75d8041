//! The lives of values, and what can be wrong with them.

use crate::value::Value;

/// When an operation was under way: it takes effect in one of the gaps from its call to just before its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) op: usize,
    pub(super) call: u32,
    /// Of what does not return: the end of the history.
    pub(super) end: u32,
}

/// What happened to a value.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) value: Value,
    pub(super) put: Span,
    pub(super) take: Option<Span>,
    pub(super) seen: Vec<Span>,
}

impl Life {
    /// When the value surely had been put.
    pub(super) fn there_from(&self) -> u32 {
        self.seen.iter().map(|span| span.end).fold(self.put.end, u32::min)
    }

    /// Until when the value surely had not been taken.
    pub(super) fn there_until(&self, end: u32) -> u32 {
        let taken = self.take.map_or(end, |take| take.call);
        self.seen.iter().map(|span| span.call).fold(taken, u32::max)
    }

    pub(super) fn ops(&self) -> impl Iterator<Item = usize> {
        [self.put.op].into_iter().chain(self.take.map(|take| take.op))
    }
}

/// What is not about one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// Who saw that nothing is there.
    pub(super) empty: Vec<Span>,
    /// Operations of unknown outcome that may have taken anything.
    pub(super) any_taken: Vec<Span>,
    /// The number of events of the history.
    pub(super) end: u32,
}

/// The values that were never taken and may be there at each moment of an operation that says otherwise: one that surely is, or all that are at
/// some.
pub(super) fn left_behind(lives: &[Life], span: Span, is_in_the_way: impl Fn(&Life) -> bool) -> Vec<usize> {
    let mut some = Vec::new();
    for (nth, life) in lives.iter().enumerate() {
        if life.take.is_some() || life.there_from() >= span.end || !is_in_the_way(life) {
            continue;
        }
        if life.there_from() <= span.call {
            return vec![nth];
        }
        some.push(nth);
    }
    some
}

/// What a procedure finds wrong.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub(super) ops: Vec<usize>,
    pub(super) why: &'static str,
    /// Values that were never taken, by their place among the lives: one of them must be taken, or this stays wrong. `None` if they are not known.
    pub(super) culprits: Option<Vec<usize>>,
}

impl Wrong {
    pub(super) fn new(why: &'static str, ops: impl IntoIterator<Item = usize>) -> Wrong {
        Wrong { ops: ops.into_iter().collect(), why, culprits: None }
    }

    pub(super) fn of(self, culprits: Vec<usize>) -> Wrong {
        Wrong { culprits: Some(culprits), ..self }
    }
}
