//! From patterns of function names to a table of code: `--only 'bank::*'` and `--skip 'log::*'`.
//!
//! The runtime sees an access and the program counter after it. Which functions that counter is in, inlined ones included, only
//! the debug information knows. So it is asked before the program runs: the table has one bit for each byte of the program's
//! code, set where accesses are recorded, and the runtime looks there ([`foresee_format`] has the layout).
//!
//! Which functions a pattern means is the rule for all names of functions ([`FunctionPattern`]). Code is wanted if one of the functions it is in matches `--only` (or there is
//! none) and none matches `--skip`. Code of shared libraries and code without names is wanted if there is no `--only`.
//!
//! Entries of the debug information come parents first, so what is inlined overrides what it is inlined into. Time and memory
//! are those of reading it once; the standard library's, which is not instrumented, is left out.

use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;

use foresee_format::CODE_MAGIC;
use foresee_trace::{FunctionPattern, nearest, perhaps};
use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_linkage_name, DW_AT_name, DW_AT_specification,
    DW_TAG_inlined_subroutine, DW_TAG_subprogram, DebuggingInformationEntry, Dwarf, EndianSlice,
    LittleEndian, Unit, UnitSectionOffset,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};
use rustc_hash::FxHashMap;

use crate::demangle::demangled;
use crate::image::{Elf, Image, ImageError, dwarf_sections};
use crate::prebuilt;

/// The variable by which the runtime finds the table.
pub const VARIABLE: &str = "FORESEE_CODE";

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// How often a function's name may be that of another entry: no compiler needs more than two.
const INDIRECTIONS: usize = 8;

/// Which functions' accesses are recorded, by patterns.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only these, if there are any.
    pub only: Vec<String>,
    /// Not these.
    pub skip: Vec<String>,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// The program's file is of no use.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A pattern matches nothing: most likely it is misspelt.
    #[error("no function matches `{name}`{}", perhaps(nearest))]
    NoMatch {
        /// The pattern.
        name: String,
        /// Functions of similar names.
        nearest: Vec<String>,
    },
}

/// The table for a program, as the runtime reads it.
pub fn table(image: &Image, selection: &Selection) -> Result<Vec<u8>, SelectionError> {
    let file = image.elf()?;
    let records_others = selection.only.is_empty();
    let mut wanted = Wanted::new(selection);
    let mut code = Code::of(&file, image.metadata().len(), records_others);
    symbols(&file, &mut wanted, &mut code);
    // What cannot be read has the names of its symbols.
    let _ = debug_information(&file, &mut wanted, &mut code);
    if let Some(pattern) = wanted.unused() {
        let known: Vec<String> = wanted.known.keys().map(|linkage| demangled(linkage)).collect();
        let nearest = nearest(pattern, known.iter().map(String::as_str));
        let nearest = nearest.into_iter().map(str::to_owned).collect();
        return Err(SelectionError::NoMatch { name: pattern.to_owned(), nearest });
    }
    let about = image.metadata();
    let length = 64 * code.bits.len() as u64;
    let header = [CODE_MAGIC, about.dev(), about.ino(), code.start, length, u64::from(records_others)];
    Ok(header.iter().chain(&code.bits).flat_map(|word| word.to_le_bytes()).collect())
}

/// One bit for each byte of the program's code.
struct Code {
    start: u64,
    bits: Vec<u64>,
}

impl Code {
    /// `len` is how many bytes the file has.
    fn of(file: &Elf<'_>, len: u64, wanted: bool) -> Code {
        let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let ranges: Vec<_> = sections.map(|section| (section.address(), section.size())).collect();
        let start = ranges.iter().map(|&(start, _)| start).min().unwrap_or(0);
        let end = ranges.iter().map(|&(start, len)| start.saturating_add(len)).max().unwrap_or(0);
        let words = (end - start).min(len).div_ceil(64) as usize;
        Code { start, bits: vec![if wanted { u64::MAX } else { 0 }; words] }
    }

    fn set(&mut self, range: Range<u64>, wanted: bool) {
        let end = (64 * self.bits.len() as u64).min(range.end.saturating_sub(self.start));
        let mut at = range.start.saturating_sub(self.start);
        while at < end {
            let (word, from) = ((at / 64) as usize, at % 64);
            let count = (64 - from).min(end - at);
            let mask = (u64::MAX >> (64 - count)) << from;
            if wanted {
                self.bits[word] |= mask;
            } else {
                self.bits[word] &= !mask;
            }
            at += count;
        }
    }
}

/// What a function's name says about the code in it.
#[derive(Clone, Copy, Default)]
struct Says {
    is_asked_for: bool,
    is_skipped: bool,
}

/// The patterns, and whether each has matched anything.
struct Wanted {
    only: Vec<(String, FunctionPattern, bool)>,
    skip: Vec<(String, FunctionPattern, bool)>,
    known: FxHashMap<String, Says>,
}

impl Wanted {
    fn new(selection: &Selection) -> Wanted {
        let patterns = |texts: &[String]| {
            texts.iter().map(|text| (text.clone(), FunctionPattern::new(text), false)).collect::<Vec<_>>()
        };
        Wanted {
            only: patterns(&selection.only),
            skip: patterns(&selection.skip),
            known: FxHashMap::default(),
        }
    }

