//! A thread's monitor, the vectors of a shared variable, and the three cases of the algorithm.
//!
//! At each event of thread i: first it *learns*, from the write vector of a variable that it reads, from the access vector of one that it writes; then it
//! evaluates its formulas, which makes its new state; then it *publishes* that state at the variable. The three are one step: whoever runs monitors
//! of several threads at once must hold the variable meanwhile, and nothing else.
//!
//! **Cost.** An event of a thread that accessed the variable last costs a comparison, and that thread's own entry is copied if it has changed since. Otherwise whether there is anything to learn is one comparison, too,
//! where the variable has the vector of somebody of whom as much is known; learning compares a sequence number per thread and copies what is newer. What follows from an assignment is done by a plan (`plans`);
//! otherwise only those tables are filled in whose inputs have changed (`changes`), for most events none. That costs an operation per operator, times the number of threads that a quantifier ranges over. In place, nothing
//! is allocated once all threads are known.

use smallvec::SmallVec;

use crate::Value;
use crate::changes::Changes;
use crate::code::{Tables as _, is_true};
use crate::evaluate::{Present, State};
use crate::knowledge::{Knowledge, VariableEntry};
use crate::layout::NOBODY_CHOSEN;
use crate::mine::{Mine, MyFormula};
use crate::plans::Plans;
use crate::program::Program;
use crate::threads::{Existing, Slot, Threads};
use crate::trail::Trail as _;
use crate::variable::{Accessed, Variable};
use crate::vector::Vector;

/// The monitor of one thread; see the [module](self).
#[derive(Debug)]
pub struct ThreadMonitor<V: Vector> {
    pub(crate) present: Present<V>,
    pub(crate) spares: V::Spares,
    /// How often its vector has changed.
    pub(crate) changes_made: u64,
    /// When the tables were laid out.
    pub(crate) version: u32,
    /// The tables that are of use to this thread.
    pub(crate) mine: Vec<Mine>,
    pub(crate) plans: Plans,
    /// The formulas that it checks.
    pub(crate) formulas: Vec<MyFormula>,
    /// So many values of tables, the first, are what others may ask.
    pub(crate) public: usize,
    /// What has changed since the tables were filled in.
    pub(crate) changes: Changes,
    /// Formulas that do not hold, by number.
    violated: SmallVec<[u32; 4]>,
    /// Those are not the same as when it was asked last.
    is_news: bool,
}

impl<V: Vector> ThreadMonitor<V> {
    /// A thread that nobody forked.
    pub fn root(program: &Program, threads: &Threads, me: Slot) -> ThreadMonitor<V> {
        let mut knowledge = V::default();
        knowledge.change().variables =
            program.initial_values.iter().map(|value| VariableEntry { seq: 0, value: *value }).collect();
        ThreadMonitor::new(program, threads, me, knowledge)
    }

    /// A thread that another has forked: it begins with what that one knows, its fork included.
    pub fn forked(program: &Program, threads: &Threads, me: Slot, parent: &V) -> ThreadMonitor<V> {
        let mut knowledge = V::default();
        knowledge.become_like(parent);
        ThreadMonitor::new(program, threads, me, knowledge)
    }

    fn new(program: &Program, threads: &Threads, me: Slot, knowledge: V) -> ThreadMonitor<V> {
        let present = Present {
            me,
            knowledge,
            locals: program.initial_locals.clone(),
            accessed: Accessed::default(),
            laid_out: 0,
            begins: Vec::new(),
            now: Vec::new(),
            memory: Vec::new(),
            existing: Existing::default(),
        };
        let mut monitor = ThreadMonitor {
            present,
            spares: V::Spares::default(),
            changes_made: 0,
            version: 0,
            mine: Vec::new(),
            plans: Plans::default(),
            formulas: Vec::new(),
            public: 0,
            changes: Changes::default(),
            violated: SmallVec::new(),
            is_news: false,
        };
        monitor.begin(program, threads);
        monitor
    }

    /// Which thread it is.
    pub fn slot(&self) -> Slot {
        self.present.me
    }

    /// Its vector, KV_i.
    pub fn knowledge(&self) -> &V {
        &self.present.knowledge
    }

    /// How often its vector has changed so far.
    #[inline]
    pub fn changes_made(&self) -> u64 {
        self.changes_made
    }

