//! From what a session finds to a finding of the report.

use foresee_lattice::online::{OnlineFinding, RunStep};

use crate::report::build::location_from_text;
use crate::report::model::{self, Certainty, Event, Finding, Named, Positions, Run, Witness};

/// What findings of this command name as their engine.
const ENGINE: &str = "observe";

/// The causality model of all runs that are explored while a program runs.
const MODEL: &str = "hb";

/// A finding in this program; a candidate if the recording of the program is in doubt.
pub(super) fn finding(program: &str, found: &OnlineFinding, in_doubt: bool) -> Finding {
    let event = found.steps.last().map(event);
    let run = Run {
        model: MODEL.to_owned(),
        initial: Named(found.initial.clone()),
        steps: found.steps.iter().map(step).collect(),
        whole: found.whole,
        exhaustive: None,
        violating_runs: None,
        runs: None,
    };
    // By the numbers that the steps have, and by threads and positions in them.
    let witness = found.witness.as_ref().map(|witness| {
        let positions = Positions { after: witness.after().to_vec(), events: witness.events().to_vec() };
        Witness::observed(found.steps.iter().map(|step| step.number), positions)
    });
    let message = found.message.clone();
    Finding {
        certainty: if in_doubt { Certainty::Candidate } else { found.certainty().into() },
        program: Some(program.to_owned()),
        witness,
        run: Some(run),
        ..Finding::of_property(ENGINE, &found.property, &found.category, message, event)
    }
}

/// About how many bytes of texts and numbers it has.
pub(super) fn weight(found: &OnlineFinding) -> usize {
    let values = |values: &[(String, i64)]| values.iter().map(|(name, _)| 48 + name.len()).sum::<usize>();
    let step = |step: &RunStep| {
        512 + step.thread.len() + step.what.len() + 3 * step.place.len() + values(&step.values)
    };
    let after = found.witness.as_ref().map_or(0, |witness| witness.after().len() * 8);
    let steps: usize = found.steps.iter().map(step).sum();
    1024 + found.message.len() + values(&found.initial) + steps + after
}

fn step(step: &RunStep) -> model::Step {
    model::Step {
        index: step.number.into(),
        event: step.number.into(),
        thread: step.thread.clone(),
        op: step.what.clone(),
        target: String::new(),
        location: location_from_text(&step.place),
        place: step.place.clone(),
        moved: None,
        values: Named(step.values.clone()),
    }
}

fn event(step: &RunStep) -> Event {
    let location = location_from_text(&step.place);
    Event {
        index: step.number.into(),
        thread: step.thread.clone(),
        op: step.what.clone(),
        target: String::new(),
        stack: location.function.is_some().then(|| location.clone()).into_iter().collect(),
        location,
        place: step.place.clone(),
        held: None,
        size: None,
        memory: None,
        thread_created: None,
        values: Some(Named(step.values.clone())),
    }
}
