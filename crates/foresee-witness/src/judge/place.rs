//! Places in the program, by which findings are told apart.

use foresee_trace::{EventId, Execution, LocId, VarId};

/// A place in the program for telling findings apart: a source location or, where the trace has none, the thing touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u64);

impl Place {
    /// The place of an event at `loc`; `target` (an address, a lock's id) stands in for an unknown location.
    #[inline]
    pub fn new(loc: LocId, target: u64) -> Place {
        if loc == LocId::UNKNOWN { Place(1 << 63 | target) } else { Place(u64::from(loc.0)) }
    }

    /// The place of an access to a variable.
    #[inline]
    pub fn of_access(execution: &Execution, access: EventId, var: VarId) -> Place {
        match execution.loc(access) {
            LocId::UNKNOWN => Place::new(LocId::UNKNOWN, execution.mem(var).addr),
            // The variable is not looked up where its address does not count.
            loc => Place::new(loc, 0),
        }
    }

    /// The source location, or [`LocId::UNKNOWN`].
    pub fn loc(self) -> LocId {
        if self.0 >> 62 != 0 { LocId::UNKNOWN } else { LocId(self.0 as u32) }
    }

    /// The place of a verdict: which property, body and handler, by position. Where it came is another place.
    pub fn of_verdict(property: usize, body: usize, handler: usize) -> Place {
        Place(1 << 62 | (property as u64) << 32 | (body as u64 & 0xffff) << 16 | (handler as u64 & 0xffff))
    }

    /// Two places as a key: the order does not matter.
    #[inline]
    pub fn pair(self, other: Place) -> (Place, Place) {
        (self.min(other), self.max(other))
    }
}
