//! The formats of a report. A new one is a file that lays out [`Results`], and a name and an arm here.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::results::Results;
use super::viewpoint::Viewpoint;
use super::{human, json, junit, sarif};

/// How to print findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum ReportFormat {
    /// For people
    #[default]
    Human,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code-scanning dashboards and editors
    Sarif,
    /// JUnit XML, for CI
    Junit,
}

impl ReportFormat {
    /// Lays out results, for a reader in the folder of `viewpoint`.
    pub(crate) fn render(self, results: Results<'_>, viewpoint: &Viewpoint) -> String {
        match self {
            ReportFormat::Human => human::write(results, viewpoint),
            ReportFormat::Json => json::write(results),
            ReportFormat::Sarif => sarif::write(results, viewpoint),
            ReportFormat::Junit => junit::write(results, viewpoint),
        }
    }
}
