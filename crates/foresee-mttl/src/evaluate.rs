//! What a table says of a state, and of one of which nothing is known.

use std::cell::Cell;

use crate::Value;
use crate::code::{Asked, Tables, View, first, truth};
use crate::layout::{Choice, own_choice, place, size};
use crate::plans::InPlace;
use crate::program::Program;
use crate::table::Rule;
use crate::threads::{Existing, Slot, Threads};
use crate::variable::Accessed;
use crate::vector::Vector;

/// What a thread has of its present state.
#[derive(Debug)]
pub(crate) struct Present<V> {
    pub(crate) me: Slot,
    /// KV_i.
    pub(crate) knowledge: V,
    pub(crate) locals: Vec<i64>,
    pub(crate) accessed: Accessed,
    /// For how many threads the tables are laid out, and where each begins.
    pub(crate) laid_out: u32,
    pub(crate) begins: Vec<u32>,
    /// The values of all tables in this state.
    pub(crate) now: Vec<Cell<Value>>,
    /// Of `previously`: the value of its operand in this state.
    pub(crate) memory: Vec<Cell<Value>>,
    pub(crate) existing: Existing,
}

/// A state of a thread, as far as tables were filled in for it.
pub(crate) struct State<'a, V: Vector> {
    pub(crate) program: &'a Program,
    pub(crate) threads: &'a Threads,
    pub(crate) of: &'a Present<V>,
}

impl<V: Vector> State<'_, V> {
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        let Accessed { reads, writes } = self.of.accessed;
        View { me: self.of.me, locals: &self.of.locals, reads, writes, tables: self }
    }

    /// Whether something holds in this state.
    #[inline]
    pub(crate) fn holds(&self, node: u32, choice: &Choice) -> bool {
        self.program.code[node as usize].holds(&self.view(), choice)
    }

    /// The value of something in this state.
    pub(crate) fn value(&self, node: u32, choice: &Choice) -> Value {
        self.program.code[node as usize].value(&self.view(), choice)
    }

    #[inline(never)]
    fn asked(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        self.at(slot, table, choice)
    }

    #[inline(never)]
    fn at_unknown(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        Unknown { program: self.program, threads: self.threads }.at(slot, table, choice)
    }
}

impl<V: Vector> Tables for State<'_, V> {
    fn variable(&self, variable: u32) -> i64 {
        self.of.knowledge.get().variable(variable).value
    }

    fn named(&self, name: u32) -> Slot {
        named(self.threads, name)
    }

    fn existing(&self, at: usize, among: Option<u32>) -> u64 {
        self.of.existing.word(at, among)
    }

    fn words(&self) -> usize {
        self.threads.words()
    }

    fn stranger(&self, _: Option<u32>) -> Option<Slot> {
        None
    }

    #[inline]
    fn here(&self, table: u32, choice: &Choice) -> Value {
        self.of.now[self.place(table, choice)].get()
    }

    #[inline]
    fn at(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        if slot == self.of.me {
            return self.here(table, choice);
        }
        let Some(entry) = self.of.knowledge.get().thread(slot) else {
            return self.at_unknown(slot, table, choice);
        };
        let begin = match entry.threads == self.of.laid_out {
            true => self.of.begins[table as usize] as usize,
            false => public_begin(self.program, self.threads, table, entry.threads),
        };
        let free = &self.program.tables[table as usize].free;
        entry.values.get(begin + place(free, choice, entry.threads))
    }

    fn is_decided(&self, asked: &Asked, state: &View<'_>, choice: &Choice) -> bool {
        let (wanted, place) = (asked.wanted(state.locals), self.place(asked.table, choice));
        let is_meant = |slot| wanted.is_met(self.answer(slot, place, asked.table, choice));
        first(self, &state.range(&asked.quantified, choice), is_meant).is_some()
    }
}

