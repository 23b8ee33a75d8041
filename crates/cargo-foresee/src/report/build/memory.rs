//! Which memory it is: a static by its name, a heap block by where it was allocated, a stack by its thread; and locks by the
//! memory they lie in.
//!
//! Names must be the same in the next run of the program, since people compare reports and suppress what they know: an
//! address is shown only where nothing else is known.
//!
//! **Cost.** The blocks that live at a moment, in order of their addresses, and the latest [`MOST_FREED`] that were freed: an
//! access to freed memory is reported with the block it was. One entry per unnamed lock.

use std::collections::{BTreeMap, VecDeque};

use foresee_trace::{Event, LocId, LockId, Mem, Names, Op, ThreadId};
use rustc_hash::FxHashMap;

use super::calls::{ContextId, Contexts, Frame, UsersPlace, place_of_user};

/// So many freed blocks are remembered.
const MOST_FREED: usize = 1 << 16;

/// So many blocks before an address are looked at: blocks may lie within others, as where a program gives out parts of a
/// large one.
const MOST_NESTED: usize = 8;

/// What some memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Of a static variable.
    Static { name: String, offset: u64, size: u32 },
    /// Of a block that a thread allocated, and perhaps one freed before this event.
    Heap { offset: u64, size: u32, allocated: Moment, freed: Option<Moment> },
    /// Of a thread's stack.
    Stack { of: ThreadId },
    /// Nothing is known of it.
    Unknown,
}

/// Who did something, and where; the calls with the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) thread: ThreadId,
    pub(crate) loc: LocId,
    pub(crate) stack: Vec<Frame>,
}

impl Moment {
    /// Where in the user's own code.
    pub(super) fn place(&self, names: &Names) -> UsersPlace {
        place_of_user(names, self.loc, &self.stack)
    }
}

/// A moment as it is kept for every block.
#[derive(Clone, Copy)]
struct Point {
    thread: ThreadId,
    loc: LocId,
    context: ContextId,
}

#[derive(Clone, Copy)]
struct Block {
    /// The number of the event that began it.
    id: u64,
    mem: Mem,
    is_stack: bool,
    allocated: Point,
    freed: Option<Point>,
}

/// All memory, as of the event at hand.
#[derive(Default)]
pub(super) struct MemoryMap {
    blocks: BTreeMap<u64, Block>,
    freed: VecDeque<(u64, u64)>,
    /// What is known of each lock that the trace knows by its address only.
    locks: FxHashMap<LockId, Label>,
    /// How many locks have been called the same.
    namesakes: FxHashMap<Home, u32>,
}

/// Where a lock lies, as far as it is the same in every run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Home {
    Heap(UsersPlace),
    Stack(ThreadId),
}

struct Label {
    block: u64,
    text: String,
}

impl MemoryMap {
    /// A block begins: right after its thread began, without a place in the program, it is the thread's stack.
    pub(super) fn allocate(&mut self, id: u64, mem: Mem, event: &Event<'_>, context: ContextId, began: bool) {
        while let Some((&start, _)) = self.blocks.range(mem.addr..).next()
            && u128::from(start) < mem.end()
        {
            self.blocks.remove(&start);
        }
        let is_stack = began && event.loc == LocId::UNKNOWN;
        let allocated = Point { thread: event.thread, loc: event.loc, context };
        self.blocks.insert(mem.addr, Block { id, mem, is_stack, allocated, freed: None });
    }

    /// A block ends.
    pub(super) fn free(&mut self, mem: Mem, event: &Event<'_>, context: ContextId) {
        let Some(block) = self.blocks.get_mut(&mem.addr) else { return };
        block.freed = Some(Point { thread: event.thread, loc: event.loc, context });
        self.freed.push_back((mem.addr, block.id));
        if self.freed.len() > MOST_FREED
            && let Some((start, id)) = self.freed.pop_front()
            && self.blocks.get(&start).is_some_and(|block| block.id == id)
        {
            self.blocks.remove(&start);
        }
    }

