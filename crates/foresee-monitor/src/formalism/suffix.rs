//! `suffix`: every suffix of the events is monitored, not only the whole.
//!
//! Each creation event starts a fresh copy of the monitor; every copy reads, reports and resets on its own. Copies that
//! can no longer report anything are dropped, and equal copies are kept as one with a count, so a finite monitor needs at
//! most as many entries as it has states, however long the trace.

use smallvec::SmallVec;

use super::{Categories, Letter, Monitor, Outlook};

/// The monitor that runs a copy of another for every suffix.
#[derive(Clone, Debug)]
pub struct Suffix<M> {
    inner: M,
    begins: Vec<bool>,
    dead_ends: Vec<bool>,
}

impl<M: Monitor> Suffix<M> {
    /// Runs copies of `inner`, a new one at each event that `begins` accepts; `dead_ends` are the places of `inner`'s
    /// outlook where no handled verdict can come any more.
    pub fn new(inner: M, begins: Vec<bool>, dead_ends: Vec<bool>) -> Suffix<M> {
        Suffix { inner, begins, dead_ends }
    }

    fn begins(&self, letter: Letter) -> bool {
        self.begins.get(letter as usize).copied().unwrap_or(true)
    }

    fn is_dead_end(&self, state: &M::State) -> bool {
        self.dead_ends.get(self.inner.place(state) as usize).copied().unwrap_or(false)
    }
}

/// States of copies, and how many there are of each.
pub type Copies<S> = SmallVec<[(S, u32); 2]>;

impl<M: Monitor> Monitor for Suffix<M> {
    type State = Copies<M::State>;

    fn start(&self) -> Self::State {
        SmallVec::new()
    }

    fn step(&self, state: &mut Self::State, letter: Letter) {
        self.react(state, letter, Categories::NONE, &mut |_| ());
    }

    fn verdicts(&self, state: &Self::State) -> Categories {
        state.iter().fold(Categories::NONE, |all, (copy, _)| all.union(self.inner.verdicts(copy)))
    }

    /// That of the copies, with a last place for "no copy yet, but one may begin".
    fn outlook(&self) -> Outlook {
        let mut outlook = self.inner.outlook();
        let waiting = outlook.edges.len() as u32;
        let wait = |event| (event, waiting, Categories::NONE);
        let events = 0..self.begins.len() as u32;
        let begins = |event: u32| self.begins.get(event as usize).copied().unwrap_or(false);
        let start = &mut outlook.edges[outlook.start as usize];
        let mut later: Vec<_> = start.iter().copied().filter(|edge| begins(edge.0)).collect();
        later.extend(events.clone().map(wait));
        start.extend(events.filter(|event| begins(*event)).map(wait));
        outlook.edges.push(later);
        outlook
    }

    fn place(&self, _: &Self::State) -> u32 {
        self.dead_ends.len() as u32
    }

    fn any_place(&self, state: &Self::State, reaches: impl Fn(u32) -> bool) -> bool {
        reaches(self.dead_ends.len() as u32) || state.iter().any(|(copy, _)| reaches(self.inner.place(copy)))
    }

    fn react(
        &self,
        state: &mut Self::State,
        letter: Letter,
        resets: Categories,
        report: &mut impl FnMut(Categories),
    ) {
        let mut after: Copies<M::State> = SmallVec::new();
        let fresh = self.begins(letter).then(|| (self.inner.start(), 1));
        for (mut copy, count) in std::mem::take(state).into_iter().chain(fresh) {
            let count = if self.inner.merges_suffixes() { 1 } else { count };
            self.inner
                .react(&mut copy, letter, resets, &mut |verdicts| (0..count).for_each(|_| report(verdicts)));
            if self.is_dead_end(&copy) {
                continue;
            }
            match after.iter_mut().find(|(other, _)| *other == copy) {
                Some((_, times)) => *times = times.saturating_add(count),
                None => after.push((copy, count)),
            }
        }
        *state = after;
    }
}
