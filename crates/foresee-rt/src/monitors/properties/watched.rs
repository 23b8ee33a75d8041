//! One property, and all that it has been told.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use foresee_monitor::handler_text::{number_text, numbered, says_with};
use foresee_monitor::objects::{Object, Objects};
use foresee_monitor::property::{Action, Builtin, Carried, Handler, Property, Source};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::watch::{FeedError, Verdict, Watch};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::pending;
use super::plan::Plan;
use super::values::{self, Value};
use crate::monitors::doing::Doing;
use crate::monitors::functions::Function;
use crate::monitors::spin::{Held, Spin};
use crate::monitors::verdicts::{self, Found};
use crate::{clock, variables};

/// A property.
pub(super) struct Watched {
    number: usize,
    pub(super) property: &'static Property,
    /// What its handlers call.
    pub(super) functions: Vec<Function>,
    /// It has been told of an object: what is freed may be one.
    has_objects: AtomicBool,
    told: Spin<Told>,
}

/// What values of a parameter are, for people.
#[derive(Clone, Copy)]
enum Sort {
    Object,
    Number,
    /// What an event of the program's own carries as a number.
    NumberOrLife,
    Thread,
}

/// What it has been told.
struct Told {
    watch: Watch<'static>,
    objects: Objects,
    /// By parameter.
    sorts: Vec<Sort>,
    /// A variable whose value is not known, or was not when something was told.
    unknown: Option<&'static str>,
    /// How often each handler had its verdict at each place.
    seen: FxHashMap<(usize, usize, u64), u64>,
    /// Events, those that did not fit, and instances that were given up.
    counts: [u64; 3],
}

/// A verdict, until the event has been told.
struct Heard {
    body: usize,
    handler: usize,
    domain: ParamSet,
    values: SmallVec<[u64; 4]>,
}

impl Watched {
    pub(super) fn new(number: usize, property: &'static Property, plan: &Plan) -> Watched {
        let handlers = property.bodies.iter().flat_map(|body| &body.handlers);
        let named = handlers.flat_map(|handler| &handler.actions).filter_map(|action| match action {
            Action::Call(name) | Action::Recover(name) => Some(name),
            _ => None,
        });
        let first = |name: &str| variables::all().iter().find(|variable| variable.name == name)?.value();
        let mut sorts = vec![Sort::Object; property.params.len()];
        for event in &property.events {
            let is_about_threads = matches!(event.source, Source::Builtin(Builtin::Fork | Builtin::Join));
            for (param, carried) in event.shape.params.iter().zip(&event.carried) {
                if is_about_threads || *carried == Carried::Thread {
                    sorts[usize::from(*param)] = Sort::Thread;
                }
            }
        }
        Watched {
            number,
            property,
            functions: named.map(|name| Function::new(name.clone(), plan.function(name))).collect(),
            has_objects: AtomicBool::new(false),
            told: Spin::new(Told {
                watch: Watch::new(property, first),
                objects: Objects::default(),
                sorts,
                unknown: None,
                seen: FxHashMap::default(),
                counts: [0; 3],
            }),
        }
    }

    /// The handler of this position.
    pub(super) fn handler(&self, body: usize, handler: usize) -> Option<&'static Handler> {
        self.property.bodies.get(body)?.handlers.get(handler)
    }

    /// An event of the property happens.
    pub(super) fn event(&self, doing: Doing, event: u32, carried: &[Value]) {
        let mut told = self.told.lock();
        let mut values = SmallVec::new();
        told.values(self, event, carried, &mut values);
        self.tell(told, doing, event, &values);
    }

    fn tell(&self, mut told: Held<'_, Told>, doing: Doing, event: u32, values: &[u64]) {
        let mut heard: SmallVec<[Heard; 1]> = SmallVec::new();
        told.counts[0] += 1;
        if self.property.is_timed() {
            told.watch.at(clock::nanoseconds());
        }
        let thread = doing.thread.into();
        let fed = told.watch.event(event, thread, values, &mut |verdict| hear(&mut heard, verdict));
        match fed {
            Ok(()) => {}
            Err(FeedError::GaveUp { .. }) => told.counts[2] += 1,
            Err(_) => told.counts[1] += 1,
        }
        told.say(self, doing, &heard);
    }

    /// A variable of the property is this from now on, if that is known.
    pub(super) fn assign(&self, doing: Doing, var: usize, value: Option<i64>) {
        let mut told = self.told.lock();
        let mut heard: SmallVec<[Heard; 1]> = SmallVec::new();
        let Some(value) = value else {
            told.unknown = told.unknown.or(self.property.vars.get(var).map(|var| var.name.as_str()));
            return;
        };
        told.counts[0] += 1;
        told.watch.assign(var, value, doing.thread.into(), &mut |verdict| hear(&mut heard, verdict));
        told.say(self, doing, &heard);
    }

    /// Memory is given back: the objects in it are gone.
    pub(super) fn freed(&self, doing: Doing, addr: u64, size: u64) {
        if !self.has_objects.load(Relaxed) {
            return;
        }
        let objects = self.told.lock().objects.in_block(addr, size);
        for object in objects {
            for event in self.builtin(Builtin::EndObject, 1) {
                self.tell(self.told.lock(), doing, event, &[object]);
            }
            let mut told = self.told.lock();
            if told.objects.end(object) {
                told.watch.object_gone(object);
            }
        }
    }

    /// A call begins with these values: which objects are there is asked when it returns.
    pub(super) fn call_begins(&self, call: u64, values: &[Value]) {
        let addrs = values.iter().filter_map(|value| match value {
            Value::Object(addr) => Some(*addr),
            Value::Number(_) | Value::Given { .. } | Value::Text(_) => None,
        });
        self.has_objects.store(true, Relaxed);
        let mut told = self.told.lock();
        let Told { watch, objects, .. } = &mut *told;
        objects.call_begins(call, addrs, |gone| _ = watch.object_gone(gone));
    }

    /// Such a call has returned, and has been told.
    pub(super) fn call_ends(&self, call: u64) {
        let mut told = self.told.lock();
        let Told { watch, objects, .. } = &mut *told;
        objects.call_ends(call, |gone| _ = watch.object_gone(gone));
    }

    /// The events of the property that are this built-in one, and carry so many values.
    pub(super) fn builtin(&self, what: Builtin, arity: usize) -> impl Iterator<Item = u32> {
        let events = self.property.events.iter().zip(0..);
        let is_it = move |source: &Source| *source == Source::Builtin(what);
        events
            .filter(move |(event, _)| is_it(&event.source) && event.arity == arity)
            .map(|(_, number)| number)
    }

    /// The process ends: tells what was seen.
    pub(super) fn end(&self, doing: Doing) {
        for event in self.builtin(Builtin::EndProgram, 0) {
            self.event(doing, event, &[]);
        }
        verdicts::tell_end(&self.property.name, self.told.lock().counts);
    }
}

