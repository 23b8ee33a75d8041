//! Names for what records know by numbers and addresses: threads, locks, code and data. Each is asked for once.

mod lock_names;
mod program;
mod sites;

use std::rc::Rc;

use foresee_format::{NAME_LEN, SYNC_SPACE, descriptor_at};
use rustc_hash::{FxHashMap, FxHashSet};

use self::lock_names::LockNames;
use self::program::Program;
use self::sites::CallSites;
pub(crate) use self::sites::{CallSite, LockFunction};
use super::atomic_values::Memory;
use super::plain_memory::PlainMemory;
use super::quirks::is_counter;
use crate::event::Mem;
use crate::ids::{LockId, StrId, ThreadId};
use crate::name_matching::function_path;
use crate::names::Names;
use crate::raw::libraries::{is_library_path, lock_type};
use crate::raw::lock_table::LockTable;
use crate::raw::symbols::{BlindCode, Call, ForeignCode, Orders, Position, Symbolizer};
use crate::thread_table::ThreadTable;

/// All names of a raw trace as they become known.
pub(crate) struct Naming {
    pub(crate) names: Names,
    program: Program,
    /// The header's table of what threads are called.
    thread_names: Vec<u8>,
    /// By number.
    threads: ThreadTable<u64, Option<ThreadId>>,
    /// The names that the program has given to threads, if threads are forgotten when they have gone: no more than the header has room for.
    given: Option<FxHashSet<String>>,
    locks: LockNames,
    sites: CallSites,
    calls: FxHashMap<u64, Call>,
    /// Addresses of static data that have been looked up.
    looked_up: FxHashSet<u64>,
    /// Whether any of them is a counter of the compiler's.
    has_counters: bool,
    /// Memory that nothing is known of.
    pub(crate) plain_memory: PlainMemory,
    /// Memory that others have, too: few pieces.
    shared: Vec<Mem>,
    /// Blind code that may use any atomic.
    uses_atomics: FxHashSet<StrId>,
    /// Whether the program has atomics in assembly, once it was asked for.
    has_assembly: Option<bool>,
    /// What there is of code that is neither instrumented nor of the system, once it was asked for.
    foreign_code: Option<ForeignCode>,
}

impl Naming {
    pub(crate) fn new(symbolizer: Box<dyn Symbolizer>, table: LockTable) -> Naming {
        Naming {
            names: Names::new(),
            program: Program { symbolizer, modules: Vec::new() },
            thread_names: Vec::new(),
            threads: ThreadTable::default(),
            given: None,
            locks: LockNames::default(),
            sites: CallSites::new(table),
            calls: FxHashMap::default(),
            looked_up: FxHashSet::default(),
            has_counters: false,
            plain_memory: PlainMemory::default(),
            shared: Vec::new(),
            uses_atomics: FxHashSet::default(),
            has_assembly: None,
            foreign_code: None,
        }
    }

    pub(crate) fn symbolizer(&self) -> &dyn Symbolizer {
        &*self.program.symbolizer
    }

    /// What finds names, with all it has read.
    pub(crate) fn into_symbolizer(self) -> Box<dyn Symbolizer> {
        self.program.symbolizer
    }

    /// What threads are called, as the header's table has it, for those that were not met yet.
    pub(crate) fn set_thread_names(&mut self, table: &[u8]) {
        self.thread_names.clear();
        self.thread_names.extend_from_slice(table);
    }

    /// Files are mapped as this copy of `/proc/self/maps` says, from now on. Statics keep the names they have got.
    pub(crate) fn remap(&mut self, maps: &str) {
        if self.program.remap(maps) {
            self.sites.forget();
            self.calls.clear();
            self.has_assembly = None;
            self.foreign_code = None;
        }
        self.plain_memory.remap();
    }

    /// The thread of this number. Two threads of the same name are distinguished by their numbers.
    #[inline]
    pub(crate) fn thread(&mut self, number: u64) -> ThreadId {
        match self.known_thread(number) {
            Some(id) => id,
            None => self.new_thread(number),
        }
    }

    /// A thread that was met before.
    #[inline]
    pub(crate) fn known_thread(&self, number: u64) -> Option<ThreadId> {
        self.threads.get(number).copied().flatten()
    }

