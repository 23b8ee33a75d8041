//! Random tiny executions, rich in what engines find hard.
//!
//! A generator plays the program: in each step a random thread does something that it can do at that moment. So the observed
//! order is a correct reordering of itself. It plays by its own book-keeping of who holds and waits for what, not by
//! the rules it helps to test.

use std::collections::BTreeMap;

use foresee_trace::{
    Event, Execution, ExecutionBuilder, LocId, Location, LockId, Mem, Mode, Names, Op, Order, StrId, ThreadId,
};
use proptest::prelude::{Strategy, any};

use crate::config::Config;
use crate::seeds::Random;

/// The execution of a seed: always the same one for the same config.
pub fn random_execution(seed: u64, config: &Config) -> Execution {
    let events =
        Random::new(!seed).below(config.events.end() + 1 - config.events.start()) + config.events.start();
    execution(seed, events, config)
}

/// Random executions; shrinks to shorter prefixes.
pub fn arbitrary_execution(config: Config) -> impl Strategy<Value = Execution> {
    (any::<u64>().no_shrink(), config.events.clone())
        .prop_map(move |(seed, events)| execution(seed, events, &config))
}

/// In how many turns without an event the program counts as stuck.
const PATIENCE: u32 = 200;

/// Percentage of turns that run blind code, in executions that have any.
const BLIND: u32 = 12;

fn execution(seed: u64, events: usize, config: &Config) -> Execution {
    let mut run = Run::new(seed, config);
    let (mut idle, mut thread) = (0, 0);
    while run.events < events && idle < PATIENCE {
        // Whole critical sections, one after the other, hide the most.
        let in_section = !run.threads[thread].held.is_empty();
        if !run.random.percent(if in_section { run.stay_in_section } else { 15 }) {
            let step = if run.lock_heavy { 1 } else { run.random.below(run.threads.len()) };
            thread = (thread + step) % run.threads.len();
        }
        idle = if run.turn(thread).is_some() { 0 } else { idle + 1 };
    }
    run.builder.finish(run.names)
}

/// One thread of the program that is played.
#[derive(Clone, Default)]
struct Thread {
    unborn: bool,
    ended: bool,
    joined: bool,
    /// Locks held, with depth.
    held: Vec<(LockId, Mode, u32)>,
    requested: Option<(LockId, Mode)>,
    waiting: Option<Waiting>,
    blocks: u32,
    /// What it has read.
    read: Vec<Mem>,
}

#[derive(Clone, Copy)]
struct Waiting {
    cond: LockId,
    woken: bool,
    /// The lock that the wait gave up and the thread takes again.
    retake: Option<Mode>,
}

struct Run<'c> {
    config: &'c Config,
    random: Random,
    names: Names,
    builder: ExecutionBuilder,
    events: usize,
    threads: Vec<Thread>,
    variables: Vec<Mem>,
    heap: Mem,
    heap_is_live: bool,
    locks: Vec<LockId>,
    conds: Vec<LockId>,
    lock_heavy: bool,
    /// Percentage of turns in a critical section after which the same thread goes on.
    stay_in_section: u32,
    with_values: bool,
    with_blind: bool,
    bytes: BTreeMap<u64, u8>,
}

/// What a turn did, if the thread could do anything.
type Turn = Option<()>;

