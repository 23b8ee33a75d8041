//! Finding one's way in debug information: entries by unit and offset, and what they say through other entries.

use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_specification, DebuggingInformationEntry, DwAt, Dwarf,
    EndianSlice, LittleEndian, Unit, UnitOffset, UnitSectionOffset,
};

pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
pub(crate) type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// How often an entry may be about another: no compiler needs more than two.
const INDIRECTIONS: usize = 8;

/// An entry, by its unit and where it is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Die {
    pub(crate) unit: usize,
    pub(crate) offset: UnitOffset,
}

/// The debug information of a file.
pub(crate) struct Debug<'d, 'a> {
    pub(crate) dwarf: &'d Dwarf<Slice<'a>>,
    pub(crate) units: &'d [Unit<Slice<'a>>],
}

/// The units of a file's debug information.
pub(crate) fn units<'a>(dwarf: &Dwarf<Slice<'a>>) -> gimli::Result<Vec<Unit<Slice<'a>>>> {
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        units.push(dwarf.unit(header)?);
    }
    Ok(units)
}

impl<'d, 'a> Debug<'d, 'a> {
    pub(crate) fn unit(&self, of: Die) -> &'d Unit<Slice<'a>> {
        &self.units[of.unit]
    }

    pub(crate) fn entry(&self, of: Die) -> Option<Entry<'a>> {
        self.unit(of).entry(of.offset).ok()
    }

    /// The entry that an attribute of this very entry names.
    pub(crate) fn follow_own(&self, of: Die, attribute: DwAt) -> Option<Die> {
        match self.entry(of)?.attr_value(attribute)? {
            AttributeValue::UnitRef(offset) => Some(Die { unit: of.unit, offset }),
            AttributeValue::DebugInfoRef(offset) => {
                let offset = UnitSectionOffset(offset.0);
                self.units.iter().enumerate().find_map(|(number, unit)| {
                    Some(Die { unit: number, offset: offset.to_unit_offset(&unit.header)? })
                })
            }
            _ => None,
        }
    }

    /// What this entry is about, itself and those that it is a part or a place of.
    pub(crate) fn origins(&self, of: Die) -> impl Iterator<Item = Die> {
        let next = |&die: &Die| {
            self.follow_own(die, DW_AT_abstract_origin).or_else(|| self.follow_own(die, DW_AT_specification))
        };
        std::iter::successors(Some(of), next).take(INDIRECTIONS)
    }

    /// The entry that an attribute names, of this entry or of one that it is about.
    pub(crate) fn follow(&self, of: Die, attribute: DwAt) -> Option<Die> {
        self.origins(of).find_map(|die| self.follow_own(die, attribute))
    }

    /// An attribute of this entry or of one that it is about.
    pub(crate) fn attribute(&self, of: Die, attribute: DwAt) -> Option<(Die, AttributeValue<Slice<'a>>)> {
        self.origins(of).find_map(|die| Some((die, self.entry(die)?.attr_value(attribute)?)))
    }

    pub(crate) fn text(&self, of: Die, attribute: DwAt) -> Option<String> {
        let (die, value) = self.attribute(of, attribute)?;
        let text = self.dwarf.attr_string(self.unit(die), value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    /// The entries directly below this one.
    pub(crate) fn children(&self, of: Die) -> Vec<Die> {
        let read = || -> gimli::Result<Vec<Die>> {
            let mut tree = self.unit(of).entries_tree(Some(of.offset))?;
            let mut below = tree.root()?.children();
            let mut found = Vec::new();
            while let Some(child) = below.next()? {
                found.push(Die { unit: of.unit, offset: child.entry().offset() });
            }
            Ok(found)
        };
        // What cannot be read is not there; whoever needs it says so.
        read().unwrap_or_default()
    }
}
