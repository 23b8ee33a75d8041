//! Findings with ids, messages and all that belongs to them.

use foresee_trace::{EventId, Execution, Names};
use foresee_witness::judge::{self, Certainty, FindingKind};

use super::details::Collected;
use super::message::message;
use super::resolve::Resolver;
use super::story::{story_of, what_separated};
use crate::report::model::{Finding, Known, Named, Report, Run, Stats, Step, Story, Suppressed, Witness};
use crate::report::viewpoint::Viewpoint;

/// So many findings get a story in any case; as many as people get in full.
const FIRST: usize = 40;

/// Further ones get one as long as the events walked for stories are not more than this, all together.
const MOST_WALKED: usize = 20_000_000;

/// Makes the report of one trace.
pub(crate) struct Builder<'a> {
    resolver: Resolver<'a>,
    execution: Option<&'a Execution>,
    viewpoint: &'a Viewpoint,
}

impl<'a> Builder<'a> {
    /// For findings in this trace. Witnesses refer to `execution`; messages name files as seen from `viewpoint`.
    pub(crate) fn new(
        names: &'a Names,
        collected: &'a Collected,
        execution: Option<&'a Execution>,
        viewpoint: &'a Viewpoint,
    ) -> Builder<'a> {
        Builder { resolver: Resolver { names, collected }, execution, viewpoint }
    }

    /// The report of these findings, without those that are suppressed; they are counted in the statistics, and explained if they are
    /// known.
    pub(crate) fn report(
        &self,
        findings: &[judge::Finding],
        mut stats: Stats,
        suppresses: &mut dyn FnMut(&Finding) -> Option<Suppressed>,
    ) -> Report {
        let all = findings.iter().map(|found| self.finding(found)).collect();
        let mut report = Report::new(all, stats.clone());
        report.number();
        let before = report.findings.len();
        let mut kept = Vec::with_capacity(before);
        for (finding, found) in report.findings.into_iter().zip(findings) {
            match suppresses(&finding) {
                None => kept.push((finding, found)),
                Some(Suppressed::ByUser) => {}
                Some(Suppressed::Known(known)) => stats.add_known(&known),
            }
        }
        stats.suppressed = (before - kept.len()) as u64;
        Report::new(self.with_stories(kept), stats)
    }

    fn finding(&self, found: &judge::Finding) -> Finding {
        let details = &self.resolver.collected.details;
        let events = found.events.iter().filter_map(|index| details.get(index));
        let known = found.known.iter().map(|known| Known {
            thread: known.thread.clone(),
            says: known.says.clone(),
            events: (known.way.iter().filter_map(|index| details.get(index)))
                .map(|details| self.resolver.event(details))
                .collect(),
        });
        let said = found.statement.as_ref();
        let mut finding = Finding {
            id: String::new(),
            kind: found.kind.into(),
            certainty: found.certainty().into(),
            program: None,
            binary: None,
            test: None,
            property: said.map(|said| said.property.clone()),
            category: said.map(|said| said.category.clone()),
            message: String::new(),
            property_message: said.map(|said| said.message.clone()),
            engine: found.engine.to_owned(),
            instances: found.instances,
            schedulable: found.schedulable,
            reason: found.reason.clone(),
            events: events.map(|details| self.resolver.event(details)).collect(),
            witness: witness(found),
            run: found.run.as_ref().zip(self.execution).map(|(run, execution)| self.run(run, execution)),
            story: None,
            known: known.collect(),
            first: None,
            refinement: None,
        };
        finding.message = message(&finding, self.viewpoint);
        finding
    }

    /// The run of a predicted property violation as the property sees it.
    fn run(&self, run: &judge::PredictedRun, execution: &Execution) -> Run {
        let step = |step: &judge::RunEvent| {
            let event = execution.event(EventId(step.event as u32));
            Step {
                index: step.event,
                event: step.event,
                thread: self.resolver.thread(event.thread),
                op: event.op.name().to_owned(),
                target: self.resolver.target(step.event, &event),
                location: self.resolver.location(event.loc),
                place: self.resolver.names.location_text(event.loc),
                moved: Some(step.moved),
                values: Named(step.values.clone()),
            }
        };
        Run {
            model: run.model.to_owned(),
            initial: Named(run.initial.clone()),
            steps: run.events.iter().map(step).collect(),
            whole: true,
            exhaustive: Some(run.exhaustive),
            violating_runs: run.runs.map(|(violating, _)| violating),
            runs: run.runs.map(|(_, all)| all),
        }
    }

    /// Adds the stories of witnesses, where a property has no run to show instead. Each walks its whole witness, and what
    /// lies between two accesses: of very many long ones, the first have one.
    fn with_stories(&self, kept: Vec<(Finding, &judge::Finding)>) -> Vec<Finding> {
        let mut room = MOST_WALKED;
        let mut all = Vec::with_capacity(kept.len());
        for (number, (mut finding, found)) in kept.into_iter().enumerate() {
            let key: Vec<EventId> = found.events.iter().map(|&index| EventId(index as u32)).collect();
            let separable = match (found.kind, found.certainty(), &key[..]) {
                (FindingKind::Race, Certainty::Predicted, &[a, b]) => Some((a.min(b), a.max(b))),
                _ => None,
            };
            let walked = found.witness().len() + separable.map_or(0, |(a, b)| (b.0 - a.0) as usize);
            if let Some(execution) = self.execution
                && !found.witness().is_empty()
                && found.run.is_none()
                && (number < FIRST || walked <= room)
            {
                room = room.saturating_sub(walked);
                let story = story_of(&self.resolver, execution, found.witness(), &key);
                let separated_by =
                    separable.and_then(|(a, b)| what_separated(&self.resolver, execution, a, b));
                finding.story = Some(Story { separated_by, ..story });
            }
            all.push(finding);
        }
        all
    }
}

fn witness(found: &judge::Finding) -> Option<Witness> {
    let schedule = found.witness();
    let then = schedule.then().iter().map(|id| id.0);
    (!schedule.is_empty()).then(|| Witness::new(schedule.observed(), then))
}
