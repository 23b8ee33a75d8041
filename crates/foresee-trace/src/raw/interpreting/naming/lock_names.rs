//! The names of locks and conditions, which are known by their addresses.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::program::Program;
use crate::event::Mem;
use crate::ids::{LockId, StrId};
use crate::names::{Names, WRITERS_OF};

/// The locks that are known.
#[derive(Default)]
pub(super) struct LockNames {
    ids: FxHashMap<u64, LockId>,
    /// What stands for waiting to have one of them alone.
    gates: FxHashMap<LockId, LockId>,
    /// The addresses of the same, in order.
    addresses: BTreeSet<u64>,
    /// Objects with or of a lock that the program has named: by their first byte, how long they are.
    given: BTreeMap<u64, (u64, StrId)>,
}

impl LockNames {
    /// The lock at this address, if it is known.
    pub(super) fn get(&self, addr: u64) -> Option<LockId> {
        self.ids.get(&addr).copied()
    }

    /// A lock that is met for the first time, of this type.
    pub(super) fn add(
        &mut self,
        addr: u64,
        lock_type: Option<StrId>,
        program: &mut Program,
        names: &mut Names,
    ) -> LockId {
        let given = self.given_name(addr, names).or_else(|| program.object_name(addr));
        let of = match lock_type.filter(|_| given.is_none()) {
            Some(of) => format!(":{}", names.str(of)),
            None => String::new(),
        };
        let first = given.unwrap_or_else(|| format!("l@{addr:#x}"));
        let (mut name, mut again) = (format!("{first}{of}"), 1);
        let locks = names.locks().len();
        let mut id = names.lock(&name);
        while id.index() < locks {
            // Statics of two files may have the same name, and memory is used again.
            again += 1;
            name = format!("{first}#{again}{of}");
            id = names.lock(&name);
        }
        self.ids.insert(addr, id);
        self.addresses.insert(addr);
        id
    }

    /// What stands for waiting to have a lock alone.
    pub(super) fn gate(&mut self, lock: LockId, names: &mut Names) -> LockId {
        *self.gates.entry(lock).or_insert_with(|| {
            let name = names.intern(&format!("{WRITERS_OF}{}", names.lock_name(lock)));
            names.new_lock(name)
        })
    }

    /// The same, if it was ever asked for.
    pub(super) fn known_gate(&self, lock: LockId) -> Option<LockId> {
        self.gates.get(&lock).copied()
    }

    /// The program names the lock in an object: the lock that is known first. A lock already known keeps its name.
    pub(super) fn name(&mut self, object: Mem, name: StrId) {
        self.given.insert(object.addr, (object.size.into(), name));
    }

    /// The name of the object that the lock at this address is in.
    fn given_name(&self, addr: u64, names: &Names) -> Option<String> {
        let (start, &(size, name)) = self.given.range(..=addr).next_back()?;
        (addr - start < size.max(1)).then(|| names.str(name).to_owned())
    }

    /// The first lock at or after `from` in this memory.
    pub(super) fn first_in(&self, from: u64, mem: Mem) -> Option<u64> {
        let &addr = self.addresses.range(from..).next()?;
        (u128::from(addr) < mem.end()).then_some(addr)
    }

    /// Whatever lock is at this address from now on is another.
    pub(super) fn forget(&mut self, addr: u64) {
        self.ids.remove(&addr);
        self.addresses.remove(&addr);
    }
}
