//! Violations as findings: one for each handler at each place, with what the thread knew, from whom, and the events that carried it.
//!
//! A formula that does not hold mostly does not hold for a while. What is reported is where that begins, in each thread.

use foresee_monitor::handler_text::{MeantThreads, says_with};
use foresee_monitor::property::{Action, Property};
use foresee_monitor::questions::{Question, questions};
use foresee_mttl::reason::Known;
use foresee_mttl::{Program, ThreadMonitor, Way};
use foresee_trace::{Event, LocId, Names, StrId, ThreadId};
use foresee_witness::judge::{self, Finding, FindingKind, Place, Statement};
use rustc_hash::FxHashMap;

use super::run::{Run, Vector};
use super::unknown::UnknownValues;
use crate::variables::UnknownValue;

/// What the engine is called.
const ENGINE: &str = "mttl";

/// A body, by position.
struct Body {
    property: usize,
    body: usize,
}

/// The first violation at a place.
struct First {
    at: u64,
    thread: ThreadId,
    known: Vec<(usize, Known<Way>)>,
    /// Code that may have synchronised unseen, here and in another thread.
    blind: Option<StrId>,
    /// A variable whose value was not known.
    unknown: Option<String>,
    instances: u64,
}

/// What may make a verdict wrong.
#[derive(Clone, Copy)]
pub(super) struct Doubts<'d> {
    /// The code that each thread has run that may have synchronised without being seen.
    pub(super) blind: &'d FxHashMap<usize, StrId>,
    pub(super) unknown: &'d UnknownValues,
}

/// All that was found.
pub(super) struct Reports<'o> {
    properties: &'o [Property],
    trace: &'o str,
    bodies: Vec<Body>,
    questions: Vec<Question>,
    found: FxHashMap<(usize, usize, LocId), First>,
    /// Bodies whose handler has ended the run.
    ended: Vec<bool>,
    /// What did not hold in the last state of each thread.
    going_on: Vec<Vec<u32>>,
}

/// Why what the property says is not proven, if the value of one of its variables is not known.
fn unknown_value(property: &Property, program: &Program, unknown: &UnknownValues) -> Option<String> {
    let why = |unknown: &UnknownValue| {
        let name = &program.variables()[unknown.var as usize].name;
        property.vars.iter().any(|var| var.name == *name).then(|| unknown.why(name))
    };
    unknown.all().find_map(why)
}

