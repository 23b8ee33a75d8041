//! What a table says of a state, and of one of which nothing is known.

use foresee_monitor::mttl::Function;
use foresee_monitor::operator::Binary;

use crate::Value;
use crate::knowledge::Knowledge;
use crate::layout::{Choice, place, size};
use crate::program::{Host, Node, Program, Rule, Table};
use crate::threads::{Slot, Threads};
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
    pub(crate) now: &'a [Value],
}

pub(crate) fn is_true(value: Value) -> bool {
    value.is_some_and(|value| value != 0)
}

pub(crate) fn truth(value: bool) -> Value {
    Some(i64::from(value))
}

impl<T: Trail> State<'_, T> {
    /// What a table says of this state.
    #[inline]
    pub(crate) fn table(&self, table: u32, choice: &Choice) -> Value {
        let free = &self.program.tables[table as usize].free;
        self.now[self.begins[table as usize] as usize + place(free, choice, self.laid_out)]
    }

    /// The thread that is meant; nobody has its number if it is not known.
    #[inline]
    pub(crate) fn slot(&self, host: Host, choice: &Choice) -> Slot {
        slot(self.threads, host, self.me, choice)
    }

    /// What a table says of the latest known state of a thread.
    pub(crate) fn at(&self, slot: Slot, table: u32, choice: &Choice) -> Value {
        if slot == self.me {
            return self.table(table, choice);
        }
        let known = self.knowledge.thread(slot).zip(self.program.tables[table as usize].public);
        match known {
            Some((entry, public)) => {
                let begin = public_begin(self.program, public, entry.threads);
                let free = &self.program.tables[table as usize].free;
                entry.values.get(begin + place(free, choice, entry.threads)).copied().flatten()
            }
            None => Unknown { program: self.program, threads: self.threads, me: slot }.table(table, choice),
        }
    }

    /// Whether the thread is known to exist.
    #[inline]
    pub(crate) fn knows(&self, slot: Slot) -> bool {
        slot == self.me || self.threads.is_root(slot) || self.knowledge.known.contains(slot)
    }

    /// Whom a quantifier ranges over.
    pub(crate) fn domain(
        &self,
        among: Option<u32>,
        except: Option<Host>,
        choice: &Choice,
    ) -> impl Iterator<Item = Slot> + '_ {
        let except = except.map(|host| self.slot(host, choice));
        let known = (0..self.threads.count()).filter(|slot| self.knows(*slot));
        known.filter(move |slot| {
            Some(*slot) != except && among.is_none_or(|group| self.threads.belongs(*slot, group))
        })
    }

    /// What is worked out in this state.
    pub(crate) fn value(&self, node: u32, choice: &Choice) -> Value {
        match self.program.nodes[node as usize] {
            Node::Number(number) => Some(number),
            Node::Local(local) => Some(self.locals[local as usize]),
            Node::Variable(variable) => Some(self.knowledge.variable(variable).value),
            Node::Read(variable) => truth(self.reads >> variable & 1 == 1),
            Node::Written(variable) => truth(self.writes >> variable & 1 == 1),
            Node::Table(table) => self.table(table, choice),
            Node::At(host, table) => self.at(self.slot(host, choice), table, choice),
            Node::Quantified { all, binds, among, except, inner } => {
                let mut choice = *choice;
                let except = except.map(|host| self.slot(host, &choice));
                for slot in 0..self.threads.count() {
                    let is_meant = self.knows(slot)
                        && Some(slot) != except
                        && among.is_none_or(|group| self.threads.belongs(slot, group));
                    if !is_meant {
                        continue;
                    }
                    choice[binds as usize] = slot;
                    if is_true(self.value(inner, &choice)) != all {
                        return truth(!all);
                    }
                }
                truth(all)
            }
            other => combined(other, |inner| self.value(inner, choice)),
        }
    }
}

/// The state of a thread of which no event is known.
struct Unknown<'a> {
    program: &'a Program,
    threads: &'a Threads,
    me: Slot,
}

