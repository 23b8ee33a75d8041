//! From the events of a trace to those of a property.
//!
//! A named event of the trace (`foresee::event!`, `event(…)` in text) is the property's event of that name; reads, writes, locks,
//! threads and calls are the built-in ones; the values of calls: [`calls`](super::calls). What objects are known by: [`foresee_monitor::objects`]. A write with a value to a
//! static that a property has as `var` assigns it.
//!
//! Names are looked at once, when they become known ([`Translator::learn`]); an event that the property does not ask for costs
//! one look into a table.

use foresee_monitor::objects::Objects;
use foresee_monitor::property::{Builtin, Carried, Property, Source};
use foresee_monitor::watch::FeedError;
use foresee_trace::raw::PROCESS;
use foresee_trace::{
    Arg, Event, Facts, FunctionPattern, LocId, LockId, Mem, Names, Op, StrId, ThreadId, signed,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::as_recorded::FirstValues;
use super::calls::Calls;
use crate::variables::{UnknownValue, Variables, number};

/// What happens, in the property's terms; by the thread of the trace's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyEvent<'a> {
    /// An event of the property, with what it carries.
    Event(u32, &'a [u64]),
    /// A variable of the property gets a value.
    Assign(usize, i64),
    /// An object's life ends.
    Gone(u64),
}

/// What values of a parameter are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    Thread,
    Number,
    /// What an event of the program's own carries as a number.
    NumberOrLife,
    Lock,
    #[default]
    Object,
}

/// The property's events (or texts) with a name, for each string of the trace.
#[derive(Clone, Debug, Default)]
struct ByName {
    /// A position in `lists`; 0 is the empty one.
    of: Vec<u32>,
    lists: Vec<Vec<u32>>,
}

impl ByName {
    fn learn(&mut self, names: &Names, events: impl Fn(&str) -> Vec<u32>) {
        if self.lists.is_empty() {
            self.lists.push(Vec::new());
        }
        for id in self.of.len()..names.string_count() {
            let events = events(names.str(StrId(id as u32)));
            let list = if events.is_empty() {
                0
            } else {
                self.lists.push(events);
                self.lists.len() as u32 - 1
            };
            self.of.push(list);
        }
    }

    #[inline]
    fn events(&self, name: StrId) -> &[u32] {
        match self.of.get(name.index()) {
            Some(0) | None => &[],
            Some(list) => &self.lists[*list as usize],
        }
    }
}

/// Which events a property wants.
#[derive(Clone, Copy, Debug, Default)]
struct Wants {
    functions: bool,
    calls: bool,
    memory: bool,
    locks: bool,
    threads: bool,
    deaths: bool,
}

/// Translates the events of a trace for one property.
#[derive(Clone, Debug)]
pub struct Translator<'p> {
    property: &'p Property,
    wants: Wants,
    builtin: Vec<(Builtin, u32)>,
    named: ByName,
    entered: ByName,
    left: ByName,
    called: ByName,
    returned: ByName,
    /// The property's own texts.
    texts: ByName,
    calls: Calls<'p>,
    /// The functions that the property's events name, by event.
    functions: Vec<Vec<FunctionPattern>>,
    variables: Variables,
    /// Which of them are never negative.
    unsigned: Vec<bool>,
    /// The variables that were written since they had a value which is known: by a copy, or together with others.
    unknown: Vec<UnknownValue>,
    /// One of them, if anything happened meanwhile.
    relied_on: Option<UnknownValue>,
    /// The address of each lock, where it is known.
    lock_places: Vec<Option<u64>>,
    /// The lock last known at an address.
    pub(super) locks: FxHashMap<u64, LockId>,
    pub(super) objects: Objects,
    /// Per parameter.
    pub(super) sorts: Vec<Sort>,
}

