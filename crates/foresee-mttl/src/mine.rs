//! The tables that are of use to a thread, as they are laid out for it: how the values of each are found at an event.
//!
//! Most are one value that is copied: a local, or for `@i F` in `@j @i F` the thread's own F. These need no formula to be worked out.

use crate::program::Program;
use crate::table::{Host, Inputs, Node, Rule};
use crate::threads::{Slot, Threads};

/// A table of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mine {
    pub(crate) number: u32,
    /// Where its values begin.
    pub(crate) begin: u32,
    pub(crate) inputs: Inputs,
    pub(crate) is_public: bool,
    pub(crate) is_whole: bool,
    pub(crate) fill: Fill,
}

/// How the values of a table are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fill {
    /// It has one, that of a local.
    Local(u32),
    /// It has one, to be worked out in the state of the thread, which this bound name is.
    Node(u32, Option<u8>),
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
                _ => Fill::Node(inner, table.own),
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
        let (is_public, is_whole) = (table.public.is_some(), table.is_whole);
        Mine { number, begin: *begin, inputs: table.inputs, is_public, is_whole, fill }
    })
    .collect()
}