impl<'o> Reports<'o> {
    pub(super) fn new(properties: &'o [Property], trace: &'o str) -> Reports<'o> {
        let (mut bodies, mut all) = (Vec::new(), Vec::new());
        for (number, property) in properties.iter().enumerate() {
            for (body, mttl) in property.mttl.iter().enumerate() {
                bodies.push(Body { property: number, body });
                all.extend(questions(property, &mttl.mttl));
            }
        }
        let ended = vec![false; bodies.len()];
        Reports {
            properties,
            trace,
            bodies,
            questions: all,
            found: FxHashMap::default(),
            ended,
            going_on: Vec::new(),
        }
    }

    /// A thread has a new state, in which formulas may not hold.
    #[inline]
    pub(super) fn state(
        &mut self,
        run: &Run,
        monitor: &ThreadMonitor<Vector>,
        at: (u64, &Event<'_>),
        doubts: Doubts<'_>,
    ) {
        let thread = at.1.thread.index();
        let before = self.going_on.get(thread).map_or(&[][..], Vec::as_slice);
        if before != monitor.violated() {
            self.violated(run, monitor, at, doubts);
            if self.going_on.len() <= thread {
                self.going_on.resize(thread + 1, Vec::new());
            }
            self.going_on[thread] = monitor.violated().to_vec();
        }
    }

    /// Other formulas do not hold after this event than before it.
    fn violated(
        &mut self,
        run: &Run,
        monitor: &ThreadMonitor<Vector>,
        (index, event): (u64, &Event<'_>),
        Doubts { blind, unknown }: Doubts<'_>,
    ) {
        for &formula in monitor.violated() {
            let before = self.going_on.get(event.thread.index());
            if before.is_some_and(|before| before.contains(&formula)) {
                continue;
            }
            let Some(body) = self.bodies.get(formula as usize).filter(|_| !self.ended[formula as usize])
            else {
                continue;
            };
            let property = &self.properties[body.property];
            let handlers = &property.mttl[body.body].handlers;
            for (number, handler) in handlers.iter().enumerate() {
                self.ended[formula as usize] |= handler.actions.contains(&Action::Abort);
                if !handler.is_finding() {
                    continue;
                }
                let first = || {
                    let known = monitor.reasons(&run.program, &run.threads, formula);
                    let named = |known: Known<Way>| Some((run.number(known.of)?, known));
                    let here = blind.get(&event.thread.index()).copied();
                    let elsewhere = blind.keys().any(|thread| *thread != event.thread.index());
                    First {
                        at: index,
                        thread: event.thread,
                        known: known.into_iter().filter_map(named).collect(),
                        blind: here.filter(|_| elsewhere),
                        unknown: unknown_value(property, &run.program, unknown),
                        instances: 0,
                    }
                };
                let key = (formula as usize, number, event.loc);
                self.found.entry(key).or_insert_with(first).instances += 1;
            }
        }
    }

    /// What is to be said of properties that may say something wrong, or too little, as values of their variables were not seen.
    pub(super) fn unknown(&self, program: &Program, unknown: &UnknownValues) -> Vec<String> {
        let about = self.properties.iter().filter(|property| !property.mttl.is_empty());
        let said = |property: &Property| {
            Some(format!("{}: {}", property.name, unknown_value(property, program, unknown)?))
        };
        about.filter_map(said).collect()
    }

    /// What there is to report, in the order in which it was found.
    pub(super) fn findings(&self, names: &Names) -> Vec<Finding> {
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|((formula, handler, _), first)| (first.at, *formula, *handler));
        found.into_iter().map(|(key, first)| self.finding(*key, first, names)).collect()
    }

    fn finding(
        &self,
        (formula, handler, loc): (usize, usize, LocId),
        first: &First,
        names: &Names,
    ) -> Finding {
        let Body { property: number, body } = self.bodies[formula];
        let property = &self.properties[number];
        let mttl = &property.mttl[body];
        // Bodies of this kind come after all others of their property.
        let place = Place::of_verdict(number, property.bodies.len() + body, handler);
        let mut places = vec![place, Place::new(loc, 0)];
        places.sort_unstable();
        let mut finding = Finding::observed(FindingKind::Property, ENGINE, vec![first.at], places);
        finding.instances = first.instances;
        let name = |thread: usize| names.thread_name(ThreadId(thread as u32)).to_owned();
        let own = name(first.thread.index());
        let others: Vec<String> = first.known.iter().map(|(thread, _)| name(*thread)).collect();
        let meant =
            MeantThreads { threads: &property.threads, owner: mttl.mttl.owner, own: &own, others: &others };
        let stands_for = |wanted: &str| match wanted {
            "thread" => Some(own.clone()),
            "trace" => Some(self.trace.to_owned()),
            "loc" if loc == LocId::UNKNOWN => Some("an unknown place".to_owned()),
            "loc" => Some(names.location_text(loc)),
            _ => meant.text(wanted),
        };
        let handler = &mttl.handlers[handler];
        finding.statement = Some(Statement {
            property: property.name.clone(),
            category: handler.category.clone(),
            message: says_with(handler, stands_for),
        });
        finding.known = first.known.iter().map(|(thread, known)| self.known(name(*thread), known)).collect();
        if let Some(code) = first.blind {
            let code = names.str(code);
            finding.doubt_because(format!(
                "`{code}`, whose order among threads is not recorded, may have told the thread more"
            ));
        }
        if let Some(unknown) = &first.unknown {
            finding.doubt_because(unknown.clone());
        }
        finding
    }

    fn known(&self, thread: String, known: &Known<Way>) -> judge::Known {
        let question = self.questions.get(known.asked as usize);
        let asked = question.map_or("", |question| question.text.as_str());
        let answer = match (known.value, question.is_some_and(|question| question.is_formula)) {
            (None, _) => "undefined".to_owned(),
            (Some(value), true) => (value != 0).to_string(),
            (Some(value), false) => value.to_string(),
        };
        let way = known.way.as_ref().map_or(Vec::new(), |way| way.events().to_vec());
        judge::Known { thread, says: format!("{asked} is {answer}"), way }
    }
}
