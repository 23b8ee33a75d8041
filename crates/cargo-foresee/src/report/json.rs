//! One JSON object: the [model](super::model) as it is. `schema/report.schema.json` describes it.

use super::printable::in_json;
use super::results::Results;

pub(crate) fn write(results: Results<'_>) -> String {
    let mut report = results.merged();
    report.list_witnesses();
    // The model has no map whose keys are not texts: that cannot fail.
    let mut text = in_json(&serde_json::to_string_pretty(&report).unwrap_or_default());
    text.push('\n');
    text
}
