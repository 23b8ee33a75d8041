//! Records of one word that say how far they are from others.

use super::*;
use foresee_format::near::{NearAccess, near_enter, near_entered};

#[test]
fn near_records_say_what_they_are_near_to() {
    let (pc, heap, stack) = (0x5555_0000_1000_u64, 0x5556_0000_0000_u64, 0x7fff_0000_0000_u64);
    let near = NearAccess::nowhere();
    assert_eq!(near.encode(Tag::NearRead, pc, heap, 8), None);
    near.set(pc, heap);
    assert_eq!(near.encode(Tag::NearRead, pc, stack, 8), None);
    near.set(pc, stack);
    let edge = 1_u64 << 30;
    for (pc, addr, size) in
        [(pc, heap, 1), (pc - (1 << 19), heap - edge, 16), (pc + (1 << 19) - 1, stack + edge - 1, 4)]
    {
        let word = near.encode(Tag::NearWrite, pc, addr, size).unwrap();
        assert_eq!(word as u8, Tag::NearWrite as u8);
        assert_eq!(near.decode(word), (pc, addr, size));
    }
    assert_eq!(near.encode(Tag::NearRead, pc + (1 << 19), heap, 8), None);
    assert_eq!(near.encode(Tag::NearRead, pc, heap + edge, 8), None);
    let atomic = near.atomic(pc + 4, heap - 8, [31, 0]).unwrap();
    assert_eq!(near.decode_atomic(atomic), [pc + 4, heap - 8, 31, 0]);
    assert_eq!(near.atomic(pc, heap, [0, 32]), None);
    let call = near_enter(pc, pc - 77, pc + (1 << 20)).unwrap();
    assert_eq!(near_entered(pc, call), (pc - 77, pc + (1 << 20)));
    assert_eq!(near_enter(pc, pc + (1 << 27), pc), None);
}

#[test]
fn near_records_are_read_as_whole_ones_with_the_key_before_them() {
    let (pc, addr) = (0x5555_0000_1000_u64, 0x5556_0000_0000_u64);
    let near = NearAccess::nowhere();
    near.set(pc, addr);
    let read_near = near.encode(Tag::NearRead, pc + 4, addr + 8, 8).unwrap();
    let mut file = header();
    file.extend(chunk(
        0,
        &[
            &[first_word(Tag::Begin, 0, 1)],
            &[first_word(Tag::Fork, 0, 1), pc, 1],
            &[first_word(Tag::Write, 8, 2), pc, addr],
            &[read_near],
            &[first_word(Tag::Now, 0, 8)],
            &[read_near],
            &[first_word(Tag::NearRmw, 5 | 2 << 4, 9), near.atomic(pc, addr, [1, 2]).unwrap()],
        ],
    ));
    file.extend(chunk(1, &[&[first_word(Tag::Begin, 0, 3)], &[first_word(Tag::End, 0, 5)]]));
    let (events, damaged) = read(&file).unwrap();
    let expected = ["thread-begin", "fork", "write", "read", "thread-begin", "thread-end", "read", "rmw"];
    assert_eq!(events, expected);
    assert!(!damaged);
}
