//! The program's side, for one property: from events to numbered messages.

use foresee_monitor::property::{Carried, Property};
use foresee_trace::{Event, Facts, Names, ThreadId, nearest};

use super::clocks::{Clocks, Idle, Stamp};
use super::handles;
use super::message::{Act, Message, MissingVariable, Relevant, Silent, Variables};
use crate::property::{PropertyEvent, Translator, unknown_value};

/// Tells an observer what a program does, in the terms of one property.
pub struct Speaker<'p> {
    /// Its position in the spec.
    property: u32,
    translator: Translator<'p>,
    /// The parameters whose values calls return.
    returned: Vec<u8>,
    clocks: Clocks,
    said: u32,
    /// Whether it was said that what follows rests on a value that nobody saw.
    in_doubt: bool,
    /// Whether it was said that the program lacks a variable.
    lacks_variable: bool,
    /// How many symbols were known when variables were last looked for; `None` once all are there.
    looked_at: Option<usize>,
}

impl<'p> Speaker<'p> {
    /// For the property at this position of the spec.
    pub fn new(position: u32, property: &'p Property) -> Speaker<'p> {
        let (translator, clocks) = (Translator::new(property), Clocks::new());
        Speaker {
            property: position,
            translator,
            returned: handles::returned(property),
            clocks,
            said: 0,
            in_doubt: false,
            lacks_variable: false,
            looked_at: Some(usize::MAX),
        }
    }

    /// Says whether the program has the property's variables, if that is new. To be called before an event.
    pub fn variables(&mut self, names: &Names, facts: &Facts, say: &mut dyn FnMut(&Message)) {
        if self.looked_at.is_some_and(|looked_at| looked_at != names.symbols().len()) {
            self.look_for_variables(names, facts, say);
        }
    }

    /// The same when all names are known.
    pub fn look_for_variables(&mut self, names: &Names, facts: &Facts, say: &mut dyn FnMut(&Message)) {
        self.translator.learn(names);
        if self.looked_at == Some(usize::MAX)
            && let Some((name, value)) = self.translator.undeclared_value(facts)
        {
            let property = &self.translator.property().name;
            say(&Message::Doubt(format!(
                "{property}: `{name}` is {value} at first, which the property does not say: write `var {name}: int = {value};`"
            )));
        }
        let missing = self.translator.missing_variables(facts).next();
        self.looked_at = missing.map(|_| names.symbols().len());
        if missing.is_some() || self.lacks_variable {
            self.lacks_variable = missing.is_some();
            let symbols = || names.symbols().iter().map(|symbol| names.str(symbol.name));
            let missing = missing.map(|name| MissingVariable {
                name: short(name.to_owned()),
                nearest: nearest(name, symbols()).into_iter().map(|name| short(name.to_owned())).collect(),
            });
            say(&Message::Variables(Variables { property: self.property, missing }));
        }
    }

    /// What the recording says of the program's variables. To be called before the first event.
    pub fn learn_facts(&mut self, facts: &Facts) {
        self.translator.learn_facts(facts);
    }

    /// The next event of the program, and what is to be said of it.
    pub fn event(&mut self, names: &Names, event: &Event<'_>, say: &mut dyn FnMut(&Message)) {
        self.translator.learn(names);
        let mut acts = Vec::new();
        // An event that carries too much or too little is another event of that name.
        let _ = self.translator.event(event, |happening| match happening {
            PropertyEvent::Event(event, args) => acts.push(Act::Event(event, args.to_vec())),
            PropertyEvent::Assign(var, value) => acts.push(Act::Assign(var as u32, value)),
            PropertyEvent::Gone(_) => {}
        });
        let carried = match self.returned.is_empty() {
            true => Vec::new(),
            false => handles::carried(self.translator.property(), &self.returned, &acts),
        };
        let stamp = self.clocks.event_with(event, !acts.is_empty(), &carried);
        let Some(Stamp { others, place, clock }) = stamp else { return };
        self.doubt(say);
        self.promise(others, say);
        let values = self.called(names, event.thread, &acts);
        let message = Message::Relevant(Relevant {
            property: self.property,
            number: self.number(),
            thread: event.thread.0,
            after: after(event.thread.0, place),
            clock,
            acts,
            name: called(names, event.thread),
            place: short(names.location_text(event.loc)),
            called: values,
        });
        say(&message);
    }

    /// A thread has gone: it has ended, and no event that comes speaks of it.
    pub fn forget(&mut self, gone: ThreadId) {
        self.clocks.forget(gone);
    }

    /// What has become known of threads that do nothing relevant.
    pub fn idle(&mut self, say: &mut dyn FnMut(&Message)) {
        let idle = self.clocks.idle();
        self.promise(idle, say);
    }

    /// Says so if the value of a variable is not known: before what rests on it, and when the program has ended.
    pub fn doubt(&mut self, say: &mut dyn FnMut(&Message)) {
        if let Some(why) = unknown_value(&self.translator).filter(|_| !self.in_doubt) {
            self.in_doubt = true;
            say(&Message::Doubt(why));
        }
    }

    /// How many messages there were.
    pub fn said(&self) -> u32 {
        self.said
    }

    /// What people call the values of parameters.
    fn called(&self, names: &Names, thread: ThreadId, acts: &[Act]) -> Vec<(u8, u64, String)> {
        let property = self.translator.property();
        let mut called = Vec::new();
        for act in acts {
            let Act::Event(event, args) = act else { continue };
            let declared = &property.events[*event as usize];
            for (&param, carried) in declared.shape.params.iter().zip(&declared.carried) {
                let value = match carried {
                    Carried::Arg(position) => args.get(*position as usize).copied(),
                    Carried::Thread => Some(thread.0.into()),
                };
                called.extend(
                    value.map(|value| {
                        (param, value, short(self.translator.called(names, param.into(), value)))
                    }),
                );
            }
        }
        called
    }

    fn promise(&mut self, idle: Vec<Idle>, say: &mut dyn FnMut(&Message)) {
        for Idle { thread, place, clock, ended } in idle {
            let (property, number) = (self.property, self.number());
            let after = after(thread, place);
            say(&Message::Silent(Silent { property, number, thread, after, clock, ended }));
        }
    }

    /// The number of the next message.
    fn number(&mut self) -> u32 {
        self.said += 1;
        self.said - 1
    }
}

/// The first of the threads whose place a thread has, if it is another.
fn after(thread: u32, place: u32) -> Option<u32> {
    (thread != place).then_some(place)
}

fn called(names: &Names, thread: ThreadId) -> String {
    match names.thread_name(thread) {
        "" => format!("T{}", thread.0),
        name => short(name.to_owned()),
    }
}

/// Names of a program may be longer than anybody wants to read.
fn short(text: String) -> String {
    if text.len() > 1000 { text.chars().take(250).collect() } else { text }
}
