//! Calls with values: which values of a call an event of a property asks for.
//!
//! A call in a trace says which of the function's parameters it has the values of, as a text ([`Op::Arguments`]); a property names
//! parameters by position or by name. The two are held against each other once for each such text.
//!
//! [`Op::Arguments`]: foresee_trace::Op::Arguments

use foresee_monitor::property::{Parameter, Property, RECEIVER, Source};
use foresee_trace::{Arg, Names, StrId};
use smallvec::SmallVec;

/// What stands for a parameter whose value is not in the trace.
const NOT_RECORDED: &str = "_";
/// What stands before a parameter of which the value is that where it points.
const STORED: char = '*';
/// What Rust calls a receiver.
const RUST_RECEIVER: &str = "self";

/// Which values each event of a property asks for.
#[derive(Clone, Debug)]
pub(super) struct Calls<'p> {
    /// By event, what it asks for, and for each text of the trace where that is among the values.
    events: Vec<Option<(&'p [Parameter], Vec<Picked>)>>,
}

/// Positions of parameters among the values of a call; `None` if one is not there.
type Picked = Option<Box<[u32]>>;

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

/// Whether a call whose parameters are this text has the values of all of these.
pub fn has_values(recorded: &str, parameters: &[Parameter]) -> bool {
    pick(recorded, parameters).is_some()
}

fn pick(recorded: &str, parameters: &[Parameter]) -> Picked {
    let mut declared = 0;
    let mut values = 0;
    let parameters: Vec<&Parameter> =
        parameters.iter().filter(|parameter| **parameter != Parameter::Result).collect();
    let mut picked: Vec<Option<u32>> = vec![None; parameters.len()];
    for name in recorded.split(' ') {
        let has_value = name != NOT_RECORDED;
        let is_receiver = name == RECEIVER;
        for (parameter, place) in parameters.iter().zip(&mut picked).filter(|_| has_value) {
            let is_it = match parameter {
                Parameter::Position(position) => {
                    !is_receiver && *position == declared && !name.starts_with(STORED)
                }
                Parameter::Named(asked) => asked == name || asked == RECEIVER && name == RUST_RECEIVER,
                Parameter::Stored(asked) => name.strip_prefix(STORED) == Some(asked),
                Parameter::Result => false,
            };
            if is_it {
                *place = Some(values);
            }
        }
        declared += u32::from(!is_receiver);
        values += u32::from(has_value);
    }
    picked.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_picked_by_position_and_by_name() {
        let position = Parameter::Position;
        let named = |name: &str| Parameter::Named(name.to_owned());
        let picks = |recorded, parameters: &[Parameter]| pick(recorded, parameters).map(Vec::from);
        assert_eq!(picks("log _ n", &[position(0), position(2)]), Some(vec![0, 1]));
        assert_eq!(picks("log _ n", &[named("n"), named("log")]), Some(vec![1, 0]));
        assert_eq!(picks("log _ n", &[position(1)]), None);
        assert_eq!(picks("log _ n", &[position(3)]), None);
        assert_eq!(picks("log _ n", &[named("_")]), None);
        assert_eq!(picks("this n", &[named("this"), position(0)]), Some(vec![0, 1]));
        assert_eq!(picks("self n", &[named("this"), position(0), position(1)]), Some(vec![0, 0, 1]));
        assert_eq!(picks("some other text", &[named("log")]), None);
        let stored = Parameter::Stored("db".to_owned());
        assert_eq!(picks("name *db", &[stored.clone(), Parameter::Result, position(0)]), Some(vec![1, 0]));
        assert_eq!(picks("name db", &[stored]), None);
        assert_eq!(picks("name *db", &[position(1)]), None);
    }
}
