//! How the calls of Rust's library that order threads are caught.
//!
//! Rust's library comes compiled, without instrumentation. What is generic or inlined in it is compiled with the user's
//! crates and so seen; the rest (`Condvar::wait`, `Once::call`, …) is code that orders threads behind our back, and each
//! program that uses it would seem full of races. Linkers can redirect: with `--wrap=f`, who calls `f` gets `__wrap_f`,
//! and who calls `__real_f` gets `f`. The names differ from toolchain to toolchain, so they are looked up in the library
//! that the user's own compiler links, and a small object is generated that connects them with the runtime's names:
//!
//! ```text
//! __wrap_<mangled>:        jmp foresee_std_once_call      the runtime's handler
//! foresee_real_once_call:  jmp __real_<mangled>           what the handler calls
//! ```
//!
//! A shared library that is linked with these arguments has a library of Rust's of its own, but no runtime: what is not
//! there when it is loaded is passed over, and the real function called. A function that this toolchain lacks is
//! left out; nobody calls its handler then. LLD also redirects calls within the
//! library; GNU ld only those of other objects, so outer functions are wrapped even where they call inner ones that
//! are.
//!
//! A function that only accesses what it is given is announced, and runs as ever ([`accesses`]):
//!
//! ```text
//! __wrap_<mangled>:        call foresee_std_reads         with an address and a size
//!                          jmp __real_<mangled>
//! ```
//!
//! The object and a file with the linker's arguments are kept, by a name that depends on the library and on the list
//! below, so that the work is done once for a toolchain, and that cargo links again when either changes.

mod accesses;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use foresee_symbols::demangle::demangled_symbol;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};
use rustc_hash::FxHasher;

use self::accesses::Accesses;
use crate::error::{CliError, without_code};
use crate::processes;
use crate::target::TARGET;

/// The runtime's name for a function, and the paths under which libraries have it. Where a library has it twice, both
/// are the same function.
const WRAPPED: &[(&str, &[&str])] = &[
    ("once_call", &["std::sys::sync::once::futex::Once::call", "std::sys_common::once::futex::Once::call"]),
    ("once_wait", &["std::sync::once::Once::wait"]),
    ("once_wait_force", &["std::sync::once::Once::wait_force"]),
    ("barrier_wait", &["std::sync::barrier::Barrier::wait"]),
    ("scope_increment", &["std::thread::scoped::ScopeData::increment_num_running_threads"]),
    ("scope_decrement", &["std::thread::scoped::ScopeData::decrement_num_running_threads"]),
    (
        "notify_one",
        &[
            "std::sync::poison::condvar::Condvar::notify_one",
            "std::sync::nonpoison::condvar::Condvar::notify_one",
            "std::sync::condvar::Condvar::notify_one",
        ],
    ),
    (
        "notify_all",
        &[
            "std::sync::poison::condvar::Condvar::notify_all",
            "std::sync::nonpoison::condvar::Condvar::notify_all",
            "std::sync::condvar::Condvar::notify_all",
        ],
    ),
    ("condvar_wait", &["std::sys::sync::condvar::futex::Condvar::wait"]),
    ("condvar_wait_timeout", &["std::sys::sync::condvar::futex::Condvar::wait_timeout"]),
    ("park", &["std::thread::functions::park", "std::thread::park"]),
    ("park_timeout", &["std::thread::functions::park_timeout", "std::thread::park_timeout"]),
    ("park_timeout_ms", &["std::thread::functions::park_timeout_ms", "std::thread::park_timeout_ms"]),
    ("thread_park", &["std::thread::thread::Thread::park", "std::thread::Thread::park"]),
    (
        "thread_park_timeout",
        &["std::thread::thread::Thread::park_timeout", "std::thread::Thread::park_timeout"],
    ),
    ("mutex_lock_contended", &["std::sys::sync::mutex::futex::Mutex::lock_contended"]),
    ("rwlock_read_contended", &["std::sys::sync::rwlock::futex::RwLock::read_contended"]),
    ("rwlock_write_contended", &["std::sys::sync::rwlock::futex::RwLock::write_contended"]),
    ("set_hook", &["std::panicking::set_hook"]),
    ("take_hook", &["std::panicking::take_hook"]),
    ("begin_unwind", &["__rustc::rust_begin_unwind", "rust_begin_unwind"]),
    ("stdin_lock", &["std::io::stdio::Stdin::lock"]),
    ("stdout_lock", &["std::io::stdio::Stdout::lock"]),
    ("stderr_lock", &["std::io::stdio::Stderr::lock"]),
    ("alloc", &["__rustc::__rust_alloc", "__rust_alloc"]),
    ("alloc_zeroed", &["__rustc::__rust_alloc_zeroed", "__rust_alloc_zeroed"]),
    ("realloc", &["__rustc::__rust_realloc", "__rust_realloc"]),
    ("dealloc", &["__rustc::__rust_dealloc", "__rust_dealloc"]),
];

