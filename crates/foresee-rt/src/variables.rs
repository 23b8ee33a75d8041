//! The program's variables that properties speak of, by name: where they are, and what they are at the beginning.
//!
//! `FORESEE_VARIABLES` lists them as `name=address:size`, as the program's file has them, with `u` before the size of those that are never negative and `n` before that of those that are no numbers; behind another `:`, what a part of a variable is called in the trace. What each is before anything of the program has run is a fact of the
//! trace, so that a property need not be told; in the child of a fork, which is a run of its own, it is what the parent had made of it.

use std::sync::OnceLock;

use foresee_format::number;

use crate::{environment, program};

/// A static of the program.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) addr: u64,
    pub(crate) size: u64,
    pub(crate) is_unsigned: bool,
    pub(crate) is_number: bool,
    /// What it is called in the trace, if it is a part of a variable.
    pub(crate) part: Option<String>,
}

/// What stands before the size of a variable that is never negative, and of one that is no number: no hexadecimal digits.
const UNSIGNED: char = 'u';
const NO_NUMBER: char = 'n';

static VARIABLES: OnceLock<Vec<Variable>> = OnceLock::new();

/// Learns of them, before the program can change its environment.
pub(crate) fn start() {
    let listed = environment::text(c"FORESEE_VARIABLES");
    let listed = listed.and_then(|listed| listed.to_str().ok()).unwrap_or_default();
    let variable = |item: &str| {
        let (name, place) = item.split_once('=')?;
        let part = place.splitn(3, ':').nth(2);
        let place = part.map_or(place, |part| &place[..place.len() - part.len() - 1]);
        let (is_unsigned, is_number) = (place.contains(UNSIGNED), !place.contains(NO_NUMBER));
        let (addr, size) = program::place_of(&place.replace([UNSIGNED, NO_NUMBER], ""))?;
        let (name, part) = (name.to_owned(), part.map(str::to_owned));
        Some(Variable { name, addr, size, is_unsigned, is_number, part })
    };
    VARIABLES.get_or_init(|| listed.split(',').filter_map(variable).collect());
}

/// All of them.
pub(crate) fn all() -> &'static [Variable] {
    VARIABLES.get().map_or(&[], Vec::as_slice)
}

impl Variable {
    /// What it is now, if it is a number.
    pub(crate) fn value(&self) -> Option<i64> {
        if !self.is_number || !matches!(self.size, 1 | 2 | 4 | 8) {
            return None;
        }
        let bits = (0..self.size).fold(0, |value, i| {
            // SAFETY: the driver has the address and the size from the program's own file: these bytes are the program's data, mapped as long as it runs. They are read by
            // volatile loads of one byte, whatever else happens to them.
            let byte = unsafe { ((self.addr + i) as *const u8).read_volatile() };
            value | u64::from(byte) << (8 * i)
        });
        Some(number(bits, self.size, self.is_unsigned))
    }
}
