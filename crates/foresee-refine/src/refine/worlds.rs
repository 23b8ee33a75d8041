//! All worlds of a log: runs of the specification, one for each choice of the results that the log does not have.
//!
//! Operations that have committed and never return double the worlds where they may have succeeded or failed. Two things keep that small:
//!
//! - *What is independent is apart.* Where the specification says so ([`Specification::join`](crate::spec::Specification::join)), the object is a product of the parts that operations touch
//!   ([`Specification::keys`](crate::spec::Specification::keys)), and each part has worlds of its own: a thousand inserts of different elements are a thousand times two worlds. An
//!   operation on several keys makes one part of theirs.
//! - *There is room for so many.* Copying a world costs as many steps as have led to it, and a step is taken in each world of its part. All of that
//!   may cost a fixed amount and some more for each step of the log, and the states of a part fit into the memory given. Where it would be more,
//!   the first result is taken and the part is *partial*: if none of the worlds that are kept explains the log, that is not known.
//!
//! So the whole is linear in the length of the log, whatever is in it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::replica::Replica;
use super::violation::{Difference, Kind};
use super::world::World;
use crate::disjoint::Groups;
use crate::log::ThreadId;
use crate::spec::{Outcome, Touched, Viewed};
use crate::value::Value;

/// More worlds of a part are not kept.
const MOST_WORLDS: usize = 1_024;

/// So many steps and copies of steps are free, and so many more for each step of the log.
const FREE: usize = 1 << 20;
const FREE_PER_STEP: usize = 16;

/// About how many bytes a step adds to a state.
const BYTES_OF_STEP: usize = 128;

/// A part of the object that is independent of the others. The first has all that is not known to belong to another.
pub(super) type PartId = usize;

struct Part<S: Viewed> {
    worlds: Vec<World<S>>,
    /// How many steps have led here.
    steps: usize,
    /// Whether there would be more worlds than are kept.
    is_partial: bool,
    /// What observers ask that have not met a state that allows their result in all worlds: the operation and the result, and who asks it. Those who
    /// ask the same are one question.
    questions: FxHashMap<(S::Op, Value), FxHashSet<ThreadId>>,
}

impl<S: Viewed> Default for Part<S> {
    /// One that has no worlds: it is a piece of another.
    fn default() -> Self {
        Part { worlds: Vec::new(), steps: 0, is_partial: false, questions: FxHashMap::default() }
    }
}

/// What the last world of a part died of.
pub(super) struct Death {
    pub(super) kind: Kind,
    pub(super) expected: Vec<Value>,
    pub(super) differences: Vec<Difference>,
    /// Whether there may have been others.
    pub(super) is_partial: bool,
}

impl Death {
    /// One that needs no more to be said.
    pub(super) fn of(kind: Kind) -> Death {
        Death { kind, expected: Vec::new(), differences: Vec::new(), is_partial: false }
    }
}

/// The worlds of all parts.
pub(super) struct Worlds<S: Viewed> {
    parts: Vec<Part<S>>,
    joined: Groups,
    of_key: FxHashMap<Value, PartId>,
    has_parts: bool,
    /// Parts in which the views of some world differ.
    differing: FxHashSet<PartId>,
    /// What may still be spent on worlds.
    free: usize,
    memory: usize,
}

impl<S: Viewed> Worlds<S> {
    /// The one world at the beginning, and so many bytes for those to come.
    pub(super) fn new(spec: &S, memory: usize) -> Self {
        let has_parts = spec.join(&mut spec.initial(), &spec.initial());
        let mut worlds = Worlds {
            parts: Vec::new(),
            joined: Groups::default(),
            of_key: FxHashMap::default(),
            has_parts,
            differing: FxHashSet::default(),
            free: FREE,
            memory,
        };
        worlds.add(spec);
        worlds
    }

    /// So many bytes instead.
    pub(super) fn give(&mut self, memory: usize) {
        self.memory = memory;
    }

    fn add(&mut self, spec: &S) -> PartId {
        self.parts.push(Part { worlds: vec![World::new(spec.initial())], ..Part::default() });
        self.joined.add()
    }

    /// The part that an operation is about; those of several keys are one from here on.
    pub(super) fn of(&mut self, spec: &S, op: &S::Op) -> PartId {
        if !self.has_parts {
            return 0;
        }
        let Some(keys) = spec.keys(op) else {
            // It is about everything, and so is all that follows.
            self.has_parts = false;
            return (1..self.parts.len()).fold(0, |all, part| self.join(spec, all, part));
        };
        let mut own = None;
        for key in &keys {
            let part = self.of_key(spec, key);
            own = Some(own.map_or(part, |own| self.join(spec, own, part)));
        }
        own.unwrap_or(0)
    }

