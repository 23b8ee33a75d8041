//! What the fuzzer of the spec compiler runs; the same function runs over the corpus, and over changes of it, in the test suite on stable
//! (`crates/foresee-monitor/tests/fuzz_spec.rs`).

use foresee_monitor::compile_with;
use foresee_monitor::property::Property;
use foresee_monitor::spec::format::format;
use foresee_monitor::spec::raw_monitors::RawMonitors;
use foresee_monitor::watch::{FeedError, Watch};

/// Any bytes as a spec: compiling ends, without a panic, whatever is wrong is shown; a spec that is right can be formatted, means the same
/// afterwards, and runs.
pub(crate) fn spec(bytes: &[u8]) {
    let source = &*String::from_utf8_lossy(bytes);
    let mut monitors = RawMonitors::default();
    monitors.stand_in(source);
    let compiled = match compile_with(source, &monitors) {
        Ok(compiled) => compiled,
        Err(problems) => {
            assert!(!problems.is_empty());
            return problems.iter().for_each(|problem| drop(problem.rendered("spec", source)));
        }
    };
    compiled.warnings.iter().for_each(|problem| drop(problem.rendered("spec", source)));
    let formatted = format(source).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(format(&formatted).as_ref(), Ok(&formatted));
    let again = compile_with(&formatted, &monitors).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let names = |properties: &[Property]| properties.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&again.properties), names(&compiled.properties));
    for property in &compiled.properties {
        assert_eq!(run(property), again.properties.iter().find(|it| it.name == property.name).map_or(0, run));
    }
}

/// Runs a property over a few events and returns how many verdicts it has reported.
fn run(property: &Property) -> u64 {
    let mut watch = Watch::new(property, |_| None);
    let mut verdicts = 0;
    for round in 0..4_u64 {
        for (index, event) in (0..).zip(&property.events) {
            let values: Vec<u64> = (0..event.arity as u64).map(|value| (value + round) % 3).collect();
            watch.at(round << 33);
            let known = watch.event(index, round % 2, &values, &mut |_| verdicts += 1);
            // Rules may have no end.
            let is_known = matches!(known, Ok(()) | Err(FeedError::GaveUp { .. }));
            assert!(is_known, "an event with the number of values it declares");
        }
        for var in 0..property.vars.len() {
            watch.assign(var, round as i64 - 1, 0, &mut |_| verdicts += 1);
        }
        watch.object_gone(round);
    }
    verdicts
}
