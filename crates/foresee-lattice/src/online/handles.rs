//! Values that calls return, for clocks: a call that returned one comes after all earlier events with it (see `lives`, which says why).
//!
//! It is as if the call wrote a variable, and the others read it.

use foresee_monitor::property::{Carried, Event, Property};

use super::message::Act;
use crate::lives::is_returned;

/// What an event carries for a parameter whose values calls return.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    pub(super) param: u8,
    pub(super) value: u64,
    /// The event is the call that has returned it.
    pub(super) is_returned: bool,
}

/// The parameters whose values calls return.
pub(super) fn returned(property: &Property) -> Vec<u8> {
    let of = |event: &Event| -> Vec<u8> {
        let carried = event.shape.params.iter().zip(&event.carried);
        carried.filter(|(_, carried)| is_returned(event, carried)).map(|(param, _)| *param).collect()
    };
    let mut all: Vec<u8> = property.events.iter().flat_map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What acts carry for these parameters.
pub(super) fn carried(property: &Property, returned: &[u8], acts: &[Act]) -> Vec<Handle> {
    let mut all = Vec::new();
    for act in acts {
        let Act::Event(event, values) = act else { continue };
        let event = &property.events[*event as usize];
        for (&param, carried) in event.shape.params.iter().zip(&event.carried) {
            if let Carried::Arg(position) = carried
                && returned.contains(&param)
                && let Some(&value) = values.get(*position as usize)
            {
                all.push(Handle { param, value, is_returned: is_returned(event, carried) });
            }
        }
    }
    all
}