impl<V: Vector> State<'_, V> {
    /// Where the value of a table is, here and in the entries of all threads that have laid out theirs for as many.
    #[inline]
    fn place(&self, table: u32, choice: &Choice) -> usize {
        let free = &self.program.tables[table as usize].free;
        self.of.begins[table as usize] as usize + place(free, choice, self.of.laid_out)
    }

    /// What a thread says of a table, whose value is at this place here.
    #[inline]
    fn answer(&self, slot: Slot, place: usize, table: u32, choice: &Choice) -> Value {
        match self.of.knowledge.get().threads.get(slot as usize) {
            // Nearly all are laid out as this one is.
            Some(entry) if entry.threads == self.of.laid_out && slot != self.of.me => entry.values.get(place),
            _ => self.asked(slot, table, choice),
        }
    }

    /// Whether something holds that is worked out in place.
    #[inline]
    pub(crate) fn holds_in_place(&self, what: &InPlace, choice: &Choice) -> bool {
        if !what.guard.holds(&self.of.locals) {
            return true;
        }
        let InPlace { asked, place, .. } = what;
        let wanted = asked.wanted(&self.of.locals);
        let mut rest = self.of.existing.word(0, asked.quantified.among) & !what.except;
        let mut is_decided = false;
        while rest != 0 && !is_decided {
            let slot = rest.trailing_zeros();
            is_decided = wanted.is_met(self.answer(slot, *place, asked.table, choice));
            rest &= rest - 1;
        }
        is_decided != asked.if_undecided
    }
}

/// States of threads of which no event is known: everything has its initial value, and the history of such a state is that state alone.
struct Unknown<'a> {
    program: &'a Program,
    threads: &'a Threads,
}

/// One of them.
struct UnknownState<'a> {
    all: &'a Unknown<'a>,
    me: Slot,
}

impl Tables for UnknownState<'_> {
    fn variable(&self, variable: u32) -> i64 {
        self.all.program.initial_values.get(variable as usize).copied().unwrap_or(0)
    }

    fn named(&self, name: u32) -> Slot {
        named(self.all.threads, name)
    }

    fn existing(&self, at: usize, among: Option<u32>) -> u64 {
        self.all.threads.existing(at, self.me, 0, among)
    }

    fn words(&self) -> usize {
        self.all.threads.words()
    }

    /// One that has not come yet knows itself, too; it belongs to no group.
    fn stranger(&self, among: Option<u32>) -> Option<Slot> {
        (self.me >= self.all.threads.count() && among.is_none()).then_some(self.me)
    }

    fn here(&self, table: u32, choice: &Choice) -> Value {
        self.all.at(self.me, table, choice)
    }

    fn at(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        self.all.at(slot, table, choice)
    }
}

impl Unknown<'_> {
    fn at(&self, me: Slot, table: u32, choice: &Choice) -> Value {
        let program = self.program;
        let tables = &UnknownState { all: self, me };
        let view = &View { me, locals: &program.initial_locals, reads: 0, writes: 0, tables };
        let table = &program.tables[table as usize];
        let choice = &own_choice(table, me, choice);
        let code = |node: u32| &program.code[node as usize];
        match table.rule {
            Rule::Value(inner) | Rule::Previously(inner) | Rule::Once(inner) | Rule::Historically(inner) => {
                code(inner).value(view, choice)
            }
            Rule::Since(_, inner) => code(inner).value(view, choice),
            Rule::Interval(from, to) => {
                truth(code(from).holds(view, choice) && !code(to).holds(view, choice))
            }
        }
    }
}

/// The first of the numbers of named threads that have not come yet; strangers have others.
const NOBODY: Slot = Slot::MAX - 0x1000;

fn named(threads: &Threads, name: u32) -> Slot {
    threads.named(name).unwrap_or(NOBODY - name)
}

/// Where a public table begins among the values of an entry that was made for so many threads.
#[cold]
fn public_begin(program: &Program, known: &Threads, table: u32, threads: u32) -> usize {
    let earlier = program.public.iter().take_while(|public| **public != table);
    earlier.map(|table| size(&program.tables[*table as usize], known, threads)).sum()
}
