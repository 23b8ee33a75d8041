//! Where the value of a table is for a choice of threads.
//!
//! A table whose formula mentions k threads that are not fixed (`@j @i c` at thread j: i) has a value for each choice of them. Threads that become known
//! later must have the history from before: until then they are all alike, nothing being known of them, so one value stands for all of them;
//! or one for each way in which several may be the same or different, which is k *strangers* at most. A choice is a number with k digits to the base
//! `threads + k`: threads first, then strangers. Strangers are numbered in the order in which the choice mentions them.

pub(crate) use crate::table::Choice;
use crate::table::{MOST_BOUND, Table};
use crate::threads::{Slot, Threads};

/// Strangers have numbers that no thread has: the first, and down from there.
const FIRST_STRANGER: Slot = Slot::MAX;

/// No thread is chosen.
pub(crate) const NOBODY_CHOSEN: Choice = [FIRST_STRANGER; MOST_BOUND];

/// The choice that a thread has which looks at its own states.
#[inline]
pub(crate) fn own_choice(table: &Table, me: Slot, choice: &Choice) -> Choice {
    let mut choice = *choice;
    table.own.into_iter().for_each(|own| choice[own as usize] = me);
    choice
}

/// How many values a table has while there are so many threads: none as long as it is of use to nobody.
pub(crate) fn size(table: &Table, known: &Threads, threads: u32) -> usize {
    if known.is_anybody(table.whose, threads) { places(table.free.len(), threads) } else { 0 }
}

/// How many choices of so many threads there are, and some more numbers.
pub(crate) fn places(free: usize, threads: u32) -> usize {
    if free == 0 { 1 } else { (threads as usize + free).pow(free as u32) }
}

/// Where the value for this choice is.
#[inline]
pub(crate) fn place(free: &[u8], choice: &Choice, threads: u32) -> usize {
    match *free {
        [] => 0,
        [only] => choice[only as usize].min(threads) as usize,
        _ => place_of_several(free, choice, threads),
    }
}

fn place_of_several(free: &[u8], choice: &Choice, threads: u32) -> usize {
    let base = threads as usize + free.len();
    let mut strangers = [0; MOST_BOUND];
    let mut met = 0;
    let mut digit = |slot: Slot| {
        if slot < threads {
            return slot as usize;
        }
        let stranger = strangers[..met].iter().position(|known| *known == slot).unwrap_or_else(|| {
            strangers[met] = slot;
            met += 1;
            met - 1
        });
        threads as usize + stranger
    };
    free.iter().fold(0, |place, bound| place * base + digit(choice[*bound as usize]))
}

/// The choice that has its value at this place, or nothing if none has: other numbers of strangers would be the same.
pub(crate) fn choice(free: &[u8], place: usize, threads: u32) -> Option<Choice> {
    let mut choice = NOBODY_CHOSEN;
    if let [only] = *free {
        if place < threads as usize {
            choice[only as usize] = place as Slot;
        }
        return Some(choice);
    }
    let base = threads as usize + free.len();
    let mut rest = place;
    for bound in free.iter().rev() {
        let digit = rest % base;
        rest /= base;
        choice[*bound as usize] = match digit.checked_sub(threads as usize) {
            None => digit as Slot,
            Some(stranger) => FIRST_STRANGER - stranger as Slot,
        };
    }
    (self::place(free, &choice, threads) == place).then_some(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_choices_are_inverse() {
        for (free, threads) in
            [(&[][..], 3), (&[1][..], 0), (&[2][..], 3), (&[0, 3][..], 2), (&[1, 2, 4][..], 2)]
        {
            let all: Vec<Choice> =
                (0..places(free.len(), threads)).filter_map(|at| choice(free, at, threads)).collect();
            for one in &all {
                assert_eq!(choice(free, place(free, one, threads), threads).as_ref(), Some(one));
            }
            // Two of two threads, or strangers: 2 * 2, one stranger in either place, two alike, two different.
            if free.len() == 2 {
                assert_eq!(all.len(), 4 + 4 + 1 + 1);
            }
        }
    }
}
