//! What a table says of a state, and of one of which nothing is known.

use std::cell::Cell;

use foresee_monitor::mttl::Function;
use foresee_monitor::operator::Binary;

use crate::Value;
use crate::knowledge::Knowledge;
use crate::layout::{Choice, place, size};
use crate::program::Program;
use crate::table::{Host, Node, Quantified, Rule, Table};
use crate::threads::{Slot, Threads, bit, slots};
use crate::trail::Trail;

/// A state of a thread, as far as tables were filled in for it.
pub(crate) struct State<'a, T> {
    pub(crate) program: &'a Program,
    pub(crate) threads: &'a Threads,
    pub(crate) me: Slot,
    pub(crate) knowledge: &'a Knowledge<T>,
    pub(crate) locals: &'a [i64],
    /// Which variables this event reads and writes, as bits.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// For how many threads the tables were laid out, and where each begins.
    pub(crate) laid_out: u32,
    pub(crate) begins: &'a [u32],
    pub(crate) now: &'a [Cell<Value>],
}

pub(crate) fn is_true(value: Value) -> bool {
    value.is_some_and(|value| value != 0)
}

pub(crate) fn truth(value: bool) -> Value {
    Some(i64::from(value))
}

/// A state: what formulas can ask of it. Operators are the same in all.
pub(crate) trait Look {
    fn program(&self) -> &Program;
    fn local(&self, local: u32) -> i64;
    fn variable(&self, variable: u32) -> i64;
    fn is_read(&self, variable: u32) -> bool;
    fn is_written(&self, variable: u32) -> bool;
    /// What a table says of this state.
    fn table(&self, table: u32, choice: &Choice) -> Value;
    /// What a table says of the latest known state of a thread.
    fn at_host(&self, host: Host, table: u32, choice: &Choice) -> Value;
    /// The thread that is meant; nobody has its number if it is not known.
    fn slot(&self, host: Host, choice: &Choice) -> Slot;
    /// Who exists in this state, as bits of a word; only those of a group, if one is given.
    fn existing(&self, at: usize, among: Option<u32>) -> u64;
    /// How many words those are.
    fn words(&self) -> usize;
    /// The thread itself, if it is none of those.
    fn stranger(&self, among: Option<u32>) -> Option<Slot>;

    /// Whom a quantifier ranges over.
    #[inline]
    fn domain(&self, quantified: &Quantified, choice: &Choice) -> impl Iterator<Item = Slot> {
        let Quantified { among, except, .. } = *quantified;
        let except = except.map(|host| self.slot(host, choice));
        let existing = slots(self.words(), move |at| {
            self.existing(at, among) & !except.map_or(0, |except| bit(except, at))
        });
        existing.chain(self.stranger(among).filter(move |stranger| except != Some(*stranger)))
    }

    /// Whether something holds in this state.
    fn holds(&self, node: u32, choice: &Choice) -> bool {
        match &self.program().nodes[node as usize] {
            Node::Local(local) => self.local(*local) != 0,
            Node::Read(variable) => self.is_read(*variable),
            Node::Written(variable) => self.is_written(*variable),
            Node::Holds(inner) => self.holds(*inner, choice),
            Node::Not(inner) => !self.holds(*inner, choice),
            Node::Join(operator, left, right) => match (operator, self.holds(*left, choice)) {
                (Binary::And, false) => false,
                (Binary::Or, true) | (Binary::Implies, false) => true,
                (Binary::Iff, left) => left == self.holds(*right, choice),
                _ => self.holds(*right, choice),
            },
            Node::Compare(operator, left, right) => {
                match (self.value(*left, choice), self.value(*right, choice)) {
                    (Some(left), Some(right)) => compared(*operator, left, right),
                    _ => false,
                }
            }
            Node::Quantified(quantified) => self.quantified(quantified, choice),
            Node::Number(_)
            | Node::Variable(_)
            | Node::Table(_)
            | Node::At(..)
            | Node::Minus(_)
            | Node::Arithmetic(..)
            | Node::Function(..) => is_true(self.worked_out(node, choice)),
        }
    }

