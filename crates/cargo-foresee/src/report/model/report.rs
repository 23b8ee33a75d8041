//! A whole report: `{"version":1,"findings":[…],"stats":{…}}`.

use serde::{Deserialize, Serialize};

use super::finding::{Finding, Kind};
use super::refinement::CaseVerdict;
use super::stats::Stats;
use super::witness;

/// The version of the document. Fields may be added to a version; none goes or changes its meaning.
const VERSION: u32 = 1;

/// What was found, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    version: u32,
    pub(crate) findings: Vec<Finding>,
    pub(crate) stats: Stats,
    /// Of `refine`: the event at which the first violation of the first case that has one is established.
    pub(crate) first: Option<u64>,
    /// Of `refine`: what came of each case.
    pub(crate) cases: Option<Vec<CaseVerdict>>,
}

impl Report {
    pub(crate) fn new(findings: Vec<Finding>, stats: Stats) -> Report {
        let first = findings.iter().find_map(|finding| finding.first);
        Report { version: VERSION, findings, stats, first, cases: None }
    }

    /// Whether a finding counts: not if the recording alone may be the reason of it, which fails no build.
    pub(crate) fn has_alarm(&self) -> bool {
        self.findings.iter().any(Finding::is_alarm)
    }

    /// The findings get ids that are unique in this report: `race-1`, `race-2`, `deadlock-1`.
    pub(crate) fn number(&mut self) {
        let mut counts = Kind::ALL.map(|kind| (kind, 0));
        for finding in &mut self.findings {
            if let Some((kind, count)) = counts.iter_mut().find(|(kind, _)| *kind == finding.kind) {
                *count += 1;
                finding.id = format!("{}-{count}", kind.name());
            }
        }
    }

    /// Lists the events of witnesses one by one, as long as there is room.
    pub(crate) fn list_witnesses(&mut self) {
        witness::list(self.findings.iter_mut().filter_map(|finding| finding.witness.as_mut()));
    }
}