impl<'c> Run<'c> {
    fn new(seed: u64, config: &'c Config) -> Self {
        let mut random = Random::new(seed);
        let mut names = Names::new();
        let lock_heavy = random.percent(config.lock_heavy);
        let (fewest, most) = (*config.threads.start(), *config.threads.end());
        let most = if lock_heavy { fewest } else { most };
        let count = fewest + random.below(most + 1 - fewest);
        let forked = random.percent(if lock_heavy { config.forked / 4 } else { config.forked });
        let threads = (0..count).map(|t| Thread { unborn: forked && t > 0, ..Thread::default() }).collect();
        for t in 0..count {
            names.thread(&format!("T{t}"));
        }
        let mut declare = |name: String, addr| {
            let name = names.intern(&name);
            names.declare_symbol(name, Some(addr), 8)
        };
        let variables = (0..1 + random.below(config.variables))
            .map(|v| declare(format!("x{v}"), 0x1000 + 16 * v as u64))
            .collect();
        let heap = declare("heap".to_owned(), 0x9000);
        let lock_count = if lock_heavy { config.locks.clamp(1, 2) } else { 1 + random.below(config.locks) };
        let locks = (0..lock_count).map(|l| names.lock(&format!("l{l}"))).collect();
        let conds = vec![names.lock("c")];
        Run {
            config,
            names,
            builder: ExecutionBuilder::default(),
            events: 0,
            threads,
            variables,
            heap,
            heap_is_live: false,
            locks,
            conds,
            lock_heavy,
            stay_in_section: if lock_heavy { 90 } else { 40 },
            with_values: random.percent(config.values),
            with_blind: random.percent(config.blind),
            bytes: BTreeMap::new(),
            random,
        }
    }

    fn emit(&mut self, t: usize, op: Op<'_>) -> Turn {
        let share = self.config.dependences;
        // Now and then where it makes no sense.
        if share > 0 && (op.takes_value() || self.random.percent(5)) && self.random.percent(share) {
            self.say_where_from(t)?;
        }
        if let Op::Read { mem, .. } | Op::Load { mem, .. } | Op::Rmw { mem, .. } = op {
            self.threads[t].read.push(mem);
        }
        self.record(t, op)
    }

    /// Says that the thread's next value comes from something it has read, mostly, or from nothing.
    fn say_where_from(&mut self, t: usize) -> Turn {
        let count = self.random.below(3);
        for _ in 0..count {
            let mut mem = self.random.pick(&self.threads[t].read);
            if mem.is_none() || self.random.percent(10) {
                mem = self.somewhere();
            }
            let mut mem = mem?;
            if self.random.percent(self.config.overlap) {
                mem.size = mem.size.min(4);
            }
            self.record(t, Op::From { mem })?;
        }
        if count == 0 || self.random.percent(10) { self.record(t, Op::Constant) } else { Some(()) }
    }

    fn record(&mut self, t: usize, op: Op<'_>) -> Turn {
        self.events += 1;
        let file = self.names.intern("random.rs");
        let loc: LocId =
            self.names.location(Location { file, line: self.events as u32, ..Location::default() });
        self.builder.push(&Event { thread: ThreadId(t as u32), loc, op }).ok()
    }

    fn turn(&mut self, t: usize) -> Turn {
        if self.threads[t].unborn || self.threads[t].ended {
            return None;
        }
        if let Some(Waiting { cond, woken, retake }) = self.threads[t].waiting {
            if !woken && !self.random.percent(5) {
                return None;
            }
            if let Some(mode) = retake {
                self.take(t, cond, mode)?;
                self.threads[t].waiting = None;
                return Some(());
            }
            self.threads[t].waiting = None;
        }
        if let Some((lock, mode)) = self.threads[t].requested {
            self.take(t, lock, mode)?;
            self.threads[t].requested = None;
            return Some(());
        }
        if let Some(done) = self.fork_or_join(t) {
            return Some(done);
        }
        if self.with_blind && self.random.percent(BLIND) {
            return self.blind(t);
        }
        let c = self.config;
        let locking = if self.lock_heavy { 8 * c.locking } else { c.locking };
        let weights = [c.plain, c.atomics, locking, c.waiting, c.blocks, c.allocation, c.local, c.branches];
        let mut ticket = self.random.below(weights.iter().sum::<u32>() as usize) as u32;
        let mut action = 0;
        while action + 1 < weights.len() && ticket >= weights[action] {
            ticket -= weights[action];
            action += 1;
        }
        match action {
            0 => self.plain(t),
            1 => self.atomic(t),
            2 => self.lock_or_unlock(t),
            3 => self.wait_or_notify(t),
            4 => self.block(t),
            5 => self.allocate(t),
            6 => self.local(t),
            _ => self.emit(t, Op::Branch),
        }
    }

