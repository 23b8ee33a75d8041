//! Tests of the whole engine; `reference` holds the slow engine it is compared with.

mod litmus;
mod random;
mod reference;

use foresee_trace::text::TextReader;
use foresee_trace::{Execution, LocId};

use super::HappensBefore;
use foresee_witness::engine::{Outcome, StreamEngine};
use foresee_witness::judge::{Certainty, Finding, FindingKind, Place};

fn read(text: &str) -> Execution {
    Execution::read(&mut TextReader::new(text.as_bytes())).unwrap()
}

fn engine_after(execution: &Execution) -> Box<HappensBefore> {
    let mut engine = Box::new(HappensBefore::new());
    for id in execution.ids() {
        engine.event(u64::from(id.0), &execution.event(id));
    }
    engine
}

fn run(execution: &Execution) -> Outcome {
    engine_after(execution).finish(execution.names())
}

/// The races of a text trace: which events, counted from 1.
fn races(trace: &str) -> Vec<(u64, u64)> {
    let findings = run(&read(trace)).findings;
    let mut pairs: Vec<(u64, u64)> = findings.iter().map(|f| (f.events[0] + 1, f.events[1] + 1)).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn traces_of_the_field_have_their_known_counts() {
    let cases = [
        ("account", include_str!("../../tests/data/account.std"), (2, 2), (2, 2)),
        ("critical", include_str!("../../tests/data/critical.std"), (1, 1), (1, 1)),
        ("mergesort", include_str!("../../tests/data/mergesort.std"), (1, 1), (1, 1)),
        ("bubblesort", include_str!("../../tests/data/bubblesort.std"), (26, 5), (18, 5)),
    ];
    for (name, text, racy, schedulable) in cases {
        let engine = engine_after(&read(text));
        let counts = |c: super::RaceCounts| (c.events, c.locations);
        assert_eq!((counts(engine.racy()), counts(engine.schedulable())), (racy, schedulable), "{name}");
    }
}

#[test]
fn a_finding_tells_the_first_schedulable_instance_and_counts_all() {
    // Thread 2 reads `flag` racily, which orders its read of `data` in the schedulable order; thread 3 does not.
    let text = "T1|w(data)|1\nT1|w(flag)|2\nT2|r(flag)|3\nT2|r(data)|4\nT3|r(data)|4\n";
    let findings = run(&read(text)).findings;
    let place = |line: u32| Place::new(LocId(line), 0);
    let expect = |events: [u64; 2], (a, b), instances, schedulable| {
        let places = vec![place(a), place(b)];
        let mut race = Finding::observed(FindingKind::Race, "hb", events.to_vec(), places);
        race.instances = instances;
        race.schedulable = schedulable;
        race
    };
    assert_eq!(findings, [expect([0, 4], (1, 4), 2, true), expect([1, 2], (2, 3), 1, true)]);
    let without_t3 = run(&read(text.trim_end_matches("T3|r(data)|4\n"))).findings;
    assert_eq!(without_t3[0], expect([0, 3], (1, 4), 1, false));
}

#[test]
fn joined_threads_leave_their_slot_to_later_ones() {
    let mut text = String::new();
    for i in 0..1000 {
        text += &format!("M|fork(T{i})\nT{i}|w(x)\nT{i}|acq(l)\nT{i}|rel(l)\nM|join(T{i})\n");
    }
    let execution = read(&text);
    let mut engine = engine_after(&execution);
    assert_eq!(engine.racy().events, 0);
    assert_eq!(engine.sync.threads.slot_count(), 2);
    assert_eq!(engine.sync.threads.slot(execution.event(foresee_trace::EventId(0)).thread), 0);
}

#[test]
fn hostile_events_do_not_panic() {
    use foresee_trace::{Event, LockId, Mem, Mode, Names, Op, Order, ThreadId};
    let mut engine = Box::new(HappensBefore::new());
    let ends = [
        Mem { addr: u64::MAX, size: u32::MAX },
        Mem { addr: 5, size: 0 },
        Mem { addr: u64::MAX - 6, size: 7 },
    ];
    let mut index = 0;
    for thread in [0, 1, 0, 2].map(ThreadId) {
        for mem in ends {
            let (order, value, lock) = (Order::SeqCst, None, LockId(3));
            for op in [
                Op::Read { mem, value },
                Op::Write { mem, value },
                Op::Rmw { mem, order, values: None },
                Op::Store { mem, order, value },
                Op::Load { mem, order, value },
                Op::Free { mem },
                Op::Release { lock, mode: Mode::Shared },
                Op::Join { child: thread },
                Op::Fork { child: thread },
                Op::Fork { child: ThreadId(7) },
                Op::Join { child: ThreadId(9) },
                Op::Notify { cond: lock, all: true },
                Op::Wait { cond: lock, timed: false },
                Op::Alloc { mem },
            ] {
                engine.event(index, &Event { thread, loc: LocId::UNKNOWN, op });
                index += 1;
            }
        }
    }
    engine.finish(&Names::new());
}

#[test]
fn large_ranges_cost_a_page_at_a_time() {
    let text = "#var a 0x10000 1073741824\n\
        T1|w(a)|1\nT2|r(a[4096..4100])|2\nT2|w(a)|3\nT1|free(a)|4\nT1|alloc(a)|5\nT2|r(a)|6\n";
    assert_eq!(races(text), [(1, 2), (1, 3), (2, 4), (3, 4)]);
    let instances: Vec<u64> = run(&read(text)).findings.iter().map(|f| f.instances).collect();
    assert_eq!(instances, [1, 1, 1, 1]);
}

#[test]
fn a_cell_is_a_cache_line() {
    assert_eq!(size_of::<super::cell::Cell>(), 64);
}

#[test]
fn what_blind_code_may_have_ordered_is_a_candidate() {
    let findings = |text: &str| run(&read(text)).findings;
    let sent = "A|w(x)|1\nA|blind.orders(send)|2\nB|blind.orders(receive)|3\nB|r(x)|4\n";
    let [race] = &findings(sent)[..] else { panic!() };
    assert_eq!(race.certainty(), Certainty::Candidate);
    let reason =
        "`send` and `receive` ran in between, which are not recorded and may have ordered the two accesses";
    assert_eq!(race.reason.as_deref(), Some(reason));
    // Nobody else ran such code, or only before, or it only accesses memory.
    for certain in [
        "A|w(x)|1\nA|blind.orders(send)|2\nB|r(x)|4\n",
        "A|blind.orders(send)|2\nB|blind.orders(receive)|3\nA|w(x)|1\nB|r(x)|4\n",
        "A|w(x)|1\nB|blind.orders(receive)|3\nA|blind.orders(send)|2\nB|r(x)|4\n",
        "A|w(x)|1\nA|blind(f)|2\nB|blind(g)|3\nB|r(x)|4\n",
    ] {
        let [race] = &findings(certain)[..] else { panic!() };
        assert_eq!((race.certainty(), &race.reason), (Certainty::Observed, &None));
    }
    // The same places, once without such code in between: that one counts.
    let both = format!("{sent}A|w(x)|1\nB|r(x)|4\n");
    assert_eq!(findings(&both)[0].events, [3, 4]);
    assert_eq!(findings(&both)[0].certainty(), Certainty::Observed);
    let news = |text: &str| engine_after(&read(text)).news().len();
    assert_eq!((news(sent), news(&both)), (0, 1));
}

#[test]
fn a_race_with_an_allocation_is_told_if_nothing_else_is() {
    // In line 1 the allocator has written to what it gives.
    let begin = "#var x 0x10000 24\nT1|alloc(x[0..24])|1\nT1|w(x[0..16])|1\n";
    assert_eq!(races(&format!("{begin}T2|w(x[0..4])|3\n")), [(2, 3)]);
    assert_eq!(races(&format!("{begin}T1|w(x[0..4])|2\nT2|r(x[0..4])|3\n")), [(3, 4)]);
    // A write of the program's own is one whatever comes before it.
    let own = "#var x 0x10000 24\nT1|alloc(x[0..24])|1\nT1|w(x[0..16])|2\nT1|w(x[0..4])|4\nT2|r(x[0..4])|3\n";
    assert_eq!(races(own), [(2, 4), (3, 4)]);
}
