//! Simulated programs: threads that each follow a script, and a seeded scheduler that interleaves them.
//!
//! A program declares its variables, locks and source lines, and its threads. The main thread has a fixed script; every
//! other thread has a body, a closure that is asked for more whenever the thread has done all it was told: it writes the next
//! few operations, or none, and then the thread ends. Between two calls of a body everything it asked for has happened, so a
//! decision that needs a lock is made in the call after the one that asked for the lock.
//!
//! The running thread goes on until it ends, blocks, or its slice (random, with a mean given by the program) is over. A
//! thread that has to wait for a lock says so with a request. The same program gives the same events everywhere; nothing is
//! kept of past events, so that runs may be of any length.

use std::collections::VecDeque;

use foresee_trace::{
    Event, EventSource, Facts, LocId, Location, LockId, Mem, Mode, Names, Op, StrId, ThreadId, TraceError,
    Trust,
};

/// splitmix64: as random as a simulation needs.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((((z ^ (z >> 31)) >> 32) * u64::from(limit)) >> 32) as u32
    }
}

/// What a thread is still to do before it is asked again.
#[derive(Default)]
pub(crate) struct Script(VecDeque<(LocId, Op<'static>)>);

impl Script {
    pub(crate) fn read(&mut self, at: LocId, mem: Mem) {
        self.push(at, Op::Read { mem, value: None });
    }

    pub(crate) fn write(&mut self, at: LocId, mem: Mem) {
        self.push(at, Op::Write { mem, value: None });
    }

    /// `mem += …`: a read and a write on one source line.
    pub(crate) fn update(&mut self, at: LocId, mem: Mem) {
        self.read(at, mem);
        self.write(at, mem);
    }

    pub(crate) fn lock(&mut self, at: LocId, lock: LockId) {
        self.push(at, Op::Acquire { lock, mode: Mode::Exclusive, tried: false });
    }

    pub(crate) fn unlock(&mut self, at: LocId, lock: LockId) {
        self.push(at, Op::Release { lock, mode: Mode::Exclusive });
    }

    /// A critical section.
    pub(crate) fn locked(&mut self, at: LocId, lock: LockId, inside: impl FnOnce(&mut Script)) {
        self.lock(at, lock);
        inside(self);
        self.unlock(at, lock);
    }

    /// A block that the program means to be atomic.
    pub(crate) fn atomic(&mut self, at: LocId, name: StrId, inside: impl FnOnce(&mut Script)) {
        self.push(at, Op::BlockBegin { name });
        inside(self);
        self.push(at, Op::BlockEnd { name });
    }

    /// Starts all these threads, and then sees them all end.
    pub(crate) fn run(&mut self, fork: LocId, join: LocId, threads: &[ThreadId]) {
        for &child in threads {
            self.push(fork, Op::Fork { child });
        }
        for &child in threads {
            self.push(join, Op::Join { child });
        }
    }

    fn push(&mut self, at: LocId, op: Op<'static>) {
        self.0.push_back((at, op));
    }
}

/// Writes what the thread does next, or nothing: then it ends.
type Body = Box<dyn FnMut(&mut Script)>;

struct Thread {
    script: Script,
    body: Body,
    started: bool,
    ended: bool,
    /// Has said that it wants the lock it is about to take.
    requested: bool,
}

/// A running program: its events, made while they are read.
pub(crate) struct Simulation {
    names: Names,
    facts: Facts,
    file: StrId,
    random: Random,
    mean_slice: u32,
    threads: Vec<Thread>,
    holders: Vec<Option<ThreadId>>,
    running: usize,
    current: Event<'static>,
}

const MAIN: ThreadId = ThreadId(0);

impl Simulation {
    /// A program in this source file. A thread does `mean_slice` events on average before the scheduler looks again.
    pub(crate) fn new(file: &str, mean_slice: u32) -> Self {
        let mut names = Names::new();
        let file_name = names.intern(file);
        let mut simulation = Simulation {
            names,
            facts: vec![("program".to_owned(), file.to_owned())],
            file: file_name,
            random: Random(0),
            mean_slice,
            threads: Vec::new(),
            holders: Vec::new(),
            running: 0,
            current: Event { thread: MAIN, loc: LocId::UNKNOWN, op: Op::Branch },
        };
        simulation.thread("main", |_| {});
        simulation.threads[MAIN.index()].started = true;
        simulation
    }

    /// A line of the source file.
    pub(crate) fn at(&mut self, line: u32, function: &str) -> LocId {
        let function = self.names.intern(function);
        self.names.location(Location { file: self.file, line, function, ..Location::default() })
    }

    pub(crate) fn name(&mut self, name: &str) -> StrId {
        self.names.intern(name)
    }

    pub(crate) fn variable(&mut self, name: &str) -> Mem {
        self.names.symbol(name)
    }

    /// An array of this many 4-byte words.
    pub(crate) fn array(&mut self, name: &str, words: u32) -> Array {
        let name = self.names.intern(name);
        Array(self.names.declare_symbol(name, None, words * Array::WORD))
    }

    pub(crate) fn mutex(&mut self, name: &str) -> LockId {
        self.holders.push(None);
        self.names.lock(name)
    }

    /// A thread that starts when the main thread forks it.
    pub(crate) fn thread(&mut self, name: &str, body: impl FnMut(&mut Script) + 'static) -> ThreadId {
        self.threads.push(Thread {
            script: Script::default(),
            body: Box::new(body),
            started: false,
            ended: false,
            requested: false,
        });
        self.names.thread(name)
    }

    /// What the main thread does.
    pub(crate) fn main(&mut self) -> &mut Script {
        &mut self.threads[MAIN.index()].script
    }

    /// Lets a thread do one event, if it can.
    fn step(&mut self, index: usize) -> Option<Event<'static>> {
        let me = ThreadId(index as u32);
        let thread = &mut self.threads[index];
        if !thread.started || thread.ended {
            return None;
        }
        if thread.script.0.is_empty() {
            (thread.body)(&mut thread.script);
        }
        let Some(&(loc, op)) = thread.script.0.front() else {
            thread.ended = true;
            return None;
        };
        match op {
            Op::Acquire { lock, mode, .. } => {
                let holder = &mut self.holders[lock.index()];
                if holder.is_some() {
                    let first = !std::mem::replace(&mut thread.requested, true);
                    return first.then_some(Event { thread: me, loc, op: Op::Request { lock, mode } });
                }
                *holder = Some(me);
                thread.requested = false;
            }
            Op::Release { lock, .. } => self.holders[lock.index()] = None,
            Op::Fork { child } => self.threads[child.index()].started = true,
            Op::Join { child } if !self.threads[child.index()].ended => return None,
            _ => {}
        }
        self.threads[index].script.0.pop_front();
        Some(Event { thread: me, loc, op })
    }
}

/// An array of 4-byte words.
#[derive(Clone, Copy)]
pub(crate) struct Array(Mem);

impl Array {
    const WORD: u32 = 4;

    pub(crate) fn word(self, index: u32) -> Mem {
        assert!(index < self.0.size / Self::WORD, "index {index} is outside of the array");
        Mem { addr: self.0.addr + u64::from(index * Self::WORD), size: Self::WORD }
    }
}

impl EventSource for Simulation {
    fn advance(&mut self) -> Result<bool, TraceError> {
        let count = self.threads.len();
        if self.random.below(self.mean_slice) == 0 {
            self.running = self.random.below(count as u32) as usize;
        }
        // The last steps of a thread may only show that it has ended, which lets another one go on: hence twice around.
        for candidate in (self.running..self.running + 2 * count).map(|index| index % count) {
            if let Some(event) = self.step(candidate) {
                (self.running, self.current) = (candidate, event);
                return Ok(true);
            }
        }
        assert!(self.threads.iter().all(|thread| thread.ended), "the simulated program hangs");
        Ok(false)
    }

    fn event(&self) -> Event<'_> {
        self.current
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn trust(&self) -> Trust {
        Trust::whole()
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (0, None)
    }
}
