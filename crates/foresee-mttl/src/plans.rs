//! What an assignment of a local leads to, where that is little: then it is done at once, without asking which tables have changed.
//!
//! Most locals are asked by others, so that their value is copied to some places of the thread's own entry, and are part of a formula, which has to be worked out again.

use smallvec::SmallVec;

use crate::code::{self, Asked, Code, thread_bit};
use crate::layout::{self, Choice};
use crate::mine::{Fill, Marks, Mine};
use crate::program::Program;
use crate::table::{Host, bit};
use crate::threads::{Slot, Threads};

/// All that follows from a local.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Values of public tables that are the local's.
    pub(crate) copies: SmallVec<[u32; 4]>,
    pub(crate) tests: SmallVec<[Test; 1]>,
}

/// Something that is true or false.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) node: u32,
    pub(crate) choice: Choice,
    /// Where its value is.
    pub(crate) at: u32,
    pub(crate) marks: Marks,
    pub(crate) in_place: Option<InPlace>,
}

/// What most formulas are (if a local compares so with a number, no thread answers thus), with all that can be known when the tables are laid out. For at most 64 threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlace {
    pub(crate) guard: code::Test,
    pub(crate) asked: Asked,
    /// The thread that is not asked, as a bit.
    pub(crate) except: u64,
    /// Where the answers are.
    pub(crate) place: usize,
}

/// The plans of a thread, by local.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plans(Vec<Option<Plan>>);

impl Plans {
    pub(crate) fn new(
        program: &Program,
        threads: &Threads,
        me: Slot,
        mine: &[Mine],
        begins: &[u32],
    ) -> Plans {
        let locals = 0..program.locals().len() as u32;
        let in_place = |node, choice: &Choice| in_place(program, threads, me, begins, node, choice);
        Plans(locals.map(|local| plan(me, mine, local, in_place)).collect())
    }

    #[inline]
    pub(crate) fn of(&self, local: u32) -> Option<&Plan> {
        self.0.get(local as usize)?.as_ref()
    }
}

/// The plan of a local, if there is one: nothing that follows from it looks back, or has several values that follow from it.
fn plan(
    me: Slot,
    mine: &[Mine],
    local: u32,
    in_place: impl Fn(u32, &Choice) -> Option<InPlace>,
) -> Option<Plan> {
    let mut plan = Plan::default();
    for table in mine.iter().filter(|table| table.inputs.locals & bit(local) != 0) {
        match table.fill {
            _ if table.inputs.looks_back => return None,
            Fill::Local(of) if of == local => plan.copies.push(table.begin),
            Fill::Local(_) => {}
            Fill::Each { own, .. } if plan.copies.contains(&own) => plan.copies.push(table.begin + me),
            Fill::Truth(node, choice) => {
                let (at, marks, in_place) = (table.begin, table.marks, in_place(node, &choice));
                plan.tests.push(Test { node, choice, at, marks, in_place });
            }
            Fill::Each { .. } | Fill::Node(..) | Fill::Rule => return None,
        }
    }
    Some(plan)
}

/// Something that is true or false, if it can be worked out in place.
fn in_place(
    program: &Program,
    threads: &Threads,
    me: Slot,
    begins: &[u32],
    node: u32,
    choice: &Choice,
) -> Option<InPlace> {
    let Code::Guarded(guard, then) = &program.code[node as usize] else { return None };
    let Code::Asked(asked) = **then else { return None };
    let except = match asked.quantified.except {
        None => 0,
        Some(Host::Own) => thread_bit(me, 0),
        Some(Host::Bound(bound)) => thread_bit(choice[bound as usize], 0),
        // Threads get names later.
        Some(Host::Named(_)) => return None,
    };
    let free = &program.tables[asked.table as usize].free;
    let place = begins[asked.table as usize] as usize + layout::place(free, choice, threads.count());
    (threads.words() == 1).then_some(InPlace { guard: *guard, asked, except, place })
}
