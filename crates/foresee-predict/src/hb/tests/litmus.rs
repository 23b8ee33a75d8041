//! Small traces with known answers: each rule of happens-before, and what breaks it.

use super::races;

/// Pairs of event numbers, from 1, that race.
#[track_caller]
fn expect(trace: &[&str], expected: &[(u64, u64)]) {
    let text: String = trace.iter().enumerate().map(|(i, event)| format!("{event}|{}\n", i + 1)).collect();
    assert_eq!(races(&text), expected, "\n{text}");
}

#[test]
fn message_passing_needs_release_and_acquire() {
    let passing = |store: &str, load: &str, expected: &[(u64, u64)]| {
        expect(&["A|w(x)", &format!("A|store.{store}(f)"), &format!("B|load.{load}(f)"), "B|r(x)"], expected);
    };
    for store in ["release", "acqrel", "seqcst"] {
        for load in ["acquire", "consume", "acqrel", "seqcst"] {
            passing(store, load, &[]);
        }
    }
    passing("relaxed", "acquire", &[(1, 4)]);
    passing("release", "relaxed", &[(1, 4)]);
    passing("relaxed", "relaxed", &[(1, 4)]);
}

#[test]
fn fences_make_relaxed_operations_synchronise() {
    let fenced = |release: &str, acquire: &str, expected: &[(u64, u64)]| {
        let (release, acquire) = (format!("A|fence.{release}"), format!("B|fence.{acquire}"));
        expect(
            &["A|w(x)", &release, "A|store.relaxed(f)", "B|load.relaxed(f)", &acquire, "B|r(x)"],
            expected,
        );
    };
    fenced("release", "acquire", &[]);
    fenced("seqcst", "seqcst", &[]);
    fenced("acqrel", "acqrel", &[]);
    fenced("acquire", "acquire", &[(1, 6)]);
    fenced("release", "release", &[(1, 6)]);
    // One fence and one ordered access.
    expect(&["A|w(x)", "A|fence.release", "A|store.relaxed(f)", "B|load.acquire(f)", "B|r(x)"], &[]);
    expect(&["A|w(x)", "A|store.release(f)", "B|load.relaxed(f)", "B|fence.acquire", "B|r(x)"], &[]);
    // What comes after the release fence is not published, what is read after the acquire fence not learnt.
    expect(&["A|fence.release", "A|w(x)", "A|store.relaxed(f)", "B|load.acquire(f)", "B|r(x)"], &[(2, 5)]);
    expect(&["A|w(x)", "A|store.release(f)", "B|fence.acquire", "B|load.relaxed(f)", "B|r(x)"], &[(1, 5)]);
}

#[test]
fn read_modify_writes_continue_a_release_sequence() {
    for order in ["relaxed", "acquire", "release"] {
        let rmw = format!("B|rmw.{order}(f)");
        expect(&["A|w(x)", "A|store.release(f)", &rmw, "C|load.acquire(f)", "C|r(x)"], &[]);
    }
    // The one that continues releases, too.
    expect(
        &[
            "A|store.release(f)",
            "B|w(x)",
            "B|rmw.release(f)",
            "A|rmw.relaxed(f)",
            "C|load.acquire(f)",
            "C|r(x)",
        ],
        &[],
    );
    expect(&["A|store.release(f)", "B|w(x)", "B|rmw.relaxed(f)", "C|load.acquire(f)", "C|r(x)"], &[(2, 5)]);
}

#[test]
fn other_stores_break_a_release_sequence() {
    for breaker in ["A|store.relaxed(f)", "B|store.relaxed(f)", "B|store.release(f)"] {
        expect(&["A|w(x)", "A|store.release(f)", breaker, "C|load.acquire(f)", "C|r(x)"], &[(1, 5)]);
    }
}

#[test]
fn a_seqlock_with_plain_data_races() {
    let writer = ["W|rmw.acquire(seq)", "W|w(data)", "W|store.release(seq)"];
    let reader = ["R|load.acquire(seq)", "R|r(data)", "R|fence.acquire", "R|load.relaxed(seq)"];
    // One after the other there is no race; the other way round nothing orders the read before the write.
    expect(&[writer.as_slice(), &reader].concat(), &[]);
    expect(&[reader.as_slice(), &writer].concat(), &[(2, 6)]);
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    expect(&["A|store.relaxed(f)", "B|store.relaxed(f)", "B|rmw.relaxed(f)", "A|load.relaxed(f)"], &[]);
    expect(&["A|w(f)", "B|load.relaxed(f)", "B|store.relaxed(f)"], &[(1, 2), (1, 3)]);
    expect(&["A|load(f)", "B|w(f)"], &[(1, 2)]);
    expect(&["A|load(f)", "B|r(f)", "C|rmw.relaxed(f)"], &[(2, 3)]);
    // An atomic counter that is read plainly at the end.
    expect(&["A|rmw.release(f)", "B|rmw.release(f)", "C|load.acquire(f)", "C|r(f)"], &[]);
}

#[test]
fn neighbouring_atomics_do_not_synchronise_but_overlapping_ones_do() {
    expect(&["A|w(x)", "A|store(f[0..4])", "B|load(f[4..8])", "B|r(x)"], &[(1, 4)]);
    expect(&["A|w(x)", "A|store(f[0..4])", "B|load(f)", "B|r(x)"], &[]);
    expect(&["A|w(x)", "A|store(f)", "B|load(f[2..4])", "B|r(x)"], &[]);
    expect(&["A|w(x)", "A|store(f[0..4])", "B|store(f[4..8])", "C|load(f[0..4])", "C|r(x)"], &[]);
}