impl Told {
    /// What the property knows these values by. They are put where they are used: a copy of what was just written waits for that.
    #[inline]
    fn values(&mut self, of: &Watched, event: u32, carried: &[Value], into: &mut SmallVec<[u64; 4]>) {
        if let Some(declared) = of.property.events.get(event as usize) {
            for (param, from) in declared.shape.params.iter().zip(&declared.carried) {
                let sort = &mut self.sorts[usize::from(*param)];
                if let (Carried::Arg(position), Sort::Object) = (from, *sort)
                    && let Some(Value::Number(_)) = carried.get(*position as usize)
                {
                    let is_named = matches!(declared.source, Source::Named(_));
                    *sort = if is_named { Sort::NumberOrLife } else { Sort::Number };
                }
            }
        }
        let value = |value: &Value| match *value {
            Value::Number(number) => number,
            Value::Object(addr) => {
                of.has_objects.store(true, Relaxed);
                self.objects.at(addr)
            }
            Value::Given { call, addr } => self.objects.given(call, addr),
            Value::Text(number) => {
                let text = values::text(number);
                let own = of.property.texts.iter().position(|own| *own == text);
                own.map_or_else(|| Objects::string(number), Objects::text)
            }
        };
        into.extend(carried.iter().map(value));
    }

    /// Tells of verdicts, and notes what is to be done about them.
    fn say(&mut self, of: &Watched, doing: Doing, heard: &[Heard]) {
        for Heard { body, handler: number, domain, values } in heard {
            let Some(handler) = of.handler(*body, *number) else { continue };
            let has_todo = handler
                .actions
                .iter()
                .any(|action| matches!(action, Action::Call(_) | Action::Recover(_) | Action::Abort));
            let times = self.seen.entry((*body, *number, doing.pc)).or_default();
            *times += 1;
            let is_told = handler.is_finding() && *times == 1;
            if !is_told && !has_todo {
                continue;
            }
            let says = says_with(handler, |name| self.named(of.property, *domain, values, doing, name));
            if is_told {
                verdicts::tell(&Found {
                    property: &of.property.name,
                    category: &handler.category,
                    thread: doing.thread,
                    pc: doing.pc,
                    unknown: self.unknown,
                    message: &says,
                });
            }
            if has_todo {
                let says = says.replace("{loc}", &format!("{:#x}", verdicts::place(doing.pc)));
                pending::push(of.number, *body, *number, says);
            }
        }
    }

    /// What stands for a name in a report. Where it was is filled in by who knows the program's file.
    fn named(
        &self,
        property: &Property,
        domain: ParamSet,
        values: &[u64],
        doing: Doing,
        name: &str,
    ) -> Option<String> {
        if name == "thread" {
            return Some(verdicts::thread_name(doing.thread));
        }
        let param = property.params.iter().position(|param| param == name)?;
        let known = values.get(param).filter(|_| domain.contains(ParamSet::only(param as u8)));
        let Some(&value) = known else { return Some("?".to_owned()) };
        Some(match self.sorts[param] {
            Sort::Number => (value as i64).to_string(),
            Sort::NumberOrLife => number_text(value),
            Sort::Thread if value == 0 => "main".to_owned(),
            Sort::Thread => format!("T{value}"),
            Sort::Object => match self.objects.what(value) {
                Object::Text(text) => property.texts.get(text).cloned().unwrap_or_default(),
                Object::String(number) => values::text(number),
                Object::At(addr) => numbered(addr),
                Object::Lock(_) => "?".to_owned(),
            },
        })
    }
}

fn hear(heard: &mut SmallVec<[Heard; 1]>, verdict: Verdict<'_>) {
    let Verdict { body, categories, domain, values } = verdict;
    for handler in categories.indices() {
        heard.push(Heard { body, handler, domain, values: values.into() });
    }
}
