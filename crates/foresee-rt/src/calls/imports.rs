//! Functions of libraries, which the program calls through words that the linker fills in.

use std::ffi::CString;

use super::table::Hook;
use crate::program;

/// The function that the program calls through the words of this hook. A word may still lead to the linker, which looks the function up when it is called first.
pub(super) fn address(hook: &Hook, bias: u64) -> Option<u64> {
    let known = hook.fields.iter().find_map(|word| {
        // SAFETY: the driver has found out that the linker puts the address of a function there.
        let address = unsafe { (word.wrapping_add(bias) as *const u64).read_volatile() };
        (address != 0 && !program::has_code_at(address)).then_some(address)
    });
    known.or_else(|| {
        let name: Vec<u8> = hook.name.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let name = CString::new(name.get(..hook.name.len)?).ok()?;
        // SAFETY: takes a handle that always exists and a name that ends in a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as u64;
        (found != 0).then_some(found)
    })
}

/// What may be done with the memory at this address.
pub(super) fn protection(addr: u64) -> Option<libc::c_int> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
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
