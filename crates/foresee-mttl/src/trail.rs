//! The way that knowledge took: the events that carried it, for reports. Monitors inside of programs do without.

use smallvec::SmallVec;

/// What is noted of the way of one thread's state to another thread.
pub trait Trail: Clone + Default + std::fmt::Debug {
    /// The state came to be at this event.
    fn begin(event: u64) -> Self;

    /// This event carried it on. Events come in the observed order; one that was noted before, or is older, is not noted again.
    fn pass(&mut self, event: u64);
}

/// Notes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoTrail;

impl Trail for NoTrail {
    fn begin(_: u64) -> NoTrail {
        NoTrail
    }

    fn pass(&mut self, _: u64) {}
}

/// So many events of a way are kept: the first, and the last of the others.
const KEPT: usize = 8;

/// Notes events by their index: where the state came to be, then who handed it on and who took it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way(SmallVec<[u64; KEPT]>);

impl Way {
    /// The events, in order. Of a long way some in the middle are left out.
    pub fn events(&self) -> &[u64] {
        &self.0
    }
}

impl Trail for Way {
    fn begin(event: u64) -> Way {
        Way(SmallVec::from_slice(&[event]))
    }

    fn pass(&mut self, event: u64) {
        if self.0.last().is_some_and(|last| *last >= event) {
            return;
        }
        if self.0.len() == KEPT {
            self.0.remove(1);
        }
        self.0.push(event);
    }
}
