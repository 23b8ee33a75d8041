//! One program or library file.
//!
//! What is asked of it (symbols, debug information, machine code) is read when it is asked for, once, and kept: a file may have gigabytes of data that
//! nobody asks for. Only line tables are read by `addr2line`'s own loader, which maps the file and finds split debug information.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use foresee_trace::raw::DataSymbol;
use gimli::{DwarfSections, SectionId};
use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use rustc_hash::FxHashMap;

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

/// The structure of a file.
pub type Elf<'a> = ElfFile64<'a, Endianness, &'a ReadCache<File>>;

/// A program or library, known to be an ELF file.
pub struct Image {
    path: PathBuf,
    content: ReadCache<File>,
    metadata: Metadata,
}

impl Image {
    /// Opens the file.
    pub fn read(path: &Path) -> Result<Image, ImageError> {
        let metadata = path.metadata().map_err(ImageError::Unreadable)?;
        // What is no file may have no end, or wait for somebody.
        if !metadata.is_file() {
            return Err(ImageError::NotElf);
        }
        let content = ReadCache::new(File::open(path).map_err(ImageError::Unreadable)?);
        let image = Image { path: path.to_owned(), content, metadata };
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
    pub fn elf(&self) -> Result<Elf<'_>, ImageError> {
        ElfFile64::parse(&self.content).map_err(|_| ImageError::NotElf)
    }
}

/// The sections of a file's debug information; missing ones are empty.
pub(crate) fn dwarf_sections<'a>(file: &Elf<'a>) -> gimli::Result<DwarfSections<Cow<'a, [u8]>>> {
    DwarfSections::load(|id: SectionId| -> gimli::Result<Cow<'a, [u8]>> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
    })
}

/// The statics of a program, by address. Those of C that files have for themselves, and several of them under one name, are called
/// `file.c:name`.
pub(crate) fn statics(file: &Elf<'_>) -> Vec<DataSymbol> {
    // Symbols that only their file knows follow the name of that file.
    let mut within = "";
    let mut data: Vec<(DataSymbol, &str)> = Vec::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.kind() == SymbolKind::File {
            within = symbol.name().unwrap_or_default();
        }
        let size = u32::try_from(symbol.size()).unwrap_or(0);
        if size == 0 || symbol.kind() != SymbolKind::Data || !symbol.is_definition() {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        let (demangled, addr) = (demangled(name), symbol.address());
        let is_for_itself = symbol.is_local() && demangled == name;
        let within = if is_for_itself { within } else { "" };
        data.push((DataSymbol { name: demangled, addr, size }, within));
    }
    data.sort_by(|(a, _), (b, _)| (a.addr, b.size, &a.name).cmp(&(b.addr, a.size, &b.name)));
    data.dedup_by_key(|(symbol, _)| symbol.addr);
    let mut times: FxHashMap<String, u32> = FxHashMap::default();
    for (symbol, _) in &data {
        *times.entry(symbol.name.clone()).or_default() += 1;
    }
    let qualified = |(symbol, within): (DataSymbol, &str)| match times.get(&symbol.name) {
        Some(2..) if !within.is_empty() => DataSymbol { name: format!("{within}:{}", symbol.name), ..symbol },
        _ => symbol,
    };
    data.into_iter().map(qualified).collect()
}