    fn new_thread(&mut self, number: u64) -> ThreadId {
        let slot = self.thread_names.chunks_exact(NAME_LEN as usize).nth(number as usize);
        let given = slot.map(|slot| slot.split(|&byte| byte == 0).next().unwrap_or_default());
        let given = given.filter(|given| !given.is_empty());
        let is_given = given.is_some();
        let mut name = match given {
            Some(given) => String::from_utf8_lossy(given).into_owned(),
            _ if number == 0 => "main".to_owned(),
            _ => format!("T{number}"),
        };
        let id = match &mut self.given {
            Some(given) => {
                while given.contains(&name) {
                    name = format!("{name}#{number}");
                }
                if is_given {
                    given.insert(name.clone());
                }
                self.names.passing_thread(name)
            }
            None => {
                let threads = self.names.threads().len();
                let mut id = self.names.thread(&name);
                while id.index() < threads {
                    name = format!("{name}#{number}");
                    id = self.names.thread(&name);
                }
                id
            }
        };
        *self.threads.entry(number) = Some(id);
        id
    }

    /// From now on, threads that have gone are forgotten. Before any thread was met.
    pub(crate) fn forget_threads(&mut self) {
        self.given = Some(FxHashSet::default());
    }

    /// A thread has gone: nobody can speak of it any more. Its id, if it is forgotten.
    pub(crate) fn let_go(&mut self, number: u64) -> Option<ThreadId> {
        self.given.as_ref()?;
        let id = self.threads.remove(number).flatten()?;
        self.names.forget_thread(id);
        Some(id)
    }

    /// The lock or condition at this address.
    pub(crate) fn lock(&mut self, addr: u64) -> LockId {
        self.lock_of(addr, None)
    }

    /// The lock or condition at this address, which is of this type.
    pub(crate) fn lock_of(&mut self, addr: u64, lock_type: Option<StrId>) -> LockId {
        if let Some(id) = self.locks.get(addr) {
            return id;
        }
        self.plain_memory.mark(Mem { addr, size: 1 });
        self.locks.add(addr, lock_type, &mut self.program, &mut self.names)
    }

    /// What stands for waiting to have a lock alone.
    pub(crate) fn gate(&mut self, lock: LockId) -> LockId {
        self.locks.gate(lock, &mut self.names)
    }

    /// The same, if it was ever asked for.
    pub(crate) fn known_gate(&self, lock: LockId) -> Option<LockId> {
        self.locks.known_gate(lock)
    }

    /// The type of the lock that this function is called for.
    pub(crate) fn lock_type(&mut self, function: StrId) -> Option<StrId> {
        let function = self.names.str(function);
        let of = lock_type(function).filter(|_| is_library_path(&function_path(function)))?;
        Some(self.names.intern(&of))
    }

    /// The program names the lock in an object.
    pub(crate) fn name_lock(&mut self, object: Mem, name: StrId) {
        self.locks.name(object, name);
    }

    /// The first lock at or after `from` in this memory.
    pub(crate) fn lock_in(&self, from: u64, mem: Mem) -> Option<u64> {
        self.locks.first_in(from, mem)
    }

    /// Whatever lock is at this address from now on is another.
    pub(crate) fn forget_lock(&mut self, addr: u64) {
        self.locks.forget(addr);
    }

    /// The program names a variable, unless bytes of it have a name: variables of two names would be taken for two.
    pub(crate) fn name_variable(&mut self, mem: Mem, name: StrId) {
        let last = mem.addr.saturating_add(u64::from(mem.size.saturating_sub(1)));
        let is_named = [mem.addr, last].iter().any(|&addr| self.names.symbol_at(addr).is_some());
        if !is_named && mem.size > 0 {
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        }
    }

    /// A part of a static has a name of its own.
    pub(crate) fn name_part(&mut self, mem: Mem, name: &str) {
        let name = self.names.intern(name);
        if !self.names.has_symbol(name) {
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        }
    }

    /// What the program's code says about the call that returns to `pc`.
    pub(crate) fn call(&mut self, pc: u64) -> Call {
        *self.calls.entry(pc).or_insert_with(|| self.program.call(pc))
    }

    /// A text by its id.
    pub(crate) fn text(&self, id: StrId) -> &str {
        self.names.str(id)
    }

    /// The id of a text.
    pub(crate) fn intern(&mut self, text: &str) -> StrId {
        self.names.intern(text)
    }

    /// What ran between two positions of a function without being recorded, and whether it may have ordered threads.
    pub(crate) fn blind(&mut self, from: u64, to: Position) -> Option<(StrId, bool)> {
        let blind = self.program.blind(from, to)?;
        Some(self.blind_code(&blind))
    }

    /// Whether the program has atomics in assembly.
    pub(crate) fn has_assembly(&mut self) -> bool {
        *self.has_assembly.get_or_insert_with(|| self.program.symbolizer.has_atomics_in_assembly())
    }

