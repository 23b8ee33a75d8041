//! The program's side, for one property: from events to numbered messages.

use foresee_monitor::property::{Carried, Property};
use foresee_trace::{Event, Names, ThreadId};

use super::clocks::{Clocks, Idle, Stamp};
use super::message::{Act, Message, Relevant, Silent};
use crate::property::{PropertyEvent, Translator, unknown_value};

/// Tells an observer what a program does, in the terms of one property.
pub struct Speaker<'p> {
    /// Its position in the spec.
    property: u32,
    translator: Translator<'p>,
    clocks: Clocks,
    said: u32,
    /// Whether it was said that what follows rests on a value that nobody saw.
    in_doubt: bool,
}

impl<'p> Speaker<'p> {
    /// For the property at this position of the spec.
    pub fn new(position: u32, property: &'p Property) -> Speaker<'p> {
        let (translator, clocks) = (Translator::new(property), Clocks::new());
        Speaker { property: position, translator, clocks, said: 0, in_doubt: false }
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
        let Some(Stamp { others, clock }) = self.clocks.event(event, !acts.is_empty()) else { return };
        self.doubt(say);
        self.promise(others, say);
        let values = self.called(names, event.thread, &acts);
        let message = Message::Relevant(Relevant {
            property: self.property,
            number: self.number(),
            thread: event.thread.0,
            clock,
            acts,
            name: called(names, event.thread),
            place: short(names.location_text(event.loc)),
            called: values,
        });
        say(&message);
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
        for Idle { thread, clock, ended } in idle {
            let (property, number) = (self.property, self.number());
            say(&Message::Silent(Silent { property, number, thread, clock, ended }));
        }
    }

    /// The number of the next message.
    fn number(&mut self) -> u32 {
        self.said += 1;
        self.said - 1
    }
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
