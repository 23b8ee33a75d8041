//! Filling in a thread's tables at an event, and putting what others may ask into its own entry.

use std::cell::Cell;

use crate::Value;
use crate::changes::{Followers, table_bit};
use crate::code::{is_true, truth};
use crate::evaluate::State;
use crate::layout::{self, Choice, NOBODY_CHOSEN};
use crate::mine::{Fill, LOOKS_BACK, Marks, PUBLIC, WHOLE, formulas, mine};
use crate::program::Program;
use crate::table::Rule;
use crate::thread::ThreadMonitor;
use crate::threads::{ThreadSet, Threads};
use crate::trail::Trail as _;
use crate::vector::Vector;

type Trail<V> = <V as Vector>::Trail;

/// Sets a value; whether it is another.
#[inline]
fn is_set(place: &Cell<Value>, value: Value) -> bool {
    place.replace(value) != value
}

impl<V: Vector> ThreadMonitor<V> {
    /// The state before the first event: temporal operators begin with it, and nobody else knows of it.
    pub(crate) fn begin(&mut self, program: &Program, threads: &Threads) {
        self.lay_out(program, threads);
        self.existing.find_out(threads, self.me, &self.knowledge.get().known);
        let (state, memory) = (self.state(program, threads), &self.memory[..]);
        for mine in &self.mine {
            state.fill_in(memory, mine.number, true);
        }
    }

    /// Fills in the tables that may have changed. Whether there may be another verdict.
    pub(crate) fn fill_in(&mut self, program: &Program, threads: &Threads, event: u64) -> bool {
        let mut filled = Marks::default();
        let is_new = self.changes.is_all();
        let (changed_here, changed_there) = self.changes.tables();
        let changed = changed_here | changed_there;
        if is_new || changed_there != 0 {
            self.existing.find_out(threads, self.me, &self.knowledge.get().known);
        }
        let (state, memory) = (self.state(program, threads), &self.memory[..]);
        let (view, code) = (state.view(), &program.code[..]);
        for (place, mine) in self.mine.iter().enumerate() {
            if changed & table_bit(place) == 0 {
                continue;
            }
            let at = mine.begin as usize;
            let is_different = match &mine.fill {
                Fill::Local(local) => is_set(&self.now[at], Some(self.locals[*local as usize])),
                Fill::Truth(node, choice) => {
                    is_set(&self.now[at], truth(code[*node as usize].holds(&view, choice)))
                }
                Fill::Node(node, choice) => is_set(&self.now[at], code[*node as usize].value(&view, choice)),
                Fill::Each { of, own } if !is_new => {
                    let is_own = changed_here & table_bit(place) != 0
                        && is_set(&self.now[at + self.me as usize], self.now[*own as usize].get());
                    let are_others = changed_there & table_bit(place) != 0
                        && state.fill_in_each(memory, mine.number, *of, &self.changes.threads);
                    is_own || are_others
                }
                Fill::Each { .. } | Fill::Rule => state.fill_in(memory, mine.number, false),
            };
            if is_different {
                filled.add(mine.marks);
            }
        }
        if filled.has(PUBLIC) || is_new {
            self.publish_own(event);
        }
        self.changes.done(filled.has(LOOKS_BACK));
        filled.has(WHOLE) || is_new
    }

    /// Puts what others may ask into its own entry.
    fn publish_own(&mut self, event: u64) {
        self.changes_made += 1;
        let knowledge = self.knowledge.renew(&mut self.spares);
        knowledge.is_changed(self.me, self.changes_made, false);
        let own = knowledge.entry(self.me);
        own.seq += 1;
        own.threads = self.laid_out;
        own.set_values(self.now[..self.public].iter().map(Cell::get));
        own.trail = Trail::<V>::begin(event);
    }

