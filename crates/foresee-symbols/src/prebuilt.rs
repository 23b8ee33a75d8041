//! Which code of a Rust program came prebuilt, and so without instrumentation.
//!
//! The standard library is compiled by those who ship the toolchain: its compile units say that they were built in
//! `/rustc/<commit>`. Generic code of it that the program instantiates is in the program's own units, and instrumented.

use foresee_trace::raw::Origin;
use gimli::{EndianSlice, LittleEndian, Unit};
use object::{Object as _, ObjectSection as _};

use crate::image::{Elf, dwarf_sections};

/// Where such units were built.
const BUILT_IN: &str = "/rustc/";

/// Units of these crates work on their callers' data.
const CONTAINERS: [&str; 2] = ["library/alloc/", "library/core/"];

/// The prebuilt pieces of one file, by address.
#[derive(Default)]
pub struct Prebuilt {
    /// From, to, and where from.
    ranges: Vec<(u64, u64, Origin)>,
    has_unseen_atomics: bool,
}

/// Functions of `core` that are compiled to atomics which the compiler has no instrumentation for. They are generic, unlike those
/// of the same names in `portable-atomic`, which make do with compare-and-swap.
const UNSEEN: [&[u8]; 4] = [b"atomic_umax<", b"atomic_umin<", b"atomic_max<", b"atomic_min<"];

/// Whether one of them is among these names of functions.
fn names_unseen_atomics(names: &[u8]) -> bool {
    UNSEEN.iter().any(|name| memchr::memmem::find(names, name).is_some())
}

impl Prebuilt {
    /// Reads the units of a file; without debug information none is known.
    pub fn of(file: &Elf<'_>) -> Prebuilt {
        let mut prebuilt = Prebuilt::default();
        // What cannot be read is taken for the program's own.
        let _ = prebuilt.read(file);
        let names = file.section_by_name(".debug_str").and_then(|section| section.uncompressed_data().ok());
        prebuilt.has_unseen_atomics = names_unseen_atomics(&names.unwrap_or_default());
        prebuilt.ranges.sort_unstable_by_key(|&(from, ..)| from);
        prebuilt
    }

    /// Whether the program has code for atomics that cannot be recorded.
    pub fn has_unseen_atomics(&self) -> bool {
        self.has_unseen_atomics
    }

    /// Where the code at this address comes from.
    pub fn origin(&self, addr: u64) -> Origin {
        let after = self.ranges.partition_point(|&(from, ..)| from <= addr);
        match self.ranges[..after].last() {
            Some(&(_, to, origin)) if addr < to => origin,
            _ => Origin::Program,
        }
    }

    fn read(&mut self, file: &Elf<'_>) -> gimli::Result<()> {
        let sections = dwarf_sections(file)?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            if !is_prebuilt(&unit) {
                continue;
            }
            let name = unit.name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // Some toolchains name units from where they were built, some by their whole paths.
            let path = name
                .strip_prefix(BUILT_IN)
                .and_then(|path| path.split_once('/'))
                .map_or(&*name, |(_, path)| path);
            let container = CONTAINERS.iter().any(|start| path.starts_with(start));
            let origin = if container { Origin::Container } else { Origin::Foreign };
            let mut ranges = dwarf.unit_ranges(&unit)?;
            while let Some(range) = ranges.next()? {
                self.ranges.push((range.begin, range.end, origin));
            }
        }
        Ok(())
    }
}

/// Whether a unit was built by those who ship the toolchain.
pub fn is_prebuilt(unit: &Unit<EndianSlice<'_, LittleEndian>>) -> bool {
    unit.comp_dir.is_some_and(|folder| folder.starts_with(BUILT_IN.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_functions_of_core_are_atomics_that_cannot_be_seen() {
        assert!(names_unseen_atomics(b"main\0atomic_umax<u32>\0"));
        assert!(names_unseen_atomics(b"main\0atomic_min<i64>\0"));
        assert!(!names_unseen_atomics(b"main\0atomic_add<u32, u32>\0"));
        // Of portable-atomic, which every program with moka has.
        assert!(!names_unseen_atomics(b"atomic_umax_cmpxchg16b\0atomic_max\0atomic_min\0"));
    }
}
