//! What runs along the paths of the lattice.

use std::fmt::Debug;

use foresee_monitor::formalism::automaton::Automaton;
use foresee_monitor::formalism::{Categories, Monitor};

/// A monitor as the explorer needs it: states are values, a letter leads from one to the next and may have a verdict.
///
/// A cut can be reached with several states; the explorer keeps them all, each once.
pub trait Machine: Sync {
    /// What it remembers.
    type State: Clone + Eq + Send + Sync + Debug;

    /// The state before any step.
    fn start(&self) -> Self::State;

    /// The state after a letter, and the verdicts there.
    fn step(&self, state: &Self::State, letter: u32) -> (Self::State, Categories);

    /// How far off a verdict may be: the smaller, the more promising.
    fn distance(&self, _state: &Self::State) -> u32 {
        0
    }

    /// About how many bytes a state takes, in a program of so many threads.
    fn bytes(&self, _threads: usize) -> usize {
        size_of::<Self::State>()
    }
}

impl<M: Machine> Machine for &M {
    type State = M::State;

    fn start(&self) -> M::State {
        M::start(self)
    }

    #[inline]
    fn step(&self, state: &M::State, letter: u32) -> (M::State, Categories) {
        M::step(self, state, letter)
    }

    fn distance(&self, state: &M::State) -> u32 {
        M::distance(self, state)
    }

    fn bytes(&self, threads: usize) -> usize {
        M::bytes(self, threads)
    }
}

impl Machine for Automaton {
    type State = u32;

    fn start(&self) -> u32 {
        Monitor::start(self)
    }

    #[inline]
    fn step(&self, state: &u32, letter: u32) -> (u32, Categories) {
        let mut next = *state;
        Monitor::step(self, &mut next, letter);
        (next, self.verdicts(&next))
    }
}
