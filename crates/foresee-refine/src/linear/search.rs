//! The search for a linearization: depth first, with every state that was met remembered.
//!
//! After Wing and Gong (1993) and Lowe (2017). The events are gone through in the order of time. When the next return is of an operation
//! that has not taken effect, some operation that has been called and has not returned must do so now: that is the only choice.
//!
//! What makes it fast:
//! - *What changes no state is done at once* ([`Specification::is_pure`]). Such an operation takes effect as soon as a state allows it: whatever
//!   follows is possible without it as well. So reads are never a choice. (This is not so for what only happens to change nothing here,
//!   such as writing the value that is there: it may be needed later.)
//! - *A node is small.* It is the return that is waited for, the state, and which of the operations that are under way have taken effect.
//!   States are numbers, and steps between them are computed once ([`States`]).
//! - *Of operations that mean the same and have the same result, the one that returns first goes first.* In a linearization in which another of
//!   them takes effect while it is under way too, the two can change places. So equal writes of many clients are one choice, not many.
//! - *Operations of unknown outcome are interchangeable* if they mean the same, and none of them must take effect. A node is
//!   not better than one with the same rest that has used no more of any kind; so only the smallest are gone on from. All moves that are
//!   possible from a node are possible from one that dominates it, and lead to nodes that dominate: nothing is lost by it.
//! - *They are tried last*, when what returns has led nowhere, and first those after which what is waited for is possible. So very many of
//!   them cost nothing where they are not needed.
//!
//! Cost: exponential in the number of operations that overlap, in the worst case; the problem is NP-complete. Memory is bounded by the
//! budget, and what does not fit is undecided.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::budget::{Budget, Exhausted};
use super::input::Input;
use super::states::{OpKind, StateId, States};
use crate::spec::Specification;

/// What a search found.
#[derive(Debug)]
pub(crate) enum Found {
    /// An order of the operations that have an effect.
    Order(Vec<usize>),
    /// No order explains the return at this event of the history; all events before can be explained. What is under way there is taken
    /// with the results it has later.
    Stuck { at: u32 },
}

/// Searches a linearization of these operations, which are in the order of their calls.
pub(crate) fn search<S: Specification>(
    input: &Input<'_, S>,
    ops: &[usize],
    budget: &mut Budget,
) -> Result<Found, Exhausted> {
    let mut search = Search::new(input, ops);
    let found = search.run(budget);
    budget.give_back(search.bytes + search.states.bytes());
    found
}

/// Which of the operations under way have taken effect: a bit for each place.
type Places = SmallVec<[u64; 2]>;

/// How many of each kind of operation of unknown outcome have taken effect: of those of which some have, in order.
type Used = SmallVec<[(u32, u32); 2]>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    /// The return that is waited for, as an index into the list of returns.
    at: u32,
    state: StateId,
    done: Places,
}

struct Frame {
    at: u32,
    state: StateId,
    done: Places,
    used: Used,
    /// How many operations had taken effect.
    order: usize,
    moves: SmallVec<[(Move, StateId); 4]>,
    /// Whether operations of unknown outcome are among the moves, or have been.
    has_pending: bool,
}

impl Frame {
    fn without_moves(&self) -> Frame {
        let (done, used) = (self.done.clone(), self.used.clone());
        let (at, state, order) = (self.at, self.state, self.order);
        Frame { at, state, done, used, order, moves: SmallVec::new(), has_pending: false }
    }

    /// How many of a kind have been used.
    fn used(&self, group: u32) -> u32 {
        self.used.binary_search_by_key(&group, |(group, _)| *group).map_or(0, |at| self.used[at].1)
    }

    /// Uses one of a kind; how many were used before.
    fn use_one(&mut self, group: u32) -> u32 {
        let at = self.used.binary_search_by_key(&group, |(group, _)| *group).unwrap_or_else(|at| {
            self.used.insert(at, (group, 0));
            at
        });
        self.used[at].1 += 1;
        self.used[at].1 - 1
    }
}

/// Whether the one has used no more of any kind than the other.
fn dominates(one: &Used, other: &Used) -> bool {
    let mut others = other.iter();
    one.iter().all(|(group, count)| others.any(|(known, most)| known == group && count <= most))
}

#[derive(Clone, Copy)]
enum Move {
    /// An operation that returns.
    Op(u32),
    /// One of a kind that does not.
    Pending(u32),
}

/// An operation that returns, in the order of calls.
struct Completed {
    op: usize,
    kind: OpKind,
    is_pure: bool,
    /// Which return it is, and which bit it has while it is under way.
    nth_return: u32,
    place: u32,
}

/// Operations of unknown outcome that mean the same, in the order of calls.
struct Pending {
    kind: OpKind,
    ops: Vec<usize>,
}

