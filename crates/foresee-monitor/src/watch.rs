//! Running a property over a stream of events.
//!
//! A [`Watch`] holds one slicer per body and the current values of the property's variables. It looks at guards, puts
//! the values of parameters together (the thread may be one of them), works out the letter each body reads, and hands
//! on the verdicts. What a verdict's handler does beyond `reset` (reporting, counting, calling the program) is up to the
//! caller.

use smallvec::SmallVec;
use thiserror::Error;

use crate::formalism::automaton::Automaton;
use crate::formalism::srs::Srs;
use crate::formalism::suffix::Suffix;
use crate::formalism::{Categories, Letter, Moment, Monitor, Outlook};
use crate::predicate::Values;
use crate::property::{Body, Carried, Event, Letters, Machine, Property, Var};
use crate::remembering::{self, Remembering};
use crate::slice::params::{EventShape, ParamSet};
use crate::slice::plan::{Demands, Plan};
use crate::slice::simple::{Flat, Single};
use crate::slice::{Size, SliceVerdict, Slicer};

/// A body has something to say about a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// Which body, by position.
    pub body: usize,
    /// What it says: positions of the body's handlers.
    pub categories: Categories,
    /// Which parameters have values.
    pub domain: ParamSet,
    /// The values, by parameter.
    pub values: &'a [u64],
}

/// What cannot be fed to a property.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FeedError {
    /// No such event.
    #[error("the property has no event number {0}")]
    UnknownEvent(u32),
    /// Too few or too many values.
    #[error("event `{event}` carries {expected} values, not {found}")]
    Arity {
        /// The event's name.
        event: String,
        /// How many it carries.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The property asks for times, and the event has none.
    #[error("`{property}` asks when events happen, and that is not known here")]
    NoTime {
        /// The property's name.
        property: String,
    },
    /// The event was read, and the rules of an `srs` body go on and on.
    #[error(
        "`{property}`: its rules rewrite without end, or make a string without end: nothing more is said of this instance"
    )]
    GaveUp {
        /// The property's name.
        property: String,
    },
    /// The call is there, and not all the values that the event asks for.
    #[error(
        "not all arguments that `{event}` asks for were recorded: record the run with `--spec` and this file"
    )]
    NotRecorded {
        /// The event's name.
        event: String,
    },
}

/// A running property; see the [module](self).
#[derive(Debug)]
pub struct Watch<'p> {
    property: &'p Property,
    bodies: Vec<Running>,
    /// Per event, the number of values it carries, if it has no guard and binds them in the order in which it carries them.
    plain: Vec<Option<u32>>,
    /// Whether all bodies read events, and none of them atoms.
    reads_events: bool,
    /// Whether monitors read more than letters.
    wants_values: bool,
    vars: Vec<i64>,
    /// When the next event happens, if that is known.
    time: Option<u64>,
    assignments: u64,
}

/// What runs a body.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each body, and tables are to be near")]
enum Running {
    /// A table, without parameters: what the inner loop of a program can afford.
    Table(Single<Automaton>),
    Other(Box<dyn Slices>),
}

impl Running {
    #[inline]
    fn read(&mut self, moment: Moment<'_>, values: &[u64], report: &mut impl FnMut(SliceVerdict<'_>)) {
        match self {
            Running::Table(single) => single.event(moment, report),
            Running::Other(slices) => slices.event(moment, values, report),
        }
    }

    fn slices(&self) -> &dyn Slices {
        match self {
            Running::Table(single) => single,
            Running::Other(slices) => &**slices,
        }
    }
}

/// A slicer of whatever monitor.
trait Slices: std::fmt::Debug + Send {
    fn event(&mut self, moment: Moment<'_>, values: &[u64], report: &mut dyn FnMut(SliceVerdict<'_>));
    fn object_gone(&mut self, object: u64) -> bool;
    fn changes(&self) -> u64;
    fn needs_known_values(&self, event: u32) -> bool;
    fn plan(&self) -> &Plan;
    fn size(&self) -> Size;

    fn creates(&self, event: u32) -> bool {
        self.plan().events[event as usize].creates
    }
}

impl<M: Monitor<State: Send> + Send> Slices for Slicer<M> {
    fn event(&mut self, moment: Moment<'_>, values: &[u64], report: &mut dyn FnMut(SliceVerdict<'_>)) {
        Slicer::event(self, moment, values, &mut |verdict| report(verdict));
    }

    fn object_gone(&mut self, object: u64) -> bool {
        Slicer::object_gone(self, object)
    }

    fn changes(&self) -> u64 {
        Slicer::changes(self)
    }

    fn needs_known_values(&self, event: u32) -> bool {
        Slicer::needs_known_values(self, event)
    }

    fn plan(&self) -> &Plan {
        Slicer::plan(self)
    }

    fn size(&self) -> Size {
        Slicer::size(self)
    }
}