    /// The formulas that do not hold in its present state, by number.
    pub fn violated(&self) -> &[u32] {
        &self.violated
    }

    /// Whether those have changed since this was asked last.
    #[inline]
    pub fn take_news(&mut self) -> bool {
        self.is_news && std::mem::take(&mut self.is_news)
    }

    /// Whether a formula holds in its present state, if the formula is this thread's.
    pub fn verdict(&self, program: &Program, threads: &Threads, formula: u32) -> Option<bool> {
        let is_mine = threads.is_meant(self.present.me, program.wholes[formula as usize].whose);
        is_mine.then(|| !self.violated.contains(&formula))
    }

    /// What this thread knows of another's answer to the question of this number (remote expressions are numbered as they stand in the
    /// formulas, the inner before the outer), for a choice of bound threads: KV_i\[j\].val.
    pub fn answer(
        &self,
        program: &Program,
        threads: &Threads,
        of: Slot,
        asked: u32,
        bound: &[Slot],
    ) -> Value {
        let mut choice = NOBODY_CHOSEN;
        choice.iter_mut().zip(bound).for_each(|(chosen, slot)| *chosen = *slot);
        let table = *program.public.get(asked as usize)?;
        if !threads.is_meant(of, program.tables[table as usize].whose) {
            return None;
        }
        self.state(program, threads).at(of, table, &choice)
    }

    /// Case 1, an internal event: also `assign` a variable of the thread before it. Whether there may be another verdict.
    #[inline]
    pub fn internal(&mut self, program: &Program, threads: &Threads, event: u64) -> bool {
        self.step(program, threads, Accessed::default(), event)
    }

    /// Case 2, a read of a shared variable. Whether that variable says something else then.
    #[inline(always)]
    pub fn read(
        &mut self,
        program: &Program,
        threads: &Threads,
        variable: &mut Variable<V>,
        accessed: Accessed,
        event: u64,
    ) -> bool {
        if self.is_as_before(threads, accessed) && variable.is_accessed_by(&self.present.knowledge) {
            return variable.is_read_again(&self.present.knowledge, event);
        }
        self.learn_public(variable, event);
        self.step(program, threads, accessed, event);
        variable.is_read(&self.present.knowledge, event)
    }

    /// Case 3, a write of a shared variable; also `set` the value before it. Whether that variable says something else then.
    #[inline(always)]
    pub fn write(
        &mut self,
        program: &Program,
        threads: &Threads,
        variable: &mut Variable<V>,
        accessed: Accessed,
        event: u64,
    ) -> bool {
        if self.is_as_before(threads, accessed) && variable.is_accessed_by(&self.present.knowledge) {
            return variable.is_written_again(&self.present.knowledge, event);
        }
        self.learn_all(variable, event);
        self.step(program, threads, accessed, event);
        variable.is_written(&self.present.knowledge, event)
    }

    /// The thread knows from its next event on that this thread exists: it forks it.
    pub fn meet(&mut self, slot: Slot) {
        if !self.present.knowledge.get().known.contains(slot) {
            self.change().known.insert(slot);
            self.changes.existence();
        }
    }

    /// Gives a variable of the thread a value, at its next event.
    #[inline]
    pub fn assign(&mut self, local: u32, value: i64) {
        let mine = &mut self.present.locals[local as usize];
        if *mine != value {
            *mine = value;
            self.changes.local(local);
        }
    }

    /// Case 1, where the event is the assignment of a variable of the thread, and nothing else.
    #[inline]
    pub fn assigned(
        &mut self,
        program: &Program,
        threads: &Threads,
        local: u32,
        value: i64,
        event: u64,
    ) -> bool {
        if self.is_as_before(threads, Accessed::default()) {
            match self.follow(program, threads, local, value, event) {
                Some(false) => return false,
                Some(true) => {
                    self.look_at_formulas();
                    return true;
                }
                None => {}
            }
        }
        self.assign(local, value);
        self.internal(program, threads, event)
    }

    /// Gives a shared variable a value, at the write of it that comes next. To be called when all was learned of the variable.
    pub fn set(&mut self, variable: u32, value: i64) {
        let before = self.present.knowledge.get().variable(variable);
        self.changes.variables(u64::from(before.value != value) << variable);
        self.change().variables[variable as usize] = VariableEntry { seq: before.seq + 1, value };
    }

