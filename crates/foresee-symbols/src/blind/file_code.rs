//! The code of one program or library: its functions, its sections, and what its calls lead to.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget, SectionFlags,
    SymbolKind, elf,
};
use rustc_hash::FxHashMap;

use super::frame_variables::{FrameVariable, FrameVariables};
use super::landing_pads::LandingPads;
use crate::demangle::demangled;
use crate::image::Image;

/// In the names of the runtime's own functions, to which its entry points lead.
const RUNTIME: &str = "foresee_rt";
/// How symbols begin that the linker has calls of mangled functions lead to instead.
const REDIRECTED: [&str; 2] = ["__wrap__R", "__wrap__Z"];
/// In the name of a piece of a function that the compiler has put elsewhere.
const PIECE: &str = ".cold";

/// No program has anything loaded below this address.
const LOWEST: u64 = 0x1_0000;

/// A function, by its first address in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FunctionStart(pub(crate) u64);

/// What a call, or a slot with an address in it, leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    /// Code of the same file.
    Here(u64),
    /// A function of another file, or one that another file may stand in front of.
    Import(String),
    /// Nobody knows: the address is computed.
    Unknown,
}

/// The code of a file.
pub(crate) struct FileCode {
    sections: Vec<Section>,
    /// Names as in the symbol table, by address; for one address the first of them.
    functions: BTreeMap<u64, Function>,
    /// What the slots lead to that the loader fills in.
    slots: FxHashMap<u64, Callee>,
    exports: FxHashMap<String, u64>,
    /// Where functions begin whose first pieces these are.
    pieces: FxHashMap<u64, u64>,
    is_rust: bool,
    image: Rc<Image>,
    frame_variables: OnceCell<FrameVariables>,
    landing_pads: OnceCell<LandingPads>,
}

struct Section {
    start: u64,
    bytes: Vec<u8>,
    is_constant: bool,
}

struct Function {
    name: String,
    end: u64,
}

/// Sections with more bytes are not looked at.
const LARGEST: u64 = 1 << 30;

