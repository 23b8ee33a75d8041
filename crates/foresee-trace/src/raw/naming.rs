//! Names for addresses: each asked for once.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use foresee_format::{NAME_LEN, SYNC_SPACE};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::branches::Call;
use super::modules::{Module, add_modules};
use super::quiet::Quiet;
use super::roles::{LockTable, Role, crate_of, is_between, lock_type, plain_path};
use crate::event::Mem;
use crate::ids::{LocId, LockId, StrId, ThreadId};
use crate::names::{Location, Names};

/// How many sites are found without hashing, each in the one slot that it can be in.
const RECENT: usize = 1 << 11;

/// Where some code comes from. Empty and 0 are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The function.
    pub function: String,
    /// Its file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl SourceLocation {
    /// Whether this is code of the standard library of Rust or C++, wherever it was compiled, or of the system's headers.
    fn is_library(&self) -> bool {
        let starts = ["/rustc/", "/usr/include/", "/usr/lib/"];
        starts.iter().any(|start| self.file.starts_with(start))
            || self.file.contains("/lib/rustlib/src/rust/library/")
    }
}

/// A static variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSymbol {
    /// Its name.
    pub name: String,
    /// Its first address.
    pub addr: u64,
    /// Its size in bytes.
    pub size: u32,
}

/// Where the code of a function comes from, which says how its accesses to memory are to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Built with the program, instrumented.
    #[default]
    Program,
    /// A prebuilt part of the standard library that works on its caller's data (`alloc`, `core`).
    Container,
    /// A prebuilt part of the standard library that works on data of its own, and has unseen ways to order it.
    Foreign,
}

/// What is known about an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The calls it is in, innermost first: inlined ones, then the function itself.
    pub frames: Vec<SourceLocation>,
    /// Where the function comes from.
    pub origin: Origin,
}

/// Finds the names of code and data of a program that ran.
pub trait Symbolizer {
    /// What is at `pc`, an address within an instruction (the return address of a call less one).
    fn code(&mut self, modules: &[Module], pc: u64) -> Code;

    /// The static variable that has the byte at `addr`.
    fn data(&mut self, modules: &[Module], addr: u64) -> Option<DataSymbol>;

    /// What its code says about the call that returns to `pc`.
    fn call(&mut self, _modules: &[Module], _pc: u64) -> Call {
        Call::default()
    }

    /// Whether it finds names at all.
    fn knows_names(&self) -> bool {
        true
    }

    /// What the program may do to order threads that its compiler does not instrument, if anything.
    fn unseen(&self) -> Option<&'static str> {
        None
    }
}

/// Knows no names: locations are the file and the offset in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSymbols;

impl Symbolizer for NoSymbols {
    fn code(&mut self, modules: &[Module], pc: u64) -> Code {
        let file = match modules.iter().find(|module| (module.start..module.end).contains(&pc)) {
            Some(module) => format!("{}+{:#x}", module.path, pc - module.start + module.offset),
            None => format!("{pc:#x}"),
        };
        let frames = vec![SourceLocation { file, ..SourceLocation::default() }];
        Code { frames, origin: Origin::Program }
    }

    fn data(&mut self, _modules: &[Module], _addr: u64) -> Option<DataSymbol> {
        None
    }

    fn knows_names(&self) -> bool {
        false
    }
}

/// What the reader wants to know about a program counter, worked out once.
#[derive(Debug)]
pub(super) struct Site {
    /// The innermost place that is the user's, or else the innermost of all.
    pub(super) loc: LocId,
    /// Whether it is the user's.
    pub(super) users: bool,
    /// Whether its line is known.
    pub(super) has_line: bool,
    /// Whether an access here has been counted.
    pub(super) is_counted: Cell<bool>,
    /// The innermost crate other than `core`, if there is one.
    pub(super) krate: Option<StrId>,
    /// The function itself.
    pub(super) function: StrId,
    /// What the function itself does to locks.
    pub(super) entry: Option<RoleOf>,
    pub(super) origin: Origin,
    /// The operations on locks that this is in, outermost first.
    pub(super) roles: Vec<Inlined>,
}

/// The role of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoleOf {
    pub(super) role: Role,
    /// The function's crate, and whether that is a library of locks, and nothing else.
    pub(super) krate: StrId,
    pub(super) is_library: bool,
}