    /// Learns what a variable tells its readers.
    #[inline(always)]
    pub fn learn_public(&mut self, variable: &Variable<V>, event: u64) {
        let (known, published) = variable.for_readers();
        self.learn(known, published, event);
    }

    /// Learns what a variable tells who writes it.
    #[inline(always)]
    pub fn learn_all(&mut self, variable: &Variable<V>, event: u64) {
        let (known, published) = variable.for_writers();
        self.learn(known, published, event);
    }

    /// Learns all that a thread knew at its last event, if it has done any: it is joined.
    pub fn join(&mut self, child: &ThreadMonitor<V>, event: u64) {
        if let Some(known) = child.left() {
            self.learn(known, event, event);
        }
    }

    /// What whoever joins this thread learns, if it has done anything.
    pub fn left(&self) -> Option<&V> {
        let known = &self.present.knowledge;
        known.get().thread(self.present.me).map(|_| known)
    }

    /// Learns what somebody knew at an event.
    #[inline(always)]
    pub fn learn(&mut self, known: &V, published: u64, event: u64) {
        if !self.present.knowledge.get().includes(known.get().version) {
            self.learn_of_others(known, published, event);
        }
    }

    #[inline(never)]
    fn learn_of_others(&mut self, known: &V, published: u64, event: u64) {
        if !self.present.knowledge.get().is_behind(known.get()) {
            let version = known.get().version;
            return self.present.knowledge.alone().into_iter().for_each(|mine| mine.has_included(version));
        }
        let mine = self.present.knowledge.renew(&mut self.spares);
        let changes = &mut self.changes;
        let learned = mine.learn(known.get(), |slot, trail| {
            changes.thread(slot);
            trail.pass(published);
            trail.pass(event);
        });
        changes.variables(learned.variables);
        if learned.existence {
            changes.existence();
        }
        self.changes_made += 1;
        mine.is_changed(self.present.me, self.changes_made);
    }

    /// The vector, to be changed: its next version.
    fn change(&mut self) -> &mut Knowledge<V::Trail> {
        self.changes_made += 1;
        let knowledge = self.present.knowledge.renew(&mut self.spares);
        knowledge.is_changed(self.present.me, self.changes_made);
        knowledge
    }

    /// The event itself, after all that was learned at it: the thread's new state. Whether there may be another verdict.
    #[inline(always)]
    pub fn step(&mut self, program: &Program, threads: &Threads, accessed: Accessed, event: u64) -> bool {
        !self.is_as_before(threads, accessed) && self.change_state(program, threads, accessed, event)
    }

    /// Whether an event that does this to variables leaves the thread's state as it is, if nothing is learned at it.
    #[inline]
    pub fn is_as_before(&self, threads: &Threads, accessed: Accessed) -> bool {
        accessed == self.present.accessed && self.version == threads.version() && !self.changes.is_any()
    }

    fn change_state(&mut self, program: &Program, threads: &Threads, accessed: Accessed, event: u64) -> bool {
        if accessed != self.present.accessed {
            let (reads, writes) = (
                accessed.reads ^ self.present.accessed.reads,
                accessed.writes ^ self.present.accessed.writes,
            );
            self.changes.accesses(reads, writes);
            self.present.accessed = accessed;
        }
        if self.version != threads.version() {
            self.lay_out(program, threads);
        }
        self.changes.is_any() && self.evaluate(program, threads, event)
    }

    /// Fills in what has changed. Whether there may be another verdict.
    fn evaluate(&mut self, program: &Program, threads: &Threads, event: u64) -> bool {
        let is_news = self.fill_in(program, threads, event);
        if is_news {
            self.look_at_formulas();
        }
        is_news
    }

    #[inline(never)]
    fn look_at_formulas(&mut self) {
        let fails = |formula: &&MyFormula| !is_true(self.present.now[formula.at as usize].get());
        let failing = self.formulas.iter().filter(fails);
        let violated: SmallVec<[u32; 4]> = failing.map(|formula| formula.number).collect();
        self.is_news |= violated != self.violated;
        self.violated = violated;
    }

    #[inline]
    pub(crate) fn state<'a>(&'a self, program: &'a Program, threads: &'a Threads) -> State<'a, V> {
        State { program, threads, of: &self.present }
    }
}