    fn blind(&mut self, t: usize) -> Turn {
        let code = self.names.intern("unseen");
        let orders = self.random.percent(30);
        self.emit(t, Op::Blind { code, orders })
    }

    fn fork_or_join(&mut self, t: usize) -> Turn {
        let idle = self.threads[t].held.is_empty() && self.threads[t].blocks == 0;
        if t > 0
            && self.config.forked > 0
            && idle
            && self.random.percent(if self.lock_heavy { 3 } else { 12 })
        {
            self.threads[t].ended = true;
            return if self.random.percent(30) { self.emit(t, Op::ThreadEnd) } else { Some(()) };
        }
        let child = self.random.below(self.threads.len());
        if t > 0 || child == 0 || self.config.forked == 0 {
            return None;
        }
        let joinable = self.threads[child].ended && !self.threads[child].joined;
        let name = ThreadId(child as u32);
        if self.threads[child].unborn && self.random.percent(70) {
            self.threads[child].unborn = false;
            self.emit(t, Op::Fork { child: name })
        } else if joinable && self.random.percent(60) {
            self.threads[child].joined = true;
            self.emit(t, Op::Join { child: name })
        } else {
            None
        }
    }

    /// Takes a lock if that does not block.
    fn take(&mut self, t: usize, lock: LockId, mode: Mode) -> Turn {
        let free = self.threads.iter().enumerate().all(|(other, thread)| {
            let excludes =
                |&(l, m, _): &(LockId, Mode, u32)| l == lock && (m, mode) != (Mode::Shared, Mode::Shared);
            other == t || !thread.held.iter().any(excludes)
        });
        match self.threads[t].held.iter_mut().find(|(l, ..)| *l == lock) {
            Some((_, _, depth)) => *depth += 1,
            None if free => self.threads[t].held.push((lock, mode, 1)),
            None => return None,
        }
        // Whoever has asked for a lock has waited for it.
        let tried = self.threads[t].requested.is_none() && self.random.percent(self.config.tried);
        self.emit(t, Op::Acquire { lock, mode, tried })
    }

    fn lock_or_unlock(&mut self, t: usize) -> Turn {
        let held = self.threads[t].held.clone();
        if let Some((lock, mode, depth)) = self.random.pick(&held)
            && self.random.percent(match held.len() {
                1 if self.lock_heavy => 15,
                2 if self.lock_heavy => 85,
                _ => 55,
            })
        {
            self.threads[t].held.retain(|&(l, ..)| l != lock);
            if depth > 1 {
                self.threads[t].held.push((lock, mode, depth - 1));
            }
            return self.emit(t, Op::Release { lock, mode });
        }
        let lock = self.some_lock(t)?;
        if held.iter().any(|&(l, ..)| l == lock) && !self.random.percent(self.config.reentry) {
            return None;
        }
        let mode = if self.random.percent(self.config.shared) { Mode::Shared } else { Mode::Exclusive };
        if self.random.percent(self.config.requests) {
            self.threads[t].requested = Some((lock, mode));
            return self.emit(t, Op::Request { lock, mode });
        }
        self.take(t, lock, mode)
    }

    /// A lock to acquire. Where locks are the theme, threads begin with different ones and go on with others.
    fn some_lock(&mut self, t: usize) -> Option<LockId> {
        if !self.lock_heavy || self.random.percent(20) {
            return self.random.pick(&self.locks);
        }
        let held = &self.threads[t].held;
        let others: Vec<LockId> =
            self.locks.iter().copied().filter(|&lock| held.iter().all(|&(l, ..)| l != lock)).collect();
        if held.is_empty() {
            self.locks.get(t % self.locks.len()).copied()
        } else {
            self.random.pick(&others)
        }
    }

