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

/// More contexts than this are not distinguished: calls within them count as their callers.
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
///
/// What happens inside of a library is recorded at the user's place that led there. The calls from that place on are then
/// no part of the stack: the place is its innermost frame.
pub(super) fn stack(names: &Names, at: LocId, calls: impl Iterator<Item = Frame>) -> Vec<Frame> {
    let calls: Vec<Frame> = calls.collect();
    let own = names.location_at(at).function;
    // Each call is recorded with the place it was made from, which belongs to the frame outside of it.
    let mut loc = at;
    let mut stack: Vec<Frame> = (calls.iter())
        .map(|call| Frame { function: call.function, loc: std::mem::replace(&mut loc, call.loc) })
        .collect();
    if own == StrId::EMPTY || stack.first().is_some_and(|top| top.function == own) {
        return stack;
    }
    let is_from_here = |call: &Frame| call.loc == at && at != LocId::UNKNOWN;
    let first = (calls.iter().position(is_from_here).map(|call| call + 1))
        .or_else(|| calls.iter().position(|call| call.function == own));
    stack.drain(..first.unwrap_or(0));
    match stack.first_mut() {
        Some(top) if top.function == own => top.loc = at,
        _ => stack.insert(0, Frame { function: own, loc: at }),
    }
    stack
}

/// A place in the user's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum UsersPlace {
    Line(LocId),
    /// Somewhere in a function.
    Function(StrId),
    Unknown,
}

/// Where the user's own code was: the innermost place that is neither in a library without lines nor in Rust's own; or the
/// innermost function that was recorded, which libraries are not.
pub(super) fn place_of_user(names: &Names, loc: LocId, stack: &[Frame]) -> UsersPlace {
    let is_users = |&loc: &LocId| {
        let at = names.location_at(loc);
        at.line != 0 && !names.str(at.file).starts_with("/rustc/")
    };
    let own = names.location_at(loc);
    let line = stack.iter().map(|frame| frame.loc).find(is_users).filter(|_| own.line != 0);
    let function = stack.iter().map(|frame| frame.function).find(|&function| function != own.function);
    match (line, function) {
        _ if is_users(&loc) => UsersPlace::Line(loc),
        (Some(line), _) => UsersPlace::Line(line),
        (None, Some(function)) => UsersPlace::Function(function),
        (None, None) => UsersPlace::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use foresee_trace::Location;

    use super::*;

    #[test]
    fn the_place_is_the_innermost_frame() {
        let mut names = Names::new();
        let function = |names: &mut Names, name: &str| names.intern(name);
        let [main, work, lock] =
            ["app::main", "app::work", "lib::lock"].map(|name| function(&mut names, name));
        let mut line = |line, function| {
            let file = names.intern("main.rs");
            names.location(Location { file, line, column: 1, function })
        };
        let (in_main, in_work, in_lock) = (line(1, main), line(2, work), line(3, lock));
        let calls = [
            Frame { function: lock, loc: in_work },
            Frame { function: work, loc: in_main },
            Frame { function: main, loc: LocId::UNKNOWN },
        ];
        let [of_lock, of_work, of_main] = [(lock, in_lock), (work, in_work), (main, in_main)]
            .map(|(function, loc)| Frame { function, loc });
        assert_eq!(stack(&names, in_lock, calls.into_iter()), [of_lock, of_work, of_main]);
        assert_eq!(stack(&names, in_work, calls.into_iter()), [of_work, of_main]);
        assert_eq!(stack(&names, in_main, calls.into_iter()), [of_main]);
        // Inlined into `work`, and calling from there.
        let inlined = names.intern("app::inlined");
        let file = names.intern("main.rs");
        let at = names.location(Location { file, line: 9, column: 1, function: inlined });
        let calls = [Frame { function: lock, loc: at }, calls[1], calls[2]];
        let found = stack(&names, at, calls.into_iter());
        assert_eq!(found, [Frame { function: inlined, loc: at }, Frame { function: work, loc: at }, of_main]);
    }
}
