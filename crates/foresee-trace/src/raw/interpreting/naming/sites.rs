//! What is to be known about the calls into the runtime, each worked out once: where it is in the source, in which function, and
//! which operations on locks it is part of.

use std::cell::{Cell, OnceCell};
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};

use super::super::quirks::Quirk;
use super::program::Program;
use crate::ids::{LocId, StrId};
use crate::name_matching::function_path;
use crate::names::{Location, Names};
use crate::raw::libraries::{crate_of, is_library_path, lock_type};
use crate::raw::lock_table::{LockTable, Role};
use crate::raw::symbols::{Code, Origin, Recording};

/// How many sites are found without hashing, each in the one slot that it can be in.
const RECENT: usize = 1 << 11;

/// A call into the runtime, known by the address that it returns to.
#[derive(Debug)]
pub(crate) struct CallSite {
    /// The innermost place that is the user's, or else the innermost of all.
    pub(crate) loc: LocId,
    /// Whether it is the user's.
    pub(crate) is_users: bool,
    /// Whether its line is known.
    pub(crate) has_line: bool,
    /// Whether an access here has been counted.
    pub(crate) is_counted: Cell<bool>,
    /// The innermost crate other than `core`, if there is one.
    pub(crate) krate: Option<StrId>,
    /// Whether that is code of a channel.
    pub(crate) is_channel: bool,
    pub(crate) quirk: Option<Quirk>,
    /// The function itself.
    pub(crate) function: StrId,
    /// What the function itself does to locks.
    pub(crate) entry: Option<LockFunction>,
    pub(crate) origin: Origin,
    /// The operations on locks that this is in, outermost first.
    pub(crate) inlined: Vec<Inlined>,
    pub(crate) recording: Recording,
    /// The first address of the instrumented function that it is in; 0 if it is in none.
    pub(crate) instrumented: u64,
    /// Positions of its function from which nothing blind leads here; as many as were looked up last.
    pub(crate) clear_from: [Cell<u64>; 2],
    /// The same of the functions that are called here, as they are entered: the last one.
    pub(crate) entered_clear_from: Cell<u64>,
    /// Whether nothing blind is between here and the end of the function.
    pub(crate) is_clear_to_end: Cell<bool>,
    /// Of the beginning of a function: whether it has code that may order threads.
    pub(crate) may_order: OnceCell<bool>,
}

/// The modules of channels.
const CHANNELS: [&str; 2] = ["std::sync::mpmc::", "crossbeam_channel::"];

/// A function that is an operation on locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockFunction {
    pub(crate) role: Role,
    pub(crate) krate: StrId,
    /// Whether that crate is a library of locks, and nothing else.
    pub(crate) is_library: bool,
    /// Whether the lock lets nobody in while a thread waits to have it alone.
    pub(crate) has_writers_first: bool,
}

/// An operation on a lock that has a site inlined.
#[derive(Debug)]
pub(crate) struct Inlined {
    pub(crate) what: LockFunction,
    /// The same for all sites of one inlined call, and for no others.
    pub(crate) instance: u64,
    /// Where the operation is called from, and whether that is a place of the user's.
    pub(crate) loc: LocId,
    pub(crate) is_users: bool,
    /// The type of the lock, if the calls in between show it.
    pub(crate) lock_type: Option<StrId>,
}

/// The sites that are known.
pub(super) struct CallSites {
    table: LockTable,
    known: FxHashMap<u64, Rc<CallSite>>,
    /// Those that were asked for recently.
    recent: Vec<Option<(u64, Rc<CallSite>)>>,
}

impl CallSites {
    pub(super) fn new(table: LockTable) -> CallSites {
        CallSites { table, known: FxHashMap::default(), recent: vec![None; RECENT] }
    }

