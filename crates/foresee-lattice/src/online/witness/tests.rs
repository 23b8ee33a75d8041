use super::*;

const SPEC: &str = r#"property Order { event a; event b; ere: a b @match { report "ab"; } }"#;

/// An event of a thread, with its clock; `event` is 0 for `a` and 1 for `b`.
fn event(thread: u32, clock: &[u32], event: u32) -> Arc<Record> {
    Arc::new(Record {
        step: 0,
        thread,
        number: thread,
        clock: clock.into(),
        acts: vec![(Binding::default(), Act::Event(event, Vec::new()))],
        name: String::new(),
        place: String::new(),
        called: Vec::new(),
        place_key: 0,
    })
}

/// Thread 0 does b, then a; thread 1 does b on its own, then another after all that thread 0 did.
fn heard() -> (Log, [Arc<Record>; 4]) {
    let events = [event(0, &[1], 1), event(1, &[0, 1], 1), event(0, &[2, 0], 0), event(1, &[2, 2], 1)];
    let mut log = Log::default();
    events.iter().for_each(|event| log.hear(event));
    (log, events)
}

/// What is reported at the end of a run of these events.
fn follow(log: &Log, run: &[&Arc<Record>]) -> Result<bool, Refusal> {
    let property = foresee_monitor::compile(SPEC).map(|compiled| compiled.properties[0].clone());
    let Ok(property) = property else { panic!("a spec") };
    let script = Script::new(&property, 0);
    let run: Vec<Arc<Record>> = run.iter().map(|&record| Arc::clone(record)).collect();
    let binding = Binding::default();
    let (_, reported) = Checked::start(&script).follow(&script, &binding, log, &run)?;
    // The property itself, watching the run, says the same.
    assert_eq!(script.wanted(script.reported_by_property(&binding, &run)), reported);
    Ok(!reported.is_empty())
}

#[test]
fn runs_keep_threads_and_clocks() {
    let (log, [b, other, a, last]) = heard();
    assert_eq!(follow(&log, &[&b, &other, &a, &last]), Ok(true));
    assert_eq!(follow(&log, &[&b, &other]), Ok(false));
    assert_eq!(follow(&log, &[&other, &b, &a, &last]), Ok(true));
    assert_eq!(follow(&log, &[&b, &a, &other]), Ok(true));
    assert_eq!(follow(&log, &[&a]), Err(Refusal::Order), "b comes first");
    assert_eq!(follow(&log, &[&b, &b]), Err(Refusal::Order), "twice");
    assert_eq!(follow(&log, &[&other, &last]), Err(Refusal::TooEarly), "its clock counts what thread 0 does");
    assert_eq!(follow(&log, &[&other, &b, &last]), Err(Refusal::TooEarly));
    let stranger = event(2, &[0, 0, 1], 0);
    assert_eq!(follow(&log, &[&stranger]), Err(Refusal::Order), "nobody heard of it");
}

#[test]
fn what_is_told_is_what_the_monitor_says() {
    let mut log = Log::default();
    let (a, b) = (event(0, &[1], 0), event(1, &[0, 1], 1));
    log.hear(&a);
    log.hear(&b);
    assert_eq!(follow(&log, &[&a, &b]), Ok(true));
    assert_eq!(follow(&log, &[&b, &a]), Ok(false));
}

#[test]
fn what_would_need_the_forgotten_is_refused() {
    let (mut log, [b, other, a, last]) = heard();
    log.forget(0, 1);
    assert_eq!(follow(&log, &[&b, &a]), Err(Refusal::Forgotten));
    assert_eq!(follow(&log, &[&other]), Ok(false), "thread 0 has no part in it");
    assert_eq!(follow(&log, &[&other, &last]), Err(Refusal::Forgotten));
}
