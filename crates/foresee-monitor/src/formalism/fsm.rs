//! `fsm`: a state machine written out.
//!
//! The first state is the start. An event without a transition goes where `default` says, or to `fail`, which nothing
//! leaves. Any state's name is a category, as are aliases of several states and `fail`.

use super::automaton::Automaton;
use super::{Categories, Handled};

/// A state and its transitions, as indices of events and states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsmState {
    /// The state's name, a category.
    pub name: String,
    /// `event -> state`.
    pub transitions: Vec<(u32, u32)>,
    /// Where all other events go.
    pub default: Option<u32>,
}

/// A state machine: states in the order written, and names for groups of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fsm {
    /// The states; the first is the start.
    pub states: Vec<FsmState>,
    /// `alias name = state, …`.
    pub aliases: Vec<(String, Vec<u32>)>,
}

impl Fsm {
    /// The automaton; events without a transition lead to an extra last state, `fail`.
    pub fn compile(&self, events: u32, handled: Handled<'_>) -> Automaton {
        let fail = self.states.len() as u32;
        let row = |state: &FsmState| {
            let mut row = vec![state.default.unwrap_or(fail); events as usize];
            for &(event, to) in &state.transitions {
                row[event as usize] = to;
            }
            row
        };
        let mut rows: Vec<_> = self.states.iter().map(row).collect();
        rows.push(vec![fail; events as usize]);
        let of_state = |(index, state): (usize, &FsmState)| {
            let aliases = self.aliases.iter().filter(|(_, states)| states.contains(&(index as u32)));
            aliases.fold(handled.bit(&state.name), |all, (alias, _)| all.union(handled.bit(alias)))
        };
        let mut verdicts: Vec<Categories> = self.states.iter().enumerate().map(of_state).collect();
        verdicts.push(handled.bit("fail"));
        Automaton::new(events, &rows, verdicts)
    }
}
