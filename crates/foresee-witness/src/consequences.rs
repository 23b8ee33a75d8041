//! What a trace's gaps mean for what was found in it.
//!
//! A finding is as certain as the run that it is about. Engines and judge work on the recorded run as if it were all; this is
//! where what the trace says of itself ([`Trust`]) is held against the findings. It can only lower their certainty.

use foresee_trace::{EventId, Execution, Gap, LockId, Op, Spoils, Trust, UnseenWrite};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::judge::{Certainty, Finding, FindingKind};

/// Lowers the certainty of findings, and removes those that only the missing could have shown.
pub(crate) fn apply(trust: &Trust, execution: Option<&Execution>, findings: &mut Vec<Finding>) {
    if trust.is_whole() {
        return;
    }
    if let Some(execution) = execution {
        doubt_what_rests_on_locks(trust, execution, findings);
    }
    for unseen in trust.unseen_writes() {
        findings.iter_mut().filter(|finding| rests_on(finding, unseen, execution)).for_each(|finding| {
            finding.doubt_because(Gap::UnseenWrite(unseen.clone()).to_string());
        });
    }
    if trust.spoils(Spoils::EndOfRun) {
        // Where the trace ends is not where the run did: what properties said of its end was never true.
        let is_about_end =
            |finding: &Finding| finding.kind == FindingKind::Property && finding.events.is_empty();
        findings.retain(|finding| !is_about_end(finding));
    }
    let impossible = trust.gaps().iter().find(|gap| matches!(gap, Gap::Impossible(_)));
    let may_be_the_reason =
        |gap: &&Gap| matches!(gap, Gap::UninstrumentedAtomics(_) | Gap::AliasedMemory | Gap::UnknownMoments);
    let unseen = trust.gaps().iter().find(may_be_the_reason);
    for finding in findings {
        let (nothing, predictions, whole_run) = (
            trust.spoils(Spoils::Everything),
            trust.spoils(Spoils::Predictions),
            trust.spoils(Spoils::WholeRun),
        );
        // What a property says of a part of a run depends on the rest.
        let is_about_whole = matches!(finding.kind, FindingKind::Property | FindingKind::Refinement);
        // In another schedule, accesses that are left out may read something else. What was observed was observed: the
        // order of this run is that of what synchronises, which is all there.
        let is_predicted = finding.certainty() == Certainty::Predicted;
        if nothing || is_about_whole && (whole_run || predictions) || is_predicted && predictions {
            finding.doubt();
        }
        if predictions {
            finding.drop_witness();
        }
        // What may have ordered the threads unseen is a reason as good as blind code is.
        let beginning = trust.spoiled_by(Spoils::WholeRun).filter(|_| is_about_whole);
        if let Some(gap) = impossible.or(unseen.or(beginning).filter(|_| finding.reason.is_none())) {
            finding.doubt_because(gap.to_string());
        }
    }
}

/// Whether a finding rests on memory that was changed unseen, or on the order of what happened then: by which thread it was changed
/// is not known, so what happened between the two reads that show it must not be moved. Nor is it known whether it was
/// changed at other times, too: what touches the memory is no proof of anything.
fn rests_on(finding: &Finding, unseen: &UnseenWrite, execution: Option<&Execution>) -> bool {
    let schedule = finding.witness();
    let moved = schedule.then();
    let last = moved.iter().map(|id| id.0).max();
    let [first_read, second_read] = unseen.events;
    let is_moved =
        last.is_some_and(|last| first_read <= last.into() && second_read >= schedule.observed().into());
    let Some(execution) = execution else { return is_moved || finding.kind == FindingKind::Race };
    let touches = |event: u64| {
        let id = u32::try_from(event).ok().filter(|&id| (id as usize) < execution.len());
        let mem = id.and_then(|id| execution.op(EventId(id)).mem());
        mem.is_some_and(|mem| mem.overlaps(unseen.mem))
    };
    is_moved
        || finding.events.iter().any(|&event| touches(event))
        || moved.iter().any(|id| touches(id.0.into()))
}

/// Doubts findings that rest on locks that may be none: those that a request for such a lock is part of, and those whose schedule
/// takes or gives back one in another order than was observed. Where the order is as observed, so is whatever such a
/// lock is made of.
fn doubt_what_rests_on_locks(trust: &Trust, execution: &Execution, findings: &mut [Finding]) {
    let names: FxHashSet<&str> = trust.demoted_locks().collect();
    if names.is_empty() {
        return;
    }
    let doubted = |lock: LockId| names.contains(execution.names().lock_name(lock)).then_some(lock);
    let why = |lock: LockId| Gap::DemotedLock(execution.names().lock_name(lock).to_owned()).to_string();
    let handled = |id: EventId| match execution.op(id) {
        Op::Acquire { lock, .. } | Op::Release { lock, .. } => doubted(lock),
        _ => None,
    };
    let mut observed: FxHashMap<LockId, Vec<EventId>> = FxHashMap::default();
    for id in (0..execution.len() as u32).map(EventId) {
        if let Some(lock) = handled(id) {
            observed.entry(lock).or_default().push(id);
        }
    }
    let is_about = |&event: &u64| {
        let id = u32::try_from(event).ok().filter(|&id| (id as usize) < execution.len()).map(EventId)?;
        match execution.op(id) {
            Op::Request { lock, .. } | Op::Acquire { lock, .. } => doubted(lock),
            _ => None,
        }
    };
    for finding in findings {
        let schedule = finding.witness();
        let mut next: FxHashMap<LockId, usize> = FxHashMap::default();
        let moved = schedule.then().iter().find_map(|&id| {
            let lock = handled(id)?;
            let all = observed.get(&lock).map_or(&[][..], Vec::as_slice);
            let first = || all.partition_point(|id| id.0 < schedule.observed());
            let at = next.entry(lock).or_insert_with(first);
            *at += 1;
            (all.get(*at - 1) != Some(&id)).then_some(lock)
        });
        if let Some(lock) = moved.or_else(|| finding.events.iter().find_map(is_about)) {
            finding.doubt_because(why(lock));
        }
    }
}

#[cfg(test)]
mod tests {
    use foresee_trace::NoEnd;

    use super::*;
    use crate::judge::Place;

    fn observed(kind: FindingKind, events: &[u64]) -> Finding {
        Finding::observed(kind, "test", events.to_vec(), Vec::<Place>::new())
    }

    fn after(gap: Gap, mut findings: Vec<Finding>) -> Vec<Certainty> {
        apply(&[gap].into_iter().collect(), None, &mut findings);
        findings.iter().map(Finding::certainty).collect()
    }

    #[test]
    fn each_gap_spoils_what_rests_on_it() {
        use Certainty::{Candidate, Observed};
        let all = || vec![observed(FindingKind::Race, &[1, 2]), observed(FindingKind::Property, &[])];
        assert_eq!(after(Gap::NotSymbolised, all()), [Candidate, Candidate]);
        assert_eq!(after(Gap::NoBeginning, all()), [Observed, Candidate]);
        assert_eq!(after(Gap::AccessesLeftOut, all()), [Observed, Candidate]);
        assert_eq!(after(Gap::NoEnd(NoEnd::Interrupted), all()), [Observed]);
    }
}