    /// What the name of a function says, as the linker knows it.
    fn says(&mut self, linkage: &str) -> Says {
        if let Some(&known) = self.known.get(linkage) {
            return known;
        }
        let name = demangled(linkage);
        let matches = |patterns: &mut [(String, FunctionPattern, bool)]| {
            let mut any = false;
            for (_, pattern, used) in patterns {
                let one = pattern.matches(&name);
                *used |= one;
                any |= one;
            }
            any
        };
        let is_asked_for = matches(&mut self.only) || self.only.is_empty();
        let says = Says { is_asked_for, is_skipped: matches(&mut self.skip) };
        self.known.insert(linkage.to_owned(), says);
        says
    }

    fn unused(&self) -> Option<&str> {
        let unused = self.only.iter().chain(&self.skip).find(|(.., used)| !used);
        unused.map(|(text, ..)| text.as_str())
    }
}

fn symbols(file: &Elf<'_>, wanted: &mut Wanted, code: &mut Code) {
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        if let Ok(name) = symbol.name() {
            let says = wanted.says(name);
            let range = symbol.address()..symbol.address().saturating_add(symbol.size());
            code.set(range, says.is_asked_for && !says.is_skipped);
        }
    }
}

fn debug_information(file: &Elf<'_>, wanted: &mut Wanted, code: &mut Code) -> gimli::Result<()> {
    let sections = dwarf_sections(file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        units.push(dwarf.unit(header)?);
    }
    let names = Names { dwarf: &dwarf, units: &units };
    for unit in units.iter().filter(|unit| !prebuilt::is_prebuilt(unit)) {
        // What the functions around an entry say, by its depth.
        let mut around: Vec<Says> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let depth = usize::try_from(entry.depth()).unwrap_or(0);
            around.resize(depth + 1, around.last().copied().unwrap_or_default());
            if depth > 0 {
                around[depth] = around[depth - 1];
            }
            let is_inlined = entry.tag() == DW_TAG_inlined_subroutine;
            if !is_inlined && entry.tag() != DW_TAG_subprogram {
                continue;
            }
            let says =
                names.of(unit, entry, INDIRECTIONS)?.map_or(Says::default(), |name| wanted.says(&name));
            let outer = if is_inlined { around[depth] } else { Says::default() };
            let both = Says {
                is_asked_for: says.is_asked_for || outer.is_asked_for,
                is_skipped: says.is_skipped || outer.is_skipped,
            };
            around[depth] = both;
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                code.set(range.begin..range.end, both.is_asked_for && !both.is_skipped);
            }
        }
    }
    Ok(())
}

/// Finds the names of functions.
struct Names<'d, 'a> {
    dwarf: &'d Dwarf<Slice<'a>>,
    units: &'d [Unit<Slice<'a>>],
}

impl<'a> Names<'_, 'a> {
    /// The name of a function, for the linker if it has one, which may be that of another entry.
    fn of(&self, unit: &Unit<Slice<'a>>, entry: &Entry<'a>, left: usize) -> gimli::Result<Option<String>> {
        let text = |value: AttributeValue<Slice<'a>>| {
            self.dwarf.attr_string(unit, value).map(|text| text.to_string_lossy().into_owned())
        };
        if let Some(value) = entry.attr_value(DW_AT_linkage_name) {
            return text(value).map(Some);
        }
        let origin =
            entry.attr_value(DW_AT_abstract_origin).or_else(|| entry.attr_value(DW_AT_specification));
        let of_origin = match origin {
            Some(AttributeValue::UnitRef(offset)) if left > 0 => {
                self.of(unit, &unit.entry(offset)?, left - 1)?
            }
            Some(AttributeValue::DebugInfoRef(offset)) if left > 0 => {
                let offset = UnitSectionOffset(offset.0);
                let other =
                    self.units.iter().find_map(|unit| Some((unit, offset.to_unit_offset(&unit.header)?)));
                match other {
                    Some((other, offset)) => self.of(other, &other.entry(offset)?, left - 1)?,
                    None => None,
                }
            }
            _ => None,
        };
        match (of_origin, entry.attr_value(DW_AT_name)) {
            (None, Some(value)) => text(value).map(Some),
            (known, _) => Ok(known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_set_bit_by_bit() {
        let mut code = Code { start: 100, bits: vec![0; 3] };
        let set = |code: &Code| -> Vec<u64> {
            (0..192).filter(|at| code.bits[at / 64] >> (at % 64) & 1 == 1).map(|at| at as u64 + 100).collect()
        };
        code.set(90..103, true);
        code.set(160..240, true);
        code.set(163..231, false);
        code.set(290..400, true);
        code.set(50..60, true);
        code.set(400..500, true);
        let expected: Vec<u64> = (100..103).chain(160..163).chain(231..240).chain(290..292).collect();
        assert_eq!(set(&code), expected);
    }

    #[test]
    fn patterns_are_ends_of_paths() {
        let selection = Selection {
            only: vec!["bank::*".to_owned(), "main".to_owned()],
            skip: vec!["*::log".to_owned()],
        };
        let mut wanted = Wanted::new(&selection);
        assert!(wanted.says("_RNvNtC3app4bank3pay").is_asked_for);
        assert!(!wanted.says("_RNvNtC3app6mybank3pay").is_asked_for);
        assert!(wanted.says("_ZN4bank3payEi").is_asked_for && !wanted.says("mainly").is_asked_for);
        assert_eq!(wanted.unused(), Some("main"));
        assert!(wanted.says("main").is_asked_for && !wanted.says("main").is_skipped);
        let log = wanted.says("_ZN4bank3logEv");
        assert!(log.is_asked_for && log.is_skipped);
        assert_eq!(wanted.unused(), None);
    }
}