    fn wait_or_notify(&mut self, t: usize) -> Turn {
        let awaited: Vec<LockId> =
            self.threads.iter().filter_map(|thread| thread.waiting.map(|waiting| waiting.cond)).collect();
        if let Some(cond) = self.random.pick(&awaited)
            && self.random.percent(80)
        {
            for waiting in self.threads.iter_mut().filter_map(|thread| thread.waiting.as_mut()) {
                waiting.woken |= waiting.cond == cond;
            }
            let all = self.random.percent(50);
            return self.emit(t, Op::Notify { cond, all });
        }
        let held = self.threads[t].held.clone();
        let monitor = self.random.pick(&held).filter(|_| self.random.percent(70));
        let (cond, retake) = match monitor {
            Some((lock, mode, _)) => {
                self.threads[t].held.retain(|&(l, ..)| l != lock);
                (lock, Some(mode))
            }
            None => (self.random.pick(&self.conds)?, None),
        };
        self.threads[t].waiting = Some(Waiting { cond, woken: false, retake });
        self.emit(t, Op::Wait { cond, timed: false })
    }

    fn block(&mut self, t: usize) -> Turn {
        let name = self.names.intern("block");
        if self.threads[t].blocks > 0 && self.random.percent(70) {
            self.threads[t].blocks -= 1;
            self.emit(t, Op::BlockEnd { name })
        } else {
            self.threads[t].blocks += 1;
            self.emit(t, Op::BlockBegin { name })
        }
    }

    fn allocate(&mut self, t: usize) -> Turn {
        let mem = self.heap;
        self.heap_is_live = !self.heap_is_live;
        self.bytes.retain(|&addr, _| addr < mem.addr);
        self.emit(t, if self.heap_is_live { Op::Alloc { mem } } else { Op::Free { mem } })
    }

    fn local(&mut self, t: usize) -> Turn {
        let name = StrId::EMPTY;
        let ops = [
            Op::Exit { function: name },
            Op::Fence { order: Order::SeqCst },
            Op::Enter { function: name },
            Op::Named { name, args: &[] },
            Op::Local { name, value: 1 },
        ];
        let op = self.random.pick(&ops)?;
        self.emit(t, op)
    }

    fn somewhere(&mut self) -> Option<Mem> {
        if self.heap_is_live && self.random.percent(40) {
            return Some(self.heap);
        }
        let whole = self.random.pick(&self.variables)?;
        if !self.random.percent(self.config.overlap) {
            return Some(whole);
        }
        let offset = self.random.pick(&[0, 2, 4])?;
        Some(Mem { addr: whole.addr + offset, size: 4 })
    }

    fn plain(&mut self, t: usize) -> Turn {
        let mem = self.somewhere()?;
        let op = if self.random.percent(50) {
            Op::Read { mem, value: self.value(mem) }
        } else {
            self.change(mem);
            Op::Write { mem, value: self.value(mem) }
        };
        self.emit(t, op)
    }

    fn atomic(&mut self, t: usize) -> Turn {
        let mem = self.somewhere()?;
        let order = self.random.pick(&Order::ALL)?;
        let before = self.value(mem);
        let kind = self.random.below(3);
        if kind > 0 {
            self.change(mem);
        }
        let after = self.value(mem);
        let op = match kind {
            0 => Op::Load { mem, order, value: before },
            1 => Op::Store { mem, order, value: after },
            _ => Op::Rmw { mem, order, values: before.zip(after) },
        };
        self.emit(t, op)
    }

    /// Puts a small random number into memory, little-endian.
    fn change(&mut self, mem: Mem) {
        let value = self.random.below(4) as u8;
        self.bytes.extend((0..u64::from(mem.size)).map(|i| (mem.addr + i, if i == 0 { value } else { 0 })));
    }

    /// What is in memory, in executions with values.
    fn value(&self, mem: Mem) -> Option<u64> {
        let byte = |i: u64| u64::from(self.bytes.get(&(mem.addr + i)).copied().unwrap_or(0)) << (8 * i);
        self.with_values.then(|| (0..u64::from(mem.size)).map(byte).sum())
    }
}
