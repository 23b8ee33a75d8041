//! Engines on a thread of their own find what they find on one.

use std::time::Duration;

use foresee_predict::hb::HappensBefore;
use foresee_trace::generate::{Generator, Shape};
use foresee_trace::{EventSource as _, Trust};
use foresee_witness::analysis::{Analysed, Analysis, Limits};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Engine, Stream};

/// How many events there are.
const EVENTS: u64 = 300_000;

/// The analysis of the same run with so many threads, which keeps so many events; and how many places were news before its end.
fn analysed(threads: usize, kept: u64) -> (Analysed, usize) {
    let limits = Limits {
        deadline: None,
        rest: Duration::ZERO,
        events: kept,
        trace_threads: u64::MAX,
        threads,
        memory: usize::MAX,
        interrupt: None,
    };
    let stream = Some(Stream::Apart(Box::new(HappensBefore::new())));
    let engine = Engine { name: "hb", rest: false, stream, whole: None };
    let mut analysis = Analysis::new(vec![engine], AtomicFunctions::default(), limits, true);
    let mut source =
        Generator::new(&Shape { events: EVENTS, threads: 4, unprotected: 0.01, ..Shape::default() });
    let (mut index, mut news) = (0_u64, 0);
    while matches!(source.advance(), Ok(true)) {
        analysis.event(source.names(), &source.event());
        index += 1;
        if index.is_multiple_of(50_000) {
            news += analysis.news().count();
        }
    }
    (analysis.finish(source.names(), Trust::whole(), &mut |_| {}), news)
}

#[test]
fn nothing_depends_on_where_engines_run() {
    for kept in [u64::MAX, 70_001] {
        let [(one, news), (two, same_news)] = [1, 2].map(|threads| analysed(threads, kept));
        assert!(!one.findings.is_empty() && news > 0);
        assert_eq!((&one.findings, news), (&two.findings, same_news));
        assert_eq!((one.events, one.partial), (two.events, two.partial));
        assert_eq!(one.partial, Some(kept).filter(|kept| *kept < one.events));
        let texts = [one, two].map(|one| format!("{:?}", one.execution.unwrap()));
        assert_eq!(texts[0], texts[1]);
    }
}
