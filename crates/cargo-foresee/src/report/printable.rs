//! Reports as they may be shown: what comes from outside, as names, places and messages do, has no character that would do something
//! to a terminal.
//!
//! People get U+FFFD in their place ([`report`], [`finding`]: all texts of the model, whichever they are). Machines get
//! the same text escaped ([`in_json`]), so that nothing is lost.

use std::fmt::Write as _;

use foresee_trace::{is_printable, printable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::model::{Finding, Report};

/// A report for people. Its witnesses, which are long and numbers alone, stay as they are.
pub(super) fn report(report: &Report) -> Report {
    let mut bare = report.clone();
    bare.findings.iter_mut().for_each(|finding| finding.witness = None);
    let mut shown = cleaned(&bare);
    for (shown, finding) in shown.findings.iter_mut().zip(&report.findings) {
        shown.witness.clone_from(&finding.witness);
    }
    shown
}

/// A finding for people.
pub(super) fn finding(finding: &Finding) -> Finding {
    let bare = Finding { witness: None, ..finding.clone() };
    Finding { witness: finding.witness.clone(), ..cleaned(&bare) }
}

/// The model is handed from process to process as this very value, so the way there and back changes nothing.
fn cleaned<T: Serialize + DeserializeOwned + Clone>(model: &T) -> T {
    let cleaned = serde_json::to_value(model).map(|value| serde_json::from_value(clean(value)));
    cleaned.and_then(|model| model).unwrap_or_else(|_| model.clone())
}

fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable(&text).into_owned()),
        Value::Array(all) => Value::Array(all.into_iter().map(clean).collect()),
        Value::Object(all) => {
            let cleaned = all.into_iter().map(|(key, value)| (printable(&key).into_owned(), clean(value)));
            Value::Object(cleaned.collect())
        }
        plain => plain,
    }
}

/// A document in JSON in which such characters are escaped: they can only be in texts there.
pub(crate) fn in_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if is_printable(c) || c == '\n' {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{Named, Stats, Witness};

    #[test]
    fn no_text_of_the_model_keeps_an_escape() {
        let message = "a\x1b[2J\nb".to_owned();
        let mut found = Finding::of_property("monitor", "P\u{202e}", "match", message, None);
        found.witness = Some(Witness::new(0, 0..2));
        let engines =
            Named(vec![("z\x07".to_owned(), Default::default()), ("a".to_owned(), Default::default())]);
        let whole = Report::new(vec![found.clone()], Stats { engines, ..Stats::default() });
        let shown = report(&whole);
        assert_eq!(shown.findings[0].message, "a\u{fffd}[2J\u{fffd}b");
        assert_eq!(shown.findings[0].property.as_deref(), Some("P\u{fffd}"));
        assert_eq!(shown.findings[0].witness, found.witness);
        let names: Vec<_> = shown.stats.engines.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["z\u{fffd}", "a"], "in their order");
        assert_eq!(finding(&found), shown.findings[0]);
    }

    #[test]
    fn documents_say_the_same_without_such_characters() {
        let value = serde_json::json!({ "a": "x\x1b\u{202e}\u{e0041}\u{9b}\ny" });
        let text = in_json(&format!("{value:#}"));
        assert!(text.chars().all(|c| is_printable(c) || c == '\n'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
