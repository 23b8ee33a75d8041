//! One program or library file.
//!
//! The file is read once; everything that is asked of it (symbols, debug information, machine code) works on the same bytes.
//! Only line tables are read by `addr2line`'s own loader, which maps the file and finds split debug information.

use std::borrow::Cow;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use foresee_trace::raw::DataSymbol;
use gimli::{DwarfSections, SectionId};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

use crate::demangle::demangled;

/// Why a program file is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It cannot be read.
    #[error("cannot read: {0}")]
    Unreadable(#[source] std::io::Error),
    /// It is something else.
    #[error("not an ELF program for a 64-bit machine")]
    NotElf,
}

/// The bytes of a program or library, known to be an ELF file.
pub struct Image {
    path: PathBuf,
    bytes: Vec<u8>,
    metadata: Metadata,
}

impl Image {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Image, ImageError> {
        let metadata = path.metadata().map_err(ImageError::Unreadable)?;
        let bytes = std::fs::read(path).map_err(ImageError::Unreadable)?;
        let image = Image { path: path.to_owned(), bytes, metadata };
        image.elf()?;
        Ok(image)
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file system says of it.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The file's structure. Only its headers are parsed here.
    pub fn elf(&self) -> Result<ElfFile64<'_>, ImageError> {
        ElfFile64::parse(&*self.bytes).map_err(|_| ImageError::NotElf)
    }
}

/// The sections of a file's debug information; missing ones are empty.
pub(crate) fn dwarf_sections<'a>(file: &ElfFile64<'a>) -> gimli::Result<DwarfSections<Cow<'a, [u8]>>> {
    DwarfSections::load(|id: SectionId| -> gimli::Result<Cow<'a, [u8]>> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
    })
}

/// The statics of a program, by address.
pub(crate) fn statics(file: &ElfFile64<'_>) -> Vec<DataSymbol> {
    let found = file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| {
        let size = u32::try_from(symbol.size()).ok().filter(|&size| size > 0)?;
        let wanted = symbol.kind() == SymbolKind::Data && symbol.is_definition();
        let name = wanted.then(|| symbol.name().ok()).flatten()?;
        Some(DataSymbol { name: demangled(name), addr: symbol.address(), size })
    });
    let mut data: Vec<DataSymbol> = found.collect();
    data.sort_by(|a, b| (a.addr, b.size, &a.name).cmp(&(b.addr, a.size, &b.name)));
    data.dedup_by_key(|symbol| symbol.addr);
    data
}