/// Functions that the runtime calls and does not stand in front of.
const CALLED: &[(&str, &[&str])] =
    &[("thread_current", &["std::thread::current::current", "std::thread::current"])];

/// The arguments for the linker of a program that `rustc` compiles; what they name is in `folder`.
pub(crate) fn link_arguments(rustc: &Path, folder: &Path) -> Result<Vec<OsString>, CliError> {
    let libraries = standard_libraries(rustc)?;
    let key = key(&libraries)?;
    let arguments = folder.join(format!("std-{key:016x}.args"));
    if !arguments.is_file() {
        generate(rustc, &libraries, folder, &arguments, key)?;
    }
    let mut at_file = OsString::from("@");
    at_file.push(arguments);
    Ok(vec![at_file])
}

fn generate(
    rustc: &Path,
    libraries: &[PathBuf],
    folder: &Path,
    arguments: &Path,
    key: u64,
) -> Result<(), CliError> {
    let mut functions = Functions::default();
    for library in libraries {
        let bytes = fs::read(library).map_err(|why| cannot_read(library, &why))?;
        functions.find(&bytes).map_err(|why| cannot_read(library, &why))?;
    }
    let write_error = |path: &Path, why| CliError::output(path.display(), why);
    fs::create_dir_all(folder).map_err(|why| write_error(folder, why))?;
    let work = tempfile::tempdir_in(folder).map_err(|why| write_error(folder, why))?;
    let object = folder.join(format!("std-{key:016x}.o"));
    let made = assemble(rustc, &source(&functions), work.path())?;
    // Whole or not at all, whoever else does the same at the same time; the arguments last, as they name the object.
    fs::rename(made, &object).map_err(|why| write_error(&object, why))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|why| write_error(arguments, why))?;
    file.write_all(response_file(&functions, &object).as_bytes())
        .map_err(|why| write_error(arguments, why))?;
    file.persist(arguments).map_err(|why| write_error(arguments, why.error))?;
    Ok(())
}

fn cannot_read(library: &Path, why: &dyn std::fmt::Display) -> CliError {
    CliError::Usage(format!("{}: cannot read Rust's library: {why}", library.display()))
}

/// The libraries that this compiler links: `std`, and what it is made of.
fn standard_libraries(rustc: &Path) -> Result<Vec<PathBuf>, CliError> {
    let name = rustc.display();
    let asked = processes::command(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let answer =
        asked.map_err(|why| CliError::Usage(format!("{name}: cannot run it: {}", without_code(&why))))?;
    let folder = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim_end());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let library = |beginning: &str| {
        let is_wanted = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            name.starts_with(beginning) && name.ends_with(".rlib")
        };
        files.iter().find(is_wanted).cloned()
    };
    let found: Option<Vec<PathBuf>> = ["libstd-", "liballoc-", "libcore-"].into_iter().map(library).collect();
    found.ok_or_else(|| {
        CliError::Usage(format!(
            "{name}: has no library for {TARGET} (looked in {}); install it (rustup target add {TARGET})",
            folder.display()
        ))
    })
}

/// Differs for libraries that differ, and for versions of this tool that catch other functions.
fn key(libraries: &[PathBuf]) -> Result<u64, CliError> {
    let mut hasher = FxHasher::default();
    for library in libraries {
        let about = fs::metadata(library).map_err(|why| cannot_read(library, &without_code(&why)))?;
        library.hash(&mut hasher);
        about.len().hash(&mut hasher);
        about.modified().ok().hash(&mut hasher);
    }
    (WRAPPED, CALLED, accesses::FUNCTIONS, accesses::FORMATTED, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    Ok(hasher.finish())
}

/// A function of the library.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    /// The runtime's name for it.
    name: &'static str,
    /// Its symbols.
    symbols: Vec<String>,
    /// Whether the runtime stands in front of it.
    wrapped: bool,
}

/// The functions that were found in the libraries.
struct Functions {
    /// Those that the runtime has a name for, with the paths that they are looked for by.
    named: Vec<(&'static [&'static str], Function)>,
    /// Symbols of functions that access what they are given.
    accessing: Vec<(String, Accesses)>,
}