impl<'p> Translator<'p> {
    /// For this property.
    pub fn new(property: &'p Property) -> Translator<'p> {
        let builtin: Vec<_> = (property.events.iter().zip(0..))
            .filter_map(|(event, index)| match event.source {
                Source::Builtin(builtin) => Some((builtin, index)),
                _ => None,
            })
            .collect();
        let wants_any = |some: &[Builtin]| builtin.iter().any(|(this, _)| some.contains(this));
        let wants = Wants {
            functions: (property.events.iter())
                .any(|event| matches!(event.source, Source::Enter(_) | Source::Exit(_))),
            calls: (property.events.iter())
                .any(|event| matches!(event.source, Source::Arguments(..) | Source::Result(..))),
            memory: wants_any(&[Builtin::Read, Builtin::Write]) || !property.vars.is_empty(),
            locks: wants_any(&[Builtin::Acquire, Builtin::Release]),
            threads: wants_any(&[Builtin::Fork, Builtin::Join, Builtin::EndThread]),
            deaths: wants_any(&[Builtin::EndObject]),
        };
        let mut sorts = vec![Sort::Object; property.params.len()];
        for event in &property.events {
            for (param, carried) in event.shape.params.iter().zip(&event.carried) {
                let sort = match (&event.source, carried) {
                    (_, Carried::Thread)
                    | (Source::Builtin(Builtin::Fork | Builtin::Join), Carried::Arg(_)) => Sort::Thread,
                    (Source::Builtin(Builtin::Read | Builtin::Write), Carried::Arg(1)) => Sort::Number,
                    (Source::Builtin(Builtin::Acquire | Builtin::Release), Carried::Arg(_)) => Sort::Lock,
                    _ => continue,
                };
                sorts[*param as usize] = sort;
            }
        }
        Translator {
            property,
            wants,
            builtin,
            named: ByName::default(),
            entered: ByName::default(),
            left: ByName::default(),
            called: ByName::default(),
            returned: ByName::default(),
            texts: ByName::default(),
            calls: Calls::new(property),
            functions: property.events.iter().map(functions).collect(),
            variables: Variables::new(property.vars.iter().map(|var| var.name.as_str())),
            unsigned: property.vars.iter().map(|var| var.is_unsigned).collect(),
            unknown: Vec::new(),
            relied_on: None,
            lock_places: Vec::new(),
            locks: FxHashMap::default(),
            objects: Objects::default(),
            sorts,
        }
    }

    /// The property.
    pub fn property(&self) -> &'p Property {
        self.property
    }

    /// The variables of the property that the trace, as far as it is known, has nothing by the name of.
    pub fn unknown_variables(&self) -> impl Iterator<Item = &'p str> + '_ {
        self.variables.unknown().map(|number| self.property.vars[number].name.as_str())
    }

    /// The variables of the property that the recorded program does not have: nothing has their name, and nobody says with which value they began. A trace that was
    /// not recorded is no program: what it does not mention keeps its first value.
    pub fn missing_variables(&self, facts: &Facts) -> impl Iterator<Item = &'p str> + '_ {
        let of_program = FirstValues::of(facts);
        let variables = is_recorded(facts).then(|| self.unknown_variables()).into_iter().flatten();
        let began: Vec<&str> = (self.property.vars.iter())
            .filter(|var| of_program.get(&var.name).is_some())
            .map(|var| var.name.as_str())
            .collect();
        variables.filter(move |variable| !began.contains(variable))
    }

    /// A variable that is not 0 at first in the recorded program, and of which the property does not say what it is, with that value.
    pub fn undeclared_value(&self, facts: &Facts) -> Option<(&'p str, i64)> {
        let of_program = FirstValues::of(facts);
        let undeclared = self.property.vars.iter().filter(|var| var.initial.is_none());
        undeclared.into_iter().find_map(|var| {
            let first = of_program.get(&var.name).filter(|first| first.value != 0)?;
            Some((var.name.as_str(), first.value))
        })
    }

