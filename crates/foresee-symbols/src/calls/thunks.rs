//! Thunks of C++: virtual functions that are called for a part of their object, which lead to the function itself, after a change of the address.
//!
//! gcc may put the function's own code into a thunk, and debug information does not tell of that.

use iced_x86::{FlowControl, Instruction};

use super::code::FunctionCode;
use super::program::Program;
use super::variants::does_work_of;

/// How symbols of thunks begin.
const THUNK: &str = "_ZT";

impl Program {
    /// A thunk of the function that begins there, by its symbol, if it does not lead to the function.
    pub(super) fn thunk_with_code(&self, start: u64) -> Option<&str> {
        let own: Vec<&str> = self.at(start).map(|(_, symbol, _)| symbol.as_str()).collect();
        let is_own = |of: &str| own.iter().any(|own| *own == of || does_work_of(own, of));
        let is_code = |(at, symbol, _): &&(u64, String, bool)| {
            function_of(symbol).is_some_and(|of| is_own(&of) && !self.leads_to(*at, start, &of))
        };
        self.symbols.iter().find(is_code).map(|(_, symbol, _)| symbol.as_str())
    }

    /// Whether the code at an address calls the function that begins there or has this symbol, or jumps to it, or to another of its thunks.
    fn leads_to(&self, at: u64, start: u64, symbol: &str) -> bool {
        let range = at..self.code.next_start(at + 1);
        let Some(code) = FunctionCode::new(&self.code, &[range]) else { return false };
        let is_named = |to: u64| {
            self.at(to)
                .any(|(_, other, _)| other == symbol || function_of(other).is_some_and(|of| of == symbol))
        };
        let is_it = |to: u64| to == start || to != at && is_named(to);
        code.instructions.iter().any(|one| is_call(one) && is_it(one.near_branch_target()))
    }
}

fn is_call(one: &Instruction) -> bool {
    matches!(one.flow_control(), FlowControl::Call | FlowControl::UnconditionalBranch)
}

/// The symbol of the function that a thunk is of, by the thunk's.
fn function_of(thunk: &str) -> Option<String> {
    let rest = thunk.strip_prefix(THUNK)?;
    // A change of the object's address; and another of that which is returned.
    let (changes, rest) = rest.strip_prefix('c').map_or((1, rest), |rest| (2, rest));
    let function = (0..changes).try_fold(rest, |rest, _| {
        let numbers = if rest.starts_with('v') { 2 } else { usize::from(rest.starts_with('h')) };
        (0..numbers).try_fold(rest.get(1..)?, |rest, _| {
            let digits = rest.strip_prefix('n').unwrap_or(rest);
            digits.trim_start_matches(|letter: char| letter.is_ascii_digit()).strip_prefix('_')
        })
    })?;
    function.starts_with('N').then(|| format!("_Z{function}"))
}

#[cfg(test)]
mod tests {
    use super::function_of;

    #[test]
    fn thunks_say_whose_they_are() {
        let of = |thunk| function_of(thunk).unwrap_or_default();
        assert_eq!(of("_ZThn8_N4File4openEi"), "_ZN4File4openEi");
        assert_eq!(of("_ZTv0_n24_N1D1fEv"), "_ZN1D1fEv");
        assert_eq!(of("_ZTch0_h16_N1D5cloneEv"), "_ZN1D5cloneEv");
        assert_eq!(of("_ZTchn8_v0_n32_N1D5cloneEv"), "_ZN1D5cloneEv");
        assert_eq!(function_of("_ZTV4File"), None, "a table");
        assert_eq!(function_of("_ZN4File4openEi"), None);
    }
}