struct Search<'a, S: Specification> {
    input: &'a Input<'a, S>,
    states: States<'a, S>,
    completed: Vec<Completed>,
    pending: Vec<Pending>,
    /// For each return: whose it is, and how many of `completed` have been called before it.
    returns: Vec<(u32, u32)>,
    /// The operations that have not taken effect, as a list in the order of calls.
    next: Vec<u32>,
    previous: Vec<u32>,
    /// What could take effect next, by kind and return; only used while moves are looked for.
    candidates: Vec<(OpKind, u32, u32)>,
    met: FxHashMap<Node, SmallVec<[Used; 1]>>,
    bytes: usize,
    furthest: u32,
    order: Vec<Taken>,
}

/// An operation that has taken effect.
#[derive(Clone, Copy)]
enum Taken {
    Completed(u32),
    Pending(usize),
}

impl<'a, S: Specification> Search<'a, S> {
    fn new(input: &'a Input<'a, S>, ops: &[usize]) -> Self {
        let states = States::new(input, ops);
        let mut completed: Vec<Completed> = Vec::new();
        let mut pending: Vec<Pending> = Vec::new();
        let mut groups: FxHashMap<OpKind, usize> = FxHashMap::default();
        for &op in ops {
            let kind = states.kind(op);
            let Some(ret) = input.ret(op) else {
                let group = *groups.entry(kind).or_insert_with(|| {
                    pending.push(Pending { kind, ops: Vec::new() });
                    pending.len() - 1
                });
                pending[group].ops.push(op);
                continue;
            };
            let is_pure = input.spec.is_pure(&input.ops[op], ret);
            completed.push(Completed { op, kind, is_pure, nth_return: 0, place: 0 });
        }
        let mut by_return: Vec<u32> = (0..completed.len() as u32).collect();
        by_return.sort_unstable_by_key(|&nth| input.returned(completed[nth as usize].op));
        let mut returns = Vec::with_capacity(by_return.len());
        let (mut called, mut places, mut free) = (0, 0, Vec::new());
        for (index, &nth) in by_return.iter().enumerate() {
            let end = input.returned(completed[nth as usize].op);
            while called < completed.len() && input.call(completed[called].op) < end {
                completed[called].place = free.pop().unwrap_or_else(|| {
                    places += 1;
                    places - 1
                });
                called += 1;
            }
            let own = &mut completed[nth as usize];
            own.nth_return = index as u32;
            free.push(own.place);
            returns.push((nth, called as u32));
        }
        let end = completed.len() as u32;
        Search {
            input,
            states,
            completed,
            pending,
            returns,
            // The last entry is the head of the list and its end.
            next: (0..end).map(|nth| nth + 1).chain([0]).collect(),
            previous: (0..=end).map(|nth| if nth == 0 { end } else { nth - 1 }).collect(),
            candidates: Vec::new(),
            met: FxHashMap::default(),
            bytes: 0,
            furthest: 0,
            order: Vec::new(),
        }
    }

    fn run(&mut self, budget: &mut Budget) -> Result<Found, Exhausted> {
        let places = self.completed.iter().map(|op| op.place as usize / 64 + 1).max().unwrap_or(0);
        let mut frame = Frame {
            at: 0,
            state: 0,
            done: Places::from_elem(0, places),
            used: Used::new(),
            order: 0,
            moves: SmallVec::new(),
            has_pending: false,
        };
        let mut stack: Vec<Frame> = Vec::new();
        loop {
            self.settle(&mut frame, budget)?;
            if frame.at as usize == self.returns.len() {
                let order = self.order.iter().map(|taken| match *taken {
                    Taken::Completed(nth) => self.completed[nth as usize].op,
                    Taken::Pending(op) => op,
                });
                return Ok(Found::Order(order.collect()));
            }
            self.furthest = self.furthest.max(frame.at);
            if self.is_new(&frame, budget)? {
                self.find_moves(&mut frame, budget)?;
                stack.push(frame);
            }
            let Some((top, step)) = self.next_move(&mut stack, budget)? else {
                let (nth, _) = self.returns[self.furthest as usize];
                return Ok(Found::Stuck { at: self.input.returned(self.completed[nth as usize].op) });
            };
            frame = top;
            self.undo(frame.order);
            match step {
                Move::Op(nth) => self.take(nth, &mut frame),
                Move::Pending(group) => {
                    let nth = frame.use_one(group);
                    self.order.push(Taken::Pending(self.pending[group as usize].ops[nth as usize]));
                }
            }
        }
    }

    /// Lets all take effect that changes no state, and passes the returns of what has taken effect.
    fn settle(&mut self, frame: &mut Frame, budget: &mut Budget) -> Result<(), Exhausted> {
        let head = self.completed.len() as u32;
        loop {
            while let Some(&(nth, _)) = self.returns.get(frame.at as usize) {
                let place = self.completed[nth as usize].place;
                let (word, bit) = (place as usize / 64, 1 << (place % 64));
                if frame.done[word] & bit == 0 {
                    break;
                }
                frame.done[word] &= !bit;
                frame.at += 1;
            }
            let Some(&(_, called)) = self.returns.get(frame.at as usize) else { break };
            let mut settled = false;
            let mut nth = self.next[head as usize];
            while nth < called {
                let after = self.next[nth as usize];
                let Completed { kind, is_pure, .. } = self.completed[nth as usize];
                if is_pure && !self.states.steps(frame.state, kind, budget)?.is_empty() {
                    self.take(nth, frame);
                    settled = true;
                }
                nth = after;
            }
            if !settled {
                break;
            }
        }
        frame.order = self.order.len();
        Ok(())
    }

