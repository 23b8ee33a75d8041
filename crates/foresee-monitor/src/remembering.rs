//! Instances that remember values: `state` variables, which events change, and guards that ask for them or for parameters that
//! earlier events have bound.
//!
//! ```
//! use foresee_monitor::{compile, watch::Watch};
//!
//! let spec = r#"
//!     property Rising(c) {
//!         state last: int = -1;
//!         event falls(c, n) = step(c, n) when n < last;
//!         event rises(c, n) = step(c, n) when n >= last { last = n; }
//!         ere: rises* falls
//!         @match { report "{c} goes back"; }
//!     }
//! "#;
//! let compiled = compile(spec).unwrap();
//! let mut watch = Watch::new(&compiled.properties[0], |_| None);
//! let mut matches = Vec::new();
//! for (at, step) in [[1, 5], [2, 3], [1, 7], [2, 1]].iter().enumerate() {
//!     for event in [0, 1] {
//!         watch.event(event, 0, step, &mut |_| matches.push(at)).unwrap();
//!     }
//! }
//! assert_eq!(matches, [3]);
//! ```
//!
//! **Meaning.** Slices are what they are without guards of this kind: all events about a binding or less. An instance reads its slice event
//! by event, and of an event whose guard does not hold with the values that the instance has then it knows nothing. A parameter has a
//! value once an event of the slice has bound it, this one included; until then no guard that asks for it holds. An event that counts
//! first changes the variables, and then is read by the body, whose formula sees the new values. What begins a slice is
//! what would begin it without such guards, if it counts. A verdict that resets sets the variables back.
//!
//! So an instance remains a function of its slice, with a state that can be cloned, compared and hashed: a combination of bindings continues
//! what the smaller one has read, and the explorer of the computation lattice follows such properties as all others. Events
//! carry in a correct reordering what they carried in the run, so do guards and variables.
//!
//! [`Remembering`] is the monitor around a body's own. Its outlook has, for events with such a guard, the case that they do not
//! count: more is combined and kept than for bodies without them, and nothing that could report is left out.
//!
//! Cost: the guard and the actions of an event, for each instance that reads it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::formalism::{Categories, Letter, Moment, Monitor, Outlook};
use crate::predicate::{Binding, Expr, Values};
use crate::property::{Assignment, Body, Letters, Property};

/// A monitor with variables; see the [module](self).
#[derive(Clone, Debug)]
pub struct Remembering<M> {
    inner: M,
    letters: Letters,
    rules: Arc<[Rule]>,
    initial: State,
    /// Per event, whether it begins a slice of the body alone.
    creates: Vec<bool>,
    /// The place of a slice that has not begun.
    waiting: u32,
}

/// The values of the variables.
type State = SmallVec<[i64; 2]>;

/// What an event does to an instance.
#[derive(Clone, Debug)]
struct Rule {
    guard: Option<Expr>,
    actions: Vec<Assignment>,
}

/// The variables, and what the body remembers once its slice has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remembered<S> {
    variables: State,
    inner: Option<S>,
}

impl<M: Monitor> Remembering<M> {
    /// The variables of a property around the monitor of one of its bodies; `creates` says of each event, the assignment last, whether
    /// it begins a slice of that monitor.
    pub fn new(inner: M, property: &Property, body: &Body, creates: Vec<bool>) -> Remembering<M> {
        let rule = |event: &crate::property::Event| Rule {
            guard: event.own_guard.clone(),
            actions: event.actions.clone(),
        };
        let rules = property.events.iter().map(rule).collect();
        let (letters, initial) = (body.letters.clone(), initial(property));
        let waiting = inner.outlook().edges.len() as u32;
        Remembering { inner, letters, rules, initial, creates, waiting }
    }
}

/// The values of a property's own variables at the beginning.
pub(crate) fn initial(property: &Property) -> State {
    property.state.iter().map(|state| state.initial).collect()
}

impl<M: Monitor> Monitor for Remembering<M> {
    type State = Remembered<M::State>;

    fn start(&self) -> Self::State {
        Remembered { variables: self.initial.clone(), inner: None }
    }

    fn step(&self, state: &mut Self::State, letter: Letter) {
        self.react(state, letter, Categories::NONE, &mut |_| ());
    }

    fn verdicts(&self, state: &Self::State) -> Categories {
        state.inner.as_ref().map_or(Categories::NONE, |inner| self.inner.verdicts(inner))
    }

    /// That of the body, with a last place, where monitors start: the slice of the body has not begun.
    fn outlook(&self) -> Outlook {
        let mut outlook = self.inner.outlook();
        let waiting = self.waiting;
        let passed_over = (0..).zip(&self.creates).filter(|(_, creates)| !**creates);
        let passed_over = passed_over.map(|(event, _)| (event, waiting, Categories::NONE));
        let begin = outlook.edges[outlook.start as usize].iter().copied();
        let edges = begin.chain(passed_over).collect();
        outlook.edges.push(edges);
        outlook.start = waiting;
        let guarded = || (0..).zip(self.rules.iter()).filter(|(_, rule)| rule.guard.is_some());
        for (place, edges) in (0..).zip(&mut outlook.edges) {
            edges.extend(guarded().map(|(event, _)| (event, place, Categories::NONE)));
        }
        outlook
    }

    fn place(&self, state: &Self::State) -> u32 {
        state.inner.as_ref().map_or(self.waiting, |inner| self.inner.place(inner))
    }

    fn react(
        &self,
        state: &mut Self::State,
        letter: Letter,
        resets: Categories,
        report: &mut impl FnMut(Categories),
    ) {
        self.react_at(state, Moment::plain(letter, letter), Binding::default(), resets, report);
    }

    fn react_at(
        &self,
        state: &mut Self::State,
        moment: Moment<'_>,
        binding: Binding<'_>,
        resets: Categories,
        report: &mut impl FnMut(Categories),
    ) {
        let values = Values { binding, ..moment.values.copied().unwrap_or_default() };
        let Remembered { variables, inner } = state;
        let rule = self.rules.get(moment.event as usize);
        let counts = |guard: &Expr| guard.holds(Values { state: variables, ..values });
        if rule.and_then(|rule| rule.guard.as_ref()).is_some_and(|guard| !counts(guard)) {
            return;
        }
        if inner.is_none() && !self.creates.get(moment.event as usize).copied().unwrap_or(false) {
            return;
        }
        for Assignment { state: variable, value } in rule.iter().flat_map(|rule| &rule.actions) {
            // What has no value changes nothing.
            if let Some(value) = value.value(Values { state: variables, ..values })
                && let Some(variable) = variables.get_mut(*variable as usize)
            {
                *variable = value;
            }
        }
        let event = rule.is_some().then_some(moment.event);
        let letter = self.letters.letter(event, Values { state: variables, ..values });
        let inner = inner.get_or_insert_with(|| self.inner.start());
        let mut is_reset = false;
        let moment = Moment { letter, ..moment };
        self.inner.react_at(inner, moment, binding, resets, &mut |categories| {
            is_reset |= categories.meets(resets);
            report(categories);
        });
        if is_reset {
            variables.clone_from(&self.initial);
        }
    }
}
