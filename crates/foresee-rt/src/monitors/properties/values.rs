//! What events carry: collected until the event comes, as arguments are recorded before what they are for.

use std::cell::Cell;

use foresee_format::{ARG_INT, ARG_STR, letters};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::monitors::spin::Spin;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    /// The address of an object.
    Object(u64),
    /// What a call, by its number, was given at an address.
    Given {
        call: u64,
        addr: u64,
    },
    /// By its number among all texts that were carried.
    Text(u32),
}

/// No event carries more.
const MOST: usize = 16;

thread_local! {
    /// The values of the thread's next event, and how many there are.
    static NEXT: [Cell<Value>; MOST] = const { [const { Cell::new(Value::Number(0)) }; MOST] };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn push(value: Value) {
    let count = COUNT.get();
    NEXT.with(|next| {
        if let Some(place) = next.get(count) {
            place.set(value);
            COUNT.set(count + 1);
        }
    });
}

/// The next event carries this, which was recorded as this kind of argument.
pub(super) fn argument(kind: u8, bits: u64) {
    match kind {
        ARG_INT => push(Value::Number(bits)),
        // It was pushed as a text.
        ARG_STR => {}
        _ => push(Value::Object(bits)),
    }
}

/// What an event carries that has come, until the thread's next value is recorded.
#[derive(Clone, Copy)]
pub(super) struct Carried(usize);

impl Carried {
    pub(super) fn get(self, position: usize) -> Option<Value> {
        (position < self.0).then(|| NEXT.with(|next| next[position].get()))
    }

    pub(super) fn all(self) -> SmallVec<[Value; 4]> {
        (0..self.0).filter_map(|position| self.get(position)).collect()
    }
}

/// The event has come: what it carries.
pub(super) fn take() -> Carried {
    Carried(COUNT.replace(0))
}

/// All texts that were carried.
#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Box<[u8]>, u32>,
    all: Vec<Box<[u8]>>,
}

static TEXTS: Spin<Option<Texts>> = Spin::new(None);

/// The next event carries this text.
pub(crate) fn text_argument(text: &[u8]) {
    let mut texts = TEXTS.lock();
    let texts = texts.get_or_insert_default();
    let number = texts.numbers.get(text).copied().unwrap_or_else(|| {
        let number = texts.all.len() as u32;
        texts.numbers.insert(text.into(), number);
        texts.all.push(text.into());
        number
    });
    push(Value::Text(number));
}

/// The text of a number.
pub(super) fn text(number: u32) -> String {
    let texts = TEXTS.lock();
    let text = texts.as_ref().and_then(|texts| texts.all.get(number as usize));
    letters(text.map_or(&[][..], |text| text)).collect()
}
