//! What an assignment of a local leads to, where that is little: then it is done at once, without asking which tables have changed.
//!
//! Most locals are asked by others, so that their value is copied to some places of the thread's own entry, and are part of a formula, which has to be worked out again.

use crate::layout::Choice;
use crate::mine::{Fill, Marks, Mine};
use crate::program::Program;
use crate::table::bit;
use crate::threads::Slot;

/// All that follows from a local.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Values of public tables that are the local's.
    pub(crate) copies: Vec<u32>,
    pub(crate) tests: Vec<Test>,
}

/// Something that is true or false.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) node: u32,
    pub(crate) choice: Choice,
    /// Where its value is.
    pub(crate) at: u32,
    pub(crate) marks: Marks,
}

/// The plans of a thread, by local.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plans(Vec<Option<Plan>>);

impl Plans {
    pub(crate) fn new(program: &Program, me: Slot, mine: &[Mine]) -> Plans {
        let locals = 0..program.locals().len() as u32;
        Plans(locals.map(|local| plan(me, mine, local)).collect())
    }

    #[inline]
    pub(crate) fn of(&self, local: u32) -> Option<&Plan> {
        self.0.get(local as usize)?.as_ref()
    }
}

/// The plan of a local, if there is one: nothing that follows from it looks back, or has several values that follow from it.
fn plan(me: Slot, mine: &[Mine], local: u32) -> Option<Plan> {
    let mut plan = Plan::default();
    for table in mine.iter().filter(|table| table.inputs.locals & bit(local) != 0) {
        match table.fill {
            _ if table.inputs.looks_back => return None,
            Fill::Local(of) if of == local => plan.copies.push(table.begin),
            Fill::Local(_) => {}
            Fill::Each { own, .. } if plan.copies.contains(&own) => plan.copies.push(table.begin + me),
            Fill::Truth(node, choice) => {
                plan.tests.push(Test { node, choice, at: table.begin, marks: table.marks });
            }
            Fill::Each { .. } | Fill::Node(..) | Fill::Rule => return None,
        }
    }
    Some(plan)
}
