//! Values that calls return are free when they are returned.
//!
//! What a function of a library returns, or stores where a pointer points, names something that begins then: a descriptor, a stream, a thread. The system gives the same name to the next one, when the
//! first has ended. Nothing in a trace says so: in another order of the same calls, the name would be another one, as the first is still in use. So a call that returned a value comes after all
//! calls with this value that it came after in the observed run, in every run that is predicted: the lives of what has the same name stay in their order, and what happens within one life
//! may be reordered. (For programs that still run: `online::handles`.)

use foresee_monitor::property::{Carried, Event, Parameter, Property, Source};
use foresee_trace::{EventId, Execution};
use rustc_hash::FxHashMap;

use super::by_binding::{Act, Happening};
use super::causality::Causality;
use super::model::Edges;

/// What comes before calls that returned a value, in a slice; see the [module](self).
pub(super) struct Lives {
    /// A call, and an event of another thread that comes before it.
    order: Vec<(EventId, EventId)>,
}

/// Whether the event got its value at this position from the call, and did not bring it.
pub(super) fn is_returned(event: &Event, carried: &Carried) -> bool {
    match (&event.source, carried) {
        (Source::Result(_, parameters), Carried::Arg(position)) => {
            matches!(parameters.get(*position as usize), Some(Parameter::Result | Parameter::Stored(_)))
        }
        _ => false,
    }
}

impl Lives {
    pub(super) fn of(property: &Property, slice: &[&Happening]) -> Lives {
        let mut order = Vec::new();
        // The last event with the value of each parameter, by thread.
        let mut last: FxHashMap<(u8, u64), EventId> = FxHashMap::default();
        for Happening { event: id, thread, act } in slice.iter().copied() {
            let Act::Event(event, _) = act else { continue };
            let event = &property.events[*event as usize];
            for (&param, carried) in event.shape.params.iter().zip(&event.carried) {
                if is_returned(event, carried) {
                    let others = last.iter().filter(|((of, by), _)| *of == param && by != thread);
                    order.extend(others.map(|(_, earlier)| (*id, *earlier)));
                }
                last.insert((param, *thread), *id);
            }
        }
        order.sort_unstable();
        order.dedup();
        Lives { order }
    }

    /// Has steps wait for those that come before them.
    pub(super) fn keep(&self, execution: &Execution, causality: &mut Causality, edges: Option<&mut Edges>) {
        for &(call, earlier) in &self.order {
            let [of, by] = [call, earlier].map(|id| (execution.thread(id).0, id.0));
            causality.require(of, by);
        }
        if let Some(edges) = edges.filter(|_| !self.order.is_empty()) {
            edges.add_all(&self.order);
        }
    }

    /// Whether a schedule has this order.
    pub(super) fn are_kept(&self, schedule: &[EventId]) -> bool {
        if self.order.is_empty() {
            return true;
        }
        let mut places: FxHashMap<EventId, usize> = FxHashMap::default();
        self.order
            .iter()
            .for_each(|&(call, earlier)| places.extend([(call, usize::MAX), (earlier, usize::MAX)]));
        for (at, id) in schedule.iter().enumerate() {
            if let Some(place) = places.get_mut(id) {
                *place = at;
            }
        }
        self.order.iter().all(|(call, earlier)| places[call] == usize::MAX || places[earlier] < places[call])
    }
}