impl Default for Functions {
    fn default() -> Functions {
        let listed = |list: &[(&'static str, &'static [&'static str])], wrapped| -> Vec<_> {
            let function = |name| Function { name, symbols: Vec::new(), wrapped };
            list.iter().map(|&(name, paths)| (paths, function(name))).collect()
        };
        let mut named = listed(WRAPPED, true);
        named.extend(listed(CALLED, false));
        Functions { named, accessing: Vec::new() }
    }
}

impl Functions {
    /// Finds functions in the objects of an archive.
    fn find(&mut self, archive: &[u8]) -> Result<(), object::Error> {
        for member in ArchiveFile::parse(archive)?.members() {
            // Besides objects there is metadata.
            let Ok(object) = object::File::parse(member?.data(archive)?) else { continue };
            for symbol in object.symbols().filter(|symbol| symbol.is_global()) {
                let Ok(mangled) = symbol.name() else { continue };
                let path = path(mangled);
                for (paths, function) in &mut self.named {
                    if paths.contains(&path.as_str())
                        && !function.symbols.iter().any(|known| known == mangled)
                    {
                        function.symbols.push(mangled.to_owned());
                    }
                }
                let accesses = accesses::of(&path).filter(|_| symbol.is_definition());
                self.accessing.extend(accesses.map(|accesses| (mangled.to_owned(), accesses)));
            }
        }
        Ok(())
    }

    /// Those that the libraries have.
    fn named(&self) -> impl Iterator<Item = &Function> {
        self.named.iter().map(|(_, function)| function).filter(|found| !found.symbols.is_empty())
    }
}

/// The path of a function without hashes: `<a::B>::c` in the new mangling, `a::B::c` in the old one.
fn path(mangled: &str) -> String {
    demangled_symbol(mangled).replace(['<', '>'], "")
}

/// A crate that is nothing but jumps. Names are quoted, as those of the old mangling hold dots and dollars.
fn source(functions: &Functions) -> String {
    let mut text = String::from("#![no_std]\ncore::arch::global_asm!(r###\"\n.text\n");
    let mut function = |name: &str, body: &str| {
        let _ = writeln!(text, ".globl \"{name}\"\n.type \"{name}\", @function\n\"{name}\":\n{body}");
    };
    for Function { name, symbols, wrapped } in functions.named() {
        let real = if *wrapped { "__real_" } else { "" };
        if let Some(symbol) = symbols.first() {
            function(&format!("foresee_real_{name}"), &format!("jmp \"{real}{symbol}\""));
        }
        for symbol in symbols.iter().filter(|_| *wrapped) {
            let handler = format!("foresee_std_{name}");
            let body = format!(
                ".weak {handler}\nmovq {handler}@GOTPCREL(%rip), %r11\ntestq %r11, %r11\nje \"__real_{symbol}\"\njmp *%r11"
            );
            function(&format!("__wrap_{symbol}"), &body);
        }
    }
    for (symbol, accesses) in &functions.accessing {
        function(&format!("__wrap_{symbol}"), &accesses.announced_before(symbol));
    }
    text.push_str("\"###, options(att_syntax, raw));\n");
    text
}

/// Compiles the jumps. The user's compiler is there for sure, an assembler may not be.
fn assemble(rustc: &Path, source: &str, work: &Path) -> Result<PathBuf, CliError> {
    let (from, to) = (work.join("jumps.rs"), work.join("jumps.o"));
    fs::write(&from, source).map_err(|why| CliError::output(from.display(), why))?;
    let mut command = processes::command(rustc);
    command.args(["--crate-type=lib", "--emit=obj", "--edition=2021", "-Cpanic=abort", "--target", TARGET]);
    let result = command.arg("-o").args([&to, &from]).output();
    let why = match result {
        Ok(done) if done.status.success() && to.is_file() => return Ok(to),
        Ok(done) => String::from_utf8_lossy(&done.stderr).trim_end().to_owned(),
        Err(why) => without_code(&why),
    };
    Err(CliError::Usage(format!("{}: cannot compile what connects Rust's library: {why}", rustc.display())))
}

/// The linker's arguments, as gcc and clang read them from a file.
fn response_file(functions: &Functions, object: &Path) -> String {
    let mut text = String::new();
    for character in object.display().to_string().chars() {
        if character.is_whitespace() || matches!(character, '\\' | '"' | '\'') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('\n');
    let wrapped = functions.named().filter(|found| found.wrapped).flat_map(|found| &found.symbols);
    for symbol in wrapped.chain(functions.accessing.iter().map(|(symbol, _)| symbol)) {
        let _ = writeln!(text, "-Wl,--wrap={symbol}");
    }
    text
}

#[cfg(test)]
mod tests;