    /// The part that a key, or a part of the view, belongs to.
    fn of_key(&mut self, spec: &S, key: &Value) -> PartId {
        if !self.has_parts {
            return 0;
        }
        let part = match self.of_key.get(key) {
            Some(part) => *part,
            None => {
                let part = self.add(spec);
                self.of_key.insert(key.clone(), part);
                part
            }
        };
        self.joined.leader(part)
    }

    /// Makes one part of two: each world of the one with each of the other.
    fn join(&mut self, spec: &S, a: PartId, b: PartId) -> PartId {
        let (a, b) = (self.joined.leader(a), self.joined.leader(b));
        if a == b {
            return a;
        }
        let own = self.joined.join(a, b);
        let [one, other] = [a, b].map(|part| std::mem::take(&mut self.parts[part]));
        let (mut large, small) = if one.steps < other.steps { (other, one) } else { (one, other) };
        large.steps += small.steps;
        large.is_partial |= small.is_partial;
        // They are about different keys.
        large.questions.extend(small.questions);
        let most = self.most(large.steps);
        let mut worlds = Vec::new();
        for mut world in large.worlds {
            for more in small.worlds.iter().skip(1) {
                if worlds.len() + 1 >= most || !self.spend(large.steps) {
                    large.is_partial = true;
                    break;
                }
                let mut copy = world.clone();
                copy.join(spec, more);
                worlds.push(copy);
            }
            if let Some(first) = small.worlds.first() {
                world.join(spec, first);
            }
            worlds.push(world);
        }
        large.worlds = worlds;
        self.parts[own] = large;
        if [a, b].map(|part| self.differing.remove(&part)).contains(&true) {
            self.differing.insert(own);
        }
        own
    }

    /// How many worlds of a part there is room for, after so many steps.
    fn most(&self, steps: usize) -> usize {
        (self.memory / (BYTES_OF_STEP * (steps + 1))).clamp(1, MOST_WORLDS)
    }

    /// Takes from what is free, if there is so much.
    fn spend(&mut self, steps: usize) -> bool {
        let left = self.free.checked_sub(steps);
        self.free = left.unwrap_or(self.free);
        left.is_some()
    }

    /// About how many bytes a step needs, where it copies a part of the state.
    pub(super) fn room(&self, spec: &S, part: PartId, op: &S::Op) -> usize {
        self.parts[part].worlds.iter().map(|world| spec.room(&world.state, op)).fold(0, usize::saturating_add)
    }

    /// Lets the specification take the step of an operation, in all worlds of its part. Where the result is not known, each is a world. What the
    /// last one died of, if none is left.
    pub(super) fn step(&mut self, spec: &S, part: PartId, op: &S::Op, ret: Option<&Value>) -> Option<Death> {
        self.free = self.free.saturating_add(FREE_PER_STEP);
        let most = self.most(self.parts[part].steps);
        let most = if self.spend(self.parts[part].worlds.len() - 1) { most } else { 1 };
        let own = &mut self.parts[part];
        own.steps += 1;
        own.is_partial |= own.worlds.len() > most;
        own.worlds.truncate(most);
        let mut expected = Vec::new();
        if let Some(ret) = ret {
            own.worlds.retain_mut(|world| {
                let is_refused = spec.apply(&mut world.state, op, ret) == Outcome::Refused;
                if is_refused {
                    expected = spec.returns(&world.state, op);
                }
                !is_refused
            });
        } else {
            self.branch(spec, part, op, most);
        }
        self.death(part, Kind::ReturnValue, expected)
    }

    /// Each result of an operation is a world, as far as there is room.
    fn branch(&mut self, spec: &S, part: PartId, op: &S::Op, most: usize) {
        let steps = self.parts[part].steps;
        let worlds = std::mem::take(&mut self.parts[part].worlds);
        let (mut left, mut branched) = (worlds.len(), Vec::new());
        for mut world in worlds {
            left -= 1;
            let results = spec.returns(&world.state, op);
            let Some((first, others)) = results.split_first() else { continue };
            let mut copies = Vec::new();
            for ret in others {
                if branched.len() + copies.len() + left + 1 >= most || !self.spend(steps) {
                    self.parts[part].is_partial = true;
                    break;
                }
                let mut copy = world.clone();
                if spec.apply(&mut copy.state, op, ret) != Outcome::Refused {
                    copies.push(copy);
                }
            }
            if spec.apply(&mut world.state, op, first) != Outcome::Refused {
                branched.push(world);
            }
            branched.append(&mut copies);
        }
        self.parts[part].worlds = branched;
    }

    /// What the last world of a part died of, if none is left.
    fn death(&self, part: PartId, kind: Kind, expected: Vec<Value>) -> Option<Death> {
        let Part { worlds, is_partial, .. } = &self.parts[part];
        worlds.is_empty().then(|| Death { expected, is_partial: *is_partial, ..Death::of(kind) })
    }