/// An operation on a lock that has a site inlined.
#[derive(Debug)]
pub(super) struct Inlined {
    pub(super) what: RoleOf,
    /// The same for all sites of one inlined call, and for no others.
    pub(super) instance: u64,
    /// Where the operation is called from, and whether that is a place of the user's.
    pub(super) loc: LocId,
    pub(super) users: bool,
    /// The type of the lock, if the calls in between tell.
    pub(super) of: Option<StrId>,
}

/// All names of a raw trace as they become known.
pub(super) struct Naming {
    pub(super) names: Names,
    symbolizer: Box<dyn Symbolizer>,
    modules: Vec<Module>,
    thread_names: Vec<u8>,
    /// By number.
    threads: Vec<Option<ThreadId>>,
    locks: FxHashMap<u64, LockId>,
    /// Where there are locks.
    locked: BTreeSet<u64>,
    sites: FxHashMap<u64, Rc<Site>>,
    /// Sites that were asked for of late.
    recent: Vec<Option<(u64, Rc<Site>)>>,
    /// Memory that nothing is known of.
    pub(super) quiet: Quiet,
    calls: FxHashMap<u64, Call>,
    table: LockTable,
    /// Addresses in modules that have been looked up.
    data: FxHashSet<u64>,
    /// Objects with or of a lock that the program has named: by their first byte, how long they are.
    named_locks: BTreeMap<u64, (u64, StrId)>,
}

impl Naming {
    pub(super) fn new(symbolizer: Box<dyn Symbolizer>, table: LockTable) -> Naming {
        Naming {
            names: Names::new(),
            symbolizer,
            modules: Vec::new(),
            thread_names: Vec::new(),
            threads: Vec::new(),
            locks: FxHashMap::default(),
            locked: BTreeSet::new(),
            sites: FxHashMap::default(),
            recent: vec![None; RECENT],
            quiet: Quiet::default(),
            calls: FxHashMap::default(),
            table,
            data: FxHashSet::default(),
            named_locks: BTreeMap::new(),
        }
    }

    /// What threads are called, as the header's table has it, for those that were not met yet.
    pub(super) fn set_thread_names(&mut self, table: &[u8]) {
        self.thread_names.clear();
        self.thread_names.extend_from_slice(table);
    }

    /// What finds names, with all it has read.
    pub(super) fn into_symbolizer(self) -> Box<dyn Symbolizer> {
        self.symbolizer
    }

    /// Files are mapped as this copy of `/proc/self/maps` says, from now on. Statics keep the names they have got.
    pub(super) fn remap(&mut self, maps: &str) {
        if add_modules(&mut self.modules, maps) {
            self.sites.clear();
            self.recent.fill(None);
            self.calls.clear();
        }
        self.quiet.remap();
    }

    /// The thread of this number. Two threads of the same name are told apart by their numbers.
    #[inline]
    pub(super) fn thread(&mut self, number: u64) -> ThreadId {
        match self.threads.get(number as usize) {
            Some(&Some(id)) => id,
            _ => self.new_thread(number),
        }
    }

    fn new_thread(&mut self, number: u64) -> ThreadId {
        let slot = self.thread_names.chunks_exact(NAME_LEN as usize).nth(number as usize);
        let given = slot.map(|slot| slot.split(|&byte| byte == 0).next().unwrap_or_default());
        let mut name = match given {
            Some(given) if !given.is_empty() => String::from_utf8_lossy(given).into_owned(),
            _ if number == 0 => "main".to_owned(),
            _ => format!("T{number}"),
        };
        let threads = self.names.threads().len();
        let mut id = self.names.thread(&name);
        while id.index() < threads {
            name = format!("{name}#{number}");
            id = self.names.thread(&name);
        }
        let number = number as usize;
        if self.threads.len() <= number {
            self.threads.resize(number + 1, None);
        }
        self.threads[number] = Some(id);
        id
    }

    /// The lock or condition at this address.
    pub(super) fn lock(&mut self, addr: u64) -> LockId {
        self.lock_of(addr, None)
    }

    /// The type of the lock that this function is called for.
    pub(super) fn lock_type(&mut self, function: StrId) -> Option<StrId> {
        let function = self.names.str(function);
        let of = lock_type(function).filter(|_| is_between(&plain_path(function)))?;
        Some(self.names.intern(&of))
    }