impl FileCode {
    pub(crate) fn of(image: &Rc<Image>) -> Option<FileCode> {
        let file = image.elf().ok()?;
        let sections = file.sections().filter(|section| section.address() != 0);
        let sections = sections.map(|section| {
            let name = section.name().unwrap_or_default();
            let writable =
                matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.0 & elf::SHF_WRITE.0 != 0);
            // The loader makes some sections read-only once it has filled them in.
            let is_constant = !writable || name.starts_with(".got") || name.starts_with(".data.rel.ro");
            // Of what may change, and of what is too much, nothing is known.
            let is_known = is_constant && section.size() <= LARGEST;
            let bytes = if is_known { section.data().map(<[u8]>::to_vec).unwrap_or_default() } else { Vec::new() };
            Section { start: section.address(), is_constant, bytes }
        });
        let mut code = FileCode {
            sections: sections.collect(),
            functions: BTreeMap::new(),
            slots: FxHashMap::default(),
            exports: FxHashMap::default(),
            pieces: FxHashMap::default(),
            // (The runtime itself brings Rust's library into any program.)
            is_rust: file.symbols().any(|symbol| {
                let name = symbol.name().unwrap_or_default();
                REDIRECTED.iter().any(|beginning| name.starts_with(beginning))
            }),
            image: Rc::clone(image),
            frame_variables: OnceCell::new(),
            landing_pads: OnceCell::new(),
        };
        let mut by_name: FxHashMap<String, u64> = FxHashMap::default();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let is_code = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            let Some(name) = symbol.name().ok().filter(|_| is_code) else { continue };
            by_name.insert(name.to_owned(), symbol.address());
            let function = Function { name: name.to_owned(), end: symbol.address() + symbol.size() };
            let known = code.functions.entry(symbol.address());
            // Of several names the one that says what it is: an entry point is called by the name of what it stands for.
            known.and_modify(|known| known.end = known.end.max(function.end)).or_insert(function);
        }
        for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
            if let Ok(name) = symbol.name() {
                code.exports.insert(name.to_owned(), symbol.address());
            }
        }
        for (name, &address) in &by_name {
            let whole = name.split_once(PIECE).map(|(whole, _)| whole);
            if let Some(&whole) = whole.and_then(|whole| by_name.get(whole)) {
                code.pieces.insert(address, whole);
            }
        }
        code.extend_functions();
        code.read_slots(&file);
        Some(code)
    }

    /// Functions without a size (of assembly) end where the next begins.
    fn extend_functions(&mut self) {
        let starts: Vec<u64> = self.functions.keys().copied().collect();
        for pair in starts.windows(2) {
            if let Some(function) = self.functions.get_mut(&pair[0])
                && function.end == pair[0]
            {
                function.end = pair[1];
            }
        }
    }

    fn read_slots(&mut self, file: &crate::image::Elf<'_>) {
        for (slot, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let callee = match (relocation.target(), relocation.flags()) {
                (RelocationTarget::Symbol(index), _) => {
                    let symbols = file.dynamic_symbol_table();
                    let symbol = symbols.and_then(|table| {
                        use object::ObjectSymbolTable as _;
                        table.symbol_by_index(index).ok()
                    });
                    let name = symbol.and_then(|symbol| symbol.name().ok().map(str::to_owned));
                    name.map_or(Callee::Unknown, Callee::Import)
                }
                // (Where an indirect function leads to, only its resolver knows.)
                (_, RelocationFlags::Elf { r_type: elf::R_X86_64_RELATIVE }) => {
                    Callee::Here(relocation.addend().cast_unsigned())
                }
                _ => Callee::Unknown,
            };
            self.slots.insert(slot, callee);
        }
    }

    /// The function that has the code at this address; a piece belongs to the whole.
    pub(super) fn function_at(&self, address: u64) -> Option<FunctionStart> {
        let (&start, function) = self.functions.range(..=address).next_back()?;
        let is_inside = address < function.end || address == start;
        is_inside.then(|| FunctionStart(self.pieces.get(&start).copied().unwrap_or(start)))
    }

    /// Whether a function begins at this address.
    pub(super) fn is_start(&self, address: u64) -> bool {
        self.function_at(address).is_some_and(|start| start.0 == address)
    }

    /// The code of a function: its first address and its bytes, for each of its pieces.
    pub(super) fn pieces(&self, start: FunctionStart) -> Vec<(u64, &[u8])> {
        let others = self.pieces.iter().filter(|&(_, &whole)| whole == start.0).map(|(&piece, _)| piece);
        let mut starts: Vec<u64> = std::iter::once(start.0).chain(others).collect();
        starts[1..].sort_unstable();
        let bytes = |start: u64| {
            let end = self.functions.get(&start)?.end;
            Some((start, self.bytes(start, end.checked_sub(start)?)?))
        };
        starts.into_iter().filter_map(bytes).collect()
    }

    /// The name of a function as in the symbol table.
    pub(super) fn symbol(&self, start: FunctionStart) -> &str {
        self.functions.get(&start.0).map_or("", |function| &function.name)
    }

    /// The name of a function as people write it.
    pub(super) fn name(&self, start: FunctionStart) -> String {
        demangled(self.symbol(start))
    }

    /// Whether a symbol belongs to the runtime that is linked into recorded programs, or stands in front of a function of Rust's library
    /// for it.
    pub(super) fn is_runtime(&self, start: FunctionStart) -> bool {
        let symbol = self.symbol(start);
        symbol.contains(RUNTIME) || REDIRECTED.iter().any(|beginning| symbol.starts_with(beginning))
    }

    /// Whether it is a program in Rust.
    pub(super) fn is_rust(&self) -> bool {
        self.is_rust
    }

    /// The structures and arrays in the frame of a function.
    pub(super) fn frame_variables(&self, start: FunctionStart) -> &[FrameVariable] {
        let read = || self.image.elf().map(|file| FrameVariables::of(&file)).unwrap_or_default();
        self.frame_variables.get_or_init(read).in_function(start.0)
    }

    /// Where exceptions are caught.
    pub(super) fn landing_pads(&self) -> &LandingPads {
        let from = |address| {
            let section = self.section(address)?;
            section.bytes.get(usize::try_from(address - section.start).ok()?..)
        };
        let read = || self.image.elf().map(|file| LandingPads::of(&file, from)).unwrap_or_default();
        self.landing_pads.get_or_init(read)
    }

    /// Whether it has code with instrumentation.
    pub(super) fn is_instrumented(&self) -> bool {
        const ENTRY: &str = "__tsan_func_entry";
        let imports =
            || self.slots.values().any(|slot| matches!(slot, Callee::Import(name) if name == ENTRY));
        self.functions.values().any(|function| &*function.name == ENTRY) || imports()
    }

    /// The addresses of this file that its data has, where the loader puts them.
    pub(super) fn addresses_in_data(&self) -> impl Iterator<Item = u64> {
        self.slots.values().filter_map(|slot| match slot {
            Callee::Here(address) => Some(*address),
            Callee::Import(_) | Callee::Unknown => None,
        })
    }

    /// The functions of other files that its slots lead to.
    pub(super) fn imports(&self) -> impl Iterator<Item = &str> {
        self.slots.values().filter_map(|slot| match slot {
            Callee::Import(name) => Some(&**name),
            Callee::Here(_) | Callee::Unknown => None,
        })
    }

    /// The function of this name that other files can call.
    pub(super) fn export(&self, name: &str) -> Option<u64> {
        self.exports.get(name).copied()
    }

    /// What the slot at this address leads to.
    pub(super) fn slot(&self, address: u64) -> Callee {
        self.slots.get(&address).cloned().unwrap_or(Callee::Unknown)
    }

    /// Whether it can be loaded anywhere: its addresses count from 0.
    pub(super) fn is_relocatable(&self) -> bool {
        self.sections.iter().any(|section| section.start < LOWEST)
    }

    /// Whether nothing changes the memory at this address once the program runs.
    pub(super) fn is_constant(&self, address: u64) -> bool {
        self.section(address).is_some_and(|section| section.is_constant)
    }

    /// The bytes of the file at this address.
    pub(super) fn bytes(&self, start: u64, length: u64) -> Option<&[u8]> {
        let section = self.section(start)?;
        let from = usize::try_from(start - section.start).ok()?;
        section.bytes.get(from..from.checked_add(usize::try_from(length).ok()?)?)
    }

    fn section(&self, address: u64) -> Option<&Section> {
        let inside = |section: &&Section| {
            address >= section.start && address - section.start < section.bytes.len() as u64
        };
        self.sections.iter().find(inside)
    }

    /// Where functions begin.
    pub(super) fn starts(&self) -> Vec<FunctionStart> {
        let whole = self.functions.keys().filter(|start| !self.pieces.contains_key(start));
        whole.map(|&start| FunctionStart(start)).collect()
    }
}
