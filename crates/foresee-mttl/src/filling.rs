//! Filling in a thread's tables at an event, and putting what others may ask into its own entry.

use std::cell::Cell;

use crate::Value;
use crate::changes::{Changed, Followers, Tables};
use crate::code::{is_true, truth};
use crate::evaluate::{Present, State};
use crate::knowledge::Entry;
use crate::layout::{self, Choice, NOBODY_CHOSEN};
use crate::mine::{Fill, LOOKS_BACK, Marks, Mine, PUBLIC, WHOLE, formulas, mine};
use crate::plans::Plans;
use crate::program::Program;
use crate::table::Rule;
use crate::thread::ThreadMonitor;
use crate::threads::{ThreadSet, Threads};
use crate::trail::Trail as _;
use crate::vector::Vector;

type Trail<V> = <V as Vector>::Trail;

impl<V: Vector> ThreadMonitor<V> {
    /// The state before the first event: temporal operators begin with it, and nobody else knows of it.
    pub(crate) fn begin(&mut self, program: &Program, threads: &Threads) {
        self.lay_out(program, threads);
        self.present.existing.find_out(threads, self.present.me, &self.present.knowledge.get().known);
        let state = self.state(program, threads);
        self.mine.iter().for_each(|mine| _ = state.fill_in(mine.number, true));
    }

    /// Fills in the tables that may have changed. Whether there may be another verdict.
    pub(crate) fn fill_in(&mut self, program: &Program, threads: &Threads, event: u64) -> bool {
        let Changed { here, there, existence, is_new } = self.changes.changed();
        if existence {
            self.present.existing.find_out(threads, self.present.me, &self.present.knowledge.get().known);
        }
        let state = self.state(program, threads);
        let mut marks = Marks::default();
        // In their order: tables use earlier ones. More than a word has bits share them.
        for of_word in self.mine.chunks(Tables::BITS as usize) {
            let mut rest = here | there;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let Some(mine) = of_word.get(bit as usize) else { break };
                let is_changed = match &mine.fill {
                    Fill::Each { of, own } if !is_new => {
                        let is_own = here >> bit & 1 == 1
                            && state.is_set(mine.begin + state.of.me, state.of.now[*own as usize].get());
                        let are_others =
                            there >> bit & 1 == 1 && state.fill_in_each(mine, *of, &self.changes.threads);
                        is_own || are_others
                    }
                    Fill::Each { .. } | Fill::Rule => state.fill_in(mine.number, false),
                    Fill::Truth(node, choice) => state.is_set(mine.begin, truth(state.holds(*node, choice))),
                    Fill::Node(node, choice) => state.is_set(mine.begin, state.value(*node, choice)),
                    Fill::Local(local) => state.is_set(mine.begin, Some(state.of.locals[*local as usize])),
                };
                if is_changed {
                    marks.add(mine.marks);
                }
            }
        }
        self.changes.done(marks.has(LOOKS_BACK));
        if marks.has(PUBLIC) || is_new {
            self.publish_own(event);
        }
        marks.has(WHOLE) || is_new
    }

    /// All that follows from a local's value, where there is a plan for that and nothing else is new. Whether there may be another verdict.
    pub(crate) fn follow(
        &mut self,
        program: &Program,
        threads: &Threads,
        local: u32,
        value: i64,
        event: u64,
    ) -> Option<bool> {
        let plan = self.plans.of(local)?;
        if std::mem::replace(&mut self.present.locals[local as usize], value) == value {
            return Some(false);
        }
        if !plan.copies.is_empty() {
            let (own, now) = own_entry(&mut self.present, &mut self.spares, &mut self.changes_made, event);
            for at in &plan.copies {
                now[*at as usize].set(Some(value));
                own.values.put(*at as usize, Some(value));
            }
        }
        let mut marks = Marks::default();
        let state = State { program, threads, of: &self.present };
        for test in &plan.tests {
            let holds = match &test.in_place {
                Some(what) => state.holds_in_place(what, &test.choice),
                None => state.holds(test.node, &test.choice),
            };
            if state.is_set(test.at, truth(holds)) {
                marks.add(test.marks);
            }
        }
        if marks.has(PUBLIC) {
            self.publish_own(event);
        }
        Some(marks.has(WHOLE))
    }

    /// Puts what others may ask into its own entry.
    fn publish_own(&mut self, event: u64) {
        let (own, now) = own_entry(&mut self.present, &mut self.spares, &mut self.changes_made, event);
        own.values.set(&now[..self.public]);
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
            let before = (layout::size(table, known, self.present.laid_out) > 0)
                .then(|| self.present.begins.get(number))
                .flatten();
            for place in 0..layout::size(table, known, threads) {
                let choice = layout::choice(&table.free, place, threads);
                let was = choice.map(|choice| layout::place(&table.free, &choice, self.present.laid_out));
                let was = was.zip(before).map(|(was, begin)| *begin as usize + was);
                now.push(Cell::new(was.and_then(|was| self.present.now.get(was)?.get())));
                memory.push(Cell::new(was.and_then(|was| self.present.memory.get(was)?.get())));
            }
            if nth + 1 == program.public.len() {
                self.public = now.len();
            }
        }
        self.mine = mine(program, known, self.present.me, &begins);
        self.formulas = formulas(program, known, self.present.me, &begins);
        self.plans = Plans::new(program, known, self.present.me, &self.mine, &begins);
        let present = &mut self.present;
        (present.begins, present.now, present.memory, present.laid_out) = (begins, now, memory, threads);
        self.version = known.version();
        self.changes.all(Followers::new(program, &self.mine));
    }
}