    /// The lock or condition at this address, which is of this type.
    pub(super) fn lock_of(&mut self, addr: u64, of: Option<StrId>) -> LockId {
        if let Some(&id) = self.locks.get(&addr) {
            return id;
        }
        let given = self.given_name(addr).or_else(|| self.object_name(addr));
        let of = match of.filter(|_| given.is_none()) {
            Some(of) => format!(":{}", self.names.str(of)),
            None => String::new(),
        };
        let first = given.unwrap_or_else(|| format!("l@{addr:#x}"));
        let (mut name, mut again) = (format!("{first}{of}"), 1);
        let locks = self.names.locks().len();
        let mut id = self.names.lock(&name);
        while id.index() < locks {
            // Statics of two files may have the same name, and memory is used again.
            again += 1;
            name = format!("{first}#{again}{of}");
            id = self.names.lock(&name);
        }
        self.locks.insert(addr, id);
        self.locked.insert(addr);
        self.quiet.disturb(Mem { addr, size: 1 });
        id
    }

    /// The program names the lock in an object: the lock that is known first. A lock already known keeps its name.
    pub(super) fn name_lock(&mut self, object: Mem, name: StrId) {
        self.named_locks.insert(object.addr, (object.size.into(), name));
    }

    /// The program names a variable, unless bytes of it have a name: variables of two names would be taken for two.
    pub(super) fn name_variable(&mut self, mem: Mem, name: StrId) {
        let last = mem.addr.saturating_add(u64::from(mem.size.saturating_sub(1)));
        let named = [mem.addr, last].iter().any(|&addr| self.names.symbol_at(addr).is_some());
        if !named && mem.size > 0 {
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        }
    }

    /// The name of the object that the lock at this address is in.
    fn given_name(&self, addr: u64) -> Option<String> {
        let (start, &(size, name)) = self.named_locks.range(..=addr).next_back()?;
        (addr - start < size.max(1)).then(|| self.names.str(name).to_owned())
    }

    /// The static at this address, with the offset in it.
    fn object_name(&mut self, addr: u64) -> Option<String> {
        self.module_at(addr)?;
        let symbol = self.symbolizer.data(&self.modules, addr)?;
        match addr.checked_sub(symbol.addr)? {
            0 => Some(symbol.name),
            offset => Some(format!("{}+{offset}", symbol.name)),
        }
    }

    pub(super) fn symbolizer(&self) -> &dyn Symbolizer {
        &*self.symbolizer
    }

    /// What the program's code says about the call that returns to `pc`.
    pub(super) fn call(&mut self, pc: u64) -> Call {
        *self.calls.entry(pc).or_insert_with(|| self.symbolizer.call(&self.modules, pc))
    }

    /// All about the call that returns to `pc`.
    #[inline]
    pub(super) fn site(&mut self, pc: u64) -> Rc<Site> {
        match &self.recent[recent_slot(pc)] {
            Some((known, site)) if *known == pc => Rc::clone(site),
            _ => self.find_site(pc),
        }
    }

    fn find_site(&mut self, pc: u64) -> Rc<Site> {
        let site = match self.sites.get(&pc) {
            Some(site) => Rc::clone(site),
            None => {
                let code =
                    if pc == 0 { Code::default() } else { self.symbolizer.code(&self.modules, pc - 1) };
                let site = Rc::new(self.new_site(&code));
                self.sites.insert(pc, Rc::clone(&site));
                site
            }
        };
        self.recent[recent_slot(pc)] = Some((pc, Rc::clone(&site)));
        site
    }