    fn block_at(&self, addr: u64) -> Option<&Block> {
        let before = self.blocks.range(..=addr).rev().take(MOST_NESTED);
        before.map(|(_, block)| block).find(|block| u128::from(addr) < block.mem.end())
    }

    /// What the memory at an address is.
    pub(super) fn at(&self, addr: u64, names: &Names, contexts: &Contexts) -> Memory {
        if let Some(symbol) = names.symbol_at(addr) {
            let name = names.str(symbol.name).to_owned();
            return Memory::Static { name, offset: addr - symbol.mem.addr, size: symbol.mem.size };
        }
        let moment = |point: Point| Moment {
            thread: point.thread,
            loc: point.loc,
            stack: contexts.stack(names, point.loc, point.context),
        };
        match self.block_at(addr) {
            Some(block) if block.is_stack => Memory::Stack { of: block.allocated.thread },
            Some(block) => Memory::Heap {
                offset: addr - block.mem.addr,
                size: block.mem.size,
                allocated: moment(block.allocated),
                freed: block.freed.map(moment),
            },
            None => Memory::Unknown,
        }
    }

    /// Something is done with a lock or condition: learns what to call it.
    pub(super) fn use_lock(&mut self, lock: LockId, op: &Op<'_>, names: &Names, contexts: &Contexts) {
        let Some(unnamed) = names.unnamed_lock(lock) else { return };
        let Some(block) = self.block_at(unnamed.addr) else { return };
        if self.locks.get(&lock).is_some_and(|label| label.block == block.id) {
            return;
        }
        let id = block.id;
        let Point { thread, loc, context } = block.allocated;
        let (home, place) = if block.is_stack {
            (Home::Stack(thread), format!("on the stack of {}", names.thread_name(thread)))
        } else {
            let place = place_of_user(names, loc, &contexts.stack(names, loc, context));
            (Home::Heap(place), format!("in {}", heap_block(names, place)))
        };
        let is_condition = matches!(op, Op::Wait { .. } | Op::Notify { .. });
        let what = if is_condition { "condition" } else { unnamed.of.unwrap_or("lock") };
        let number = self.namesakes.entry(home).or_default();
        *number += 1;
        let number = if *number == 1 { String::new() } else { format!(" #{number}") };
        self.locks.insert(lock, Label { block: id, text: format!("{what} {place}{number}") });
    }

    /// What a lock is called now.
    pub(super) fn lock_name(&self, lock: LockId, names: &Names) -> String {
        self.locks.get(&lock).map_or_else(|| names.lock_name(lock).to_owned(), |label| label.text.clone())
    }

    /// What the locks without a name of their own are called.
    pub(super) fn lock_names(self) -> BTreeMap<LockId, String> {
        self.locks.into_iter().map(|(lock, label)| (lock, label.text)).collect()
    }
}

impl Memory {
    /// What an access of these bytes touches, in a few words that are the same in every run.
    pub(super) fn target(&self, mem: Mem, names: &Names) -> String {
        match self {
            Memory::Static { .. } | Memory::Unknown => names.mem_text(mem),
            Memory::Stack { of } => format!("stack of {}", names.thread_name(*of)),
            Memory::Heap { allocated, .. } => {
                let block = heap_block(names, allocated.place(names));
                self.part(mem).map_or(block.clone(), |part| format!("{part} of {block}"))
            }
        }
    }

    /// Which bytes of its block these are, if not all.
    fn part(&self, mem: Mem) -> Option<String> {
        match *self {
            Memory::Heap { offset, size, .. } if mem.size < size => {
                Some(format!("bytes {offset}..{}", u128::from(offset) + u128::from(mem.size)))
            }
            _ => None,
        }
    }
}

/// Folders are left out: the next run may be in another one.
fn heap_block(names: &Names, place: UsersPlace) -> String {
    match place {
        UsersPlace::Line(loc) => {
            let at = names.location_at(loc);
            let file = names.str(at.file);
            format!("heap block from {}:{}", file.rsplit('/').next().unwrap_or(file), at.line)
        }
        UsersPlace::Function(name) => format!("heap block from {}", names.str(name)),
        UsersPlace::Unknown => "heap block".to_owned(),
    }
}