    #[inline(never)]
    fn quantified(&self, quantified: &Quantified, choice: &Choice) -> bool {
        let mut with = *choice;
        for slot in self.domain(quantified, choice) {
            with[quantified.binds as usize] = slot;
            if self.holds(quantified.inner, &with) != quantified.all {
                return !quantified.all;
            }
        }
        quantified.all
    }

    /// The value of something in this state.
    #[inline(always)]
    fn value(&self, node: u32, choice: &Choice) -> Value {
        match &self.program().nodes[node as usize] {
            Node::Number(number) => Some(*number),
            Node::Local(local) => Some(self.local(*local)),
            _ => self.worked_out(node, choice),
        }
    }

    /// The same of what is no number as it stands.
    fn worked_out(&self, node: u32, choice: &Choice) -> Value {
        match &self.program().nodes[node as usize] {
            Node::Number(number) => Some(*number),
            Node::Local(local) => Some(self.local(*local)),
            Node::Variable(variable) => Some(self.variable(*variable)),
            Node::Table(table) => self.table(*table, choice),
            Node::At(host, table) => self.at_host(*host, *table, choice),
            Node::Minus(inner) => self.value(*inner, choice).map(i64::wrapping_neg),
            Node::Arithmetic(operator, left, right) => {
                calculated(*operator, self.value(*left, choice)?, self.value(*right, choice)?)
            }
            Node::Function(Function::Abs, inner, _) => self.value(*inner, choice).map(i64::wrapping_abs),
            Node::Function(Function::Min, left, right) => {
                Some(self.value(*left, choice)?.min(self.value(*right, choice)?))
            }
            Node::Function(Function::Max, left, right) => {
                Some(self.value(*left, choice)?.max(self.value(*right, choice)?))
            }
            Node::Read(_)
            | Node::Written(_)
            | Node::Not(_)
            | Node::Holds(_)
            | Node::Join(..)
            | Node::Compare(..)
            | Node::Quantified(_) => truth(self.holds(node, choice)),
        }
    }
}

impl<T: Trail> State<'_, T> {
    /// What a table says of the latest known state of a thread.
    #[inline]
    pub(crate) fn at(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        if slot == self.me {
            return self.table(table, choice);
        }
        let Some(entry) = self.knowledge.thread(slot) else { return self.at_unknown(slot, table, choice) };
        let begin = match entry.threads == self.laid_out {
            true => self.begins[table as usize] as usize,
            false => public_begin(self.program, self.threads, table, entry.threads),
        };
        let free = &self.program.tables[table as usize].free;
        entry.values.get(begin + place(free, choice, entry.threads)).copied().flatten()
    }

    #[inline(never)]
    fn at_unknown(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        Unknown { program: self.program, threads: self.threads, me: slot }.table(table, choice)
    }
}

impl<T: Trail> Look for State<'_, T> {
    #[inline]
    fn program(&self) -> &Program {
        self.program
    }

    #[inline]
    fn local(&self, local: u32) -> i64 {
        self.locals[local as usize]
    }

    #[inline]
    fn variable(&self, variable: u32) -> i64 {
        self.knowledge.variable(variable).value
    }

    #[inline]
    fn is_read(&self, variable: u32) -> bool {
        self.reads >> variable & 1 == 1
    }

    #[inline]
    fn is_written(&self, variable: u32) -> bool {
        self.writes >> variable & 1 == 1
    }

    #[inline]
    fn table(&self, table: u32, choice: &Choice) -> Value {
        let free = &self.program.tables[table as usize].free;
        self.now[self.begins[table as usize] as usize + place(free, choice, self.laid_out)].get()
    }

    #[inline]
    fn at_host(&self, host: Host, table: u32, choice: &Choice) -> Value {
        self.at(self.slot(host, choice), table, choice)
    }

    #[inline]
    fn slot(&self, host: Host, choice: &Choice) -> Slot {
        slot(self.threads, host, self.me, choice)
    }

    #[inline]
    fn existing(&self, at: usize, among: Option<u32>) -> u64 {
        self.threads.existing(at, self.me, self.knowledge.known.word(at), among)
    }

    #[inline]
    fn words(&self) -> usize {
        self.threads.words()
    }

    #[inline]
    fn stranger(&self, _: Option<u32>) -> Option<Slot> {
        None
    }
}

