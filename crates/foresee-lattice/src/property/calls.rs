//! Calls with values: which values of a call an event of a property asks for.
//!
//! A call in a trace says which of the function's parameters it has the values of, as a text ([`Op::Arguments`]); a property names
//! parameters by position or by name. The two are held against each other once for each such text.
//!
//! [`Op::Arguments`]: foresee_trace::Op::Arguments

use foresee_monitor::property::{Parameter, Property, Source};
use foresee_monitor::recorded_values::{Picked, call_number, is_given, pick};
use foresee_trace::{Arg, Names, StrId};
use smallvec::SmallVec;

/// Which values each event of a property asks for.
#[derive(Clone, Debug)]
pub(super) struct Calls<'p> {
    /// By event, what it asks for, and for each text of the trace where that is among the values.
    events: Vec<Option<(&'p [Parameter], Vec<Picked>)>>,
    /// For each text of the trace, where the number of the call is among the values.
    numbers: Vec<Option<u32>>,
}

impl<'p> Calls<'p> {
    pub(super) fn new(property: &'p Property) -> Calls<'p> {
        let asked = property.events.iter().map(|event| match &event.source {
            Source::Arguments(_, parameters) | Source::Result(_, parameters) => {
                Some((&parameters[..], Vec::new()))
            }
            _ => None,
        });
        Calls { events: asked.collect(), numbers: Vec::new() }
    }

    pub(super) fn learn(&mut self, names: &Names) {
        for id in self.numbers.len()..names.string_count() {
            self.numbers.push(call_number(names.str(StrId(id as u32))));
        }
        for (parameters, picked) in self.events.iter_mut().flatten() {
            for id in picked.len()..names.string_count() {
                picked.push(pick(names.str(StrId(id as u32)), parameters));
            }
        }
    }

    /// The values that an event asks for, of a call or a return that has these.
    pub(super) fn picked(&self, event: u32, args: &[Arg]) -> Option<SmallVec<[Arg; 4]>> {
        let (parameters, picked) = self.events.get(event as usize)?.as_ref()?;
        let (result, rest) = parts(args);
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

    /// The number of a call or a return that has these values, if it has one.
    pub(super) fn number(&self, args: &[Arg]) -> Option<u64> {
        let (_, rest) = parts(args);
        let [Arg::Str(recorded), values @ ..] = rest else { return None };
        let at = self.numbers.get(recorded.index()).copied().flatten()?;
        match values.get(at as usize)? {
            Arg::Int(number) => Some(*number as u64),
            Arg::Object(_) | Arg::Str(_) => None,
        }
    }

    /// Whether the value of this position, of an event that is a return, is what the call was given.
    pub(super) fn is_given(&self, event: u32, position: usize) -> bool {
        let of_event = self.events.get(event as usize).and_then(Option::as_ref);
        of_event.and_then(|(parameters, _)| parameters.get(position)).is_some_and(is_given)
    }
}

/// A call has the names of its parameters first; a return its result, and then those of parameters, if there are any.
fn parts(args: &[Arg]) -> (Option<Arg>, &[Arg]) {
    match args {
        [Arg::Str(_), ..] | [] => (None, args),
        [result, rest @ ..] => (Some(*result), rest),
    }
}
