//! Why a program could not be run, or recorded nothing: found by a look at its file, with what to do.

use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use foresee_symbols::{Elf, Image};
use object::elf::{
    ELFCLASS32, ELFCLASS64, EM_386, EM_AARCH64, EM_ARM, EM_RISCV, EM_X86_64, Machine, PT_INTERP,
};
use object::read::elf::ProgramHeader as _;
use object::{Object as _, ObjectSymbol as _};
use rustix::io::Errno;

use crate::cli::Extent;
use crate::compiler::toolchain::BRANCHES_SYMBOL;
use crate::error::{CliError, without_code};
use crate::target::TARGET;

const HOW_TO_BUILD: &str =
    "build it with `cargo foresee build`, or with `foresee cc` or `foresee c++` as compiler";

/// What every program that was built by foresee has.
const OUR_SYMBOL: &str = "foresee_event";

/// The bits of a file that make its program run with the rights of the file's owner or group.
const SET_ID: u32 = 0o6000;

/// The program ended well, but left no trace.
pub(crate) fn recorded_nothing(program: &OsStr) -> CliError {
    let why = why_not(&find(program));
    CliError::Usage(format!("{}: recorded nothing: it {why}", program.display()))
}

/// The program was killed while its runtime began.
pub(crate) fn ended_at_once(program: &OsStr) -> CliError {
    CliError::Usage(format!("{}: recorded nothing: it ended before it began to record", program.display()))
}

/// The program is not there, or not to be executed.
pub(crate) fn cannot_run(program: &OsStr, why: &Error) -> CliError {
    let path = find(program);
    let is_there = path.is_file();
    let only_here = is_there && path.components().count() == 1 && !program.as_encoded_bytes().contains(&b'/');
    let hint = match why.kind() {
        ErrorKind::NotFound if only_here => format!("; did you mean ./{}?", path.display()),
        ErrorKind::NotFound if is_there => {
            let needs =
                if begins(&path).starts_with(b"#!") { "the interpreter" } else { "the dynamic linker" };
            format!("; the file is there, but {needs} that it names is not")
        }
        _ if is_there && why.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            format!("; it {}", why_not(&path))
        }
        _ => String::new(),
    };
    CliError::Usage(format!("{}: cannot run: {}{hint}", program.display(), without_code(why)))
}

/// Refuses to record the branches of a program that was not built for it. What a script runs is not known.
pub(crate) fn check_branches(line: &[OsString], extent: &Extent) -> Result<(), CliError> {
    let Some(program) = line.first().filter(|_| extent.branches) else { return Ok(()) };
    let Ok(image) = Image::read(&find(program)) else { return Ok(()) };
    let Ok(file) = image.elf() else { return Ok(()) };
    if has_symbol(&file, BRANCHES_SYMBOL) || !has_symbol(&file, OUR_SYMBOL) {
        return Ok(());
    }
    let program = program.display();
    Err(CliError::Usage(format!(
        "{program}: was built without branches; build it with `cargo foresee build --branches`, `foresee cc --branches` or \
         `foresee c++ --branches`, or leave --branches out"
    )))
}

fn has_symbol(file: &Elf<'_>, name: &str) -> bool {
    file.symbols().chain(file.dynamic_symbols()).any(|one| one.name() == Ok(name) && !one.is_undefined())
}

/// What is wrong with a program, to be read after its name.
fn why_not(path: &Path) -> String {
    let begin = begins(path);
    if begin.starts_with(b"#!") {
        return format!(
            "is a script, and nothing that it ran was built by foresee; {}",
            how_to_build("those programs")
        );
    }
    let [b'\x7f', b'E', b'L', b'F', class, _, ..] = begin[..] else {
        return "is no program, nor a script that begins with `#!`".to_owned();
    };
    let machine = begin.get(18..20).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    let machine = Machine(machine);
    if class != ELFCLASS64.0 || machine != EM_X86_64 {
        return format!(
            "is a program for {}; programs can be recorded on {TARGET} only",
            system(class, machine)
        );
    }
    let image = Image::read(path);
    let Ok(file) = image.as_ref().map_err(|_| ()).and_then(|image| image.elf().map_err(|_| ())) else {
        return format!("was not built by foresee; {HOW_TO_BUILD}");
    };
    let endian = file.endian();
    let is_static = !file.elf_program_headers().iter().any(|header| header.p_type(endian) == PT_INTERP);
    let is_ours = has_symbol(&file, OUR_SYMBOL);
    let mode = path.metadata().map_or(0, |known| known.permissions().mode());
    if is_static {
        "is linked statically, which leaves no room for the runtime; link it without -static (Rust: not for musl, nor with \
         crt-static)"
            .to_owned()
    } else if !is_ours {
        format!("was not built by foresee; {HOW_TO_BUILD}")
    } else if mode & SET_ID != 0 {
        "runs with other rights than yours (setuid or setgid), and must not write files for you; record a copy of it: a \
         copy has no such rights"
            .to_owned()
    } else {
        "was built by foresee, but did not get to its runtime, or was not told to record: is FORESEE_RAW kept in its \
         environment?"
            .to_owned()
    }
}

fn how_to_build(what: &str) -> String {
    HOW_TO_BUILD.replacen("it", what, 1)
}

fn system(class: u8, machine: Machine) -> &'static str {
    match machine {
        EM_386 => "32-bit x86",
        EM_X86_64 if class == ELFCLASS32.0 => "x32",
        EM_AARCH64 => "aarch64",
        EM_ARM => "32-bit ARM",
        EM_RISCV => "RISC-V",
        _ => "another processor",
    }
}

/// The first bytes of a file.
fn begins(path: &Path) -> Vec<u8> {
    let mut begin = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // What cannot be read is no program.
        let _ = file.take(64).read_to_end(&mut begin);
    }
    begin
}

/// The file that running this program would run.
pub(crate) fn find(program: &OsStr) -> PathBuf {
    let path = Path::new(program);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let searched = path.components().count() == 1 && !program.as_encoded_bytes().contains(&b'/');
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join(path));
    let found = if searched { found.find(|file| file.is_file()) } else { None };
    found.unwrap_or_else(|| path.to_owned())
}
