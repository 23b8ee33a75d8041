//! `raw`: a monitor written in Rust by the user, registered by name.
//!
//! A raw monitor is a function from state and letter to the next state, on a state of one number (an index into
//! whatever the monitor keeps, or the whole of it), and one from state to verdicts. That is all prediction needs: states
//! can be compared and hashed because they are numbers.

use std::fmt;
use std::sync::Arc;

use super::{Categories, Handled, Letter, Monitor, Outlook};

/// What a user implements.
pub trait RawMonitor: Send + Sync {
    /// The state before any event.
    fn start(&self) -> u64 {
        0
    }

    /// The state after an event, given by its position among the property's events.
    fn step(&self, state: u64, event: u32) -> u64;

    /// The categories this state belongs to.
    fn verdicts(&self, state: u64) -> &[&'static str];
}

/// A registered monitor, ready to run.
#[derive(Clone)]
pub struct Raw {
    monitor: Arc<dyn RawMonitor>,
    handled: Arc<[String]>,
    events: u32,
}

impl Raw {
    /// Runs `monitor` over `events` events.
    pub fn new(monitor: Arc<dyn RawMonitor>, events: u32, handled: Handled<'_>) -> Raw {
        Raw { monitor, handled: handled.0.into(), events }
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw")
            .field("events", &self.events)
            .field("handled", &self.handled)
            .finish_non_exhaustive()
    }
}

impl Monitor for Raw {
    type State = u64;

    fn start(&self) -> u64 {
        self.monitor.start()
    }

    fn step(&self, state: &mut u64, letter: Letter) {
        *state = self.monitor.step(*state, letter);
    }

    fn verdicts(&self, state: &u64) -> Categories {
        let verdicts = self.monitor.verdicts(*state).iter();
        verdicts.fold(Categories::NONE, |all, name| all.union(Handled(&self.handled).bit(name)))
    }

    fn outlook(&self) -> Outlook {
        Outlook::coarse(self.events, |_| true)
    }

    fn place(&self, _: &u64) -> u32 {
        1
    }
}
