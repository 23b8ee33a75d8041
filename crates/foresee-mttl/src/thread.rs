//! A thread's monitor, the vectors of a shared variable, and the three cases of the algorithm.
//!
//! At each event of thread i: first it *learns*, from the write vector of a variable that it reads, from the access vector of one that it writes; then it
//! evaluates its formulas, which makes its new state; then it *publishes* that state at the variable. The three are one step: whoever runs monitors
//! of several threads at once must hold the variable meanwhile, and nothing else.
//!
//! **Cost.** Learning compares a sequence number per thread and copies what is newer. Evaluating costs an operation per operator, times the number of
//! choices of threads where formulas ask what threads know of each other; it is left out where nothing has changed since the last one, which is most events (with
//! `previously`, once more: it sees the state before). In place, nothing is allocated once all threads are known.

use smallvec::SmallVec;

use crate::Value;
use crate::evaluate::{State, is_true, truth};
use crate::knowledge::{Knowledge, VariableEntry};
use crate::layout;
use crate::program::{MOST_BOUND, Program, Rule};
use crate::threads::{Slot, Threads};
use crate::trail::Trail as _;
use crate::vector::Vector;

/// A version of a vector is the thread's number and, below, how often it has changed.
const THREAD_SHIFT: u32 = 40;

/// The vectors of a shared variable: of a piece of memory, a lock, or anything else by which threads exchange information.
#[derive(Clone, Debug, Default)]
pub struct Variable<V> {
    /// Private information: what everybody knew who has read it since the last write, and that write.
    access: V,
    /// Public information: what was known at the last write.
    write: V,
    /// When the vectors became those of a thread.
    accessed_at: u64,
    written_at: u64,
}

/// What an event does to the variables that formulas speak of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accessed {
    reads: u64,
    writes: u64,
}

impl Accessed {
    /// It reads this variable of the program, too.
    #[must_use]
    pub fn reading(self, variable: u32) -> Accessed {
        Accessed { reads: self.reads | 1 << variable, ..self }
    }

    /// It writes this variable of the program, too.
    #[must_use]
    pub fn writing(self, variable: u32) -> Accessed {
        Accessed { writes: self.writes | 1 << variable, ..self }
    }
}

/// The monitor of one thread; see the [module](self).
#[derive(Clone, Debug)]
pub struct ThreadMonitor<V> {
    me: Slot,
    /// KV_i.
    knowledge: V,
    /// How often it has changed.
    changes: u64,
    locals: SmallVec<[i64; 4]>,
    accessed: Accessed,
    /// For how many threads the tables are laid out.
    laid_out: u32,
    /// Where each table begins.
    begins: Vec<u32>,
    /// The tables that are of use to this thread.
    mine: Vec<u32>,
    /// The values of all tables in this state.
    now: Vec<Value>,
    /// Of `previously`: the value of its operand in this state.
    memory: Vec<Value>,
    /// Something that formulas look at has changed since the last evaluation.
    is_changed: bool,
    /// Another evaluation would change nothing.
    is_settled: bool,
    /// Formulas that do not hold, by number.
    violated: SmallVec<[u32; 4]>,
}

impl<V: Vector> ThreadMonitor<V> {
    /// A thread that nobody forked.
    pub fn root(program: &Program, threads: &Threads, me: Slot) -> ThreadMonitor<V> {
        let mut knowledge = V::default();
        let initial = |variable| VariableEntry { seq: 0, value: program.initial(variable) };
        knowledge.change().variables = (0..program.variables().len() as u32).map(initial).collect();
        ThreadMonitor::new(program, threads, me, knowledge)
    }

    /// A thread that another has forked: it begins with what that one knows, its fork included.
    pub fn forked(program: &Program, threads: &Threads, me: Slot, parent: &V) -> ThreadMonitor<V> {
        let mut knowledge = V::default();
        knowledge.become_like(parent);
        ThreadMonitor::new(program, threads, me, knowledge)
    }

    fn new(program: &Program, threads: &Threads, me: Slot, knowledge: V) -> ThreadMonitor<V> {
        let mut monitor = ThreadMonitor {
            me,
            knowledge,
            changes: 0,
            locals: program.locals().iter().map(|local| local.initial).collect(),
            accessed: Accessed::default(),
            laid_out: 0,
            begins: Vec::new(),
            mine: Vec::new(),
            now: Vec::new(),
            memory: Vec::new(),
            is_changed: true,
            is_settled: false,
            violated: SmallVec::new(),
        };
        monitor.lay_out(program, threads);
        // The first state: temporal operators begin with it, and nobody else knows of it.
        monitor.fill_in(program, threads, true);
        monitor
    }

    /// Which thread it is.
    pub fn slot(&self) -> Slot {
        self.me
    }

    /// Its vector, KV_i.
    pub fn knowledge(&self) -> &V {
        &self.knowledge
    }

    /// The formulas that do not hold in its present state, by number.
    pub fn violated(&self) -> &[u32] {
        &self.violated
    }

