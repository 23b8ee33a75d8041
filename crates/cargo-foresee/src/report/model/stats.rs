//! What happened on the way to the findings.

use serde::{Deserialize, Serialize};

use super::named::Named;

/// Statistics of one report, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stats {
    /// What the user called the trace or the program; `None` if there are several.
    pub(crate) trace: Option<String>,
    pub(crate) events: u64,
    /// How many events prediction looked at.
    pub(crate) analysed: u64,
    pub(crate) engines: Named<EngineStats>,
    /// Candidates that could not be decided within the time and memory given.
    pub(crate) undecided: u64,
    /// Predictions that the witness checker refused.
    pub(crate) refused: u64,
    pub(crate) suppressed: u64,
    /// Those of the suppressed findings that libraries are known for.
    pub(crate) known: Vec<KnownStats>,
    /// Whether the user or a limit of time stopped it.
    pub(crate) interrupted: bool,
    pub(crate) damage: Option<String>,
    /// What of the run is not in the trace, by intention, or is not covered.
    pub(crate) missing: Vec<String>,
    /// What specs and options name, and the run does not have.
    pub(crate) unmatched: Vec<Unmatched>,
    /// Critical sections in which code ran that is not in the trace.
    pub(crate) blind: BlindStats,
    /// What comparing the values of reads has shown, if that was asked for.
    pub(crate) values: Option<ValueStats>,
    pub(crate) seconds: f64,
    /// Of `monitor`: verdicts with a handler.
    pub(crate) verdicts: Option<u64>,
    /// Of `monitor`: named events that no property knows.
    pub(crate) unknown: Option<u64>,
    /// Of `monitor`: events with too few or too many values.
    pub(crate) misfits: Option<u64>,
    /// Of `observe`: one for each program.
    pub(crate) sessions: Option<Vec<SessionStats>>,
    /// Of `observe`: connections that did not get as far as a session.
    pub(crate) dropped: Option<u64>,
    /// Of tests: how many ran.
    pub(crate) tests: Option<u64>,
    /// Of tests: how many failed by themselves.
    pub(crate) failed: Option<u64>,
}

/// What one engine did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EngineStats {
    /// How many findings it had, known ones not counted.
    pub(crate) findings: u64,
    pub(crate) undecided: u64,
    /// Whether its time was over: with more, it may decide more.
    pub(crate) out_of_time: bool,
    pub(crate) refused: u64,
    /// `None` for what is not measured apart from reading.
    pub(crate) seconds: Option<f64>,
}

/// Something that a spec or an option names, and the run does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unmatched {
    /// Who names it: a property, or an option such as `--atomic`.
    pub(crate) by: String,
    /// `variable`, `function`, `event`, `local`, `thread`, or `property` for one that saw none of its events; `unused` if these are calls of functions that are known.
    pub(crate) kind: String,
    pub(crate) name: String,
    /// For people.
    pub(crate) message: String,
    /// What was perhaps meant.
    pub(crate) nearest: Vec<String>,
}

impl Unmatched {
    /// Whether another run lacks the same; what is near may differ.
    fn is_of_same(&self, other: &Unmatched) -> bool {
        (&self.by, &self.kind, &self.name) == (&other.by, &other.kind, &other.name)
    }
}

/// Findings that a library is known for, and that are therefore not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownStats {
    pub(crate) library: String,
    /// Why nothing comes of them.
    pub(crate) why: String,
    pub(crate) findings: u64,
}

/// By what a finding is suppressed.
pub(crate) enum Suppressed {
    /// By a line of the user's.
    ByUser,
    /// It is known.
    Known(KnownStats),
}

/// How many critical sections keep their place, as code ran there that is not in the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlindStats {
    /// How many critical sections there were.
    pub(crate) sections: u64,
    /// How many of them were blind.
    pub(crate) blind: u64,
    /// Which code that was, and in how many of them it ran; most first.
    pub(crate) code: Vec<BlindCode>,
}

/// Code that is not in the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlindCode {
    pub(crate) name: String,
    pub(crate) sections: u64,
}

impl BlindStats {
    fn add(&mut self, other: &BlindStats) {
        self.sections += other.sections;
        self.blind += other.blind;
        for code in &other.code {
            match self.code.iter_mut().find(|known| known.name == code.name) {
                Some(known) => known.sections += code.sections,
                None => self.code.push(code.clone()),
            }
        }
        self.code.sort_by_key(|code| std::cmp::Reverse(code.sections));
    }
}

/// What comparing the values of reads has shown (`--values`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ValueStats {
    /// How many reads were compared with one before.
    pub(crate) compared: u64,
    /// How many saw another value, without a recorded write in between.
    pub(crate) unseen_writes: u64,
    /// How many of these without code in between that is known not to be recorded.
    pub(crate) unexplained: u64,
    /// Where: each piece of memory once, those of the unexplained ones first.
    pub(crate) memory: Vec<String>,
}

impl ValueStats {
    fn add(&mut self, other: &ValueStats) {
        self.compared += other.compared;
        self.unseen_writes += other.unseen_writes;
        self.unexplained += other.unexplained;
        self.memory.extend_from_slice(&other.memory);
    }
}

/// How the observation of one program went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionStats {
    pub(crate) program: String,
    /// How it ended.
    pub(crate) end: String,
    /// Events that properties look at.
    pub(crate) events: u64,
    pub(crate) cuts: u64,
    pub(crate) findings: u64,
    /// Whether all runs of the model were explored.
    pub(crate) exhaustive: bool,
    /// Bindings of parameters that were not explored, or not to the end.
    pub(crate) left_out: u64,
    /// Runs that were not reported, as the check refused them.
    pub(crate) refused: u64,
}

impl Stats {
    /// Adds findings that a library is known for.
    pub(crate) fn add_known(&mut self, other: &KnownStats) {
        match self.known.iter_mut().find(|known| known.why == other.why) {
            Some(known) => known.findings += other.findings,
            None => self.known.push(other.clone()),
        }
    }

    /// Adds those of another report: numbers are summed, what holds of one holds of all. The trace stays.
    pub(crate) fn add(&mut self, other: &Stats) {
        // What one of the runs has is there.
        match self.events {
            0 => self.unmatched.clone_from(&other.unmatched),
            _ => self.unmatched.retain(|one| other.unmatched.iter().any(|other| one.is_of_same(other))),
        }
        self.events += other.events;
        self.analysed += other.analysed;
        for (name, engine) in other.engines.iter() {
            let sum = self.engines.entry(name);
            sum.findings += engine.findings;
            sum.undecided += engine.undecided;
            sum.out_of_time |= engine.out_of_time;
            sum.refused += engine.refused;
            sum.seconds = sum_of(sum.seconds, engine.seconds);
        }
        self.undecided += other.undecided;
        self.refused += other.refused;
        self.suppressed += other.suppressed;
        other.known.iter().for_each(|known| self.add_known(known));
        self.interrupted |= other.interrupted;
        if self.damage.is_none() {
            self.damage.clone_from(&other.damage);
        }
        for missing in &other.missing {
            if !self.missing.contains(missing) {
                self.missing.push(missing.clone());
            }
        }
        self.blind.add(&other.blind);
        if let Some(values) = &other.values {
            self.values.get_or_insert_default().add(values);
        }
        self.seconds += other.seconds;
    }
}

fn sum_of(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}