#[test]
fn bytes_decide() {
    expect(&["A|w(x[0..4])", "B|w(x[4..8])"], &[]);
    expect(&["A|w(x[0..4])", "B|w(x[3..5])", "C|r(x)"], &[(1, 2), (1, 3), (2, 3)]);
    expect(&["A|w([0x1004..0x100c])", "B|r([0x100b..0x100d])", "B|w([0x100c..0x1010])"], &[(1, 2)]);
}

#[test]
fn an_access_of_many_words_is_one_access() {
    expect(&["A|w([0x1000..0x5000])", "B|w([0x0ff0..0x4000])", "B|r([0x4ff8..0x5008])"], &[(1, 2), (1, 3)]);
}

#[test]
fn memory_has_lives() {
    expect(&["A|w(x)", "A|free(x)", "B|alloc(x)", "B|w(x)"], &[]);
    expect(&["A|w(x)", "B|free(x)", "A|r(x)"], &[(1, 2), (2, 3)]);
    expect(&["A|w(x)", "B|alloc(x[0..4])", "B|r(x[0..4])", "B|r(x[4..8])"], &[(1, 4)]);
    // A release sequence ends with the memory.
    expect(&["A|w(y)", "A|store(x)", "A|alloc(x)", "B|load(x)", "B|r(y)"], &[(1, 5)]);
}

#[test]
fn locks_order_critical_sections() {
    expect(&["A|acq(l)", "A|w(x)", "A|rel(l)", "B|acq(l)", "B|w(x)", "B|rel(l)"], &[]);
    expect(&["A|acq(l)", "A|w(x)", "A|rel(l)", "B|acq(m)", "B|w(x)", "B|rel(m)"], &[(2, 5)]);
    expect(&["A|w(x)", "A|rel(l)", "B|acq(l)", "B|w(x)"], &[(1, 4)]);
}

#[test]
fn readers_of_a_lock_are_not_ordered() {
    let section = |thread: &str, mode: &str, access: &str| {
        [format!("{thread}|acq{mode}(l)"), format!("{thread}|{access}"), format!("{thread}|rel{mode}(l)")]
    };
    let of = |sections: &[[String; 3]], expected: &[(u64, u64)]| {
        expect(&sections.concat().iter().map(String::as_str).collect::<Vec<_>>(), expected);
    };
    of(&[section("A", ".shared", "w(x)"), section("B", ".shared", "w(x)")], &[(2, 5)]);
    of(&[section("A", ".shared", "r(x)"), section("B", "", "w(x)")], &[]);
    of(&[section("A", "", "w(x)"), section("B", ".shared", "r(x)")], &[]);
    of(&[section("A", ".shared", "w(x)"), section("B", ".shared", "r(y)"), section("C", "", "w(x)")], &[]);
    of(&[section("A", "", "w(x)"), section("B", ".shared", "r(y)"), section("C", ".shared", "w(x)")], &[]);
}

#[test]
fn only_the_outermost_release_counts() {
    expect(&["A|acq(l)", "A|acq(l)", "A|w(x)", "A|rel(l)", "B|acq(l)", "B|w(x)"], &[(3, 6)]);
    expect(&["A|acq(l)", "A|acq(l)", "A|rel(l)", "A|w(x)", "A|rel(l)", "B|acq(l)", "B|w(x)"], &[]);
    // The mode of the outermost acquire decides.
    expect(
        &[
            "A|acq.shared(l)",
            "A|acq(l)",
            "A|w(x)",
            "A|rel(l)",
            "A|rel.shared(l)",
            "B|acq.shared(l)",
            "B|w(x)",
        ],
        &[(3, 7)],
    );
}

#[test]
fn forks_and_joins_order() {
    expect(&["A|w(x)", "A|fork(B)", "A|w(y)", "B|w(x)", "B|w(y)", "A|join(B)", "A|w(x)"], &[(3, 5)]);
    expect(
        &["A|fork(B)", "A|fork(C)", "B|w(x)", "B|thread_end", "C|w(x)", "A|join(B)", "A|w(x)"],
        &[(3, 5), (5, 7)],
    );
    // C lives in B's slot for A, which has joined B, but not for D, which has not.
    expect(&["A|fork(B)", "B|w(x)", "A|join(B)", "D|fork(C)", "C|w(x)"], &[(2, 5)]);
}

#[test]
fn waiting_gives_up_the_lock_and_notifying_orders() {
    expect(&["A|acq(l)", "A|w(x)", "A|wait(l)", "B|acq(l)", "B|w(x)", "B|rel(l)"], &[]);
    expect(&["A|acq(l)", "A|w(x)", "A|wait(c)", "B|acq(l)", "B|w(x)", "B|rel(l)"], &[(2, 5)]);
    expect(&["A|wait(c)", "B|w(x)", "B|notify(c)", "A|r(x)"], &[]);
    expect(&["A|wait(c)", "B|w(x)", "B|notify.all(d)", "A|r(x)"], &[(2, 4)]);
    // A thread that ended waiting does not pass the notification on to C, which lives in its slot.
    expect(
        &["A|fork(B)", "B|wait(c)", "A|join(B)", "A|fork(C)", "D|w(x)", "D|notify(c)", "C|r(x)"],
        &[(5, 7)],
    );
    expect(&["A|wait(c)", "A|branch", "B|w(x)", "B|notify(c)", "A|r(x)"], &[(3, 5)]);
}

#[test]
fn a_race_does_not_hide_the_others() {
    // FastTrack's last write is that of B; A's is found all the same.
    expect(&["A|w(x)", "B|w(x)", "C|w(x)", "D|r(x)"], &[(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]);
    // A clean write covers what is before it, for those after it only.
    expect(
        &["A|w(x)", "A|store(f)", "B|load(f)", "B|w(x)", "B|store(g)", "C|load(g)", "C|r(x)", "D|r(x)"],
        &[(1, 8), (4, 8)],
    );
}
