//! From byte ranges to variables: every access asks once, so this decides how fast an execution is built.
//!
//! Small variables, nearly all, are found through the word they begin in ([`pages`](super::pages)): a word's variables form a
//! list, newest first. Variables of earlier lives leave the list when a new one comes, so a list has at most one entry per
//! first byte and size: 128. Larger ones are in a hash table.
//!
//! **Cost.** Some nanoseconds per access to memory touched lately. 24 bytes per variable, and 8 bytes per word of the
//! pages touched.

use rustc_hash::FxHashMap;

use super::lives::Allocations;
use super::pages::{MIXED, NONE, Pages};
use crate::TraceError;
use crate::event::Mem;
use crate::ids::{ThreadId, VarId};

/// The largest variable that is found through its word.
const SMALL: u32 = 16;

/// A variable: its bytes, in one life of them.
#[derive(Clone, Copy)]
pub(super) struct Variable {
    pub(super) addr: u64,
    pub(super) size: u32,
    pub(super) life: u32,
    /// The next older one that begins in the same word.
    older: u32,
    /// Who accesses it.
    pub(super) users: Users,
}

/// The threads that access something: one, by its number, or one of the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Users(u32);

impl Users {
    pub(super) const NOBODY: Users = Users(u32::MAX);
    pub(super) const SEVERAL: Users = Users(u32::MAX - 1);

    /// These and those.
    #[inline]
    pub(super) fn and(self, others: Users) -> Users {
        match (self, others) {
            (Users::NOBODY, users) | (users, Users::NOBODY) => users,
            (one, same) if one == same => one,
            _ => Users::SEVERAL,
        }
    }
}

impl Variable {
    pub(super) fn mem(&self) -> Mem {
        Mem { addr: self.addr, size: self.size }
    }
}

/// All variables so far.
#[derive(Default)]
pub(super) struct Variables {
    pub(super) all: Vec<Variable>,
    allocated: Allocations,
    pages: Pages,
    large: FxHashMap<(Mem, u32), u32>,
}

impl Variables {
    /// The variable of an access.
    #[inline]
    pub(super) fn touched(&mut self, mem: Mem) -> Result<VarId, TraceError> {
        let slot = self.pages.slot(mem.addr, &self.allocated);
        let life = match slot.life {
            MIXED => self.allocated.life(mem.addr),
            life => life,
        };
        if mem.size > SMALL {
            return self.large(mem, life);
        }
        let head = slot.head;
        let mut at = head;
        while let Some(variable) = self.all.get(at as usize) {
            if variable.addr == mem.addr && variable.size == mem.size && variable.life == life {
                return Ok(VarId(at));
            }
            at = variable.older;
        }
        let older = self.without_dead(head, mem.addr, life);
        let id = self.add(mem, life, older)?;
        self.pages.slot(mem.addr, &self.allocated).head = id.0;
        Ok(id)
    }

    /// The variable of a block that begins a new life.
    pub(super) fn allocated(&mut self, mem: Mem) -> Result<VarId, TraceError> {
        let life = self.allocated.begin(mem);
        self.pages.begin(mem.addr, mem.end(), life);
        self.touched(mem)
    }

    /// A thread accesses it.
    #[inline]
    pub(super) fn accessed(&mut self, variable: VarId, thread: ThreadId) {
        let users = &mut self.all[variable.index()].users;
        *users = users.and(Users(thread.0));
    }

    fn large(&mut self, mem: Mem, life: u32) -> Result<VarId, TraceError> {
        if let Some(&known) = self.large.get(&(mem, life)) {
            return Ok(VarId(known));
        }
        let id = self.add(mem, life, NONE)?;
        self.large.insert((mem, life), id.0);
        Ok(id)
    }

    fn add(&mut self, mem: Mem, life: u32, older: u32) -> Result<VarId, TraceError> {
        let id = self.all.len() as u32;
        if id == NONE {
            return Err(TraceError::TooLarge { what: "variables" });
        }
        self.all.push(Variable { addr: mem.addr, size: mem.size, life, older, users: Users::NOBODY });
        Ok(VarId(id))
    }

    /// Takes the variables of earlier lives that begin at `addr` out of a list; returns its new head.
    fn without_dead(&mut self, mut head: u32, addr: u64, life: u32) -> u32 {
        let (mut at, mut newer) = (head, NONE);
        while let Some(&Variable { addr: of, life: in_life, older, .. }) = self.all.get(at as usize) {
            if of != addr || in_life == life {
                newer = at;
            } else if let Some(newer) = self.all.get_mut(newer as usize) {
                newer.older = older;
            } else {
                head = older;
            }
            at = older;
        }
        head
    }
}