    fn new_site(&mut self, code: &Code) -> Site {
        let paths: Vec<String> = code.frames.iter().map(|frame| plain_path(&frame.function)).collect();
        let own = paths.iter().position(|path| crate_of(path) != "core" && !path.is_empty());
        let (loc, users) = self.nearest(code, &paths, 0);
        let has_line = self.names.location_at(loc).line > 0;
        let function = code.frames.last().map_or(StrId::EMPTY, |frame| {
            let name = if frame.function.is_empty() { &frame.file } else { &frame.function };
            self.names.intern(name)
        });
        let entry = paths.last().and_then(|path| self.role(path));
        let mut roles = Vec::new();
        for (at, path) in paths.iter().enumerate().rev() {
            if let Some(what) = self.role(path) {
                let mut hasher = FxHasher::default();
                at.abs_diff(paths.len()).hash(&mut hasher);
                path.hash(&mut hasher);
                code.frames[at + 1..].hash(&mut hasher);
                let (loc, users) = self.nearest(code, &paths, at + 1);
                let callers = code.frames[at + 1..].iter().zip(&paths[at + 1..]);
                let library = callers.take_while(|(_, path)| is_between(path));
                let of = library.filter_map(|(frame, _)| lock_type(&frame.function)).last();
                let of = of.map(|of| self.names.intern(&of));
                roles.push(Inlined { what, instance: hasher.finish(), loc, users, of });
            }
        }
        let krate = own.map(|at| self.names.intern(crate_of(&paths[at])));
        Site {
            loc,
            users,
            has_line,
            is_counted: Cell::new(false),
            krate,
            function,
            entry,
            origin: code.origin,
            roles,
        }
    }

    fn role(&mut self, path: &str) -> Option<RoleOf> {
        let role = self.table.role(path)?;
        Some(RoleOf { role, krate: self.names.intern(crate_of(path)), is_library: is_between(path) })
    }

    /// The innermost place from this frame on that is the user's, or else just the innermost; and whether it is the user's.
    fn nearest(&mut self, code: &Code, paths: &[String], from: usize) -> (LocId, bool) {
        let users = (from..paths.len()).find(|&at| !is_between(&paths[at]) && !code.frames[at].is_library());
        let Some(frame) = code.frames.get(users.unwrap_or(from)).or(code.frames.last()) else {
            return (LocId::UNKNOWN, false);
        };
        let location = Location {
            file: self.names.intern(&frame.file),
            line: frame.line,
            column: frame.column,
            function: self.names.intern(&frame.function),
        };
        (self.names.location(location), users.is_some())
    }

    /// A lock at or after this address within memory that is given out or written anew.
    pub(super) fn lock_in(&self, from: u64, mem: Mem) -> Option<u64> {
        let &addr = self.locked.range(from..).next()?;
        (u128::from(addr) < mem.end()).then_some(addr)
    }

    /// Whatever lock is at this address from now on is another.
    pub(super) fn forget_lock(&mut self, addr: u64) {
        self.locks.remove(&addr);
        self.locked.remove(&addr);
    }

    /// A thread that was met before.
    #[inline]
    pub(super) fn known_thread(&self, number: u64) -> Option<ThreadId> {
        self.threads.get(number as usize).copied().flatten()
    }

    /// A site that was asked for of late.
    #[inline]
    pub(super) fn known_site(&self, pc: u64) -> Option<&Site> {
        self.recent[recent_slot(pc)].as_ref().filter(|(known, _)| *known == pc).map(|(_, site)| &**site)
    }

    /// Whether nothing is known of this memory, so that a plain access to it is just that.
    pub(super) fn is_quiet(&mut self, mem: Mem) -> bool {
        self.quiet.is(mem, &self.modules)
    }

    /// Learns the name of what an access touches, if it is a static, or a stand-in for a barrier or semaphore.
    pub(super) fn touch(&mut self, mem: Mem) {
        let stands_in = mem.addr & !(SYNC_SPACE - 1) == SYNC_SPACE;
        if !(stands_in || self.module_at(mem.addr).is_some()) || !self.data.insert(mem.addr) {
            return;
        }
        if stands_in {
            let object = mem.addr & (SYNC_SPACE - 1);
            let name = self.object_name(object).unwrap_or_else(|| format!("{object:#x}"));
            let name = self.names.intern(&format!("sync {name}"));
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        } else if !self.names.symbol_at(mem.addr).is_some_and(|symbol| symbol.mem.overlaps(mem))
            && let Some(symbol) = self.symbolizer.data(&self.modules, mem.addr)
        {
            let name = self.names.intern(&symbol.name);
            self.names.declare_symbol(name, Some(symbol.addr), symbol.size.max(1));
        }
    }

    fn module_at(&self, addr: u64) -> Option<&Module> {
        let after = self.modules.partition_point(|module| module.start <= addr);
        self.modules.get(after.checked_sub(1)?).filter(|module| addr < module.end)
    }
}

#[inline]
fn recent_slot(pc: u64) -> usize {
    (pc ^ pc >> 11) as usize % RECENT
}
