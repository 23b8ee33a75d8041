//! What a trace's gaps mean for what was found in it.
//!
//! A finding is as certain as the run that it is about. Engines and judge work on the recorded run as if it were all; this is
//! where what the trace says of itself ([`Trust`]) is held against the findings. It can only lower their certainty.

use foresee_trace::{Spoils, Trust};

use crate::judge::{Certainty, Finding, FindingKind};

/// Lowers the certainty of findings, and removes those that only the missing could have shown.
pub(crate) fn apply(trust: &Trust, findings: &mut Vec<Finding>) {
    if trust.is_whole() {
        return;
    }
    if trust.spoils(Spoils::EndOfRun) {
        // Where the trace ends is not where the run did: what properties said of its end was never true.
        let is_about_end =
            |finding: &Finding| finding.kind == FindingKind::Property && finding.events.is_empty();
        findings.retain(|finding| !is_about_end(finding));
    }
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
    }
}

#[cfg(test)]
mod tests {
    use foresee_trace::{Gap, NoEnd};

    use super::*;
    use crate::judge::Place;

    fn observed(kind: FindingKind, events: &[u64]) -> Finding {
        Finding::observed(kind, "test", events.to_vec(), Vec::<Place>::new())
    }

    fn after(gap: Gap, mut findings: Vec<Finding>) -> Vec<Certainty> {
        apply(&[gap].into_iter().collect(), &mut findings);
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
