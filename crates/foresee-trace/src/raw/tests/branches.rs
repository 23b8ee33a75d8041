//! Programs that record their branches: where the events go.

use super::super::{Call, Code, DataSymbol, Module};
use super::*;

/// Code up to 0x100 records its branches. The calls that return to 1 are always given 0x1000, those to 2 the lock at 0x2000.
struct Calls;

impl Symbolizer for Calls {
    fn code(&mut self, _: &[Module], _: u64) -> Code {
        Code::default()
    }

    fn data(&mut self, _: &[Module], _: u64) -> Option<DataSymbol> {
        None
    }

    fn call(&mut self, _: &[Module], pc: u64) -> Call {
        let argument = match pc & 0xff {
            1 => Some(0x1000),
            2 => Some(0x2000),
            _ => None,
        };
        Call { records_branches: pc <= 0x100, is_atomic: pc == 1, argument }
    }
}

/// The operations of one thread that has done this, with the flag that branches are recorded or without.
fn operations(has_branches: bool, records: &[&[u64]]) -> Vec<String> {
    let mut file = header();
    if has_branches {
        let flags = RunFlags::HAS_BRANCHES.word();
        file[8 * FLAGS_WORD..][..8].copy_from_slice(&flags.to_le_bytes());
    }
    file.extend(chunk(0, records));
    let (lines, _) = lines(&file, Box::new(Calls));
    lines.iter().filter_map(|line| line.split('|').nth(1)).map(str::to_owned).collect()
}

fn read_at(pc: u64, addr: u64) -> [u64; 3] {
    [first_word(Tag::Read, 4, 2), pc, addr]
}

fn write_at(pc: u64, addr: u64) -> [u64; 3] {
    [first_word(Tag::Write, 4, 2), pc, addr]
}

const BRANCH: [u64; 1] = [first_word(Tag::Branch, 0, 2)];

/// How many branches there are before each other event.
fn branches(records: &[&[u64]]) -> Vec<usize> {
    let operations = operations(true, records);
    let mut before = vec![0];
    for operation in operations {
        match operation.as_str() {
            "branch" => *before.last_mut().unwrap() += 1,
            _ => before.push(0),
        }
    }
    before
}

#[test]
fn a_block_after_a_read_is_a_branch_once() {
    let fixed = (read_at(1, 0x1000), write_at(1, 0x1000));
    assert_eq!(branches(&[&fixed.0, &BRANCH, &BRANCH, &fixed.1, &BRANCH, &fixed.0]), [0, 1, 0, 0]);
    assert_eq!(branches(&[&fixed.0, &fixed.1, &fixed.0]), [0, 0, 0, 0]);
}

#[test]
fn what_has_another_address_depends_on_what_was_read() {
    let fixed = read_at(1, 0x1000);
    // Another address than the code says, no known one, and code that does not record its branches.
    for (pc, addr) in [(1, 0x1004), (3, 0x1000), (0x101, 0x1000)] {
        assert_eq!(branches(&[&fixed, &write_at(pc, addr), &fixed]), [0, 1, 0, 0], "{pc:x} {addr:x}");
    }
    let acquire = |pc| [first_word(Tag::Acquire, EXCLUSIVE, 3), pc, 0x2000];
    assert_eq!(branches(&[&fixed, &acquire(2)]), [0, 0, 0]);
    assert_eq!(branches(&[&fixed, &acquire(3)]), [0, 1, 0]);
    for other in [first_word(Tag::Alloc, 0, 3), first_word(Tag::Free, 0, 3)] {
        assert_eq!(branches(&[&fixed, &[other, 1, 0x1000, 8]]), [0, 1, 0]);
    }
}

#[test]
fn who_waits_goes_on_because_of_what_it_reads() {
    let load = |pc| [first_word(Tag::Load, 2 << 4, 2), pc, 0x1000, 0];
    let write = write_at(1, 0x1000);
    assert_eq!(branches(&[&load(1), &write]), [0, 0, 0]);
    assert_eq!(branches(&[&load(2), &write]), [0, 1, 0]);
}

#[test]
fn functions_are_entered_by_choice_and_left_without() {
    let (fixed, exit) = (read_at(1, 0x1000), [first_word(Tag::Exit, 0, 2)]);
    let enter = |callee| [first_word(Tag::Enter, 0, 2), 5, callee];
    assert_eq!(branches(&[&fixed, &enter(0x80), &fixed, &exit, &fixed]), [0, 1, 0, 0, 0, 0]);
    assert_eq!(branches(&[&fixed, &enter(0x180), &fixed, &exit, &fixed]), [0, 1, 0, 1, 0, 0]);
    assert_eq!(branches(&[&fixed, &[first_word(Tag::End, 0, 2)]]), [0, 1, 0]);
}

#[test]
fn without_the_fact_there_are_no_branches() {
    let records: [&[u64]; 3] = [&read_at(1, 0x1000), &BRANCH, &write_at(3, 0x1000)];
    assert_eq!(operations(false, &records).len(), 2);
    assert_eq!(operations(true, &records).len(), 3);
}
