//! From addresses of a recorded program to what its author wrote: functions, files, lines, and the names of statics.
//!
//! The trace has run-time addresses and the mappings of files they lie in. A mapping starts at an offset of its file, and the
//! file's loadable segments say at which address the linker wanted that offset to be; the difference between the two is the
//! module's *bias*, the same for position-independent programs, fixed ones and shared libraries. Line tables and symbol
//! tables are then asked for the address without bias.
//!
//! - Of inlined calls all frames are given, innermost first.
//! - Rust's standard library comes prebuilt, without instrumentation: its compile units are told apart ([`Prebuilt`]).
//! - Without debug information the function comes from the symbol table, and the file is the module.
//! - Statics without initial value lie behind the last page that comes from the file, in memory that belongs to no
//!   mapping of a file: they are looked for in the module right below the address.
//!
//! Each file is read once, when the first address in it is asked for. A file that has gone or is no ELF file has no names.

use std::path::Path;
use std::rc::Rc;

use addr2line::Loader;
use foresee_trace::raw::{
    BlindCode, Call, Code, DataSymbol, ForeignCode, Module, Origin, Position, Recording, SourceLocation,
    Symbolizer,
};
use object::{Object as _, ObjectSegment as _};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::blind::{Effect, FileCode, FileId, ProgramCode};
use crate::demangle::demangled;
use crate::image::{Image, statics};
use crate::instructions::Instructions;
use crate::prebuilt::Prebuilt;

/// Mappings are in units of this.
const PAGE: u64 = 4096;

/// Symbols from the files a program was loaded from.
#[derive(Default)]
pub struct FileSymbols {
    files: FxHashMap<String, Option<LoadedFile>>,
    /// Files that were reported to be gone.
    gone: FxHashSet<String>,
    code: ProgramCode,
    report: Option<fn(&MissingFile<'_>)>,
}

/// A file of code that cannot be read: what it did has no names and lines.
pub struct MissingFile<'a> {
    /// Where it was.
    pub path: &'a str,
    /// Why it cannot be read.
    pub why: std::io::Error,
}

impl FileSymbols {
    /// Symbols that report each file that cannot be read, once.
    pub fn reporting(report: fn(&MissingFile<'_>)) -> FileSymbols {
        FileSymbols { report: Some(report), ..FileSymbols::default() }
    }

    /// The user says what functions of this name do that are not built with instrumentation: a name as people write it, in which a `*`
    /// at the beginning or the end stands for anything.
    pub fn add_effect(&mut self, function: &str, effect: Effect) {
        self.code.add_effect(function, effect);
    }

    fn file(&mut self, path: &str) -> Option<&mut LoadedFile> {
        if !self.files.contains_key(path) {
            self.files.insert(path.to_owned(), LoadedFile::read(Path::new(path)));
        }
        self.files.get_mut(path)?.as_mut()
    }

    /// The code of the file that has the instruction before `pc`, and what to take from addresses to get those of the file.
    fn code_of(&mut self, modules: &[Module], pc: u64) -> Option<(FileId, u64)> {
        let inside = pc.checked_sub(1)?;
        let module = modules.iter().find(|module| (module.start..module.end).contains(&inside))?;
        for module in modules {
            if let Some(file) = self.file(&module.path) {
                let image = Rc::clone(&file.image);
                self.code.file(&module.path, || FileCode::of(&image));
            }
        }
        let bias = self.file(&module.path)?.bias(module)?;
        let file = self.code.file(&module.path, || None)?;
        Some((file, bias))
    }

    fn is_prebuilt(&mut self, modules: &[Module], pc: u64) -> bool {
        let module = modules.iter().find(|module| (module.start..module.end).contains(&(pc - 1)));
        let origin = module.and_then(|module| {
            let file = self.file(&module.path)?;
            let bias = file.bias(module)?;
            Some(file.prebuilt.origin((pc - 1).wrapping_sub(bias)))
        });
        origin.is_some_and(|origin| origin != Origin::Program)
    }

    fn report_if_gone(&mut self, path: &str) {
        if let Some(report) = self.report
            && let Err(why) = std::fs::File::open(path)
            && self.gone.insert(path.to_owned())
        {
            report(&MissingFile { path, why });
        }
    }
}

impl FileSymbols {
    /// Where the code at an address of a program's file comes from, innermost call first.
    pub fn code_of_file(&mut self, path: &str, address: u64) -> Vec<SourceLocation> {
        let known = self.file(path).and_then(|file| file.code(address));
        known.map(|code| code.frames).unwrap_or_default()
    }
}

impl Symbolizer for FileSymbols {
    fn code(&mut self, modules: &[Module], pc: u64) -> Code {
        let Some(module) = modules.iter().find(|module| (module.start..module.end).contains(&pc)) else {
            return Code::default();
        };
        let known = self.file(&module.path).and_then(|file| {
            let bias = file.bias(module)?;
            file.code(pc.wrapping_sub(bias))
        });
        known.unwrap_or_else(|| {
            self.report_if_gone(&module.path);
            let unknown = SourceLocation { file: file_name(&module.path), ..Default::default() };
            Code { frames: vec![unknown], origin: Origin::Program }
        })
    }