impl<M: Monitor<State: Send> + Send> Slices for Single<M> {
    fn event(&mut self, moment: Moment<'_>, _: &[u64], report: &mut dyn FnMut(SliceVerdict<'_>)) {
        Single::event(self, moment, &mut |verdict| report(verdict));
    }

    fn object_gone(&mut self, _: u64) -> bool {
        false
    }

    fn changes(&self) -> u64 {
        Single::changes(self)
    }

    fn needs_known_values(&self, _: u32) -> bool {
        false
    }

    fn plan(&self) -> &Plan {
        Single::plan(self)
    }

    fn size(&self) -> Size {
        Single::size(self)
    }
}

impl<M: Monitor<State: Send> + Send> Slices for Flat<M> {
    fn event(&mut self, moment: Moment<'_>, values: &[u64], report: &mut dyn FnMut(SliceVerdict<'_>)) {
        if let [object] = *values {
            Flat::event(self, moment, object, &mut |verdict| report(verdict));
        }
    }

    fn object_gone(&mut self, object: u64) -> bool {
        Flat::object_gone(self, object);
        false
    }

    fn changes(&self) -> u64 {
        Flat::changes(self)
    }

    fn needs_known_values(&self, event: u32) -> bool {
        !self.creates(event)
    }

    fn plan(&self) -> &Plan {
        Flat::plan(self)
    }

    fn size(&self) -> Size {
        Flat::size(self)
    }
}

