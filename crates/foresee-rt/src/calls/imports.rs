//! Functions of libraries, which the program calls through words that the linker fills in.
//!
//! A function that the program only calls if it is there (a weak symbol) may be in no library. Then the linker leaves 0, by which the program knows; so such words stay as they are, and nobody calls
//! through them.

use std::ffi::CString;
use std::sync::OnceLock;

use super::table::Hook;
use crate::program;

/// The words of this hook that the linker has filled in, each with what is there.
pub(super) fn filled_in(hook: &Hook, bias: u64) -> impl Iterator<Item = (u64, u64)> {
    hook.fields.iter().map(move |word| word.wrapping_add(bias)).filter_map(|word| {
        // SAFETY: the driver has found out that the linker puts the address of a function there.
        let address = unsafe { (word as *const u64).read_volatile() };
        (address != 0).then_some((word, address))
    })
}

/// The function that the program calls through the words of this hook. A word may still lead to the linker, which looks the function up when it is called first.
pub(super) fn address(hook: &Hook, bias: u64) -> Option<u64> {
    let known = filled_in(hook, bias).map(|(_, address)| address).find(|&at| !program::has_code_at(at));
    known.or_else(|| {
        let name = CString::new(hook.name.bytes().collect::<Vec<u8>>()).ok()?;
        // SAFETY: takes a handle that always exists and a name that ends in a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as u64;
        (found != 0).then_some(found)
    })
}

/// The functions that hooks are for, each with the piece that leads to it.
static PIECES: OnceLock<Vec<(u64, u64)>> = OnceLock::new();

pub(super) fn keep(pieces: Vec<(u64, u64)>) {
    PIECES.get_or_init(|| pieces);
}

/// The piece that leads to this function, if there is one.
pub(super) fn piece_of(function: u64) -> Option<u64> {
    PIECES.get()?.iter().find(|(of, _)| *of == function).map(|(_, piece)| *piece)
}

/// What may be done with the memory of this process.
pub(super) struct Protections(String);

impl Protections {
    pub(super) fn now() -> Option<Protections> {
        std::fs::read_to_string("/proc/self/maps").ok().map(Protections)
    }

    /// What may be done with the memory at this address.
    pub(super) fn at(&self, addr: u64) -> Option<libc::c_int> {
        self.0.lines().find_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (from, to) = range.split_once('-')?;
            let number = |digits| u64::from_str_radix(digits, 16).ok();
            (number(from)? <= addr && addr < number(to)?).then(|| {
                let ways = [('r', libc::PROT_READ), ('w', libc::PROT_WRITE), ('x', libc::PROT_EXEC)];
                let given = rest.get(..3).unwrap_or_default();
                ways.iter().filter(|(letter, _)| given.contains(*letter)).fold(0, |all, (_, way)| all | way)
            })
        })
    }
}