    fn data(&mut self, modules: &[Module], addr: u64) -> Option<DataSymbol> {
        let module =
            modules.iter().filter(|module| module.start <= addr).max_by_key(|module| module.start)?;
        let file = self.file(&module.path)?;
        let bias = file.bias(module)?;
        let symbol = file.data(addr.wrapping_sub(bias))?;
        Some(DataSymbol { addr: symbol.addr.wrapping_add(bias), ..symbol })
    }

    fn call(&mut self, modules: &[Module], pc: u64) -> Call {
        let inside = pc.wrapping_sub(1);
        let module = modules.iter().find(|module| (module.start..module.end).contains(&inside));
        let known = module.and_then(|module| {
            let file = self.file(&module.path)?;
            let bias = file.bias(module)?;
            let call = file.instructions()?.call(pc.wrapping_sub(bias));
            Some(Call { argument: call.argument.map(|address| address.wrapping_add(bias)), ..call })
        });
        known.unwrap_or_default()
    }

    fn recording(&mut self, modules: &[Module], pc: u64) -> Recording {
        let Some((file, bias)) = self.code_of(modules, pc) else { return Recording::System };
        let address = pc.wrapping_sub(bias);
        match self.code.recording(file, address) {
            Recording::Instrumented(start) => Recording::Instrumented(start.wrapping_add(bias)),
            // What came with the toolchain is part of the system, too.
            Recording::Blind(_) if self.is_prebuilt(modules, pc) => Recording::System,
            known => known,
        }
    }

    fn blind(&mut self, modules: &[Module], from: u64, to: Position) -> Option<BlindCode> {
        let (file, bias) = self.code_of(modules, from)?;
        let from = from.wrapping_sub(bias);
        let to = match to {
            Position::At(address) => Position::At(address.wrapping_sub(bias)),
            Position::FreedAt(address) => Position::FreedAt(address.wrapping_sub(bias)),
            Position::EnteredAt(address) => Position::EnteredAt(address.wrapping_sub(bias)),
            Position::Within | Position::CalledBack | Position::Anywhere | Position::Exit => to,
        };
        let function = self.code.instrumented(file, from)?;
        self.code.between(file, function, from, to)
    }

    fn has_atomics_in_assembly(&mut self) -> bool {
        self.code.has_atomics_in_assembly()
    }

    fn foreign_code(&mut self) -> ForeignCode {
        ForeignCode { is_there: self.code.has_foreign_code(), ends_threads: self.code.has_foreign_ends() }
    }

    fn unseen(&self) -> Option<&'static str> {
        let mut known = self.files.values().flatten();
        let any = known.any(|file| file.prebuilt.has_unseen_atomics());
        any.then_some("`fetch_max` or `fetch_min`")
    }
}

/// One loadable segment: where it is in the file, and where the linker put it.
struct Segment {
    offset: u64,
    in_file: u64,
    addr: u64,
}

/// One program or library file.
struct LoadedFile {
    name: String,
    segments: Vec<Segment>,
    /// Statics, by address.
    data: Vec<DataSymbol>,
    lines: Option<Loader>,
    prebuilt: Prebuilt,
    image: Rc<Image>,
    /// Decoded when they are first asked for.
    instructions: Option<Option<Instructions>>,
}

impl LoadedFile {
    fn read(path: &Path) -> Option<LoadedFile> {
        let image = Image::read(path).ok()?;
        let file = image.elf().ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, in_file) = segment.file_range();
            Segment { offset, in_file, addr: segment.address() }
        });
        Some(LoadedFile {
            name: file_name(&path.to_string_lossy()),
            segments: segments.collect(),
            data: statics(&file),
            lines: Loader::new(path).ok(),
            prebuilt: Prebuilt::of(&file),
            instructions: None,
            image: Rc::new(image),
        })
    }

    fn instructions(&mut self) -> Option<&mut Instructions> {
        self.instructions.get_or_insert_with(|| Instructions::of(&self.image)).as_mut()
    }

    /// What to take from an address in this mapping to get the address that the file's tables use.
    fn bias(&self, module: &Module) -> Option<u64> {
        // Two segments may share a page of the file; a mapping that starts with that page is the later one's.
        let segment = self.segments.iter().rev().find(|segment| {
            let first = segment.offset / PAGE * PAGE;
            first <= module.offset && module.offset < segment.offset.saturating_add(segment.in_file)
        })?;
        let loaded = module.start.wrapping_sub(module.offset).wrapping_add(segment.offset);
        Some(loaded.wrapping_sub(segment.addr))
    }

    fn code(&self, addr: u64) -> Option<Code> {
        let lines = self.lines.as_ref()?;
        let mut frames = Vec::new();
        if let Ok(mut inlined) = lines.find_frames(addr) {
            while let Ok(Some(frame)) = inlined.next() {
                let mut found = SourceLocation::default();
                if let Some(Ok(name)) = frame.function.as_ref().map(|function| function.raw_name()) {
                    found.function = demangled(&name);
                }
                if let Some(place) = frame.location {
                    found.file = normal_path(place.file.unwrap_or_default());
                    found.line = place.line.unwrap_or(0);
                    found.column = place.column.unwrap_or(0);
                }
                frames.push(found);
            }
        }
        if frames.is_empty() {
            frames.push(SourceLocation::default());
        }
        for frame in &mut frames {
            if frame.function.is_empty() {
                frame.function = demangled(lines.find_symbol(addr).unwrap_or_default());
            }
            if frame.file.is_empty() {
                frame.file.clone_from(&self.name);
            }
        }
        Some(Code { frames, origin: self.prebuilt.origin(addr) })
    }

    fn data(&self, addr: u64) -> Option<DataSymbol> {
        let after = self.data.partition_point(|symbol| symbol.addr <= addr);
        let symbol = self.data.get(after.checked_sub(1)?)?;
        (addr - symbol.addr < u64::from(symbol.size)).then(|| symbol.clone())
    }
}