    /// An observer begins to look.
    pub(super) fn look(&mut self, spec: &S, part: PartId, thread: ThreadId, op: &S::Op, ret: &Value) {
        let Part { worlds, questions, .. } = &mut self.parts[part];
        let mut is_satisfied = true;
        for world in worlds {
            if spec.permits(&world.state, op, ret) {
                world.satisfied.insert(thread);
            } else {
                world.satisfied.remove(&thread);
                is_satisfied = false;
            }
        }
        if !is_satisfied {
            questions.entry((op.clone(), ret.clone())).or_default().insert(thread);
        }
    }

    /// All observers of a part that are under way look at its states after a step.
    pub(super) fn look_again(&mut self, spec: &S, part: PartId) {
        let Part { worlds, questions, .. } = &mut self.parts[part];
        questions.retain(|(op, ret), threads| {
            let mut is_permitted = false;
            for world in &mut *worlds {
                if spec.permits(&world.state, op, ret) {
                    world.satisfied.extend(&*threads);
                    is_permitted = true;
                }
            }
            if is_permitted {
                threads.retain(|thread| !worlds.iter().all(|world| world.satisfied.contains(thread)));
            }
            !threads.is_empty()
        });
    }

    /// An observer ends: worlds that did not allow its result are none. What the last one died of, if none is left.
    pub(super) fn end_look(
        &mut self,
        spec: &S,
        part: PartId,
        thread: ThreadId,
        (op, ret): (&S::Op, &Value),
    ) -> Option<Death> {
        let own = &mut self.parts[part];
        let question = (op.clone(), ret.clone());
        if let Some(threads) = own.questions.get_mut(&question) {
            threads.remove(&thread);
            if threads.is_empty() {
                own.questions.remove(&question);
            }
        }
        let mut expected = Vec::new();
        own.worlds.retain_mut(|world| {
            let is_satisfied = world.satisfied.remove(&thread);
            if !is_satisfied {
                expected = spec.returns(&world.state, op);
            }
            is_satisfied
        });
        self.death(part, Kind::Observer, expected)
    }

    /// Compares parts of the view again.
    pub(super) fn compare(&mut self, spec: &S, replica: &impl Replica, touched: &Touched) {
        let all: Vec<Value>;
        let parts = match touched {
            Touched::Parts(parts) => parts,
            Touched::All => {
                let worlds = self.parts.iter().flat_map(|part| &part.worlds);
                let known = worlds.flat_map(|world| world.parts(spec)).chain(replica.parts());
                all = known.collect::<FxHashSet<Value>>().into_iter().collect();
                &all
            }
        };
        parts.iter().for_each(|part| self.compare_part(spec, part, replica.part(part).as_ref()));
    }

    /// Compares a part of the view with what the implementation has there.
    pub(super) fn compare_part(&mut self, spec: &S, part: &Value, implementation: Option<&Value>) {
        let own = self.of_key(spec, part);
        let worlds = &mut self.parts[own].worlds;
        worlds.iter_mut().for_each(|world| world.compare_part(spec, part, implementation));
        if worlds.iter().all(World::views_agree) {
            self.differing.remove(&own);
        } else {
            self.differing.insert(own);
        }
    }

    /// The parts of the view that the operation may have changed, in some world.
    pub(super) fn touched(&self, spec: &S, part: PartId, op: &S::Op) -> Touched {
        let mut all = Vec::new();
        for world in &self.parts[part].worlds {
            match spec.touched(&world.state, op) {
                Touched::Parts(parts) if all.is_empty() => all = parts,
                Touched::Parts(parts) => all.extend(parts),
                Touched::All => return Touched::All,
            }
        }
        all.sort_unstable();
        all.dedup();
        Touched::Parts(all)
    }

    /// Drops the worlds whose view is another. What the last one of a part died of, if none is left.
    pub(super) fn drop_differing(&mut self, spec: &S, replica: &impl Replica) -> Option<Death> {
        let mut found: Option<Death> = None;
        for part in self.differing.drain() {
            let own = &mut self.parts[part];
            let mut differences = Vec::new();
            own.worlds.retain(|world| {
                if !world.views_agree() {
                    differences = world.differences(spec, replica);
                }
                world.views_agree()
            });
            if own.worlds.is_empty() {
                let known = found.get_or_insert(Death { is_partial: true, ..Death::of(Kind::View) });
                known.differences.append(&mut differences);
                // One that certainly is wrong is enough.
                known.is_partial &= own.is_partial;
            }
        }
        if let Some(found) = &mut found {
            found.differences.sort_unstable_by(|a, b| a.part.cmp(&b.part));
        }
        found
    }
}
