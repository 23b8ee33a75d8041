//! The monitors of all threads, and the vectors of memory and conditions.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use foresee_mttl::{Knowledge, Memory, NoTrail, Place, Program, ThreadMonitor, Threads, Waiters};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::news;
use super::own::Own;
use super::spec::{self, Spec};
use super::telling::{self, LocalName, Met};
use super::unknown::Unknown;
use crate::message::say;
use crate::monitors::doing::Doing;
use crate::monitors::spin::Spin;
use crate::monitors::verdicts;

/// Vectors are shared until they differ.
pub(super) type Vector = Arc<Knowledge<NoTrail>>;

/// So many threads are monitored.
const MOST_THREADS: usize = 1 << 12;

/// Memory, with locks, is kept in so many parts, by its addresses.
pub(super) const PARTS: usize = 64;

/// A thread remembers so many of its last accesses.
const REMEMBERED: usize = 1024;

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
}

/// A thread's place in the table of all.
struct Monitored {
    me: Own<Option<Box<Me>>>,
    /// Its slot and one, for those who name it; 0 until it has a monitor.
    named_by: AtomicU32,
    /// How much it has done. Written by itself alone.
    events: AtomicU64,
}

/// Who waits for conditions, by their addresses.
pub(super) type Waiting = FxHashMap<u64, Waiters<Vector>>;

/// Lines of memory that may have locks or other objects that threads synchronise by, whose vectors are elsewhere than those of memory: what hashes to a line without any has none.
pub(super) struct Synchronising(Box<[AtomicBool]>);

impl Synchronising {
    const LINES: usize = 1 << 12;

    fn new() -> Synchronising {
        Synchronising((0..Self::LINES).map(|_| AtomicBool::new(false)).collect())
    }

    fn of(&self, line: u64) -> &AtomicBool {
        &self.0[(line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % Self::LINES]
    }

    pub(super) fn note(&self, line: u64) {
        let noted = self.of(line);
        if !noted.load(Relaxed) {
            noted.store(true, Relaxed);
        }
    }

    pub(super) fn may_be_in(&self, line: u64) -> bool {
        self.of(line).load(Relaxed)
    }
}

/// All of it.
pub(super) struct World {
    pub(super) spec: &'static Spec,
    pub(super) program: Program,
    pub(super) locals: Vec<LocalName>,
    threads: Spin<Arc<Threads>>,
    /// What threads are called, by slot.
    names: Spin<Vec<String>>,
    pub(super) met: Met,
    pub(super) unknown: Unknown,
    /// How often a thread was added.
    version: AtomicU32,
    /// By thread.
    monitors: Box<[Monitored]>,
    pub(super) memory: Box<[Part; PARTS]>,
    pub(super) waiting: Box<[Spin<Waiting>; PARTS]>,
    pub(super) synchronising: Synchronising,
    /// There were more threads than are monitored.
    has_more_threads: AtomicBool,
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

/// The process ends by itself.
pub(crate) fn end() {
    if let Some(world) = world() {
        verdicts::tell_end_of_knowledge(world.events(), &world.unknown_variables().join("`, `"));
    }
}

fn begin(spec: &'static Spec) -> bool {
    let program = spec.program();
    let threads = Spin::new(Arc::new(Threads::new(&program)));
    let locals = spec.locals.iter().map(|name| LocalName::new(name, &program)).collect();
    let unknown = Unknown::new(&program);
    let world = World {
        spec,
        program,
        locals,
        threads,
        names: Spin::new(Vec::new()),
        met: Met::new(&spec.threads),
        unknown,
        version: AtomicU32::new(0),
        monitors: (0..MOST_THREADS).map(|_| Monitored::nobody()).collect(),
        memory: Box::new(std::array::from_fn(|_| Part::default())),
        waiting: Box::new(std::array::from_fn(|_| Spin::new(Waiting::default()))),
        synchronising: Synchronising::new(),
        has_more_threads: AtomicBool::new(false),
    };
    WORLD.store(Box::into_raw(Box::new(world)), Release);
    true
}

impl Monitored {
    const fn nobody() -> Monitored {
        Monitored { me: Own::new(None), named_by: AtomicU32::new(0), events: AtomicU64::new(0) }
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
        let (slot, threads) = self.change_threads(|threads| threads.add(&self.program, &name, forked));
        self.call(slot, &name);
        (slot, threads)
    }

