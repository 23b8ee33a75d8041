//! Calls in one record.

use super::*;

/// The records as text, of a trace with these hooks: names of parameters and functions.
fn said_of(hooks: &[[&str; 2]], records: &[&[u64]]) -> (String, bool) {
    let text: Vec<u8> = hooks.iter().flatten().flat_map(|text| text.bytes().chain([0])).collect();
    let mut words = vec![TEXT_CALLS, text.len() as u64];
    for piece in text.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..piece.len()].copy_from_slice(piece);
        words.push(u64::from_le_bytes(bytes));
    }
    let mut file = header();
    file.extend(chunk(TEXT_OWNER, &[&words]));
    file.extend(chunk(0, records));
    let (lines, reader) = lines(&file, Box::new(NoSymbols));
    (lines.iter().map(|line| format!("{line}\n")).collect(), reader.damage().is_some())
}

/// The words of a call with these values.
fn short(key: u64, hook: u64, detail: u8, values: &[u64], objects: u8) -> Vec<u64> {
    let mut call =
        ShortCall { pc: 0x1234, hook, detail, count: values.len(), values: [0; MOST_SHORT], objects };
    call.values[..values.len()].copy_from_slice(values);
    let (tag, detail, words) = call.record().unwrap();
    let first = first_word(tag, detail, key);
    [first].into_iter().chain(words).take(tag.words()).collect()
}

#[test]
fn a_call_in_one_record_says_the_same_as_in_several() {
    const HOOKS: [[&str; 2]; 2] = [["a b c", "f"], ["a b", "g"]];
    let values = [u64::MAX, 1 << 40, 7];
    let arg = |kind, value| [first_word(Tag::Arg, kind, 2), value];
    let call = |detail, hook| [first_word(Tag::Call, detail, 3), 0x1234, hook];
    let several = said_of(
        &HOOKS,
        &[
            &call(0, 0),
            &arg(ARG_INT, values[0]),
            &arg(ARG_OBJECT, values[1]),
            &arg(ARG_INT, values[2]),
            &call(0, 0),
            &arg(ARG_INT, 5),
            &arg(ARG_INT, u64::MAX - 1),
            &call(RETURNED, 1),
            &arg(ARG_INT, 9),
            &call(RETURNED, 1),
        ],
    );
    let one = said_of(
        &HOOKS,
        &[
            &short(3, 0, 0, &[], 0),
            &short(5, 0, 0, &values, 2),
            &short(7, 1, RETURNED, &[5, u64::MAX - 1], 0),
            &short(9, 1, RETURNED, &[9], 0),
        ],
    );
    assert_eq!(one, several);
    assert_eq!(one.0.lines().count(), 4);
}

#[test]
fn a_call_that_makes_no_sense_is_damage() {
    let call = short(3, 0, 0, &[1], 0);
    let bad = [first_word(Tag::CallWith1, 0xff, 5), 0, 0];
    let (text, damaged) = said_of(&[["a", "f"]], &[&call, &bad, &call]);
    assert_eq!((text.lines().count(), damaged), (1, true));
}
