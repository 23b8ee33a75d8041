//! A witness: in memory and between processes in the length of what is not as observed, in documents as a list.
//!
//! A schedule of a long run mostly begins like the observed run; thousands of them together may have billions of events. A
//! document lists them as long as they have no more than [`MOST_LISTED`] indices together; later ones say how many events of
//! the observed run they begin with, and list the rest.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// So many indices of all witnesses together are listed.
pub(crate) const MOST_LISTED: usize = 5_000_000;

/// The schedule that shows a finding; the witness checker has accepted it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Witness {
    /// How many events of the observed run come first.
    observed_prefix: u32,
    /// The events after those, by index. Shared: copies of a report are made to be merged.
    then: Arc<[u32]>,
    /// For an observed program: the same by thread.
    positions: Option<Positions>,
    /// Whether a document is to list all events, or just those after the prefix.
    is_listed: bool,
}

/// A run of an observed program. Threads are the program's, by number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Positions {
    /// How many relevant events of each thread come before.
    pub(crate) after: Vec<(u32, u32)>,
    /// The run: each thread, and the position among its relevant events, from 1.
    pub(crate) events: Vec<(u32, u32)>,
}

impl Witness {
    /// So many events as observed, then these.
    pub(crate) fn new(observed_prefix: u32, then: impl Iterator<Item = u32>) -> Witness {
        Witness { observed_prefix, then: then.collect(), positions: None, is_listed: false }
    }

    /// A run of an observed program: by the numbers that the steps have, and by threads.
    pub(crate) fn observed(events: impl Iterator<Item = u32>, positions: Positions) -> Witness {
        Witness { positions: Some(positions), ..Witness::new(0, events) }
    }

    /// How many events it has.
    pub(crate) fn len(&self) -> usize {
        self.observed_prefix as usize + self.then.len()
    }

    /// All events, in order.
    fn events(&self) -> impl Iterator<Item = u32> {
        (0..self.observed_prefix).chain(self.then.iter().copied())
    }
}

/// Decides which witnesses of a document list all their events.
pub(super) fn list<'w>(witnesses: impl Iterator<Item = &'w mut Witness>) {
    let mut room = MOST_LISTED;
    for witness in witnesses {
        let left = room.checked_sub(witness.len());
        witness.is_listed = left.is_some();
        room = left.unwrap_or(room);
    }
}

/// What a witness is in JSON.
#[derive(Serialize, Deserialize)]
struct Form<E> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observed_prefix: Option<u32>,
    events: E,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Vec<(u32, u32)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    positions: Option<Vec<(u32, u32)>>,
    checked: bool,
}

/// The events without a copy of them.
struct Events<'w>(&'w Witness);

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_listed { to.collect_seq(self.0.events()) } else { to.collect_seq(self.0.then.iter()) }
    }
}

impl Serialize for Witness {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (after, positions) = match &self.positions {
            Some(positions) => (Some(positions.after.clone()), Some(positions.events.clone())),
            None => (None, None),
        };
        let observed_prefix = (!self.is_listed).then_some(self.observed_prefix);
        Form { observed_prefix, events: Events(self), after, positions, checked: true }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Witness {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Witness, D::Error> {
        let form = Form::<Vec<u32>>::deserialize(from)?;
        if !form.checked {
            return Err(D::Error::custom("a witness that was not checked"));
        }
        let positions = form.after.zip(form.positions).map(|(after, events)| Positions { after, events });
        // What was listed begins like the observed run for as long as it does.
        let prefix = form.observed_prefix.unwrap_or(0);
        let as_observed = form.events.iter().zip(u64::from(prefix)..);
        let more = as_observed.take_while(|&(&event, index)| u64::from(event) == index).count();
        let then = form.events[more..].iter().copied();
        Ok(Witness { positions, ..Witness::new(prefix.saturating_add(more as u32), then) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_list_events_as_long_as_there_is_room() {
        let mut all = [
            Witness::new(2, [7, 3].into_iter()),
            Witness::new(MOST_LISTED as u32 - 6, [1].into_iter()),
            Witness::new(1, [2].into_iter()),
            Witness::new(0, [2, 1].into_iter()),
        ];
        let compact: Vec<_> = all.iter().map(|one| serde_json::to_value(one).unwrap()).collect();
        assert_eq!(compact[0], json!({ "observed_prefix": 2, "events": [7, 3], "checked": true }));
        list(all.iter_mut());
        assert_eq!(
            serde_json::to_value(&all[0]).unwrap(),
            json!({ "events": [0, 1, 7, 3], "checked": true })
        );
        assert!(all[1].is_listed && !all[2].is_listed && !all[3].is_listed, "one index is left");
        assert_eq!(serde_json::to_value(&all[2]).unwrap(), compact[2]);
    }

    #[test]
    fn witnesses_come_back_in_their_short_form() {
        for mut one in [
            Witness::new(3, [5, 4].into_iter()),
            Witness::new(0, [2].into_iter()),
            Witness::observed(
                [4, 2].into_iter(),
                Positions { after: vec![(1, 2)], events: vec![(1, 3), (2, 1)] },
            ),
        ] {
            let back: Witness = serde_json::from_value(serde_json::to_value(&one).unwrap()).unwrap();
            assert_eq!(back, one);
            list([&mut one].into_iter());
            let back: Witness = serde_json::from_value(serde_json::to_value(&one).unwrap()).unwrap();
            assert_eq!(back, Witness { is_listed: false, ..one });
        }
        assert!(serde_json::from_value::<Witness>(json!({ "events": [1], "checked": false })).is_err());
    }
}
