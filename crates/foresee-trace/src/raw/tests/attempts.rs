//! Attempts to take a lock that failed.

use super::*;

const LOCK: u64 = 0x100;

fn record(tag: Tag, key: u64) -> [u64; 3] {
    [first_word(tag, EXCLUSIVE, key), 9, LOCK]
}

fn failed(key: u64, detail: u8) -> [u64; 3] {
    [first_word(Tag::Failed, detail, key), 9, LOCK]
}

/// What the records of two threads say of the lock, in one word each; and how many attempts are not explained.
fn said(threads: [&[&[u64]]; 2]) -> (Vec<String>, u64) {
    let mut file = header();
    for (thread, records) in (0..).zip(threads) {
        file.extend(chunk(thread, records));
    }
    let (lines, reader) = lines(&file, Box::new(NoSymbols));
    let words = lines.iter().filter_map(|line| line.split('(').next().map(str::to_owned)).collect();
    let unexplained = reader.trust().gaps().iter().find_map(|gap| match gap {
        Gap::UnexplainedAttempts(count) => Some(*count),
        _ => None,
    });
    (words, unexplained.unwrap_or(0))
}

#[test]
fn they_are_within_the_section_of_the_holder() {
    let (said, unexplained) = said([
        &[
            &record(Tag::Acquire, 1),
            &record(Tag::Release, 9),
            &record(Tag::Acquire, 11),
            &record(Tag::Release, 13),
        ],
        &[&failed(4, 0), &failed(6, AGAIN), &failed(10, AGAIN)],
    ]);
    let expected = [
        "main|acq.try",
        "main|store.relaxed",
        "T1|load.relaxed",
        "main|store.relaxed",
        "main|rel",
        "main|acq.try",
        "main|store.relaxed",
        "main|rel",
    ];
    assert_eq!((&said[..], unexplained), (&expected.map(str::to_owned)[..], 0));
}

#[test]
fn who_is_about_to_have_the_lock_may_be_in_the_way() {
    let (said, unexplained) = said([&[&record(Tag::Request, 2), &record(Tag::Acquire, 7)], &[&failed(4, 0)]]);
    let expected = ["main|req", "main|store.relaxed", "T1|load.relaxed", "main|acq", "main|load.relaxed"];
    assert_eq!((&said[..], unexplained), (&expected.map(str::to_owned)[..], 0));
}

#[test]
fn what_nobody_explains_is_counted() {
    let section = [record(Tag::Acquire, 5), record(Tag::Release, 9)];
    let (begins, ends) = (&section[0], &section[1]);
    assert_eq!(said([&[begins, ends], &[&failed(2, 0)]]).1, 1);
    assert_eq!(said([&[begins, ends], &[&failed(2, 0), &failed(4, AGAIN)]]).1, 1);
    assert_eq!(said([&[begins, ends], &[&failed(2, 0), &failed(6, AGAIN)]]).1, 0);
    assert_eq!(said([&[begins, ends], &[&failed(2, 0), &failed(6, 0)]]).1, 1);
    // One's own lock is in the way of nobody else's doing.
    assert_eq!(said([&[], &[begins, &failed(6, 0), ends]]).1, 0);
}