    /// Whether no node was met before that is at least as good.
    fn is_new(&mut self, frame: &Frame, budget: &mut Budget) -> Result<bool, Exhausted> {
        let node = Node { at: frame.at, state: frame.state, done: frame.done.clone() };
        let met = self.met.entry(node).or_default();
        if met.iter().any(|before| dominates(before, &frame.used)) {
            return Ok(false);
        }
        met.retain(|before| !dominates(&frame.used, before));
        met.push(frame.used.clone());
        // A table that grows has its old and its new entries at the same time: three times what they take. The frame is kept, too.
        let bytes = 240 + 16 * frame.done.len() + 16 * frame.used.len();
        self.bytes += bytes;
        budget.spend(bytes)?;
        Ok(true)
    }

    /// The last move of the deepest frame, and the frame after it. A frame without more moves is not kept.
    fn next_move(
        &mut self,
        stack: &mut Vec<Frame>,
        budget: &mut Budget,
    ) -> Result<Option<(Frame, Move)>, Exhausted> {
        while let Some(top) = stack.last_mut() {
            if top.moves.is_empty() && !top.has_pending {
                self.find_pending(top, budget)?;
            }
            let Some((step, state)) = top.moves.pop() else {
                stack.pop();
                continue;
            };
            let is_last = top.moves.is_empty() && (top.has_pending || self.pending.is_empty());
            let mut frame = if is_last { stack.pop() } else { Some(top.without_moves()) };
            if let Some(frame) = &mut frame {
                (frame.state, frame.has_pending) = (state, false);
            }
            return Ok(frame.map(|frame| (frame, step)));
        }
        Ok(None)
    }

    /// The steps of operations of unknown outcome, the most promising last: after which the return that is waited for is possible.
    fn find_pending(&mut self, frame: &mut Frame, budget: &mut Budget) -> Result<(), Exhausted> {
        frame.has_pending = true;
        let (own, _) = self.returns[frame.at as usize];
        let Completed { op, kind: awaited, .. } = self.completed[own as usize];
        let limit = self.input.returned(op);
        let mut promising = SmallVec::<[(Move, StateId); 4]>::new();
        for (group, pending) in self.pending.iter().enumerate() {
            // Kinds are in the order of the first call of each.
            if self.input.call(pending.ops[0]) >= limit {
                break;
            }
            let group = group as u32;
            let next = pending.ops.get(frame.used(group) as usize);
            if next.is_none_or(|op| self.input.call(*op) >= limit) {
                continue;
            }
            for to in self.states.steps(frame.state, pending.kind, budget)?.clone() {
                let is_promising = !self.states.steps(to, awaited, budget)?.is_empty();
                let moves = if is_promising { &mut promising } else { &mut frame.moves };
                if to != frame.state {
                    moves.push((Move::Pending(group), to));
                }
            }
        }
        frame.moves.append(&mut promising);
        Ok(())
    }

    /// The steps of operations that return, the most promising last: what returns first.
    fn find_moves(&mut self, frame: &mut Frame, budget: &mut Budget) -> Result<(), Exhausted> {
        let (_, called) = self.returns[frame.at as usize];
        self.candidates.clear();
        let mut nth = self.next[self.completed.len()];
        while nth < called {
            let Completed { kind, nth_return, .. } = self.completed[nth as usize];
            self.candidates.push((kind, nth_return, nth));
            nth = self.next[nth as usize];
        }
        self.candidates.sort_unstable();
        self.candidates.dedup_by_key(|(kind, ..)| *kind);
        self.candidates.sort_unstable_by_key(|(_, nth_return, _)| Reverse(*nth_return));
        for &(kind, _, nth) in &self.candidates {
            if let Some(&to) = self.states.steps(frame.state, kind, budget)?.first() {
                frame.moves.push((Move::Op(nth), to));
            }
        }
        Ok(())
    }

    fn take(&mut self, nth: u32, frame: &mut Frame) {
        let (next, previous) = (self.next[nth as usize], self.previous[nth as usize]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
        let place = self.completed[nth as usize].place;
        frame.done[place as usize / 64] |= 1 << (place % 64);
        self.order.push(Taken::Completed(nth));
    }

    /// Takes back all but the first `keep` operations, in the opposite order, so that each finds its neighbours as they were.
    fn undo(&mut self, keep: usize) {
        for taken in self.order.drain(keep..).rev() {
            if let Taken::Completed(nth) = taken {
                let (next, previous) = (self.next[nth as usize], self.previous[nth as usize]);
                self.next[previous as usize] = nth;
                self.previous[next as usize] = nth;
            }
        }
    }
}
