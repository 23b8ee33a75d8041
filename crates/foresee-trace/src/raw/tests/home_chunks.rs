//! A thread's home and the copies of it, as they are when the process was killed at each moment.

use super::*;

/// A chunk of thread 0 in this turn with one event: `what` distinguishes it from others.
pub(super) fn turn(turn: u64, what: Tag, key: u64) -> Vec<u8> {
    let mut chunk = match what {
        Tag::Begin | Tag::End => chunk(0, &[&[first_word(what, 0, key)]]),
        _ => chunk(0, &[&[first_word(what, 8, key), 9, 0x100]]),
    };
    chunk[8 * TURN_WORD..][..8].copy_from_slice(&(turn | TURN).to_le_bytes());
    chunk
}

fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    [header(), chunks.concat()].concat()
}

#[test]
fn what_is_in_the_home_comes_last() {
    let home = turn(5, Tag::End, 9);
    let copies = [turn(1, Tag::Begin, 1), turn(3, Tag::Write, 4)];
    let events = read(&file(&[home, copies.concat()])).unwrap();
    assert_eq!(events, (vec!["thread-begin", "write", "thread-end"], false));
}

#[test]
fn a_copy_that_is_being_written_does_not_count() {
    let home = turn(3, Tag::Write, 4);
    let (first, second) = (turn(1, Tag::Begin, 1), turn(3, Tag::Write, 4));
    let expected = (vec!["thread-begin", "write"], false);
    for cut in [32, 40, 4096, second.len()] {
        let events = read(&file(&[home.clone(), first.clone(), second[..cut].to_vec()])).unwrap();
        assert_eq!(events, expected, "{cut}");
    }
}

#[test]
fn a_home_that_is_being_cleared_does_not_count() {
    let copies = [turn(1, Tag::Begin, 1), turn(3, Tag::Write, 4)].concat();
    let events = read(&file(&[turn(4, Tag::Write, 4), copies])).unwrap();
    assert_eq!(events, (vec!["thread-begin", "write"], false));
}

#[test]
fn of_two_copies_of_a_turn_the_last_counts() {
    let copies = [turn(1, Tag::Begin, 1), turn(1, Tag::Begin, 1), turn(3, Tag::Write, 4)].concat();
    let events = read(&file(&[turn(5, Tag::End, 9), copies])).unwrap();
    assert_eq!(events, (vec!["thread-begin", "write", "thread-end"], false));
}

#[test]
fn a_home_that_could_not_be_used_is_followed_by_another() {
    let mut unused = turn(1, Tag::Begin, 1);
    unused[8 * CHUNK_HEADER_WORDS..].fill(0);
    let later = [turn(3, Tag::Begin, 1)].concat();
    let expected = (vec!["thread-begin"], false);
    assert_eq!(read(&file(&[unused, later.clone()])).unwrap(), expected);
    assert_eq!(read(&file(&[later])).unwrap(), expected);
}

#[test]
fn a_missing_copy_ends_the_run() {
    let home = turn(7, Tag::End, 9);
    let (first, third) = (turn(1, Tag::Begin, 1), turn(5, Tag::Write, 6));
    let other = chunk(1, &[&[first_word(Tag::Begin, 0, 5)], &[first_word(Tag::End, 0, 7)]]);
    let hole = vec![0; UNIT as usize];
    let events = read(&file(&[home, other, first, hole, third])).unwrap();
    assert_eq!(events, (vec!["thread-begin"], true));
}

#[test]
fn a_file_without_its_end_is_no_run_without_its_middle() {
    let mut whole = file(&[turn(5, Tag::End, 9), turn(1, Tag::Begin, 1), turn(3, Tag::Write, 4)]);
    let length = whole.len() as u64;
    whole[8 * LENGTH_WORD..][..8].copy_from_slice(&length.to_le_bytes());
    let events = |bytes: u64| read(&whole[..bytes as usize]).unwrap().0;
    assert_eq!(events(length).len(), 3);
    assert_eq!(events(length - 1).len(), 2);
    assert_eq!(events(length - UNIT), ["thread-begin"]);
    assert_eq!(events(length - 2 * UNIT), [""; 0]);
}
