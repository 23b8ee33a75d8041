//! The tables that are of use to a thread, as they are laid out for it: how the values of each are found at an event.
//!
//! Most are one value that is copied: a local, or for `@i F` in `@j @i F` the thread's own F. These need no formula to be worked out.

use crate::layout::{Choice, NOBODY_CHOSEN, own_choice};
use crate::program::Program;
use crate::table::{Host, Inputs, Node, Rule, Table};
use crate::threads::{Slot, Threads};

/// A table of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mine {
    pub(crate) number: u32,
    /// Where its values begin.
    pub(crate) begin: u32,
    pub(crate) inputs: Inputs,
    pub(crate) marks: Marks,
    pub(crate) fill: Fill,
}

/// What it means that values of a table have changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u8);

/// Others may ask for them.
pub(crate) const PUBLIC: Marks = Marks(1);
/// They are those of a whole formula.
pub(crate) const WHOLE: Marks = Marks(2);
/// They follow from the state before, or will.
pub(crate) const LOOKS_BACK: Marks = Marks(4);

impl Marks {
    #[inline]
    pub(crate) fn add(&mut self, others: Marks) {
        self.0 |= others.0;
    }

    #[inline]
    pub(crate) fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    fn of(table: &Table) -> Marks {
        let marks = [
            (PUBLIC, table.public.is_some()),
            (WHOLE, table.is_whole),
            (LOOKS_BACK, table.inputs.looks_back),
        ];
        Marks(marks.iter().filter(|(_, is_so)| *is_so).fold(0, |all, (mark, _)| all | mark.0))
    }
}

/// A whole formula of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MyFormula {
    pub(crate) number: u32,
    /// Where its value is.
    pub(crate) at: u32,
}

/// The formulas that a thread is to check.
pub(crate) fn formulas(program: &Program, known: &Threads, me: Slot, begins: &[u32]) -> Vec<MyFormula> {
    let meant = (0..).zip(&program.wholes).filter(|(_, whole)| known.is_meant(me, whole.whose));
    meant.map(|(number, whole)| MyFormula { number, at: begins[whole.table as usize] }).collect()
}

/// How the values of a table are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fill {
    /// It has one, that of a local.
    Local(u32),
    /// It has one, to be worked out in the state of the thread, for this choice of threads, which is that one alone.
    Node(u32, Choice),
    /// The same, and it is true or false.
    Truth(u32, Choice),
    /// It has one for each thread, which follows from what is known of that thread alone. Its own is here.
    Each { of: u8, own: u32 },
    /// By its rule, for each choice of threads.
    Rule,
}

/// The tables of a thread, in their order.
pub(crate) fn mine(program: &Program, known: &Threads, me: Slot, begins: &[u32]) -> Vec<Mine> {
    let tables = (0..).zip(program.tables.iter().zip(begins));
    let mine = tables.filter(|(_, (table, _))| known.is_meant(me, table.whose));
    mine.map(|(number, (table, begin))| {
        let node = |node: u32| program.nodes[node as usize];
        let fill = match (table.rule, &table.free[..]) {
            (Rule::Value(inner), []) => match node(inner) {
                Node::Local(local) => Fill::Local(local),
                node if node.is_truth() => Fill::Truth(inner, own_choice(table, me, &NOBODY_CHOSEN)),
                _ => Fill::Node(inner, own_choice(table, me, &NOBODY_CHOSEN)),
            },
            (Rule::Value(inner), &[of]) => match node(inner) {
                Node::At(Host::Bound(bound), there)
                    if bound == of && program.tables[there as usize].free.is_empty() =>
                {
                    Fill::Each { of, own: begins[there as usize] }
                }
                _ => Fill::Rule,
            },
            _ => Fill::Rule,
        };
        Mine { number, begin: *begin, inputs: table.inputs, marks: Marks::of(table), fill }
    })
    .collect()
}
