//! Calls with values: which values of a call an event of a property asks for.
//!
//! A call in a trace says which of the function's parameters it has the values of, as a text ([`Op::Arguments`]); a property names
//! parameters by position or by name. The two are held against each other once for each such text.
//!
//! [`Op::Arguments`]: foresee_trace::Op::Arguments

use foresee_monitor::property::{Parameter, Property, Source};
use foresee_monitor::recorded_values::{Picked, pick};
use foresee_trace::{Arg, Names, StrId};
use smallvec::SmallVec;

/// Which values each event of a property asks for.
#[derive(Clone, Debug)]
pub(super) struct Calls<'p> {
    /// By event, what it asks for, and for each text of the trace where that is among the values.
    events: Vec<Option<(&'p [Parameter], Vec<Picked>)>>,
}

impl<'p> Calls<'p> {
    pub(super) fn new(property: &'p Property) -> Calls<'p> {
        let asked = property.events.iter().map(|event| match &event.source {
            Source::Arguments(_, parameters) | Source::Result(_, parameters) => {
                Some((&parameters[..], Vec::new()))
            }
            _ => None,
        });
        Calls { events: asked.collect() }
    }

    pub(super) fn learn(&mut self, names: &Names) {
        for (parameters, picked) in self.events.iter_mut().flatten() {
            for id in picked.len()..names.string_count() {
                picked.push(pick(names.str(StrId(id as u32)), parameters));
            }
        }
    }

    /// The values that an event asks for, of a call or a return that has these.
    pub(super) fn picked(&self, event: u32, args: &[Arg]) -> Option<SmallVec<[Arg; 4]>> {
        let (parameters, picked) = self.events.get(event as usize)?.as_ref()?;
        // A call has the names of its parameters first; a return its result, and then those of parameters, if there are any.
        let (result, rest) = match args {
            [Arg::Str(_), ..] => (None, args),
            [result, rest @ ..] => (Some(*result), rest),
            [] => (None, args),
        };
        let positions = match rest {
            [Arg::Str(recorded), ..] => picked.get(recorded.index())?.as_deref()?,
            _ => &[],
        };
        let mut positions = positions.iter();
        let value = |parameter: &Parameter| match parameter {
            Parameter::Result => result,
            _ => rest.get(1 + *positions.next()? as usize).copied(),
        };
        parameters.iter().map(value).collect()
    }
}