    /// Lays the tables out for all threads there are now: what is new has the past of a stranger.
    pub(crate) fn lay_out(&mut self, program: &Program, known: &Threads) {
        let threads = known.count();
        let mut begins = vec![0; program.tables.len()];
        let (mut now, mut memory) = (Vec::new(), Vec::new());
        let others = (0..program.tables.len() as u32)
            .filter(|number| program.tables[*number as usize].public.is_none());
        // What others may ask comes first, so that it is an entry as it stands.
        for (nth, number) in program.public.iter().copied().chain(others).enumerate() {
            let (number, table) = (number as usize, &program.tables[number as usize]);
            begins[number] = now.len() as u32;
            let before =
                (layout::size(table, known, self.laid_out) > 0).then(|| self.begins.get(number)).flatten();
            for place in 0..layout::size(table, known, threads) {
                let choice = layout::choice(&table.free, place, threads);
                let was = choice.map(|choice| layout::place(&table.free, &choice, self.laid_out));
                let was = was.zip(before).map(|(was, begin)| *begin as usize + was);
                now.push(Cell::new(was.and_then(|was| self.now.get(was)?.get())));
                memory.push(Cell::new(was.and_then(|was| self.memory.get(was)?.get())));
            }
            if nth + 1 == program.public.len() {
                self.public = now.len();
            }
        }
        self.mine = mine(program, known, self.me, &begins);
        self.formulas = formulas(program, known, self.me, &begins);
        (self.begins, self.now, self.memory, self.laid_out) = (begins, now, memory, threads);
        self.version = known.version();
        self.changes.all(Followers::new(program, &self.mine));
    }
}

impl<T: crate::trail::Trail> State<'_, T> {
    /// Fills in what a table has for these threads, which is about each of them alone.
    #[inline]
    fn fill_in_each(&self, memory: &[Cell<Value>], number: u32, of: u8, threads: &ThreadSet) -> bool {
        let mut is_different = false;
        for slot in threads.iter().filter(|slot| *slot < self.laid_out) {
            let mut choice = NOBODY_CHOSEN;
            choice[of as usize] = slot;
            is_different |= self.fill_in_place(memory, (number, slot as usize), choice, false);
        }
        is_different
    }

    /// Fills in a table. Whether anything is different then.
    fn fill_in(&self, memory: &[Cell<Value>], number: u32, is_first: bool) -> bool {
        let free = &self.program.tables[number as usize].free;
        if free.is_empty() {
            return self.fill_in_place(memory, (number, 0), NOBODY_CHOSEN, is_first);
        }
        let mut is_different = false;
        for place in 0..layout::places(free.len(), self.laid_out) {
            if let Some(choice) = layout::choice(free, place, self.laid_out) {
                is_different |= self.fill_in_place(memory, (number, place), choice, is_first);
            }
        }
        is_different
    }

    /// Fills in one value; whether it has changed, or what is remembered for the next.
    fn fill_in_place(
        &self,
        memory: &[Cell<Value>],
        (number, place): (u32, usize),
        mut choice: Choice,
        is_first: bool,
    ) -> bool {
        let table = &self.program.tables[number as usize];
        let at = self.begins[number as usize] as usize + place;
        if let Some(own) = table.own {
            choice[own as usize] = self.me;
        }
        let before = self.now[at].get();
        let (value, is_different) = match table.rule {
            Rule::Value(inner) => (self.value(inner, &choice), false),
            rule => self.temporal(rule, before, &memory[at], &choice, is_first),
        };
        self.now[at].set(value);
        is_different || before != value
    }

    /// The value of a temporal operator, and whether what is remembered for the next state has changed.
    fn temporal(
        &self,
        rule: Rule,
        before: Value,
        memory: &Cell<Value>,
        choice: &Choice,
        is_first: bool,
    ) -> (Value, bool) {
        let holds = |node| self.holds(node, choice);
        let last = is_true(before);
        let value = match rule {
            Rule::Value(inner) => return (self.value(inner, choice), false),
            Rule::Previously(inner) => {
                let inner = truth(holds(inner));
                let value = if is_first { inner } else { memory.get() };
                return (value, memory.replace(inner) != inner);
            }
            Rule::Once(inner) => holds(inner) || last && !is_first,
            Rule::Historically(inner) => holds(inner) && (last || is_first),
            Rule::Since(left, right) => holds(right) || !is_first && last && holds(left),
            Rule::Interval(from, to) => (!is_first && last || holds(from)) && !holds(to),
        };
        (truth(value), false)
    }
}
