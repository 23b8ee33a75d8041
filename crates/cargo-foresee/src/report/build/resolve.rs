//! Ids of a trace to names.

use foresee_trace::{Event, LocId, LockId, Mem, Mode, Names, StrId, ThreadId};

use super::calls::{Frame, UsersPlace, stack};
use super::details::{Collected, Details, lock, target};
use super::memory;
use crate::report::model;

/// The names of a trace, with those that were found for its locks.
#[derive(Clone, Copy)]
pub(super) struct Resolver<'a> {
    pub(super) names: &'a Names,
    pub(super) collected: &'a Collected,
}

impl Resolver<'_> {
    pub(super) fn thread(&self, id: ThreadId) -> String {
        thread(self.names, id)
    }

    pub(super) fn lock(&self, id: LockId) -> String {
        match self.collected.locks.get(&id) {
            Some(name) => name.clone(),
            None => self.names.lock_name(id).to_owned(),
        }
    }

    /// What an event touches.
    pub(super) fn target(&self, index: u64, event: &Event<'_>) -> String {
        match (self.collected.details.get(&index), lock(&event.op)) {
            (Some(details), _) => details.target.clone(),
            (None, Some(lock)) => self.lock(lock),
            (None, None) => target(self.names, &event.op),
        }
    }

    pub(super) fn location(&self, loc: LocId) -> model::Location {
        location(self.names, loc)
    }

    /// An event of a finding.
    pub(super) fn event(&self, details: &Details) -> model::Event {
        let held = details.held.iter().map(|held| model::HeldLock {
            lock: self.lock(held.lock),
            mode: if held.mode == Mode::Shared {
                model::LockMode::Shared
            } else {
                model::LockMode::Exclusive
            },
            location: self.location(held.loc),
        });
        let created = self.collected.created.get(&details.thread).map(|created| model::Creation {
            by: self.thread(created.by),
            location: self.location(created.loc),
        });
        model::Event {
            index: details.index,
            thread: self.thread(details.thread),
            op: details.op.to_owned(),
            target: details.target.clone(),
            location: self.location(details.loc),
            place: self.names.location_text(details.loc),
            stack: frames(self.names, &details.stack),
            held: Some(held.collect()),
            size: details.memory.as_ref().map(|(mem, _)| mem.size),
            memory: details.memory.as_ref().map(|(mem, memory)| self.memory(*mem, memory)),
            thread_created: created,
            values: None,
        }
    }

    fn memory(&self, mem: Mem, memory: &memory::Memory) -> model::Memory {
        let address = format!("{:#x}", mem.addr);
        match memory {
            memory::Memory::Static { name, offset, size } => {
                model::Memory::Static { address, name: name.clone(), offset: *offset, size: *size }
            }
            memory::Memory::Heap { offset, size, allocated, freed } => model::Memory::Heap {
                address,
                offset: *offset,
                size: *size,
                allocated: Box::new(self.moment(allocated)),
                freed: freed.as_ref().map(|moment| Box::new(self.moment(moment))),
            },
            memory::Memory::Stack { of } => model::Memory::Stack { address, thread: self.thread(*of) },
            memory::Memory::Unknown => model::Memory::Unknown { address },
        }
    }

    fn moment(&self, moment: &memory::Moment) -> model::Moment {
        let origin = match moment.place(self.names) {
            UsersPlace::Line(loc) => Some(self.location(loc)),
            UsersPlace::Function(name) => Some(model::Location {
                function: Some(self.names.str(name).to_owned()),
                ..model::Location::default()
            }),
            UsersPlace::Unknown => None,
        };
        model::Moment {
            thread: self.thread(moment.thread),
            location: self.location(moment.loc),
            stack: frames(self.names, &moment.stack),
            origin,
        }
    }
}

/// An event as it is known without a look at what its thread did before.
pub(crate) fn event_of(names: &Names, event: &Event<'_>, index: u64) -> model::Event {
    model::Event {
        index,
        thread: thread(names, event.thread),
        op: event.op.name().to_owned(),
        target: target(names, &event.op),
        location: location(names, event.loc),
        place: names.location_text(event.loc),
        stack: frames(names, &stack(names, event.loc, std::iter::empty())),
        held: None,
        size: None,
        memory: None,
        thread_created: None,
        values: None,
    }
}

/// The location that a text such as `file:12:5 in function` means; what cannot be split is a file, or a label.
pub(crate) fn location_from_text(text: &str) -> model::Location {
    let mut names = Names::new();
    let loc = names.location_from_text(text);
    location(&names, loc)
}

fn thread(names: &Names, id: ThreadId) -> String {
    match names.thread_name(id) {
        "" => "?".to_owned(),
        name => name.to_owned(),
    }
}

fn location(names: &Names, loc: LocId) -> model::Location {
    let at = names.location_at(loc);
    let text = |id: StrId| (id != StrId::EMPTY).then(|| names.str(id).to_owned());
    let number = |n: u32| (n != 0).then_some(n);
    model::Location {
        file: text(at.file),
        line: number(at.line),
        column: number(at.column),
        function: text(at.function),
    }
}

fn frames(names: &Names, stack: &[Frame]) -> Vec<model::Location> {
    let frame = |frame: &Frame| model::Location {
        function: Some(names.str(frame.function).to_owned()),
        ..location(names, frame.loc)
    };
    stack.iter().map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_the_texts_they_come_from() {
        for text in ["a.rs:12:5 in f", "a.rs:12", "345", "345 in f", "label", "", " in f"] {
            let mut names = Names::new();
            let loc = names.location_from_text(text);
            let location = location_from_text(text);
            assert_eq!(location.to_string(), names.location_text(loc), "{text}");
        }
        let location = location_from_text("a.rs:12:5 in f");
        assert_eq!(
            (location.line, location.column, location.function.as_deref()),
            (Some(12), Some(5), Some("f"))
        );
    }
}