    /// Other code is where some was: nothing is known any more.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.recent.fill(None);
    }

    /// A site that was asked for recently.
    #[inline]
    pub(super) fn recent(&self, pc: u64) -> Option<&Rc<CallSite>> {
        self.recent[recent_slot(pc)].as_ref().filter(|(known, _)| *known == pc).map(|(_, site)| site)
    }

    /// Any site.
    pub(super) fn find(&mut self, pc: u64, program: &mut Program, names: &mut Names) -> Rc<CallSite> {
        let site = match self.known.get(&pc) {
            Some(site) => Rc::clone(site),
            None => {
                let recording = program.recording(pc);
                let site = Rc::new(self.describe(&program.code_before(pc), recording, names));
                self.known.insert(pc, Rc::clone(&site));
                site
            }
        };
        self.recent[recent_slot(pc)] = Some((pc, Rc::clone(&site)));
        site
    }

    fn describe(&self, code: &Code, recording: Recording, names: &mut Names) -> CallSite {
        let paths: Vec<String> = code.frames.iter().map(|frame| function_path(&frame.function)).collect();
        let own = paths.iter().position(|path| crate_of(path) != "core" && !path.is_empty());
        let (loc, is_users) = nearest(code, 0, names);
        let has_line = names.location_at(loc).line > 0;
        let function = code.frames.last().map_or(StrId::EMPTY, |frame| {
            names.intern(if frame.function.is_empty() { &frame.file } else { &frame.function })
        });
        let last = paths.last().zip(code.frames.last());
        let entry = last.and_then(|(path, frame)| self.lock_function(path, &frame.function, names));
        let outermost_first = (0..paths.len()).rev();
        let inlined = outermost_first.filter_map(|at| self.inlined(code, &paths, at, names)).collect();
        let krate = own.map(|at| names.intern(crate_of(&paths[at])));
        let is_channel = own.is_some_and(|at| CHANNELS.iter().any(|module| paths[at].starts_with(module)));
        let origin = code.origin;
        let is_counted = Cell::new(false);
        let instrumented = if let Recording::Instrumented(function) = recording { function } else { 0 };
        CallSite {
            loc,
            is_users,
            has_line,
            is_counted,
            krate,
            is_channel,
            quirk: Quirk::of(&paths),
            function,
            entry,
            origin,
            inlined,
            recording,
            instrumented,
            clear_from: Default::default(),
            entered_clear_from: Cell::default(),
            is_clear_to_end: Cell::default(),
            may_order: OnceCell::new(),
        }
    }

    /// The operation on a lock that the frame at `at` is, if it is one.
    fn inlined(&self, code: &Code, paths: &[String], at: usize, names: &mut Names) -> Option<Inlined> {
        let what = self.lock_function(&paths[at], &code.frames[at].function, names)?;
        let mut hasher = FxHasher::default();
        at.abs_diff(paths.len()).hash(&mut hasher);
        paths[at].hash(&mut hasher);
        code.frames[at + 1..].hash(&mut hasher);
        let (loc, is_users) = nearest(code, at + 1, names);
        let callers = code.frames[at + 1..].iter().zip(&paths[at + 1..]);
        let library = callers.take_while(|(_, path)| is_library_path(path));
        let of = library.filter_map(|(frame, _)| lock_type(&frame.function)).last();
        let lock_type = of.map(|of| names.intern(&of));
        Some(Inlined { what, instance: hasher.finish(), loc, is_users, lock_type })
    }

    fn lock_function(&self, path: &str, function: &str, names: &mut Names) -> Option<LockFunction> {
        let role = self.table.role(path, function)?;
        let (krate, is_library) = (names.intern(crate_of(path)), is_library_path(path));
        let has_writers_first = self.table.has_writers_first(path);
        Some(LockFunction { role, krate, is_library, has_writers_first })
    }
}

/// The innermost place from this frame on that is the user's, or else just the innermost; and whether it is the user's.
fn nearest(code: &Code, from: usize, names: &mut Names) -> (LocId, bool) {
    let users = (from..code.frames.len()).find(|&at| code.frames[at].is_users());
    let Some(frame) = code.frames.get(users.unwrap_or(from)).or(code.frames.last()) else {
        return (LocId::UNKNOWN, false);
    };
    let location = Location {
        file: names.intern(&frame.file),
        line: frame.line,
        column: frame.column,
        function: names.intern(&frame.function),
    };
    (names.location(location), users.is_some())
}

#[inline]
fn recent_slot(pc: u64) -> usize {
    (pc ^ pc >> 11) as usize % RECENT
}