/// The path without `.` and `..`, as it is written: a file that has gone has a name, too. Compilers put the folder they ran in
/// before the name they were given.
fn normal_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." => drop(parts.pop()),
            ("..", None) if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mappings of files of this very process.
    fn own_modules() -> Vec<Module> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let parsed = maps.lines().filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (start, end) = fields.next()?.split_once('-')?;
            let offset = fields.nth(1)?;
            let path = fields.nth(2).filter(|path| path.starts_with('/'))?;
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            Some(Module {
                path: path.to_owned(),
                start: number(start),
                end: number(end),
                offset: number(offset),
            })
        });
        parsed.collect()
    }

    static INITIALISED: [std::sync::atomic::AtomicU32; 3] =
        [const { std::sync::atomic::AtomicU32::new(7) }; 3];
    static ZERO: [std::sync::atomic::AtomicU32; 100_000] =
        [const { std::sync::atomic::AtomicU32::new(0) }; 100_000];

    #[test]
    fn functions_have_name_file_and_line() {
        let (mut symbols, modules) = (FileSymbols::default(), own_modules());
        let code = symbols.code(&modules, own_modules as fn() -> Vec<Module> as usize as u64);
        let found = code.frames.last().unwrap();
        assert!(found.function.ends_with("file_symbols::tests::own_modules"), "{found:?}");
        assert!(found.file.ends_with("file_symbols.rs") && found.line > 100, "{found:?}");
        assert_eq!(symbols.code(&modules, 1), Code::default());
    }

    #[test]
    fn statics_have_names_with_and_without_initial_value() {
        let (mut symbols, modules) = (FileSymbols::default(), own_modules());
        for (name, array) in [("INITIALISED", &INITIALISED[..]), ("ZERO", &ZERO[..])] {
            let first = array.as_ptr() as u64;
            for element in [array.first().unwrap(), array.last().unwrap()] {
                element.store(1, std::sync::atomic::Ordering::Relaxed);
                let found = symbols.data(&modules, std::ptr::from_ref(element) as u64).unwrap();
                assert!(found.name.ends_with(&format!("file_symbols::tests::{name}")), "{found:?}");
                assert_eq!((found.addr, found.size as usize), (first, size_of_val(array)));
            }
        }
        let on_heap = Box::new(0_u8);
        assert_eq!(symbols.data(&modules, std::ptr::from_ref(&*on_heap) as u64), None);
    }

    #[test]
    fn paths_go_down_only() {
        for (path, normal) in [
            ("/a/crates/foresee/../../examples/bank.rs", "/a/examples/bank.rs"),
            ("/a/./b//c.c", "/a/b/c.c"),
            ("/../a.c", "/a.c"),
            ("../../a/../b.c", "../../b.c"),
            ("./a.c", "a.c"),
            ("", ""),
        ] {
            assert_eq!(normal_path(path), normal);
        }
    }

    #[test]
    fn without_line_tables_there_is_the_module() {
        let (mut symbols, modules) = (FileSymbols::default(), own_modules());
        let libc = modules.iter().find(|module| module.path.contains("/libc.so")).unwrap();
        let inside = modules.iter().rfind(|module| module.path == libc.path).unwrap();
        let found = symbols.code(&modules, inside.start);
        assert!(found.frames[0].file.starts_with("libc.so"), "{found:?}");
        let gone = [Module { path: "/no/such/lib.so".to_owned(), start: 4096, end: 8192, offset: 0 }];
        let expected = SourceLocation { file: "lib.so".to_owned(), ..Default::default() };
        assert_eq!(symbols.code(&gone, 5000).frames, [expected]);
    }
}
