//! The program's file, as far as hooks need it.

use rustc_hash::FxHashMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};

use super::code::ProgramCode;
use super::refusal::{CallError, Refusal};
use crate::image::{Elf, Image};

/// What the runtime's code is called that hooks lead to: a program without it has another runtime, or none.
const TRAMPOLINE: &str = "foresee_hook";
/// What instrumented functions call before they return.
const EXIT_CALL: &str = "__tsan_func_exit";

/// How names of C++ and of Rust begin that say all of a function.
const MANGLED: &str = "_Z";
/// In the names of symbols: pieces of a function that are elsewhere.
pub(super) const PART: &str = ".cold";

/// The mangled names of functions, by address. Debug information does not have those of functions that only one file knows, nor of what compilers share among constructors.
pub(super) fn mangled(file: &Elf<'_>) -> FxHashMap<u64, String> {
    let functions =
        file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let named = functions.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_owned())));
    named.filter(|(_, name)| name.starts_with(MANGLED) && !name.contains(PART)).collect()
}

/// The program's file, as far as hooks need it.
pub(super) struct Program {
    pub(super) code: ProgramCode,
    /// Each function's symbols, by address: its name, and whether only its file knows it.
    pub(super) symbols: Vec<(u64, String, bool)>,
}

impl Program {
    pub(super) fn read(image: &Image) -> Result<Program, CallError> {
        let file = image.elf()?;
        let mut symbols = Vec::new();
        let mut exit = None;
        let mut has_trampoline = false;
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let name = symbol.name().unwrap_or_default();
            has_trampoline |= name == TRAMPOLINE;
            if name == EXIT_CALL {
                exit = Some(symbol.address());
            }
            if symbol.is_definition() {
                symbols.push((symbol.address(), name.to_owned(), symbol.is_local()));
            }
        }
        if !has_trampoline {
            return Err(CallError::NoRuntime);
        }
        symbols.sort_unstable();
        let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let sections = sections
            .filter_map(|section| Some((section.address(), section.uncompressed_data().ok()?.into_owned())));
        let starts = symbols.iter().map(|(address, ..)| *address).collect();
        Ok(Program { code: ProgramCode { sections: sections.collect(), starts, exit }, symbols })
    }

    /// A refusal, with what symbols tell of a function that debug information does not have: another name of one, or one that is chosen as the program starts.
    pub(super) fn explained(&self, why: Refusal) -> Refusal {
        match why {
            Refusal::NoFunction { name, .. } if self.symbols.iter().any(|(_, symbol, _)| *symbol == name) => {
                Refusal::OnlySymbol { name }
            }
            why => why,
        }
    }

    /// The symbols at an address.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &(u64, String, bool)> {
        let first = self.symbols.partition_point(|(at, ..)| *at < address);
        self.symbols[first..].iter().take_while(move |(at, ..)| *at == address)
    }
}