    /// Notes what a thread is called, for people.
    fn call(&self, slot: u32, name: &str) {
        self.met.thread(&self.spec.threads, name);
        let mut names = self.names.lock();
        if names.len() <= slot as usize {
            names.resize(slot as usize + 1, String::new());
        }
        name.clone_into(&mut names[slot as usize]);
    }

    /// How much all threads have done.
    fn events(&self) -> u64 {
        self.monitors.iter().map(|monitored| monitored.events.load(Relaxed)).sum()
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
        self.call(slot, name);
    }

    fn me(&self, monitor: ThreadMonitor<Vector>, threads: Arc<Threads>) -> Box<Me> {
        let (version, violated, held) = (self.version.load(Acquire), SmallVec::new(), Vec::new());
        let remembered = Accesses(Box::new([Remembered::default(); REMEMBERED]));
        Box::new(Me { monitor, threads, version, violated, held, waiting: None, remembered })
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
        let Some(place) = self.monitors.get(doing.thread as usize) else { return self.has_one_more() };
        // SAFETY: this is the thread, and `what` acts for it alone.
        let me = unsafe { place.me.get() };
        let me = match me {
            Some(me) => me,
            None => place.begins(me, self.root(doing.thread)),
        };
        if me.version != self.version.load(Acquire) {
            self.look_at_threads(me);
        }
        // Nobody else writes it.
        place.events.store(place.events.load(Relaxed) + 1, Relaxed);
        what(me);
        if me.monitor.take_news() {
            self.note_news(me, doing);
        }
    }

    /// The variables whose values are not known.
    fn unknown_variables(&self) -> Vec<String> {
        let name = |variable: u32| self.program.variables()[variable as usize].name.clone();
        self.unknown.all().into_iter().map(name).collect()
    }

    /// How much a thread has done.
    pub(super) fn events_of(&self, thread: u32) -> u64 {
        self.monitors.get(thread as usize).map_or(0, |monitored| monitored.events.load(Relaxed))
    }

    /// Notes what has ceased to hold.
    #[cold]
    #[inline(never)]
    fn note_news(&self, me: &mut Me, doing: Doing) {
        let Me { monitor, threads, .. } = me;
        for &formula in monitor.violated().iter().filter(|formula| !me.violated.contains(formula)) {
            news::note(formula);
            if let Some(told) = self.spec.formulas.get(formula as usize).filter(|_| verdicts::are_told()) {
                let known = monitor.reasons(&self.program, threads, formula);
                let names = self.names.lock();
                let name = |slot: u32| names.get(slot as usize).cloned().unwrap_or_default();
                let others: Vec<String> = known.iter().map(|known| name(known.of)).collect();
                drop(names);
                telling::tell(told, formula, doing, &others, &self.unknown_variables());
            }
        }
        me.violated = SmallVec::from_slice(me.monitor.violated());
    }

    /// There are other threads than before.
    #[cold]
    #[inline(never)]
    fn look_at_threads(&self, me: &mut Me) {
        // In this order: whoever comes between is looked at once more.
        me.version = self.version.load(Acquire);
        me.threads = Arc::clone(&self.threads.lock());
    }

    /// A thread is not monitored, as there are too many.
    #[cold]
    fn has_one_more(&self) {
        if !self.has_more_threads.swap(true, Relaxed) {
            say(&[b"foresee: too many threads to monitor all of them in the process\n"]);
            verdicts::tell_crowd();
        }
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
                None => self.has_one_more(),
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