    /// The variables of the property that several variables of the trace may be, with the names of these. Nothing is assigned to them.
    pub fn ambiguous_variables(&self) -> impl Iterator<Item = (&'p str, Vec<&str>)> + '_ {
        self.variables.ambiguous().map(|(number, those)| (self.property.vars[number].name.as_str(), those))
    }

    /// Takes in what a recording says of its variables. To be called before the first event.
    pub fn learn_facts(&mut self, facts: &Facts) {
        let of_program = FirstValues::of(facts);
        for (var, unsigned) in self.property.vars.iter().zip(&mut self.unsigned) {
            *unsigned |= of_program.get(&var.name).is_some_and(|first| first.is_unsigned);
        }
    }

    /// Takes in names that are new since the last call. To be called before an event that uses them.
    #[inline]
    pub fn learn(&mut self, names: &Names) {
        let known = self.named.of.len() == names.string_count()
            && self.variables.learned() == names.symbols().len()
            && self.lock_places.len() == names.locks().len();
        if !known {
            self.learn_new(names);
        }
    }

    #[cold]
    fn learn_new(&mut self, names: &Names) {
        let events = &self.property.events;
        let all = |is_it: &dyn Fn(&Source) -> bool| -> Vec<u32> {
            let found = events.iter().zip(0..).filter(|(event, _)| is_it(&event.source));
            found.map(|(_, index)| index).collect()
        };
        self.named.learn(names, |text| all(&|source| matches!(source, Source::Named(name) if name == text)));
        let texts = || self.property.texts.iter().zip(0..);
        self.texts.learn(names, |text| texts().filter(|(own, _)| *own == text).map(|(_, at)| at).collect());
        if self.wants.functions || self.wants.calls {
            let functions = &self.functions;
            let called = |text: &str, is_it: fn(&Source) -> bool| -> Vec<u32> {
                let of_kind =
                    events.iter().zip(functions).zip(0..).filter(|((event, _), _)| is_it(&event.source));
                let meant = of_kind
                    .filter(|((_, functions), _)| functions.iter().any(|function| function.matches(text)));
                meant.map(|(_, index)| index).collect()
            };
            self.entered.learn(names, |text| called(text, |source| matches!(source, Source::Enter(_))));
            self.left.learn(names, |text| called(text, |source| matches!(source, Source::Exit(_))));
            self.called.learn(names, |text| called(text, |source| matches!(source, Source::Arguments(..))));
            self.returned.learn(names, |text| called(text, |source| matches!(source, Source::Result(..))));
            self.calls.learn(names);
        }
        self.variables.learn(names);
        for lock in self.lock_places.len()..names.locks().len() {
            let lock = LockId(lock as u32);
            let place = place_of_lock(names, lock);
            self.locks.extend(place.map(|addr| (addr, lock)));
            self.lock_places.push(place);
        }
    }

    /// Whether the property has a named event that the trace calls so.
    pub fn knows(&self, name: StrId) -> bool {
        !self.named.events(name).is_empty()
    }

    /// The next event of the trace: what it is to the property, in order. Fails, without telling the rest, for a named event with
    /// too few or too many values.
    #[inline]
    pub fn event(
        &mut self,
        event: &Event<'_>,
        mut visit: impl FnMut(PropertyEvent<'_>),
    ) -> Result<(), FeedError> {
        let by = (event.thread, event.loc);
        match event.op {
            Op::Named { name, args } => return self.named(name, args, &mut visit),
            Op::Enter { function } if self.wants.functions => {
                self.entered
                    .events(function)
                    .iter()
                    .for_each(|&event| visit(PropertyEvent::Event(event, &[])));
            }
            Op::Exit { function } if self.wants.functions => {
                self.left.events(function).iter().for_each(|&event| visit(PropertyEvent::Event(event, &[])));
            }
            Op::Arguments { function, args } if self.wants.calls => {
                return self.call(Called::Enters, function, args, &mut visit);
            }
            Op::Result { function, args } if self.wants.calls => {
                return self.call(Called::Returns, function, args, &mut visit);
            }
            Op::Acquire { lock, .. } if self.wants.locks => self.lock(Builtin::Acquire, lock, &mut visit),
            Op::Release { lock, .. } if self.wants.locks => self.lock(Builtin::Release, lock, &mut visit),
            Op::Fork { child } if self.wants.threads => {
                self.builtin(Builtin::Fork, &[child.0.into()], &mut visit);
            }
            Op::Join { child } if self.wants.threads => {
                self.builtin(Builtin::Join, &[child.0.into()], &mut visit);
            }
            Op::ThreadEnd if self.wants.threads => self.builtin(Builtin::EndThread, &[], &mut visit),
            Op::Free { mem } => self.free(mem, &mut visit),
            Op::Read { mem, value } | Op::Load { mem, value, .. } if self.wants.memory => {
                self.access(Builtin::Read, mem, value, by, &mut visit);
            }
            Op::Write { mem, value } | Op::Store { mem, value, .. } if self.wants.memory => {
                self.access(Builtin::Write, mem, value, by, &mut visit);
            }
            Op::Rmw { mem, values, .. } if self.wants.memory => {
                self.access(Builtin::Read, mem, values.map(|(read, _)| read), by, &mut visit);
                self.access(Builtin::Write, mem, values.map(|(_, written)| written), by, &mut visit);
            }
            _ => {}
        }
        Ok(())
    }

    /// The trace has ended.
    pub fn end(&mut self, mut visit: impl FnMut(PropertyEvent<'_>)) {
        self.builtin(Builtin::EndProgram, &[], &mut visit);
    }

    /// Those of the property's events that are this one and carry as many values.
    fn builtin(&self, what: Builtin, values: &[u64], visit: &mut impl FnMut(PropertyEvent<'_>)) {
        for &(builtin, event) in &self.builtin {
            if builtin == what && self.property.events[event as usize].arity == values.len() {
                visit(PropertyEvent::Event(event, values));
            }
        }
    }

    fn named(
        &mut self,
        name: StrId,
        args: &[Arg],
        visit: &mut impl FnMut(PropertyEvent<'_>),
    ) -> Result<(), FeedError> {
        let events = self.named.events(name);
        if events.is_empty() {
            return Ok(());
        }
        let values: SmallVec<[u64; 4]> =
            args.iter().map(|arg| value(&mut self.objects, &self.texts, *arg)).collect();
        for &event in events {
            deliver(self.property, &mut self.sorts, event, args, &values, visit)?;
        }
        Ok(())
    }

    /// A call or a return that carries values is each of these events.
    fn call(
        &mut self,
        which: Called,
        function: StrId,
        args: &[Arg],
        visit: &mut impl FnMut(PropertyEvent<'_>),
    ) -> Result<(), FeedError> {
        match which {
            Called::Enters => {
                if !self.returned.events(function).is_empty()
                    && let Some(call) = self.calls.number(args)
                {
                    let given = args.iter().filter_map(|arg| match arg {
                        Arg::Object(addr) => Some(*addr),
                        Arg::Int(_) | Arg::Str(_) => None,
                    });
                    self.objects.call_begins(call, given, |gone| visit(PropertyEvent::Gone(gone)));
                }
                self.call_events(which, function, args, None, visit)
            }
            Called::Returns => {
                if self.returned.events(function).is_empty() {
                    return Ok(());
                }
                let call = self.calls.number(args);
                let told = self.call_events(which, function, args, call, visit);
                if let Some(call) = call {
                    self.objects.call_ends(call, |gone| visit(PropertyEvent::Gone(gone)));
                }
                told
            }
        }
    }

    /// The events of a call; of a return, with the number of the call.
    fn call_events(
        &mut self,
        which: Called,
        function: StrId,
        args: &[Arg],
        call: Option<u64>,
        visit: &mut impl FnMut(PropertyEvent<'_>),
    ) -> Result<(), FeedError> {
        let events = match which {
            Called::Enters => &self.called,
            Called::Returns => &self.returned,
        };
        for &event in events.events(function) {
            let Some(found) = self.calls.picked(event, args) else {
                let event = self.property.events[event as usize].name.clone();
                return Err(FeedError::NotRecorded { event });
            };
            let (objects, calls) = (&mut self.objects, &self.calls);
            let value = |(position, arg): (usize, &Arg)| match (call, *arg) {
                (Some(call), Arg::Object(addr)) if calls.is_given(event, position) => {
                    objects.given(call, addr)
                }
                (_, arg) => value(objects, &self.texts, arg),
            };
            let values: SmallVec<[u64; 4]> = found.iter().enumerate().map(value).collect();
            deliver(self.property, &mut self.sorts, event, &found, &values, visit)?;
        }
        Ok(())
    }

    fn lock(&mut self, what: Builtin, lock: LockId, visit: &mut impl FnMut(PropertyEvent<'_>)) {
        let object = match self.lock_places.get(lock.index()).copied().flatten() {
            Some(addr) => self.objects.lock_at(addr, lock.0, |before| visit(PropertyEvent::Gone(before))),
            None => Objects::lock(lock.0),
        };
        self.builtin(what, &[object], visit);
    }

    fn free(&mut self, mem: Mem, visit: &mut impl FnMut(PropertyEvent<'_>)) {
        if self.wants.deaths {
            // The block itself counts, mentioned or not.
            self.objects.at(mem.addr);
        }
        for object in self.objects.in_block(mem.addr, mem.size.into()) {
            self.builtin(Builtin::EndObject, &[object], visit);
            if self.objects.end(object) {
                visit(PropertyEvent::Gone(object));
            }
        }
    }

    fn access(
        &mut self,
        what: Builtin,
        mem: Mem,
        value: Option<u64>,
        by: (ThreadId, LocId),
        visit: &mut impl FnMut(PropertyEvent<'_>),
    ) {
        if self.builtin.iter().any(|(builtin, _)| *builtin == what) {
            let object = self.objects.at(mem.addr);
            self.builtin(what, &[object], visit);
            if let Some(value) = value {
                self.builtin(what, &[object, signed(value, mem.size) as u64], visit);
            }
        }
        if what == Builtin::Write {
            for (var, is_all) in self.variables.within(mem) {
                match self.unknown.iter().find(|unknown| unknown.var == var) {
                    // What a copy has written is recorded behind it.
                    Some(unknown) if unknown.by == by && value.is_some() => {}
                    // What it was before nobody has seen, and nobody will.
                    Some(unknown) => self.relied_on = self.relied_on.or(Some(*unknown)),
                    None => self.unknown.push(UnknownValue { var, is_all, by }),
                }
            }
        }
        // Who reads a variable that is not known learns what was written.
        let Some(value) = value.filter(|_| what == Builtin::Write || !self.unknown.is_empty()) else {
            return;
        };
        for var in self.variables.at(mem) {
            if what == Builtin::Write || self.unknown.iter().any(|unknown| unknown.var == var) {
                self.unknown.retain(|unknown| unknown.var != var);
                self.relied_on = self.relied_on.or(self.unknown.first().copied());
                let value = number(value, mem, self.unsigned[var as usize]);
                visit(PropertyEvent::Assign(var as usize, value));
            }
        }
    }

    /// Why it is so, if the value of a variable was not known when another was assigned, or is not known now.
    pub fn unknown_value(&self) -> Option<String> {
        let unknown = self.relied_on.or(self.unknown.first().copied())?;
        Some(unknown.why(&self.property.vars[unknown.var as usize].name))
    }
}

/// Whether a trace with these facts was recorded from a program.
pub fn is_recorded(facts: &Facts) -> bool {
    facts.iter().any(|(name, _)| name == PROCESS)
}

/// What a property knows an argument by.
fn value(objects: &mut Objects, texts: &ByName, arg: Arg) -> u64 {
    match arg {
        Arg::Int(number) => number as u64,
        Arg::Object(addr) => objects.at(addr),
        Arg::Str(text) => match texts.events(text).first() {
            Some(&own) => Objects::text(own as usize),
            None => Objects::string(text.0),
        },
    }
}

/// Tells of an event with these arguments, `values` to the property.
fn deliver(
    property: &Property,
    sorts: &mut [Sort],
    event: u32,
    args: &[Arg],
    values: &[u64],
    visit: &mut impl FnMut(PropertyEvent<'_>),
) -> Result<(), FeedError> {
    let declared = &property.events[event as usize];
    if declared.arity != values.len() {
        let (expected, found) = (declared.arity, values.len());
        return Err(FeedError::Arity { event: declared.name.clone(), expected, found });
    }
    for (param, carried) in declared.shape.params.iter().zip(&declared.carried) {
        if let Carried::Arg(position) = carried
            && let Some(Arg::Int(_)) = args.get(*position as usize)
        {
            let is_named = matches!(declared.source, Source::Named(_));
            sorts[*param as usize] = if is_named { Sort::NumberOrLife } else { Sort::Number };
        }
    }
    visit(PropertyEvent::Event(event, values));
    Ok(())
}

/// Whether a function begins or has come back.
#[derive(Clone, Copy)]
enum Called {
    Enters,
    Returns,
}

/// The functions that an event is about.
fn functions(event: &foresee_monitor::property::Event) -> Vec<FunctionPattern> {
    match &event.source {
        Source::Enter(functions)
        | Source::Exit(functions)
        | Source::Arguments(functions, _)
        | Source::Result(functions, _) => {
            functions.iter().map(|function| FunctionPattern::new(function)).collect()
        }
        Source::Named(_) | Source::Builtin(_) => Vec::new(),
    }
}

/// The address of a lock: in its name, or that of the static it is.
fn place_of_lock(names: &Names, lock: LockId) -> Option<u64> {
    if let Some(unnamed) = names.unnamed_lock(lock) {
        return Some(unnamed.addr);
    }
    let symbol = names.symbol_named(*names.locks().get(lock.index())?)?;
    (!symbol.is_symbolic()).then_some(symbol.mem.addr)
}
