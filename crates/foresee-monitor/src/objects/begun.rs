//! Objects that calls were given which have not returned.
//!
//! What a call was given it may free, and go on: another object may be at the address when it returns. So who they are is noted when the call begins, under the call's number; and an object
//! whose life has ended is gone only when the last of these calls has returned, as its return is an event of that object.
//!
//! A call that is left by an exception or `longjmp` never returns. Its number is that of its place on a stack, and what it held is given up when another call begins there.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Calls that have begun.
#[derive(Clone, Debug, Default)]
pub(super) struct Begun {
    /// By the number of the call: the addresses it was given, and what was there.
    calls: FxHashMap<u64, SmallVec<[(u64, u64); 2]>>,
    /// What they were given.
    held: FxHashMap<u64, Held>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// By so many calls.
    calls: u32,
    /// Its life has ended.
    has_ended: bool,
}

impl Begun {
    /// A call begins with these objects, each with its address. Tells of objects that are gone, as the call before it was left.
    pub(super) fn begin(
        &mut self,
        call: u64,
        objects: impl Iterator<Item = (u64, u64)>,
        gone: impl FnMut(u64),
    ) {
        self.end(call, gone);
        let objects: SmallVec<[(u64, u64); 2]> = objects.collect();
        for (_, object) in &objects {
            self.held.entry(*object).or_default().calls += 1;
        }
        self.calls.insert(call, objects);
    }

    /// What was at an address when a call began that was given it.
    pub(super) fn given(&self, call: u64, addr: u64) -> Option<u64> {
        let objects = self.calls.get(&call)?;
        objects.iter().find(|(at, _)| *at == addr).map(|(_, object)| *object)
    }

    /// A call is over. Tells of objects that are gone now.
    pub(super) fn end(&mut self, call: u64, mut gone: impl FnMut(u64)) {
        for (_, object) in self.calls.remove(&call).into_iter().flatten() {
            let Some(held) = self.held.get_mut(&object) else { continue };
            held.calls -= 1;
            let Held { calls, has_ended } = *held;
            if calls == 0 {
                self.held.remove(&object);
                if has_ended {
                    gone(object);
                }
            }
        }
    }

    /// The life of an object ends: whether a call still has it.
    pub(super) fn holds(&mut self, ended: u64) -> bool {
        let held = self.held.get_mut(&ended);
        held.map(|held| held.has_ended = true).is_some()
    }
}