/// The entry of the thread itself, for its next state, and the values of its tables.
#[inline]
fn own_entry<'p, V: Vector>(
    present: &'p mut Present<V>,
    spares: &mut V::Spares,
    changes_made: &mut u64,
    event: u64,
) -> (&'p mut Entry<Trail<V>>, &'p [Cell<Value>]) {
    *changes_made += 1;
    let own = present.knowledge.renew(spares).own_is_changed(present.me, *changes_made);
    own.seq += 1;
    own.threads = present.laid_out;
    own.trail = Trail::<V>::begin(event);
    (own, &present.now)
}

impl<V: Vector> State<'_, V> {
    /// Sets a value; whether it is another.
    #[inline]
    fn is_set(&self, at: u32, value: Value) -> bool {
        self.of.now[at as usize].replace(value) != value
    }

    /// Fills in what a table has for these threads, which is about each of them alone.
    fn fill_in_each(&self, mine: &Mine, of: u8, threads: &ThreadSet) -> bool {
        let mut is_different = false;
        for slot in threads.iter().filter(|slot| *slot < self.of.laid_out) {
            let mut choice = NOBODY_CHOSEN;
            choice[of as usize] = slot;
            is_different |= self.fill_in_place((mine.number, slot as usize), choice, false);
        }
        is_different
    }

    /// Fills in a table. Whether anything is different then.
    fn fill_in(&self, number: u32, is_first: bool) -> bool {
        let free = &self.program.tables[number as usize].free;
        if free.is_empty() {
            return self.fill_in_place((number, 0), NOBODY_CHOSEN, is_first);
        }
        let mut is_different = false;
        for place in 0..layout::places(free.len(), self.of.laid_out) {
            if let Some(choice) = layout::choice(free, place, self.of.laid_out) {
                is_different |= self.fill_in_place((number, place), choice, is_first);
            }
        }
        is_different
    }

    /// Fills in one value; whether it has changed, or what is remembered for the next.
    fn fill_in_place(&self, (number, place): (u32, usize), mut choice: Choice, is_first: bool) -> bool {
        let table = &self.program.tables[number as usize];
        let at = self.of.begins[number as usize] as usize + place;
        if let Some(own) = table.own {
            choice[own as usize] = self.of.me;
        }
        let before = self.of.now[at].get();
        let (value, is_different) = match table.rule {
            Rule::Value(inner) => (self.value(inner, &choice), false),
            rule => self.temporal(rule, before, &self.of.memory[at], &choice, is_first),
        };
        self.of.now[at].set(value);
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
