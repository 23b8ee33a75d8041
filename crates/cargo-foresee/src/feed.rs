//! From the events of a trace to those that properties speak of.
//!
//! A named event of the trace (`foresee::event!`, `event(…)` in text) is the property's event of that name; reads, writes, locks,
//! threads and calls are the built-in ones. Objects are what the trace knows them by: an address, a lock, a thread. Writes with a
//! value to a static that a property has as `var` assign it.

use foresee_monitor::property::{Builtin, Property, Source};
use foresee_monitor::watch::{FeedError, Verdict, Watch};
use foresee_trace::{Arg, Event, Names, Op, StrId, signed};
use rustc_hash::FxHashMap;

/// What has a name: the same name may be an event of the program's and a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Event,
    Enter,
    Exit,
}

/// One property, fed by a trace.
pub(crate) struct Feed<'p> {
    property: &'p Property,
    watch: Watch<'p>,
    /// The property's events of a name, once the name was met.
    named: FxHashMap<(Named, StrId), Vec<u32>>,
    /// The variable of a symbol's name, once it was met.
    variables: FxHashMap<StrId, Option<usize>>,
    builtin: Vec<(Builtin, u32)>,
}

impl<'p> Feed<'p> {
    pub(crate) fn new(property: &'p Property) -> Feed<'p> {
        let builtin = property.events.iter().zip(0..).filter_map(|(event, index)| match event.source {
            Source::Builtin(builtin) => Some((builtin, index)),
            _ => None,
        });
        Feed {
            property,
            watch: Watch::new(property, |_| None),
            named: FxHashMap::default(),
            variables: FxHashMap::default(),
            builtin: builtin.collect(),
        }
    }

    /// The next event of the trace.
    pub(crate) fn event(
        &mut self,
        names: &Names,
        event: &Event<'_>,
        tell: &mut dyn FnMut(Verdict<'_>),
    ) -> Result<(), FeedError> {
        let thread = u64::from(event.thread.0);
        match event.op {
            Op::Named { name, args } => self.named(Named::Event, name, names, thread, args, tell)?,
            Op::Enter { function } => self.named(Named::Enter, function, names, thread, &[], tell)?,
            Op::Exit { function } => self.named(Named::Exit, function, names, thread, &[], tell)?,
            Op::Acquire { lock, .. } => self.builtin(Builtin::Acquire, thread, &[lock.0.into()], tell)?,
            Op::Release { lock, .. } => self.builtin(Builtin::Release, thread, &[lock.0.into()], tell)?,
            Op::Fork { child } => self.builtin(Builtin::Fork, thread, &[child.0.into()], tell)?,
            Op::Join { child } => self.builtin(Builtin::Join, thread, &[child.0.into()], tell)?,
            Op::ThreadEnd => self.builtin(Builtin::EndThread, thread, &[], tell)?,
            Op::Free { mem } => {
                self.builtin(Builtin::EndObject, thread, &[mem.addr], tell)?;
                self.watch.object_gone(mem.addr);
            }
            _ => {}
        }
        if let Some(access) = event.op.access()
            && let Some(mem) = event.op.mem()
            && !matches!(event.op, Op::Free { .. })
        {
            if access.reads {
                self.builtin(Builtin::Read, thread, &[mem.addr], tell)?;
            }
            if access.writes {
                self.builtin(Builtin::Write, thread, &[mem.addr], tell)?;
                self.assign(names, event, thread, tell);
            }
        }
        Ok(())
    }

    /// The trace has ended.
    pub(crate) fn end(&mut self, tell: &mut dyn FnMut(Verdict<'_>)) -> Result<(), FeedError> {
        self.builtin(Builtin::EndProgram, 0, &[], tell)
    }

    fn builtin(
        &mut self,
        what: Builtin,
        thread: u64,
        values: &[u64],
        tell: &mut dyn FnMut(Verdict<'_>),
    ) -> Result<(), FeedError> {
        for &(builtin, event) in &self.builtin {
            if builtin == what {
                self.watch.event(event, thread, values, tell)?;
            }
        }
        Ok(())
    }

    /// Feeds all events of this kind and name.
    fn named(
        &mut self,
        kind: Named,
        name: StrId,
        names: &Names,
        thread: u64,
        args: &[Arg],
        tell: &mut dyn FnMut(Verdict<'_>),
    ) -> Result<(), FeedError> {
        let property = self.property;
        let events = self.named.entry((kind, name)).or_insert_with(|| {
            let name = names.str(name);
            let is_it = |source: &Source| match (kind, source) {
                (Named::Event, Source::Named(event)) => event == name,
                (Named::Enter, Source::Enter(function)) | (Named::Exit, Source::Exit(function)) => {
                    is_called(name, function)
                }
                _ => false,
            };
            let events = property.events.iter().zip(0..);
            events.filter(|(event, _)| is_it(&event.source)).map(|(_, index)| index).collect()
        });
        if events.is_empty() {
            return Ok(());
        }
        let values: Vec<u64> = args.iter().map(value).collect();
        for &event in events.iter() {
            self.watch.event(event, thread, &values, tell)?;
        }
        Ok(())
    }

    fn assign(&mut self, names: &Names, event: &Event<'_>, thread: u64, tell: &mut dyn FnMut(Verdict<'_>)) {
        let (mem, value) = match event.op {
            Op::Write { mem, value: Some(value) } | Op::Store { mem, value: Some(value), .. } => (mem, value),
            Op::Rmw { mem, values: Some((_, value)), .. } => (mem, value),
            _ => return,
        };
        let Some(symbol) = names.symbol_at(mem.addr).filter(|symbol| symbol.mem.addr == mem.addr) else {
            return;
        };
        let property = self.property;
        let variable = *self.variables.entry(symbol.name).or_insert_with(|| {
            property.vars.iter().position(|var| is_called(names.str(symbol.name), &var.name))
        });
        if let Some(variable) = variable {
            self.watch.assign(variable, signed(value, mem.size), thread, tell);
        }
    }
}

/// Whether a path is what a spec calls by its last parts: `tower::RADIO` is `RADIO`, too.
fn is_called(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with("::"))
}

fn value(arg: &Arg) -> u64 {
    match *arg {
        Arg::Int(number) => number as u64,
        Arg::Object(object) => object,
        Arg::Str(text) => text.0.into(),
    }
}
