//! Automata as pictures, to see whether a property states what was intended.
//!
//! A [`Graph`] has the states of a body's automaton and what leads from one to the other; [`dot`] writes it for Graphviz, [`svg`] lays
//! it out and draws it. States from which no handled verdict can come are left out, unless the author wrote them down: events
//! without an arrow lead there.
//!
//! `fsm`, `ere`, `ltl` and `ptltl` have automata. A grammar has none (what it remembers grows with the nesting), nor has the
//! user's own monitor.

pub mod dot;
mod labels;
mod layout;
pub mod svg;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::formalism::Monitor as _;
use crate::formalism::automaton::Automaton;
use crate::property::{Body, Machine, Property};

/// The automaton of a body, as people look at it. The first node is the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The property, and the body if it has a name.
    pub title: String,
    /// The states.
    pub nodes: Vec<Node>,
    /// What leads from one to the other; one edge for each pair.
    pub edges: Vec<Edge>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name, or a number.
    pub label: String,
    /// What is said there.
    pub verdicts: Vec<String>,
}

/// What leads from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// A node, by position.
    pub from: usize,
    /// A node, by position.
    pub to: usize,
    /// Which events, or which condition.
    pub label: String,
}

/// Why a body cannot be drawn.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Undrawable {
    /// A grammar.
    #[error("is a grammar: what it remembers grows with the nesting, so it has no automaton to draw")]
    Grammar,
    /// A past formula that stayed a word of bits.
    #[error("needs too many states to be drawn")]
    TooBig,
    /// A past formula with bounds of time.
    #[error("asks when events happened: it has no automaton to draw")]
    Timed,
    /// A rewriting system.
    #[error("is a rewriting system: it remembers strings, so it has no automaton to draw")]
    Rewriting,
    /// The user's own monitor.
    #[error("is a monitor written in Rust: its states are not known")]
    Raw,
}

impl Graph {
    /// The graph of a body of this property.
    pub fn of(property: &Property, body: &Body) -> Result<Graph, Undrawable> {
        let automaton = match &body.machine {
            Machine::Automaton(automaton) => automaton,
            Machine::Past(_) => return Err(Undrawable::TooBig),
            Machine::Timed(_) => return Err(Undrawable::Timed),
            Machine::Cfg(_) => return Err(Undrawable::Grammar),
            Machine::Srs(_) => return Err(Undrawable::Rewriting),
            Machine::Raw(_) => return Err(Undrawable::Raw),
        };
        let shown = shown_states(automaton, body);
        let position = |state: u32| shown.iter().position(|this| *this == state);
        let mut letters: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        for (from, &state) in shown.iter().enumerate() {
            for letter in (0..automaton.letters()).filter(|letter| labels::can_come(body, *letter)) {
                if let Some(to) = position(automaton.next(state, letter)) {
                    letters.entry((from, to)).or_default().push(letter);
                }
            }
        }
        let node = |(number, &state): (usize, &u32)| Node {
            label: body.states.get(state as usize).cloned().unwrap_or_else(|| number.to_string()),
            verdicts: automaton
                .verdicts_of(state)
                .indices()
                .map(|bit| body.handlers[bit].category.clone())
                .collect(),
        };
        let edge = |((from, to), letters): ((usize, usize), Vec<u32>)| Edge {
            from,
            to,
            label: labels::label(property, body, automaton.letters(), &letters),
        };
        let title = body
            .name
            .as_ref()
            .map_or_else(|| property.name.clone(), |name| format!("{}, {name}", property.name));
        Ok(Graph {
            title,
            nodes: shown.iter().enumerate().map(node).collect(),
            edges: letters.into_iter().map(edge).collect(),
        })
    }
}

/// The states to show, in the order in which they can be reached.
fn shown_states(automaton: &Automaton, body: &Body) -> Vec<u32> {
    let reporting = automaton.can_reach(|state| !automaton.verdicts_of(state).is_empty());
    let written = |state: u32| body.states.get(state as usize).is_some_and(|name| name != "fail");
    let mut shown = vec![automaton.start()];
    let mut done = 0;
    while let Some(&state) = shown.get(done) {
        done += 1;
        for letter in (0..automaton.letters()).filter(|letter| labels::can_come(body, *letter)) {
            let to = automaton.next(state, letter);
            if !shown.contains(&to) && (reporting[to as usize] || written(to)) {
                shown.push(to);
            }
        }
    }
    shown
}
