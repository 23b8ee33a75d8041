//! Where exceptions are caught that calls throw, by the tables that unwinding goes by.
//!
//! `.eh_frame` says which code belongs to a function and where its table is; the table says for ranges of calls where the function goes
//! on. Code that `.eh_frame` does not know, such as assembly, has no answer.

use gimli::{
    BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, Pointer, Reader as _, UnwindSection as _,
};
use object::{Object as _, ObjectSection as _};

use crate::image::Elf;

/// Where a call may lead that throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caught {
    /// Here, in the same function.
    At(u64),
    /// Not in the function that calls.
    Elsewhere,
    /// Nobody says.
    Unknown,
}

/// All landing pads of a file.
#[derive(Default)]
pub(super) struct LandingPads {
    /// The code that is known: from, to.
    functions: Vec<(u64, u64)>,
    /// The calls that lead somewhere when they throw: from, to, where.
    calls: Vec<(u64, u64, u64)>,
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

impl LandingPads {
    /// Those of a file. What cannot be read is not known; `bytes` gives what the file has from an address on.
    pub(super) fn of<'a>(file: &Elf<'_>, bytes: impl Fn(u64) -> Option<&'a [u8]>) -> LandingPads {
        let mut pads = LandingPads::default();
        let Some(section) = file.section_by_name(".eh_frame") else { return pads };
        let Ok(data) = section.uncompressed_data() else { return pads };
        let frames = EhFrame::new(&data, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(section.address());
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(function) = partial.parse(|_, bases, offset| frames.cie_from_offset(bases, offset)) else {
                continue;
            };
            let (from, to) = (function.initial_address(), function.end_address());
            let known = match function.lsda() {
                None => Some(Vec::new()),
                Some(Pointer::Direct(table)) => bytes(table).and_then(|table| calls(table, from)),
                Some(Pointer::Indirect(_)) => None,
            };
            if let Some(known) = known {
                pads.functions.push((from, to));
                pads.calls.extend(known);
            }
        }
        pads.functions.sort_unstable();
        pads.calls.sort_unstable();
        pads
    }

    /// Where what the call at this address throws is caught.
    pub(super) fn of_call(&self, address: u64) -> Caught {
        let is_known = last_before(&self.functions, |&(from, _)| from <= address);
        if is_known.is_none_or(|&(_, to)| to <= address) {
            return Caught::Unknown;
        }
        match last_before(&self.calls, |&(from, ..)| from <= address) {
            Some(&(_, to, at)) if address < to => Caught::At(at),
            _ => Caught::Elsewhere,
        }
    }
}

fn last_before<T>(sorted: &[T], is_before: impl Fn(&T) -> bool) -> Option<&T> {
    sorted.partition_point(is_before).checked_sub(1).map(|at| &sorted[at])
}

/// A number of 7 bits in each byte, in tables as all compilers make them; others are not read.
const ULEB128: u8 = 0x01;
/// Something is left out.
const OMITTED: u8 = 0xff;

/// The calls of a function's table that lead to landing pads.
fn calls(table: &[u8], function: u64) -> Option<Vec<(u64, u64, u64)>> {
    let mut table: Bytes<'_> = EndianSlice::new(table, LittleEndian);
    if table.read_u8().ok()? != OMITTED {
        return None;
    }
    if table.read_u8().ok()? != OMITTED {
        table.read_uleb128().ok()?;
    }
    if table.read_u8().ok()? != ULEB128 {
        return None;
    }
    let length = usize::try_from(table.read_uleb128().ok()?).ok()?;
    let mut entries = table.split(length).ok()?;
    let mut calls = Vec::new();
    while !entries.is_empty() {
        let [start, length, pad, _] = [(); 4].map(|()| entries.read_uleb128().ok());
        let (start, length, pad) = (start?, length?, pad?);
        if pad != 0 {
            let from = function.checked_add(start)?;
            calls.push((from, from.checked_add(length)?, function.checked_add(pad)?));
        }
    }
    Some(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_tell_where_calls_lead() {
        // No base, no types; calls 0..4 lead nowhere, 4..9 to 0x20, 12..200 to 0x30.
        let table = [0xff, 0xff, 0x01, 13, 0, 4, 0, 0, 4, 5, 0x20, 1, 12, 0xbc, 0x01, 0x30, 0];
        let known = calls(&table, 0x1000).unwrap();
        assert_eq!(known, [(0x1004, 0x1009, 0x1020), (0x100c, 0x10c8, 0x1030)]);
        let pads = LandingPads { functions: vec![(0x1000, 0x1100)], calls: known };
        assert_eq!(pads.of_call(0x1008), Caught::At(0x1020));
        assert_eq!([0x1000, 0x1009].map(|call| pads.of_call(call)), [Caught::Elsewhere; 2]);
        assert_eq!([0xfff, 0x1100].map(|call| pads.of_call(call)), [Caught::Unknown; 2]);
        assert_eq!(calls(&table[..9], 0), None);
    }
}
