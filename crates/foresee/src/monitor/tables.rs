//! From the static data that macros write to a property that runs.
//!
//! The macros compile a spec at build time, so a program has no parser and no formulas in it, only automata and grammars as tables.
//! Two kinds of bodies have none: `raw` ones, which the program brings itself, and past formulas too big for an automaton.
//! Properties with these carry their text, which is compiled at their first event.

use std::format;
use std::prelude::rust_2024::*;
use std::sync::{Arc, Mutex, PoisonError};

use foresee_monitor::compile_with;
use foresee_monitor::formalism::automaton::Automaton;
use foresee_monitor::formalism::cfg::{Cfg, Grammar, Symbol};
use foresee_monitor::formalism::raw::RawMonitor;
use foresee_monitor::formalism::{Categories, Handled};
use foresee_monitor::property::{Carried, Machine, Property};
use foresee_monitor::spec::raw_monitors::RawMonitors;

use super::message::say;

/// An automaton: the successor of each state for each letter, and the verdicts of each state.
pub fn automaton(letters: u32, next: &'static [u32], verdicts: &'static [u64]) -> Machine {
    let rows: Vec<Vec<u32>> = next.chunks(letters.max(1) as usize).map(<[u32]>::to_vec).collect();
    let verdicts = verdicts.iter().map(|bits| Categories(*bits)).collect();
    Machine::Automaton(Automaton::new(letters, &rows, verdicts))
}

/// A grammar over so many events and symbols, with the categories that have handlers.
pub fn grammar(
    events: u32,
    symbols: u32,
    rules: &'static [(u32, &'static [Symbol])],
    handled: &'static [&'static str],
) -> Machine {
    let rules = rules.iter().map(|(symbol, right)| (*symbol, right.to_vec())).collect();
    let handled: Vec<String> = handled.iter().map(|name| (*name).into()).collect();
    Machine::Cfg(Cfg::new(&Grammar { rules, symbols }, events, Handled(&handled)))
}

static RAW: Mutex<Option<RawMonitors>> = Mutex::new(None);

/// Registers the monitor that a body `raw: "name"` stands for, before the first event of its property.
///
/// ```
/// use foresee::RawMonitor;
///
/// foresee::monitor! {
///     property Burst {
///         event request;
///         raw: "burst"
///         @violation { count; reset; }
///     }
/// }
///
/// /// At most three requests.
/// struct Counting;
///
/// impl RawMonitor for Counting {
///     fn step(&self, seen: u64, _event: u32) -> u64 {
///         seen + 1
///     }
///
///     fn verdicts(&self, seen: u64) -> &[&'static str] {
///         if seen > 3 { &["violation"] } else { &[] }
///     }
/// }
///
/// foresee::register_raw("burst", Counting);
/// (0..9).for_each(|_| burst::request());
/// assert_eq!(burst::MONITOR.count("violation"), 2);
/// ```
pub fn register_raw(name: impl Into<String>, monitor: impl RawMonitor + 'static) {
    let mut raw = RAW.lock().unwrap_or_else(PoisonError::into_inner);
    raw.get_or_insert_default().register(name, Arc::new(monitor));
}

/// The property with this position in a spec that was found right at build time.
pub fn compiled(source: &'static str, position: usize) -> Property {
    let mut monitors = RAW.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
    for missing in monitors.stand_in(source) {
        say(&format!(
            "the monitor of `raw: {missing:?}` is not registered: foresee::register_raw({missing:?}, …) before the first event"
        ));
    }
    match compile_with(source, &monitors) {
        Ok(compiled) => compiled.properties.into_iter().nth(position).unwrap_or_else(nothing),
        Err(_) => nothing(),
    }
}

/// A property that states nothing.
fn nothing() -> Property {
    Property {
        name: String::new(),
        params: Vec::new(),
        modifiers: Default::default(),
        events: Vec::new(),
        vars: Vec::new(),
        state: Vec::new(),
        texts: Vec::new(),
        bodies: Vec::new(),
        threads: Vec::new(),
        locals: Vec::new(),
        mttl: Vec::new(),
    }
}

/// A `perthread` property for one thread alone: the thread is no parameter any more.
pub(super) fn of_one_thread(mut property: Property) -> Property {
    if !std::mem::take(&mut property.modifiers.perthread) {
        return property;
    }
    property.params.pop();
    let thread = property.params.len() as u8;
    for event in &mut property.events {
        let own = event.shape.params.iter().zip(&event.carried).filter(|(param, _)| **param != thread);
        let (params, carried): (Vec<u8>, Vec<Carried>) =
            own.map(|(param, carried)| (*param, *carried)).unzip();
        (event.shape.params, event.carried) = (params, carried);
    }
    property
}
