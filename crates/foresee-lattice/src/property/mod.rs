//! What properties of a spec say of the observed run.
//!
//! | file | what is there |
//! |---|---|
//! | `translate` | from the events of a trace to those of a property: for everything that holds properties against traces |
//! | `calls` | which values of a call an event of a property asks for |
//! | `as_recorded` | what a recording says of the variables of its program, and of calls |
//! | `feed` | a property that watches a trace as it comes |
//! | `handler_text` | messages with the values in place of `{name}` |
//!
//! The engine feeds all properties in one pass. A verdict is a finding if its handler says more than `count` or `reset`; verdicts
//! of one handler at one place of the program are one finding. It is observed: this very run has it, no witness is needed.
//!
//! Cost: that of the monitors. Memory: that of the monitors, and a little for each finding.

mod as_recorded;
mod calls;
mod feed;
mod handler_text;
mod translate;

pub use as_recorded::as_recorded;
pub use feed::Feed;
pub use handler_text::{Occasion, says};
pub use translate::{PropertyEvent, Translator, is_recorded};

use foresee_monitor::property::{Action, Handler, Property};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::watch::{FeedError, Verdict};
use foresee_trace::{Event, LocId, Names, ThreadId};
use rustc_hash::FxHashMap;

use foresee_witness::engine::{Outcome, StreamEngine};
use foresee_witness::judge::{Finding, FindingKind, Place, Statement};

/// The streaming engine; see the [module](self).
pub struct ObservedVerdicts<'o> {
    properties: &'o [Property],
    trace: &'o str,
    feeds: Vec<Feed<'o>>,
    /// Properties that have aborted.
    ended: Vec<bool>,
    found: FxHashMap<(usize, Handled, LocId), First>,
    heard: Vec<Heard>,
    /// Instances that were given up.
    gave_up: u64,
}

/// A body's handler, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Handled {
    body: usize,
    handler: usize,
}

/// A verdict, until its event has been handled.
struct Heard {
    property: usize,
    handled: Handled,
    domain: ParamSet,
    values: Vec<u64>,
}

/// The first verdict of a handler at a place, and how many there are.
struct First {
    heard: Heard,
    /// The event and its thread; `None` at the end of the run.
    at: Option<(u64, ThreadId)>,
    instances: u64,
    /// Why it is in doubt, if it is.
    doubt: Option<String>,
}

/// What is to be said of a property that may say something wrong, or too little: the value of one of its variables was not seen.
pub fn unknown_value(translator: &Translator<'_>) -> Option<String> {
    Some(format!("{}: {}", translator.property().name, translator.unknown_value()?))
}

impl<'o> ObservedVerdicts<'o> {
    /// Watches these properties; `trace` is what the user calls the trace.
    pub fn new(properties: &'o [Property], trace: &'o str) -> ObservedVerdicts<'o> {
        let feeds: Vec<Feed<'o>> = properties.iter().map(Feed::new).collect();
        let ended = vec![false; feeds.len()];
        let (found, heard) = (FxHashMap::default(), Vec::new());
        ObservedVerdicts { properties, trace, feeds, ended, found, heard, gave_up: 0 }
    }

    /// Keeps the verdicts of this event.
    fn keep(&mut self, at: Option<(u64, ThreadId)>, loc: LocId) {
        for heard in std::mem::take(&mut self.heard) {
            let handler = handler(self.properties, &heard);
            self.ended[heard.property] |= handler.actions.contains(&Action::Abort);
            if !handler.is_finding() {
                continue;
            }
            let key = (heard.property, heard.handled, loc);
            let doubt = self.feeds[heard.property].translator().unknown_value();
            self.found.entry(key).or_insert(First { heard, at, instances: 0, doubt }).instances += 1;
        }
    }
}

fn handler<'o>(properties: &'o [Property], heard: &Heard) -> &'o Handler {
    &properties[heard.property].bodies[heard.handled.body].handlers[heard.handled.handler]
}

fn hear(heard: &mut Vec<Heard>, property: usize, verdict: Verdict<'_>) {
    for handler in verdict.categories.indices() {
        let handled = Handled { body: verdict.body, handler };
        let (domain, values) = (verdict.domain, verdict.values.to_vec());
        heard.push(Heard { property, handled, domain, values });
    }
}

impl StreamEngine for ObservedVerdicts<'_> {
    fn names(&mut self, names: &Names) {
        self.feeds.iter_mut().for_each(|feed| feed.learn(names));
    }

    fn event(&mut self, index: u64, event: &Event<'_>) {
        for (property, feed) in self.feeds.iter_mut().enumerate() {
            if !self.ended[property] {
                // An event that carries too much or too little is another event of that name.
                let fed = feed.event(event, &mut |verdict| hear(&mut self.heard, property, verdict));
                self.gave_up += u64::from(matches!(fed, Err(FeedError::GaveUp { .. })));
            }
        }
        if !self.heard.is_empty() {
            self.keep(Some((index, event.thread)), event.loc);
        }
    }

    fn finish(mut self: Box<Self>, names: &Names) -> Outcome {
        for (property, feed) in self.feeds.iter_mut().enumerate() {
            if !self.ended[property] {
                feed.end(&mut |verdict| hear(&mut self.heard, property, verdict));
            }
        }
        self.keep(None, LocId::UNKNOWN);
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|((property, handled, _), first)| (first.at, *property, *handled));
        let finding = |(&(property, handled, loc), first): (&(usize, Handled, LocId), &First)| {
            let feed = &self.feeds[property];
            let handler = handler(self.properties, &first.heard);
            let thread = first.at.map(|(_, thread)| thread);
            let occasion = Occasion { names, thread, loc, trace: self.trace };
            let mut places =
                vec![Place::of_verdict(property, handled.body, handled.handler), Place::new(loc, 0)];
            places.sort_unstable();
            let events = first.at.iter().map(|(index, _)| *index).collect();
            let mut finding = Finding::observed(FindingKind::Property, "property", events, places);
            finding.instances = first.instances;
            let heard = &first.heard;
            finding.statement = Some(Statement {
                property: feed.property().name.clone(),
                category: handler.category.clone(),
                message: says(feed.translator(), handler, heard.domain, &heard.values, occasion),
            });
            if let Some(reason) = &first.doubt {
                finding.doubt_because(reason.clone());
            }
            finding
        };
        let unknown = self.feeds.iter().filter_map(|feed| unknown_value(feed.translator()));
        let (findings, unknown) = (found.into_iter().map(finding).collect(), unknown.collect());
        Outcome { findings, unknown, undecided: self.gave_up }
    }
}

#[cfg(test)]
pub(crate) mod tests;
