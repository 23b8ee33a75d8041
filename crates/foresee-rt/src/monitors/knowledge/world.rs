//! The monitors of all threads, and the vectors of memory, locks and conditions.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use foresee_mttl::{Knowledge, Memory, NoTrail, Place, Program, ThreadMonitor, Threads, Variable, Waiters};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::news;
use super::own::Own;
use super::spec::{self, Spec};
use crate::message::say;
use crate::monitors::doing::Doing;
use crate::monitors::spin::Spin;

/// Vectors are shared until they differ.
pub(super) type Vector = Arc<Knowledge<NoTrail>>;

/// So many threads are monitored.
const MOST_THREADS: usize = 1 << 12;

/// Memory and locks are kept in so many parts, by their addresses.
pub(super) const PARTS: usize = 64;

/// A thread remembers so many of its last accesses.
const REMEMBERED: usize = 1024;

/// And so many locks.
const USED_LOCKS: usize = 16;

/// A part of memory.
#[derive(Default)]
pub(super) struct Part {
    pub(super) memory: Spin<Memory<Vector>>,
    /// How often a variable of it has come to know something else. Changed by who holds the memory.
    changes: AtomicU64,
}

impl Part {
    #[inline]
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Acquire)
    }

    /// A variable of it knows something else than before.
    #[inline]
    pub(super) fn is_changed(&self) {
        // Nobody else does so at the same time.
        self.changes.store(self.changes.load(Relaxed) + 1, Release);
    }
}

/// An access that a thread has done, where its variable is, and how often the thread's vector and the part of memory had changed after it.
#[derive(Clone, Copy, Default)]
pub(super) struct Remembered {
    pub(super) addr: u64,
    /// How many bytes, and what is done to them; 0 for no access.
    pub(super) kind: u64,
    pub(super) mine: u64,
    pub(super) part: u64,
    /// The layout of the part in which the place is.
    pub(super) layout: u64,
    pub(super) place: Place,
}

/// What a thread remembers of its accesses: the last of those that have the same place here.
pub(super) struct Accesses(Box<[Remembered; REMEMBERED]>);

impl Accesses {
    /// Where an access is remembered.
    #[inline]
    pub(super) fn of(&mut self, addr: u64, kind: u64) -> &mut Remembered {
        let hash = (addr ^ kind << 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        &mut self.0[hash as usize % REMEMBERED]
    }
}

/// A lock that a thread holds: so many times, in this mode.
pub(super) struct HeldLock {
    pub(super) lock: u64,
    pub(super) times: u32,
    pub(super) mode: u8,
}

/// A thread.
pub(super) struct Me {
    pub(super) monitor: ThreadMonitor<Vector>,
    pub(super) threads: Arc<Threads>,
    version: u32,
    violated: SmallVec<[u32; 2]>,
    pub(super) held: Vec<HeldLock>,
    /// The condition that it waits for, or has waited for.
    pub(super) waiting: Option<u64>,
    pub(super) remembered: Accesses,
    pub(super) used_locks: UsedLocks,
}

impl Me {
    /// Notes what has ceased to hold.
    #[cold]
    #[inline(never)]
    fn note_news(&mut self, doing: Doing) {
        let violated = self.monitor.violated();
        let ceased = violated.iter().filter(|formula| !self.violated.contains(formula));
        ceased.for_each(|formula| news::note(*formula, doing));
        self.violated = SmallVec::from_slice(violated);
    }
}

/// A thread's place in the table of all.
struct Monitored {
    me: Own<Option<Box<Me>>>,
    /// Its slot and one, for those who name it; 0 until it has a monitor.
    named_by: AtomicU32,
}

/// Locks and conditions, by their addresses.
#[derive(Default)]
pub(super) struct Objects {
    /// Where each lock is among all, for ever.
    places: FxHashMap<u64, u32>,
    locks: Vec<Variable<Vector>>,
    pub(super) waiting: FxHashMap<u64, Waiters<Vector>>,
}

impl Objects {
    /// Where a lock is.
    pub(super) fn place(&mut self, lock: u64) -> u32 {
        let Objects { places, locks, .. } = self;
        *places.entry(lock).or_insert_with(|| {
            locks.push(Variable::default());
            locks.len() as u32 - 1
        })
    }