    /// What the system may have called, as a thread ends or before, if there is code of others: it may do anything.
    pub(crate) fn called_by_system(&mut self, at_end: bool) -> Option<(StrId, bool)> {
        const NAME: &str = "a function that is not recorded, called by the system";
        let foreign = *self.foreign_code.get_or_insert_with(|| self.program.symbolizer.foreign_code());
        let may_be = if at_end { foreign.ends_threads } else { foreign.is_there };
        may_be.then(|| self.blind_code(&BlindCode { code: NAME.to_owned(), orders: Orders::Atomics }))
    }

    /// What a thread may have seen by a lock that it was about to take when the trace began.
    pub(crate) fn lock_before(&mut self) -> (StrId, bool) {
        const NAME: &str = "a lock that was waited for when the trace begins";
        self.blind_code(&BlindCode { code: NAME.to_owned(), orders: Orders::Atomics })
    }

    /// Whether blind code of this name may use any atomic.
    pub(crate) fn uses_atomics(&self, code: StrId) -> bool {
        self.uses_atomics.contains(&code)
    }

    /// The name of blind code, and whether it may order threads.
    pub(crate) fn blind_code(&mut self, blind: &BlindCode) -> (StrId, bool) {
        let code = self.names.intern(&blind.code);
        if blind.orders == Orders::Atomics {
            self.uses_atomics.insert(code);
        }
        (code, blind.orders != Orders::Nothing)
    }

    /// All about the call that returns to `pc`.
    #[inline]
    pub(crate) fn site(&mut self, pc: u64) -> Rc<CallSite> {
        match self.sites.recent(pc) {
            Some(site) => Rc::clone(site),
            None => self.sites.find(pc, &mut self.program, &mut self.names),
        }
    }

    /// The same, if it was asked for recently.
    #[inline]
    pub(crate) fn known_site(&self, pc: u64) -> Option<&CallSite> {
        self.sites.recent(pc).map(|site| &**site)
    }

    /// What kind of memory this is.
    pub(crate) fn memory(&self, mem: Mem) -> Memory {
        match self.shared.iter().any(|shared| shared.overlaps(mem)) {
            true => Memory::Foreign,
            false => self.program.memory(mem.addr),
        }
    }

    /// Whether there is memory that others have, too.
    pub(crate) fn has_shared_memory(&self) -> bool {
        !self.shared.is_empty()
    }

    /// This memory is new, and others may have it, or not.
    pub(crate) fn set_shared(&mut self, mem: Mem, is_shared: bool) {
        self.shared.retain(|shared| !shared.overlaps(mem));
        self.shared.extend(is_shared.then_some(mem));
    }

    /// Whether nothing is known of this memory, so that a plain access to it is just that.
    pub(crate) fn is_plain(&mut self, mem: Mem) -> bool {
        self.plain_memory.is_plain(mem, &self.program.modules)
    }

    /// Learns the name of what an access touches, if it is a static, or a stand-in for a barrier, a semaphore or a descriptor.
    pub(crate) fn touch(&mut self, mem: Mem) {
        let stands_in = mem.addr & !(SYNC_SPACE - 1) == SYNC_SPACE;
        if !(stands_in || self.program.is_mapped(mem.addr)) || !self.looked_up.insert(mem.addr) {
            return;
        }
        if let Some(descriptor) = descriptor_at(mem.addr) {
            let name = self.names.intern(&format!("descriptor {descriptor}"));
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        } else if stands_in {
            let object = mem.addr & (SYNC_SPACE - 1);
            let name = self.program.object_name(object).unwrap_or_else(|| format!("{object:#x}"));
            let name = self.names.intern(&format!("sync {name}"));
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        } else if !self.names.symbol_at(mem.addr).is_some_and(|symbol| symbol.mem.overlaps(mem))
            && let Some(symbol) = self.program.data(mem.addr)
        {
            self.has_counters |= is_counter(&symbol.name);
            let name = self.names.intern(&symbol.name);
            self.names.declare_symbol(name, Some(symbol.addr), symbol.size.max(1));
        }
    }

    /// Whether this memory, which was touched before, is in one of the variables of these names.
    pub(crate) fn is_in(&self, mem: Mem, variables: &[&str]) -> bool {
        let names = &self.names;
        names.symbol_at(mem.addr).is_some_and(|symbol| variables.contains(&names.str(symbol.name)))
    }

    /// Whether this memory, which was touched before, is a counter of the compiler's.
    pub(crate) fn is_counter(&self, mem: Mem) -> bool {
        let names = &self.names;
        self.has_counters
            && names.symbol_at(mem.addr).is_some_and(|symbol| is_counter(names.str(symbol.name)))
    }
}
