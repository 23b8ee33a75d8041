//! Properties that are monitored in the process, over what is recorded: calls, named events, locks, threads, variables.
//!
//! Each property has its monitors (`foresee_monitor`) behind a lock of its own, which the thread that does an event takes: the order of events is that in which they are told. What no
//! property asks for costs nothing; an event costs the lock and the monitors' step. Accesses to memory are no events here, but writes of variables that properties speak of.
//!
//! | module | holds |
//! |---|---|
//! | `plan` | what the driver has worked out |
//! | `values` | what events carry |
//! | `watched` | one property |
//! | `pending` | what is to be done when the runtime is left |

mod pending;
mod plan;
mod values;
mod watched;

use std::ffi::CString;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

use foresee_format::{Tag, number};
use foresee_monitor::property::{Action, Builtin, Source};
use smallvec::SmallVec;

use self::plan::{Numbered, Plan};
use self::values::Value;
use self::watched::Watched;
use crate::environment;
use crate::monitors::doing::Doing;
use crate::monitors::functions::one_at_a_time;
use crate::monitors::verdicts::AT_END;
use crate::variables;

pub(crate) use values::text_argument;

/// A variable of the program that a property speaks of.
struct Place {
    addr: u64,
    size: u64,
    is_unsigned: bool,
    property: usize,
    var: usize,
}

/// All of it.
struct World {
    plan: &'static Plan,
    watched: Vec<Watched>,
    /// Named events: the name, the property and the event.
    named: Vec<(&'static str, usize, u32)>,
    places: Vec<Place>,
}

static WORLD: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

#[inline]
fn world() -> Option<&'static World> {
    // SAFETY: null, or what `begin` has made, which is never given back.
    unsafe { WORLD.load(Acquire).as_ref() }
}

/// Whether there is something to monitor. To be called once, before the program's own code.
pub(super) fn start() -> bool {
    let Some(path) = environment::text(c"FORESEE_MONITOR") else { return false };
    // It is for as long as the program is.
    Plan::read(path).is_some_and(|plan| begin(Box::leak(Box::new(plan))))
}

fn begin(plan: &'static Plan) -> bool {
    let properties = || plan.properties.iter().enumerate();
    let watched = properties().map(|(number, property)| Watched::new(number, property, plan)).collect();
    let named = properties().flat_map(|(number, property)| {
        let events = property.events.iter().zip(0..);
        events.filter_map(move |(event, at)| match &event.source {
            Source::Named(name) => Some((name.as_str(), number, at)),
            _ => None,
        })
    });
    let places = properties().flat_map(|(number, property)| {
        property.vars.iter().enumerate().filter_map(move |(var, of)| {
            let variable = variables::all().iter().find(|variable| variable.name == of.name)?;
            let (addr, size, is_unsigned) = (variable.addr, variable.size, variable.is_unsigned);
            Some(Place { addr, size, is_unsigned, property: number, var })
        })
    });
    let world = World { plan, watched, named: named.collect(), places: places.collect() };
    let is_any = world.watched.iter().any(|watched| !watched.property.bodies.is_empty());
    WORLD.store(Box::into_raw(Box::new(world)), Release);
    is_any
}

/// Whether values of variables are asked for.
pub(super) fn ask_for_values() -> bool {
    world().is_some_and(|world| !world.places.is_empty())
}

/// Memory was written: all of a variable with this value, or something that is not known.
#[inline]
pub(super) fn written(thread: u32, addr: u64, size: u64, value: Option<u64>, pc: u64) {
    let Some(world) = world().filter(|world| !world.places.is_empty()) else { return };
    for place in &world.places {
        if place.addr < addr.saturating_add(size) && addr < place.addr + place.size {
            let is_whole = (place.addr, place.size) == (addr, size);
            let value = value.filter(|_| is_whole);
            let value = value.map(|value| number(value, size, place.is_unsigned));
            world.watched[place.property].assign(Doing { thread, pc }, place.var, value);
        }
    }
}

/// A named event of the program's.
pub(crate) fn named(thread: u32, name: &[u8], pc: u64) {
    let Some(world) = world() else { return };
    let collected = values::take().all();
    for (_, property, event) in world.named.iter().filter(|(of, ..)| of.as_bytes() == name) {
        world.watched[*property].event(Doing { thread, pc }, *event, &collected);
    }
}