    /// Whether a formula holds in its present state, if the formula is this thread's.
    pub fn verdict(&self, program: &Program, threads: &Threads, formula: u32) -> Option<bool> {
        let is_mine = threads.is_meant(self.me, program.wholes[formula as usize].whose);
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
        let mut choice = [Slot::MAX; MOST_BOUND];
        choice.iter_mut().zip(bound).for_each(|(chosen, slot)| *chosen = *slot);
        let table = *program.public.get(asked as usize)?;
        self.state(program, threads).at(of, table, &choice)
    }

    /// Case 1, an internal event: also `assign` a variable of the thread before it.
    pub fn internal(&mut self, program: &Program, threads: &Threads, event: u64) {
        self.step(program, threads, Accessed::default(), event);
    }

    /// Case 2, a read of a shared variable.
    pub fn read(
        &mut self,
        program: &Program,
        threads: &Threads,
        variable: &mut Variable<V>,
        accessed: Accessed,
        event: u64,
    ) {
        self.learn_public(variable, event);
        self.step(program, threads, accessed, event);
        variable.is_read(self, event);
    }

    /// Case 3, a write of a shared variable; also `set` the value before it.
    pub fn write(
        &mut self,
        program: &Program,
        threads: &Threads,
        variable: &mut Variable<V>,
        accessed: Accessed,
        event: u64,
    ) {
        self.learn_all(variable, event);
        self.step(program, threads, accessed, event);
        variable.is_written(self, event);
    }

    /// The thread knows from its next event on that this thread exists: it forks it.
    pub fn meet(&mut self, slot: Slot) {
        if !self.knowledge.get().known.contains(slot) {
            self.change().known.insert(slot);
            self.is_changed = true;
        }
    }

    /// Gives a variable of the thread a value, at its next event.
    pub fn assign(&mut self, local: u32, value: i64) {
        let mine = &mut self.locals[local as usize];
        self.is_changed |= *mine != value;
        *mine = value;
    }

    /// Gives a shared variable a value, at the write of it that comes next. To be called when all was learned of the variable.
    pub fn set(&mut self, variable: u32, value: i64) {
        let before = self.knowledge.get().variable(variable);
        self.is_changed |= before.value != value;
        self.change().variables[variable as usize] = VariableEntry { seq: before.seq + 1, value };
    }

    /// Learns what a variable tells its readers.
    pub fn learn_public(&mut self, variable: &Variable<V>, event: u64) {
        self.learn(&variable.write, variable.written_at, event);
    }

    /// Learns what a variable tells who writes it.
    pub fn learn_all(&mut self, variable: &Variable<V>, event: u64) {
        self.learn(&variable.access, variable.accessed_at, event);
    }

    /// Learns all that a thread knew at its last event, if it has done any: it is joined.
    pub fn join(&mut self, child: &ThreadMonitor<V>, event: u64) {
        if child.knowledge.get().thread(child.me).is_some() {
            self.learn(&child.knowledge, event, event);
        }
    }

    /// Learns what somebody knew at an event.
    pub fn learn(&mut self, known: &V, published: u64, event: u64) {
        if self.knowledge.is_same(known) || !self.knowledge.get().is_behind(known.get()) {
            return;
        }
        self.is_changed = true;
        self.change().learn(known.get(), |trail| {
            trail.pass(published);
            trail.pass(event);
        });
        // Learning makes it nobody's copy.
        self.change();
    }

    /// The vector, to be changed: its next version.
    fn change(&mut self) -> &mut Knowledge<V::Trail> {
        self.changes += 1;
        let knowledge = self.knowledge.change();
        knowledge.version = u64::from(self.me + 1) << THREAD_SHIFT | self.changes;
        knowledge
    }

    /// The event itself, after all that was learned at it: the thread's new state.
    pub fn step(&mut self, program: &Program, threads: &Threads, accessed: Accessed, event: u64) {
        self.is_changed |= accessed != self.accessed;
        self.accessed = accessed;
        if self.laid_out != threads.count() {
            self.lay_out(program, threads);
            self.is_changed = true;
        }
        let is_first = self.knowledge.get().thread(self.me).is_none();
        if self.is_changed || !self.is_settled || is_first {
            let is_different = self.fill_in(program, threads, false);
            self.is_settled = !is_different || !program.looks_back();
            self.is_changed = false;
            self.publish_own(program, event);
            let fails = |formula: &u32| {
                let whole = program.wholes[*formula as usize];
                let value = self.now[self.begins[whole.table as usize] as usize];
                threads.is_meant(self.me, whole.whose) && !is_true(value)
            };
            self.violated = (0..program.wholes.len() as u32).filter(fails).collect();
        }
    }

