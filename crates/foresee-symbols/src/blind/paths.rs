//! What lies between two positions of a call of a function.

use foresee_trace::raw::{BlindCode, Position};

use super::callee::Call;
use super::calls::{FileId, FunctionCode, ProgramCode, foreign};
use super::file_code::FunctionStart;

/// Which paths count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paths {
    /// Those without a call that would have been an event.
    Eventless,
    All,
}

impl ProgramCode {
    /// The blind code that may have run in an instrumented function between two positions, if any.
    pub(crate) fn between(
        &mut self,
        file: FileId,
        function: FunctionStart,
        from: u64,
        to: Position,
    ) -> Option<BlindCode> {
        let function = self.function(file, function);
        if to == Position::Anywhere {
            return most_telling(function.blind.values());
        }
        let exact = function.between(from, to, Paths::Eventless);
        // If there is no such path, something that should have been an event was none. If there is none at all, the flow is not
        // understood, and anything in the function may have run.
        let any = exact.or_else(|| function.between(from, to, Paths::All));
        any.unwrap_or_else(|| {
            let of_one_call = function.of_one_call(from, to);
            of_one_call.unwrap_or_else(|| most_telling(function.blind.values()))
        })
    }
}

impl FunctionCode {
    /// What is blind on the paths between two positions; `None` if there is no path.
    fn between(&self, from: u64, to: Position, paths: Paths) -> Option<Option<BlindCode>> {
        let first = self.flow.at(from)?;
        let ends = self.ends(to);
        let is_called = matches!(to, Position::Within | Position::CalledBack);
        let stops =
            |at: usize| !is_called && ends.contains(&at) || paths == Paths::Eventless && self.is_event(at);
        let from_first =
            self.reached(vec![first], |at| if stops(at) { Vec::new() } else { self.flow.after(at) });
        if !ends.iter().any(|&end| from_first[end]) {
            return None;
        }
        let to_ends = self.reached(ends.clone(), |at| {
            let before = self.flow.before(at).into_iter();
            before.filter(|&at| !stops(at)).collect()
        });
        // A function that says that it ends may still go on to another.
        let behind = match to {
            Position::Exit => {
                ends.iter().filter(|end| from_first[**end]).flat_map(|&end| self.flow.after(end)).collect()
            }
            _ => Vec::new(),
        };
        let ends_there = |at: usize| matches!(self.calls.get(&at), Some(Call::NeverReturns));
        let behind = self.reached(behind, |at| if ends_there(at) { Vec::new() } else { self.flow.after(at) });
        let passed = (0..from_first.len()).filter(|&at| {
            behind[at]
                || from_first[at]
                    && to_ends[at]
                    && (is_called || !ends.contains(&at) || self.is_blind_call(at, to))
        });
        // What is entered at the return of a call that leads elsewhere was gone on to by what that called, whatever it was.
        let is_elsewhere = |at: &usize| from_first[*at] && self.calls.get(at) != Some(&Call::Event);
        if self.may_leave && matches!(to, Position::EnteredAt(_)) && ends.iter().any(is_elsewhere) {
            return Some(Some(foreign()));
        }
        // Code of the system that calls back orders nothing, if it was called by a computed address: what does is named.
        let is_harmless = |at: &usize| {
            to == Position::CalledBack && !self.may_leave && self.calls.get(at) == Some(&Call::Unknown)
        };
        Some(most_telling(passed.filter(|at| !is_harmless(at)).filter_map(|at| self.blind.get(&at))))
    }

    /// The calls by which a function comes to a position.
    fn ends(&self, to: Position) -> Vec<usize> {
        let calls = self.calls.iter();
        let comes = |at: usize, call: &Call| match to {
            Position::At(address) | Position::FreedAt(address) | Position::EnteredAt(address) => {
                self.flow.instructions[at].next_ip() == address
            }
            // One that calls back is none that is an event.
            Position::Within | Position::CalledBack => !self.is_event(at),
            Position::Anywhere => false,
            Position::Exit => *call == Call::Leaves,
        };
        calls.filter(|&(&at, call)| comes(at, call)).map(|(&at, _)| at).collect()
    }

    /// What is blind in a call that made two records: both are at its return, and no path leads there again. `None` if it is not so.
    fn of_one_call(&self, from: u64, to: Position) -> Option<Option<BlindCode>> {
        let ends = self.ends(to);
        let is_known =
            |at: &usize| matches!(self.calls.get(at), Some(Call::Nothing | Call::Event | Call::Blind(_)));
        let is_same = [Position::At(from), Position::FreedAt(from), Position::EnteredAt(from)].contains(&to);
        let is_one = is_same && self.flow.leaps.is_empty() && ends.iter().all(is_known);
        is_one.then(|| most_telling(ends.iter().filter_map(|at| self.blind.get(at))))
    }

    /// Whether this calls a function that is known not to be instrumented: if there is an event at its return, the function has come
    /// to its end by a jump to another, which made it. One that is not known and freed something may have done so as the last that
    /// had it; and code of others, if there is any, may have come to its end so, too.
    fn is_blind_call(&self, at: usize, to: Position) -> bool {
        match self.calls.get(&at) {
            Some(Call::Blind(_)) => true,
            Some(Call::Unknown) => self.may_leave || matches!(to, Position::FreedAt(_)),
            _ => false,
        }
    }

    fn is_event(&self, at: usize) -> bool {
        matches!(self.calls.get(&at), Some(Call::Announces(_) | Call::Event | Call::Leaves))
    }

    /// Everything that can be reached from these instructions.
    fn reached(&self, mut open: Vec<usize>, next: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
        let mut reached = vec![false; self.flow.instructions.len()];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                open.extend(next(at));
            }
        }
        reached
    }
}

/// Of several pieces of blind code one that stands for all: what may order threads, if there is any.
fn most_telling<'a>(mut code: impl Iterator<Item = &'a BlindCode>) -> Option<BlindCode> {
    let first = code.next()?;
    Some(code.fold(first, |most, one| if one.orders > most.orders { one } else { most }).clone())
}