    /// The lock at a place.
    #[inline]
    pub(super) fn lock(&mut self, place: u32) -> &mut Variable<Vector> {
        &mut self.locks[place as usize]
    }
}

/// Where the locks are that a thread has used last: the last of those that have the same place here.
pub(super) struct UsedLocks([(u64, Option<u32>); USED_LOCKS]);

impl UsedLocks {
    /// What is known where this lock would be: a lock, and its place.
    #[inline]
    pub(super) fn of(&mut self, lock: u64) -> &mut (u64, Option<u32>) {
        &mut self.0[(lock.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % USED_LOCKS]
    }
}

/// All of it.
pub(super) struct World {
    pub(super) spec: &'static Spec,
    pub(super) program: Program,
    /// The names of locals, and the numbers of those that are called so.
    pub(super) locals: Vec<(String, Vec<u32>)>,
    threads: Spin<Arc<Threads>>,
    /// How often a thread was added.
    version: AtomicU32,
    /// By thread.
    monitors: Box<[Monitored]>,
    pub(super) memory: Box<[Part; PARTS]>,
    pub(super) objects: Box<[Spin<Objects>; PARTS]>,
}

static WORLD: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

/// The world, if something is monitored.
#[inline]
pub(super) fn world() -> Option<&'static World> {
    // SAFETY: null, or what `start` has made, which is never given back.
    unsafe { WORLD.load(Acquire).as_ref() }
}

/// Whether there is something to monitor. To be called once, before the program's own code.
pub(crate) fn start() -> bool {
    // It is for as long as the program is.
    spec::read().is_some_and(|spec| begin(Box::leak(Box::new(spec))))
}

/// The child of a fork is a run of its own, in which nobody knows anything: whether there is something to monitor. What other threads of the parent held is left behind.
pub(crate) fn start_in_child() -> bool {
    news::forget();
    world().is_some_and(|parents| begin(parents.spec))
}

fn begin(spec: &'static Spec) -> bool {
    let program = spec.program();
    let threads = Spin::new(Arc::new(Threads::new(&program)));
    let locals = locals(&program);
    let world = World {
        spec,
        program,
        locals,
        threads,
        version: AtomicU32::new(0),
        monitors: (0..MOST_THREADS).map(|_| Monitored::nobody()).collect(),
        memory: Box::new(std::array::from_fn(|_| Part::default())),
        objects: Box::new(std::array::from_fn(|_| Spin::new(Objects::default()))),
    };
    WORLD.store(Box::into_raw(Box::new(world)), Release);
    true
}

fn locals(program: &Program) -> Vec<(String, Vec<u32>)> {
    let mut all: Vec<(String, Vec<u32>)> = Vec::new();
    for (local, number) in program.locals().iter().zip(0..) {
        match all.iter_mut().find(|(name, _)| *name == local.name) {
            Some((_, numbers)) => numbers.push(number),
            None => all.push((local.name.clone(), vec![number])),
        }
    }
    all
}

impl Monitored {
    const fn nobody() -> Monitored {
        Monitored { me: Own::new(None), named_by: AtomicU32::new(0) }
    }

    /// The thread has a monitor from now on.
    fn begins<'m>(&self, place: &'m mut Option<Box<Me>>, me: Box<Me>) -> &'m mut Box<Me> {
        self.named_by.store(me.monitor.slot() + 1, Release);
        place.insert(me)
    }
}

impl World {
    /// Notes one more thread.
    fn add(&self, thread: u32, forked: bool) -> (u32, Arc<Threads>) {
        // As the trace calls those that have no name, or not yet.
        let name = if thread == 0 { spec::MAIN.to_owned() } else { format!("T{thread}") };
        self.change_threads(|threads| threads.add(&self.program, &name, forked))
    }