/// The state of a thread of which no event is known: everything has its initial value.
struct Unknown<'a> {
    program: &'a Program,
    threads: &'a Threads,
    me: Slot,
}

impl Look for Unknown<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn local(&self, local: u32) -> i64 {
        self.program.locals()[local as usize].initial
    }

    fn variable(&self, variable: u32) -> i64 {
        self.program.initial(variable)
    }

    fn is_read(&self, _: u32) -> bool {
        false
    }

    fn is_written(&self, _: u32) -> bool {
        false
    }

    /// The history of such a state is that state alone.
    fn table(&self, table: u32, choice: &Choice) -> Value {
        let table = &self.program.tables[table as usize];
        let choice = &own_choice(table, self.me, choice);
        match table.rule {
            Rule::Value(inner) | Rule::Previously(inner) | Rule::Once(inner) | Rule::Historically(inner) => {
                self.value(inner, choice)
            }
            Rule::Since(_, inner) => self.value(inner, choice),
            Rule::Interval(from, to) => truth(self.holds(from, choice) && !self.holds(to, choice)),
        }
    }

    fn at_host(&self, host: Host, table: u32, choice: &Choice) -> Value {
        let me = slot(self.threads, host, self.me, choice);
        Unknown { me, ..*self }.table(table, choice)
    }

    fn slot(&self, host: Host, choice: &Choice) -> Slot {
        slot(self.threads, host, self.me, choice)
    }

    fn existing(&self, at: usize, among: Option<u32>) -> u64 {
        self.threads.existing(at, self.me, 0, among)
    }

    fn words(&self) -> usize {
        self.threads.words()
    }

    /// One that has not come yet knows itself, too; it belongs to no group.
    fn stranger(&self, among: Option<u32>) -> Option<Slot> {
        (self.me >= self.threads.count() && among.is_none()).then_some(self.me)
    }
}

/// The choice that a thread has which looks at its own states.
#[inline]
pub(crate) fn own_choice(table: &Table, me: Slot, choice: &Choice) -> Choice {
    let mut choice = *choice;
    table.own.into_iter().for_each(|own| choice[own as usize] = me);
    choice
}

#[inline]
fn slot(threads: &Threads, host: Host, me: Slot, choice: &Choice) -> Slot {
    match host {
        Host::Own => me,
        Host::Bound(bound) => choice[bound as usize],
        Host::Named(name) => threads.named(name).unwrap_or(NOBODY - name),
    }
}

/// The first of the numbers of named threads that have not come yet; strangers have others.
const NOBODY: Slot = Slot::MAX - 0x1000;

/// Where a public table begins among the values of an entry that was made for so many threads.
#[cold]
fn public_begin(program: &Program, known: &Threads, table: u32, threads: u32) -> usize {
    let earlier = program.public.iter().take_while(|public| **public != table);
    earlier.map(|table| size(&program.tables[*table as usize], known, threads)).sum()
}

/// What is no comparison holds nowhere.
#[inline]
fn compared(operator: Binary, left: i64, right: i64) -> bool {
    match operator {
        Binary::Eq => left == right,
        Binary::Ne => left != right,
        Binary::Lt => left < right,
        Binary::Le => left <= right,
        Binary::Gt => left > right,
        Binary::Ge => left >= right,
        _ => false,
    }
}

#[inline]
fn calculated(operator: Binary, left: i64, right: i64) -> Value {
    match operator {
        Binary::Add => Some(left.wrapping_add(right)),
        Binary::Sub => Some(left.wrapping_sub(right)),
        Binary::Mul => Some(left.wrapping_mul(right)),
        Binary::Div if right != 0 => Some(left.wrapping_div(right)),
        Binary::Rem if right != 0 => Some(left.wrapping_rem(right)),
        _ => None,
    }
}