/// Something was recorded.
pub(super) fn record(thread: u32, tag: Tag, detail: u8, words: &[u64]) {
    let Some(world) = world() else { return };
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let doing = Doing { thread, pc: word(0) };
    let builtin = |what: Builtin, carried: &[Value]| {
        for watched in &world.watched {
            watched.builtin(what, carried.len()).for_each(|event| watched.event(doing, event, carried));
        }
    };
    match tag {
        Tag::Arg => values::argument(detail, word(0)),
        Tag::Call => call(world, doing, word(1)),
        Tag::Acquire => builtin(Builtin::Acquire, &[Value::Object(word(1))]),
        Tag::Release => builtin(Builtin::Release, &[Value::Object(word(1))]),
        Tag::Fork => builtin(Builtin::Fork, &[Value::Number(word(1))]),
        Tag::Join => builtin(Builtin::Join, &[Value::Number(word(1))]),
        Tag::End => builtin(Builtin::EndThread, &[]),
        Tag::Free => world.watched.iter().for_each(|watched| watched.freed(doing, word(1), word(2))),
        _ => {}
    }
}

/// The program has come to a hook.
fn call(world: &World, doing: Doing, hook: u64) {
    let collected = values::take();
    let Some(at_hook) = world.plan.calls.get(hook as usize) else { return };
    let number = |of: &Numbered| match collected.get(of.position.into()) {
        Some(Value::Number(call)) => Some(call),
        _ => None,
    };
    for begins in &at_hook.begins {
        if let Some(call) = number(begins) {
            world.watched[begins.property].call_begins(call, &collected.all());
        }
    }
    for call in &at_hook.events {
        let number = at_hook.ends.iter().find(|ends| ends.property == call.property).and_then(number);
        let mut carried: SmallVec<[Value; 4]> = SmallVec::new();
        let values = call.values.iter().map_while(|value| {
            let found = collected.get(value.position.into())?;
            Some(match (found, number) {
                (Value::Object(addr), Some(call)) if value.is_given => Value::Given { call, addr },
                (found, _) => found,
            })
        });
        values.for_each(|value| carried.push(value));
        // Without one of them it is another event.
        if carried.len() == call.values.len() {
            world.watched[call.property].event(doing, call.event, &carried);
        }
    }
    for ends in &at_hook.ends {
        if let Some(call) = number(ends) {
            world.watched[ends.property].call_ends(call);
        }
    }
}

/// The process ends by itself.
pub(super) fn end(thread: u32) {
    for watched in world().iter().flat_map(|world| &world.watched) {
        watched.end(Doing { thread, pc: AT_END });
    }
}

/// The program says what is to be called under this name.
pub(super) fn register(name: &[u8], function: usize, argument: usize) {
    for watched in world().iter().flat_map(|world| &world.watched) {
        watched.functions.iter().for_each(|own| own.register(name, function, argument));
    }
}

/// Whether there is something to be done about verdicts of this thread.
#[inline]
pub(super) fn has_to_recover() -> bool {
    pending::is_any()
}

/// Does it.
#[cold]
#[inline(never)]
pub(super) fn recover(depth: u32) {
    one_at_a_time(depth, || {
        while let Some(pending) = pending::take() {
            let watched = world().and_then(|world| world.watched.get(pending.property));
            let handler = watched.and_then(|watched| watched.handler(pending.body, pending.handler));
            let (Some(watched), Some(handler)) = (watched, handler) else { continue };
            let text = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
            let (property, says) = (text(&watched.property.name), text(&pending.says));
            for action in &handler.actions {
                match action {
                    Action::Call(name) | Action::Recover(name) => {
                        let own = watched.functions.iter().find(|function| function.is(name));
                        own.into_iter().for_each(|function| function.call(&property, &says));
                    }
                    // SAFETY: has no preconditions.
                    Action::Abort => unsafe { libc::abort() },
                    Action::Report(_) | Action::Reset | Action::Count => {}
                }
            }
        }
    });
}