impl<'p> Watch<'p> {
    /// Starts to watch. `initial` gives the program's own initial values of the variables, where they are known; what
    /// the spec says comes first, and 0 last.
    pub fn new(property: &'p Property, initial: impl Fn(&str) -> Option<i64>) -> Watch<'p> {
        let vars = initial_values(property, initial);
        let rewrites = |body: &Body| matches!(body.machine, Machine::Srs(_));
        let wants_values =
            property.remembers() || property.is_timed() || property.bodies.iter().any(rewrites);
        let plain = |event: &Event| {
            let args = (0..event.arity as u32).map(Carried::Arg);
            let is_plain = event.guard.is_none() && !wants_values && event.carried.iter().copied().eq(args);
            is_plain.then_some(event.arity as u32)
        };
        let plain = property.events.iter().map(plain).collect();
        let bodies = property.bodies.iter().map(|body| running(property, body, &vars)).collect();
        let reads_events = property.bodies.iter().all(|body| body.letters == Letters::Events);
        Watch { property, bodies, plain, reads_events, wants_values, vars, time: None, assignments: 0 }
    }

    /// What comes next happens at this time, in nanoseconds since any moment. Time does not go back.
    pub fn at(&mut self, time: u64) {
        self.time = Some(self.time.map_or(time, |before| before.max(time)));
    }

    /// The values of the variables now.
    pub fn vars(&self) -> &[i64] {
        &self.vars
    }

    /// Grows whenever anything changes or there is a verdict. While it stays the same, an event that did not make it grow would
    /// not do so if it came again.
    pub fn changes(&self) -> u64 {
        self.assignments + self.bodies.iter().map(|body| body.slices().changes()).sum::<u64>()
    }

    /// Whether the event does nothing at all if one of its values was in no event that changed anything.
    pub fn needs_known_values(&self, event: u32) -> bool {
        self.bodies.iter().all(|body| body.slices().needs_known_values(event))
    }

    /// Whether the event can begin an instance.
    pub fn creates(&self, event: u32) -> bool {
        self.bodies.iter().any(|body| body.slices().creates(event))
    }

    /// How much each body's slicer holds.
    pub fn sizes(&self) -> impl Iterator<Item = Size> {
        self.bodies.iter().map(|body| body.slices().size())
    }

    /// An event of the property, with the values it carries, done by `thread`.
    #[inline]
    pub fn event(
        &mut self,
        event: u32,
        thread: u64,
        args: &[u64],
        report: &mut dyn FnMut(Verdict<'_>),
    ) -> Result<(), FeedError> {
        match self.plain.get(event as usize) {
            Some(Some(arity)) if *arity as usize == args.len() => {
                self.deliver(event, args, report);
                Ok(())
            }
            _ => self.event_with_care(event, thread, args, report),
        }
    }

    /// An event that may have a guard, or values in another order, or too many of them.
    fn event_with_care(
        &mut self,
        event: u32,
        thread: u64,
        args: &[u64],
        report: &mut dyn FnMut(Verdict<'_>),
    ) -> Result<(), FeedError> {
        let declared = self.property.events.get(event as usize).ok_or(FeedError::UnknownEvent(event))?;
        if args.len() != declared.arity {
            let (expected, found) = (declared.arity, args.len());
            return Err(FeedError::Arity { event: declared.name.clone(), expected, found });
        }
        let time = match self.time {
            None if self.property.is_timed() => {
                return Err(FeedError::NoTime { property: self.property.name.clone() });
            }
            time => time.unwrap_or(0),
        };
        let occasion = Values { vars: &self.vars, args, thread, time, ..Values::default() };
        if declared.guard.as_ref().is_some_and(|guard| !guard.holds(occasion)) {
            return Ok(());
        }
        let carried = |carried: &Carried| match carried {
            Carried::Arg(position) => args[*position as usize],
            Carried::Thread => thread,
        };
        let values: SmallVec<[u64; 4]> = declared.carried.iter().map(carried).collect();
        let bodies = &self.property.bodies;
        let mut gave_up = false;
        let report: &mut dyn FnMut(Verdict<'_>) = &mut |verdict| {
            let rewrites = matches!(bodies[verdict.body].machine, Machine::Srs(_));
            match rewrites && verdict.categories.meets(Srs::GAVE_UP) {
                true => gave_up = true,
                false => report(verdict),
            }
        };
        match self.wants_values {
            true => {
                for (body, running) in self.bodies.iter_mut().enumerate() {
                    let letter = self.property.bodies[body].letters.letter(Some(event), occasion);
                    let moment = Moment { event, letter, values: Some(&occasion) };
                    running.read(moment, &values, &mut |verdict| report(of_body(body, verdict)));
                }
            }
            false => self.deliver(event, &values, report),
        }
        if gave_up {
            return Err(FeedError::GaveUp { property: self.property.name.clone() });
        }
        Ok(())
    }

    /// Lets all bodies read an event that counts.
    #[inline]
    fn deliver(&mut self, event: u32, values: &[u64], report: &mut dyn FnMut(Verdict<'_>)) {
        for (body, running) in self.bodies.iter_mut().enumerate() {
            let letter = match self.reads_events {
                true => event,
                false => {
                    let seen = Values { vars: &self.vars, ..Values::default() };
                    self.property.bodies[body].letters.letter(Some(event), seen)
                }
            };
            let moment = Moment::plain(event, letter);
            running.read(moment, values, &mut |verdict| report(of_body(body, verdict)));
        }
    }

    /// A variable of the property, by position, gets a value. Bodies that speak of variables make a step.
    pub fn assign(&mut self, var: usize, value: i64, thread: u64, report: &mut dyn FnMut(Verdict<'_>)) {
        let Some(slot) = self.vars.get_mut(var) else { return };
        *slot = value;
        self.assignments += 1;
        let assignment = self.property.events.len() as u32;
        let thread = [thread];
        let values = if self.property.modifiers.perthread { &thread[..] } else { &[] };
        let seen = Values { vars: &self.vars, thread: thread[0], ..Values::default() };
        for (body, running) in self.bodies.iter_mut().enumerate() {
            let letters = &self.property.bodies[body].letters;
            if let Letters::Atoms(_) = letters {
                let letter = letters.letter(None, seen);
                let moment = Moment { event: assignment, letter, values: Some(&seen) };
                running.read(moment, values, &mut |verdict| report(of_body(body, verdict)));
            }
        }
    }

    /// An object is gone: no event will mention it again. Tells whether instances still hold it; as long as they do, its identity
    /// must not be used for another.
    pub fn object_gone(&mut self, object: u64) -> bool {
        let mut is_held = false;
        for body in &mut self.bodies {
            if let Running::Other(slices) = body {
                is_held |= slices.object_gone(object);
            }
        }
        is_held
    }
}

fn of_body(body: usize, verdict: SliceVerdict<'_>) -> Verdict<'_> {
    let SliceVerdict { categories, domain, values } = verdict;
    Verdict { body, categories, domain, values }
}

fn running(property: &Property, body: &Body, vars: &[i64]) -> Running {
    let machine = match &body.letters {
        Letters::Events => body.machine.clone(),
        Letters::Atoms(_) => body.machine.primed(first_letter(property, body, vars)),
    };
    let setup = Setup { property, body };
    let is_single = property.params.is_empty() && !property.modifiers.suffix && !property.remembers();
    Running::Other(match machine {
        Machine::Automaton(automaton) if is_single => {
            let plan = setup.plan_for(&automaton);
            return Running::Table(Single::new(automaton, plan));
        }
        Machine::Automaton(automaton) => setup.slices(automaton),
        Machine::Past(past) => setup.slices(past),
        Machine::Timed(timed) => setup.slices(timed),
        Machine::Cfg(cfg) => setup.slices(cfg),
        Machine::Srs(srs) => setup.slices(srs),
        Machine::Raw(raw) => setup.slices(raw),
    })
}

/// The values of a property's variables before the first event; see [`Watch::new`].
pub(crate) fn initial_values(property: &Property, initial: impl Fn(&str) -> Option<i64>) -> Vec<i64> {
    let value = |var: &Var| var.initial.or_else(|| initial(&var.name)).unwrap_or(0);
    property.vars.iter().map(value).collect()
}

/// What a body reads before the first event.
pub(crate) fn first_letter(property: &Property, body: &Body, vars: &[i64]) -> Letter {
    let state = remembering::initial(property);
    body.letters.letter(None, Values { vars, state: &state, ..Values::default() })
}

/// What a body's monitors are made from.
pub(crate) struct Setup<'a> {
    pub(crate) property: &'a Property,
    pub(crate) body: &'a Body,
}

impl Setup<'_> {
    fn slices<M: Monitor<State: Send> + Send + 'static>(&self, monitor: M) -> Box<dyn Slices> {
        if self.property.remembers() {
            return self.slices_of(self.remembering(monitor));
        }
        self.slices_of(monitor)
    }

    fn slices_of<M: Monitor<State: Send> + Send + 'static>(&self, monitor: M) -> Box<dyn Slices> {
        let plan = self.plan_for(&monitor);
        if !self.property.modifiers.suffix {
            return match self.property.params.len() {
                0 => Box::new(Single::new(monitor, plan)),
                1 if self.is_flat() => Box::new(Flat::new(monitor, plan)),
                _ => Box::new(Slicer::new(monitor, plan)),
            };
        }
        let suffix = self.suffix(monitor, &plan);
        let plan = self.plan(&self.by_event(suffix.outlook()));
        Box::new(Slicer::new(suffix, plan))
    }

    /// The monitor with the property's own variables.
    pub(crate) fn remembering<M: Monitor>(&self, monitor: M) -> Remembering<M> {
        let creates = self.plan_for(&monitor).events.iter().map(|event| event.creates).collect();
        Remembering::new(monitor, self.property, self.body, creates)
    }

    /// The monitor of all suffixes; `plan` is that of the monitor itself.
    pub(crate) fn suffix<M: Monitor>(&self, monitor: M, plan: &Plan) -> Suffix<M> {
        let begins = match self.body.letters {
            Letters::Events => plan.events.iter().map(|event| event.creates).collect(),
            Letters::Atoms(_) => Vec::new(),
        };
        Suffix::new(monitor, begins, plan.dead_ends())
    }

    /// Whether every event that the body reads binds all parameters.
    fn is_flat(&self) -> bool {
        let all = ParamSet::first(self.property.params.len());
        let assigns = self.body.letters != Letters::Events && !self.property.modifiers.perthread;
        !assigns && self.property.events.iter().all(|event| event.shape.domain() == all)
    }

    /// The plan for a monitor of this body.
    pub(crate) fn plan_for(&self, monitor: &impl Monitor) -> Plan {
        self.plan(&self.by_event(monitor.outlook()))
    }

    fn plan(&self, outlook: &Outlook) -> Plan {
        let modifiers = self.property.modifiers;
        let demands = Demands {
            handled: self.body.handled(),
            resets: self.body.resets(),
            full_binding: modifiers.full_binding,
            connected: modifiers.connected,
        };
        Plan::new(&self.shapes(), self.property.params.len(), outlook, demands)
    }

    /// The shapes of the events, and of the assignment to a variable, which comes last.
    fn shapes(&self) -> Vec<EventShape> {
        let declared = self.property.events.iter().map(|event| event.shape.clone());
        let thread = self.property.params.len().checked_sub(1).map(|last| last as u8);
        let params =
            if self.property.modifiers.perthread { thread.into_iter().collect() } else { Vec::new() };
        declared.chain([EventShape { params, creation: false }]).collect()
    }

    /// The outlook in terms of events: letters that are sets of atoms say nothing about which event comes. And a temporal
    /// formula speaks of all that has happened: an event after which it can no longer be violated must be remembered, not passed
    /// over until one comes that could begin a violation.
    fn by_event(&self, outlook: Outlook) -> Outlook {
        let is_temporal = matches!(self.body.formalism.as_str(), "ltl" | "ptltl");
        match self.body.letters {
            Letters::Events if !is_temporal => outlook,
            _ => {
                // Assignments come to those only that speak of variables; others need not wait for them when their objects are gone.
                let assignments = u32::from(self.body.letters != Letters::Events);
                let events = self.property.events.len() as u32 + assignments;
                let all = Categories(u64::MAX);
                let anything = |place| (0..events).map(|event| (event, place, all)).collect();
                let edges = (0..outlook.edges.len() as u32).map(anything).collect();
                Outlook { start: outlook.start, edges }
            }
        }
    }
}