impl Unknown<'_> {
    /// The history of such a state is that state alone.
    fn table(&self, table: u32, choice: &Choice) -> Value {
        let table = &self.program.tables[table as usize];
        let choice = &own_choice(table, self.me, choice);
        match table.rule {
            Rule::Value(inner) | Rule::Previously(inner) | Rule::Once(inner) | Rule::Historically(inner) => {
                self.value(inner, choice)
            }
            Rule::Since(_, inner) => self.value(inner, choice),
            Rule::Interval(from, to) => {
                truth(is_true(self.value(from, choice)) && !is_true(self.value(to, choice)))
            }
        }
    }

    fn value(&self, node: u32, choice: &Choice) -> Value {
        match self.program.nodes[node as usize] {
            Node::Number(number) => Some(number),
            Node::Local(local) => Some(self.program.locals()[local as usize].initial),
            Node::Variable(variable) => Some(self.program.initial(variable)),
            Node::Read(_) | Node::Written(_) => truth(false),
            Node::Table(table) => self.table(table, choice),
            Node::At(host, table) => {
                let me = slot(self.threads, host, self.me, choice);
                Unknown { me, ..*self }.table(table, choice)
            }
            Node::Quantified { all, binds, among, except, inner } => {
                let mut choice = *choice;
                let except = except.map(|host| slot(self.threads, host, self.me, &choice));
                let roots = (0..self.threads.count()).filter(|slot| self.threads.is_root(*slot));
                let me = Some(self.me).filter(|me| !self.threads.is_root(*me));
                let meant = roots.chain(me).filter(|slot| {
                    Some(*slot) != except && among.is_none_or(|group| self.threads.belongs(*slot, group))
                });
                for slot in meant {
                    choice[binds as usize] = slot;
                    if is_true(self.value(inner, &choice)) != all {
                        return truth(!all);
                    }
                }
                truth(all)
            }
            other => combined(other, |inner| self.value(inner, choice)),
        }
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

/// Where a public table begins among the values of an entry.
#[inline]
pub(crate) fn public_begin(program: &Program, public: u32, threads: u32) -> usize {
    let earlier = &program.public[..public as usize];
    earlier.iter().map(|table| size(program.tables[*table as usize].free.len(), threads)).sum()
}

/// Operators, the same in all states.
#[inline]
fn combined(node: Node, value: impl Fn(u32) -> Value) -> Value {
    match node {
        Node::Not(inner) => truth(!is_true(value(inner))),
        Node::Holds(inner) => truth(is_true(value(inner))),
        Node::Minus(inner) => value(inner).map(i64::wrapping_neg),
        Node::Binary(Binary::And, left, right) => truth(is_true(value(left)) && is_true(value(right))),
        Node::Binary(Binary::Or, left, right) => truth(is_true(value(left)) || is_true(value(right))),
        Node::Binary(Binary::Implies, left, right) => truth(!is_true(value(left)) || is_true(value(right))),
        Node::Binary(Binary::Iff, left, right) => truth(is_true(value(left)) == is_true(value(right))),
        Node::Binary(operator, left, right) => numbers(operator, value(left), value(right)),
        Node::Function(Function::Abs, inner, _) => value(inner).map(i64::wrapping_abs),
        Node::Function(Function::Min, left, right) => Some(value(left)?.min(value(right)?)),
        Node::Function(Function::Max, left, right) => Some(value(left)?.max(value(right)?)),
        _ => None,
    }
}

fn numbers(operator: Binary, left: Value, right: Value) -> Value {
    let both = left.zip(right);
    let compared =
        |holds: fn(&i64, &i64) -> bool| truth(both.is_some_and(|(left, right)| holds(&left, &right)));
    match operator {
        Binary::Eq => compared(i64::eq),
        Binary::Ne => compared(i64::ne),
        Binary::Lt => compared(i64::lt),
        Binary::Le => compared(i64::le),
        Binary::Gt => compared(i64::gt),
        Binary::Ge => compared(i64::ge),
        Binary::Add => both.map(|(left, right)| left.wrapping_add(right)),
        Binary::Sub => both.map(|(left, right)| left.wrapping_sub(right)),
        Binary::Mul => both.map(|(left, right)| left.wrapping_mul(right)),
        Binary::Div => both.filter(|(_, right)| *right != 0).map(|(left, right)| left.wrapping_div(right)),
        Binary::Rem => both.filter(|(_, right)| *right != 0).map(|(left, right)| left.wrapping_rem(right)),
        _ => None,
    }
}
