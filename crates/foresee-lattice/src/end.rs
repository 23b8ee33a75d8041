//! The end of a run, of which properties may say something, too (`end_program`).
//!
//! A run has ended when every thread has done all it did. So a property that looks at the end looks at each thread's last event as well:
//! the lattice goes on to it, and a [slice](mod@super::dependence_slice) keeps what decides that the thread comes to it and does no more after
//! it. Then one more step, of a thread that does nothing else, follows all others. Where that step has a verdict, the schedule has all events.

use foresee_trace::{EventId, Execution};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::causality::{Causality, Need, Step};

/// Stands for the event of the last step; an execution has fewer events.
pub const END: EventId = EventId(u32::MAX);

/// Each thread's last event.
pub fn last_events(execution: &Execution) -> FxHashSet<EventId> {
    let mut last = vec![None; execution.thread_count()];
    execution.ids().for_each(|id| last[execution.thread(id).index()] = Some(id));
    last.into_iter().flatten().collect()
}

/// Adds the last step. No other may be added after it.
pub fn end(causality: &mut Causality, letter: u32) {
    let needs = (0..causality.threads() as u32)
        .map(|thread| Need { thread, count: causality.count(thread) })
        .filter(|need| need.count > 0)
        .collect();
    let nobody = causality.add_thread();
    causality.push(nobody, Step { event: END.0, letter, needs, takes: SmallVec::new() });
}