    fn change_threads<R>(&self, change: impl FnOnce(&mut Threads) -> R) -> (R, Arc<Threads>) {
        let mut threads = self.threads.lock();
        let mut changed = Threads::clone(&threads);
        let result = change(&mut changed);
        *threads = Arc::new(changed);
        self.version.fetch_add(1, Release);
        (result, Arc::clone(&threads))
    }

    /// The thread is called this from now on.
    pub(super) fn name(&self, thread: u32, name: &str) {
        let named_by = self.monitors.get(thread as usize).map_or(0, |place| place.named_by.load(Acquire));
        // One that has done nothing yet, and that nobody made: it cannot be found here.
        let Some(slot) = named_by.checked_sub(1) else { return };
        self.change_threads(|threads| threads.name(&self.program, slot, name));
    }

    fn me(&self, monitor: ThreadMonitor<Vector>, threads: Arc<Threads>) -> Box<Me> {
        let (version, violated, held) = (self.version.load(Acquire), SmallVec::new(), Vec::new());
        let remembered = Accesses(Box::new([Remembered::default(); REMEMBERED]));
        let used_locks = UsedLocks([(0, None); USED_LOCKS]);
        Box::new(Me { monitor, threads, version, violated, held, waiting: None, remembered, used_locks })
    }

    /// A thread that nobody forked, as far as is known.
    #[cold]
    #[inline(never)]
    fn root(&self, thread: u32) -> Box<Me> {
        let (slot, threads) = self.add(thread, false);
        self.me(ThreadMonitor::root(&self.program, &threads, slot), threads)
    }

    /// The thread does something. What has ceased to hold then is noted for when the runtime is left.
    #[inline(always)]
    pub(super) fn act(&self, doing: Doing, what: impl FnOnce(&mut Me)) {
        let Some(place) = self.monitors.get(doing.thread as usize) else { return };
        // SAFETY: this is the thread, and `what` acts for it alone.
        let me = unsafe { place.me.get() };
        let me = match me {
            Some(me) => me,
            None => place.begins(me, self.root(doing.thread)),
        };
        if me.version != self.version.load(Acquire) {
            self.look_at_threads(me);
        }
        what(me);
        if me.monitor.take_news() {
            me.note_news(doing);
        }
    }

    /// There are other threads than before.
    #[cold]
    #[inline(never)]
    fn look_at_threads(&self, me: &mut Me) {
        // In this order: whoever comes between is looked at once more.
        me.version = self.version.load(Acquire);
        me.threads = Arc::clone(&self.threads.lock());
    }

    /// The thread makes another.
    pub(super) fn fork(&self, doing: Doing, child: u32) {
        let (slot, _) = self.add(child, true);
        self.act(doing, |me| {
            me.monitor.meet(slot);
            me.monitor.internal(&self.program, &me.threads, 0);
            let begins = ThreadMonitor::forked(&self.program, &me.threads, slot, me.monitor.knowledge());
            match self.monitors.get(child as usize) {
                Some(place) => {
                    // SAFETY: it is made by this thread, and does not run yet.
                    let child = unsafe { place.me.get() };
                    place.begins(child, self.me(begins, Arc::clone(&me.threads)));
                }
                None => say(&[b"foresee: too many threads to monitor all of them in the process\n"]),
            }
        });
    }

    /// The thread has waited for the end of another, whose monitor is of no use any more.
    pub(super) fn join(&self, doing: Doing, child: u32) {
        // SAFETY: the thread has ended, and this one has waited for that.
        let ended = self.monitors.get(child as usize).and_then(|place| unsafe { place.me.get() }.take());
        self.act(doing, |me| {
            ended.iter().for_each(|ended| me.monitor.join(&ended.monitor, 0));
            me.monitor.internal(&self.program, &me.threads, 0);
        });
    }
}
