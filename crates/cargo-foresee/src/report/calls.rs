//! The calls of threads.
//!
//! Every allocation is kept with the calls it was made in, and programs allocate in the same calls again and again: a
//! *context* is a chain of calls stored once, by its last call and the context of that.

use foresee_trace::{LocId, Names, StrId};
use rustc_hash::FxHashMap;

/// One call on a thread's stack: the function, and where in it the thread was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) function: StrId,
    pub(crate) loc: LocId,
}

/// A chain of calls; 0 is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct ContextId(u32);

/// More contexts than this are not told apart: calls within them count as their callers.
const MOST_CONTEXTS: usize = 1 << 22;

/// All contexts.
#[derive(Default)]
pub(super) struct Contexts {
    /// The last call, with where it was made, and the context it was made in.
    all: Vec<(Frame, ContextId)>,
    ids: FxHashMap<(Frame, ContextId), ContextId>,
}

impl Contexts {
    /// The context after a call.
    pub(super) fn call(&mut self, from: ContextId, call: Frame) -> ContextId {
        if let Some(&known) = self.ids.get(&(call, from)) {
            return known;
        }
        if self.all.len() >= MOST_CONTEXTS {
            return from;
        }
        self.all.push((call, from));
        let id = ContextId(self.all.len() as u32);
        self.ids.insert((call, from), id);
        id
    }

    /// The stack of a thread in a context, at a place; innermost call first.
    pub(super) fn stack(&self, names: &Names, loc: LocId, mut context: ContextId) -> Vec<Frame> {
        let calls = std::iter::from_fn(|| {
            let (call, from) = *self.all.get((context.0 as usize).checked_sub(1)?)?;
            context = from;
            Some(call)
        });
        stack(names, loc, calls)
    }
}

/// The stack of a thread at a place, within calls of which the innermost comes first.
pub(super) fn stack(names: &Names, at: LocId, calls: impl Iterator<Item = Frame>) -> Vec<Frame> {
    // Each call is recorded with the place it was made from, which belongs to the frame outside of it.
    let mut loc = at;
    let mut stack = Vec::new();
    for call in calls {
        stack.push(Frame { function: call.function, loc });
        loc = call.loc;
    }
    let own = names.location_at(at).function;
    if stack.first().is_none_or(|top| top.function != own) && own != StrId::EMPTY {
        stack.insert(0, Frame { function: own, loc: at });
    }
    stack
}

/// A place in the user's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Line(LocId),
    /// Somewhere in a function.
    Function(StrId),
    Unknown,
}

/// Where the user's own code was: the innermost place that is neither in a library without lines nor in Rust's own; or the
/// innermost function that was recorded, which libraries are not.
pub(super) fn place_of_user(names: &Names, loc: LocId, stack: &[Frame]) -> Place {
    let is_users = |&loc: &LocId| {
        let at = names.location_at(loc);
        at.line != 0 && !names.str(at.file).starts_with("/rustc/")
    };
    let own = names.location_at(loc);
    let line = stack.iter().map(|frame| frame.loc).find(is_users).filter(|_| own.line != 0);
    let function = stack.iter().map(|frame| frame.function).find(|&function| function != own.function);
    match (line, function) {
        _ if is_users(&loc) => Place::Line(loc),
        (Some(line), _) => Place::Line(line),
        (None, Some(function)) => Place::Function(function),
        (None, None) => Place::Unknown,
    }
}