    pub(crate) fn state<'a>(&'a self, program: &'a Program, threads: &'a Threads) -> State<'a, V::Trail> {
        let Accessed { reads, writes } = self.accessed;
        State {
            program,
            threads,
            me: self.me,
            knowledge: self.knowledge.get(),
            locals: &self.locals,
            reads,
            writes,
            laid_out: self.laid_out,
            begins: &self.begins,
            now: &self.now,
        }
    }

    /// Fills in all tables for this state; whether a value has changed.
    fn fill_in(&mut self, program: &Program, threads: &Threads, is_first: bool) -> bool {
        let mut is_different = is_first;
        for nth in 0..self.mine.len() {
            let number = self.mine[nth] as usize;
            let (table, begin) = (&program.tables[number], self.begins[number] as usize);
            for place in 0..layout::size(table.free.len(), self.laid_out) {
                let mut choice = match table.free.is_empty() {
                    true => [Slot::MAX; MOST_BOUND],
                    false => match layout::choice(&table.free, place, self.laid_out) {
                        Some(choice) => choice,
                        None => continue,
                    },
                };
                table.own.into_iter().for_each(|own| choice[own as usize] = self.me);
                let state = self.state(program, threads);
                let holds = |node| is_true(state.value(node, &choice));
                let last = is_true(self.now[begin + place]);
                let mut remembered = None;
                let value = match table.rule {
                    Rule::Value(inner) => state.value(inner, &choice),
                    Rule::Previously(inner) => {
                        let inner = truth(holds(inner));
                        remembered = Some(inner);
                        if is_first { inner } else { self.memory[begin + place] }
                    }
                    Rule::Once(inner) => truth(holds(inner) || last && !is_first),
                    Rule::Historically(inner) => truth(holds(inner) && (last || is_first)),
                    Rule::Since(left, right) => truth(holds(right) || !is_first && last && holds(left)),
                    Rule::Interval(from, to) => truth((!is_first && last || holds(from)) && !holds(to)),
                };
                is_different |= self.now[begin + place] != value;
                self.now[begin + place] = value;
                if let Some(inner) = remembered {
                    is_different |= self.memory[begin + place] != inner;
                    self.memory[begin + place] = inner;
                }
            }
        }
        is_different
    }

    /// Puts what others may ask into its own entry, if it is not the same as before.
    fn publish_own(&mut self, program: &Program, event: u64) {
        let sizes = program.public.iter().map(|table| {
            let begin = self.begins[*table as usize] as usize;
            begin..begin + layout::size(program.tables[*table as usize].free.len(), self.laid_out)
        });
        let values = sizes.flat_map(|range| &self.now[range]);
        let own = self.knowledge.get().thread(self.me);
        let is_same =
            own.is_some_and(|own| own.threads == self.laid_out && own.values.iter().eq(values.clone()));
        if is_same {
            return;
        }
        self.changes += 1;
        let knowledge = self.knowledge.change();
        knowledge.version = u64::from(self.me + 1) << THREAD_SHIFT | self.changes;
        let own = knowledge.entry(self.me);
        own.seq += 1;
        own.threads = self.laid_out;
        own.values.clear();
        own.values.extend(values.copied());
        own.trail = Trail::<V>::begin(event);
    }

    /// Lays the tables out for more threads: what is new has the past of a stranger.
    fn lay_out(&mut self, program: &Program, known: &Threads) {
        let threads = known.count();
        let is_mine = |table: &u32| known.is_meant(self.me, program.tables[*table as usize].whose);
        self.mine = (0..program.tables.len() as u32).filter(is_mine).collect();
        let (mut begins, mut now, mut memory) = (Vec::new(), Vec::new(), Vec::new());
        for (nth, table) in program.tables.iter().enumerate() {
            begins.push(now.len() as u32);
            for place in 0..layout::size(table.free.len(), threads) {
                let choice = layout::choice(&table.free, place, threads);
                let was = choice.map(|choice| layout::place(&table.free, &choice, self.laid_out));
                let was = was.zip(self.begins.get(nth)).map(|(was, begin)| *begin as usize + was);
                now.push(was.and_then(|was| self.now.get(was).copied()).flatten());
                memory.push(was.and_then(|was| self.memory.get(was).copied()).flatten());
            }
        }
        (self.begins, self.now, self.memory, self.laid_out) = (begins, now, memory, threads);
    }
}

type Trail<V> = <V as Vector>::Trail;

impl<V: Vector> Variable<V> {
    /// A thread has read it: what it knows is private to the variable until the next write.
    pub fn is_read(&mut self, by: &ThreadMonitor<V>, event: u64) {
        let known = by.knowledge.get();
        if self.access.is_same(&by.knowledge) || !self.access.get().is_behind(known) {
            return;
        }
        if known.is_behind(self.access.get()) {
            self.access.change().learn(known, |trail| trail.pass(event));
        } else {
            self.access.become_like(&by.knowledge);
            self.accessed_at = event;
        }
    }

    /// A thread has written it: what it knows, which is all that the variable knew, is public.
    pub fn is_written(&mut self, by: &ThreadMonitor<V>, event: u64) {
        if !self.access.is_same(&by.knowledge) {
            self.access.become_like(&by.knowledge);
        }
        if !self.write.is_same(&by.knowledge) {
            self.write.become_like(&by.knowledge);
        }
        (self.accessed_at, self.written_at) = (event, event);
    }

    /// Its access vector.
    pub fn access(&self) -> &Knowledge<V::Trail> {
        self.access.get()
    }

    /// Its write vector.
    pub fn public(&self) -> &Knowledge<V::Trail> {
        self.write.get()
    }
}
