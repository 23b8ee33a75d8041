//! What a violated formula rests on: which threads it asked about, and how their states became known.

use crate::Value;
use crate::code::{Tables as _, first};
use crate::evaluate::State;
use crate::layout::{Choice, own_choice};
use crate::program::Program;
use crate::table::{MOST_BOUND, Node, Quantified, Rule};
use crate::thread::ThreadMonitor;
use crate::threads::{Slot, Threads};
use crate::vector::Vector;

/// Something that the thread knew of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known<T> {
    /// Of whom.
    pub of: Slot,
    /// What was asked, by its number among all that is asked remotely.
    pub asked: u32,
    /// The answer.
    pub value: Value,
    /// How it became known; nothing if no event of the thread is known, and the answer is what held at first.
    pub way: Option<T>,
}

/// So many threads of a quantifier are looked at: one is what it rests on, or all are.
const MOST: usize = 8;

impl<V: Vector> ThreadMonitor<V> {
    /// What the value of this formula rests on in the thread's present state. Only what matters: of a disjunction that holds, the part that does.
    pub fn reasons(&self, program: &Program, threads: &Threads, formula: u32) -> Vec<Known<V::Trail>> {
        let mut found = Vec::new();
        let state = self.state(program, threads);
        let table = program.wholes[formula as usize].table;
        look_table(&state, table, &[Slot::MAX; MOST_BOUND], &mut found);
        found
    }
}

fn look_table<V: Vector>(
    state: &State<'_, V>,
    table: u32,
    choice: &Choice,
    found: &mut Vec<Known<V::Trail>>,
) {
    let table = &state.program.tables[table as usize];
    let choice = &own_choice(table, state.of.me, choice);
    match table.rule {
        Rule::Value(inner) | Rule::Once(inner) | Rule::Historically(inner) => {
            look(state, inner, choice, found)
        }
        Rule::Since(left, right) | Rule::Interval(left, right) => {
            look(state, left, choice, found);
            look(state, right, choice, found);
        }
        // The state before is gone.
        Rule::Previously(_) => {}
    }
}

fn look<V: Vector>(state: &State<'_, V>, node: u32, choice: &Choice, found: &mut Vec<Known<V::Trail>>) {
    use foresee_monitor::operator::Binary::{And, Implies, Or};
    let holds = |node| state.holds(node, choice);
    match state.program.nodes[node as usize] {
        Node::Not(inner) | Node::Minus(inner) | Node::Holds(inner) => look(state, inner, choice, found),
        Node::Join(operator @ (And | Or | Implies), left, right) => {
            // One side decides if it has the value that decides; of two that do, the first.
            let decides = |side, is_left| match operator {
                And => !holds(side),
                Or => holds(side),
                _ => holds(side) != is_left,
            };
            match (decides(left, true), decides(right, false)) {
                (true, _) => look(state, left, choice, found),
                (false, true) => look(state, right, choice, found),
                (false, false) => {
                    look(state, left, choice, found);
                    look(state, right, choice, found);
                }
            }
        }
        Node::Join(_, left, right)
        | Node::Compare(_, left, right)
        | Node::Arithmetic(_, left, right)
        | Node::Function(_, left, right) => {
            look(state, left, choice, found);
            look(state, right, choice, found);
        }
        Node::Table(table) => look_table(state, table, choice, found),
        Node::At(host, table) => {
            let slot = state.view().slot(host, choice);
            if slot == state.of.me {
                return look_table(state, table, choice, found);
            }
            let way = state.of.knowledge.get().thread(slot).map(|entry| entry.trail.clone());
            let asked = state.program.tables[table as usize].public.unwrap_or_default();
            let known = Known { of: slot, asked, value: state.at(slot, table, choice), way };
            let is_new = !found.iter().any(|other| (other.of, other.asked) == (known.of, known.asked));
            if is_new && slot < state.threads.count() {
                found.push(known);
            }
        }
        Node::Quantified(quantified) => {
            let Quantified { all, binds, inner, .. } = quantified;
            let with = |slot| {
                let mut choice = *choice;
                choice[binds as usize] = slot;
                choice
            };
            let decides = |slot| state.holds(inner, &with(slot)) != all;
            let range = state.view().range(&quantified, choice);
            match first(state, &range, decides) {
                Some(slot) => look(state, inner, &with(slot), found),
                None => {
                    let mut looked_at = 0;
                    first(state, &range, |slot| {
                        look(state, inner, &with(slot), found);
                        looked_at += 1;
                        looked_at == MOST
                    });
                }
            }
        }
        Node::Number(_) | Node::Local(_) | Node::Variable(_) | Node::Read(_) | Node::Written(_) => {}
    }
}
