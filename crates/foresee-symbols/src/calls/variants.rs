//! Variants of constructors and destructors of C++, of which an object's life has one event.
//!
//! Of one destructor compilers make up to three functions of the same name: one for objects as a whole (`D1`), one for objects that are parts of others (`D2`),
//! and one that also gives back the memory (`D0`); of constructors the first two (`C1`, `C2`). The deleting one calls that for whole objects, and where there is nothing more to do for a whole object, its variant
//! may do no more than call that for parts. So a destruction can go through two or three functions, and is one of the object all the same: it is told where the work is done, in the
//! variant that calls no other for the same object. gcc may put the work of several variants into one that has no name in the source (`C4`, `D4`), to which the others lead. A base part of an object is told as an object of its class, once: when its own variant is run.

use iced_x86::{FlowControl, Instruction};

use super::code::FunctionCode;
use super::program::Program;
use crate::demangle::demangled;

/// How names of C++ symbols begin.
const MANGLED: &str = "_Z";

impl Program {
    /// If a function is a variant of a constructor or destructor that calls another one to do the work: where that is, and its symbol.
    pub(super) fn variant_that_works(&self, code: &FunctionCode) -> Option<(u64, &str)> {
        let own: Vec<&str> = self.at(code.start()).map(|(_, symbol, _)| symbol.as_str()).collect();
        let is_call = |one: &&Instruction| {
            matches!(one.flow_control(), FlowControl::Call | FlowControl::UnconditionalBranch)
        };
        let called = code.instructions.iter().filter(is_call).map(Instruction::near_branch_target);
        let works_for = |other: &str| own.iter().any(|own| does_work_of(other, own));
        let mut symbols = called.filter(|to| *to != code.start()).flat_map(|to| self.at(to));
        symbols.find(|(_, symbol, _)| works_for(symbol)).map(|(at, symbol, _)| (*at, symbol.as_str()))
    }
}

/// Whether the function of one symbol is called to do the work of the other's, as a variant of it.
pub(super) fn does_work_of(inner: &str, outer: &str) -> bool {
    if inner.len() != outer.len() || !inner.starts_with(MANGLED) {
        return false;
    }
    let mut differ = inner.bytes().zip(outer.bytes()).filter(|(inner, outer)| inner != outer);
    let (Some((inner_kind, outer_kind)), None) = (differ.next(), differ.next()) else { return false };
    let ranks = depth(inner_kind).zip(depth(outer_kind));
    ranks.is_some_and(|(inner, outer)| inner > outer) && demangled(inner) == demangled(outer)
}

/// How far a variant is from who asked for the object, by its number in symbols: memory is given out (`C3`) or back (`D0`), then comes the whole object, then a part, then what gcc shares among both (`C4`, `D4`).
fn depth(kind: u8) -> Option<u8> {
    match kind {
        b'0' | b'3' => Some(0),
        b'1' => Some(1),
        b'2' => Some(2),
        b'4' => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::does_work_of;

    #[test]
    fn the_innermost_variant_does_the_work() {
        assert!(does_work_of("_ZN3DerD1Ev", "_ZN3DerD0Ev"));
        assert!(does_work_of("_ZN3DerD2Ev", "_ZN3DerD0Ev"));
        assert!(does_work_of("_ZN3DerC2Ei", "_ZN3DerC1Ei"));
        assert!(!does_work_of("_ZN3DerC1Ei", "_ZN3DerC2Ei"), "that makes another object");
        assert!(!does_work_of("_ZN3DerD1Ev", "_ZN3DerD1Ev"));
        assert!(!does_work_of("_ZN2D1D1Ev", "_ZN2D0D1Ev"), "another class");
        assert!(!does_work_of("_Z2f2i", "_Z2f1i"), "another function");
        assert!(!does_work_of("f2", "f1"));
    }
}
