//! The pieces of code that hooks lead to, and the jumps to them.
//!
//! All pieces are in one mapping, near enough to the program that a jump of five bytes reaches it from anywhere in the program's
//! code, and that what the copied instructions address relative to themselves can be reached from there. The mapping is written
//! first and made executable then; the program's pages can be written only while jumps are put into them.

use foresee_format::{HookKind, JUMP_LEN};

use super::imports::{self, Protections};
use super::table::Hook;
use super::trampoline::{foresee_hook, plain_hook};
use super::unwinding;
use crate::program;

const PAGE: u64 = 4096;
/// Beside copied instructions a piece has a push, two jumps or calls through memory with 8 bytes each, or fewer.
const REST: usize = 5 + 2 * (6 + 8) + 8;
/// That of a function of a library may also call it, and the trampoline once more.
const REST_OF_LIBRARY: usize = REST + 7 * 2 + 5 + 2 * (6 + 8) + 8 + 1;
/// The length of the call of the trampoline.
const CALL_TRAMPOLINE: usize = 5 + 6 + 2 + 8;
/// How far the pieces may be from the program.
const REACH: u64 = 1 << 30;
/// Where they are looked for: every so many bytes.
const STEP: u64 = 1 << 20;

/// Makes the pieces, and has the program come to them; false if that cannot be done.
pub(super) fn put_in_place(hooks: &[Hook]) -> bool {
    let bias = program::load_bias();
    let room: usize = hooks.iter().map(room_of).sum();
    let len = (room as u64).next_multiple_of(PAGE);
    let Some(pieces) = near_program(len) else { return false };
    let mut piece = Piece { at: pieces };
    let mut begins: Vec<u64> = Vec::with_capacity(hooks.len());
    for (number, hook) in hooks.iter().enumerate() {
        begins.push(piece.at);
        let leads_on = hooks.get(number + 1).is_some_and(Hook::follows);
        let done = match hook.kind {
            // The piece before it, which calls the function, is for the return as well.
            HookKind::Code if hook.saved.words() > 0 => true,
            HookKind::Code => piece.write(number as u32, hook, bias, leads_on),
            HookKind::EntryPoint | HookKind::Import => {
                let of_return = if hook.is_return() { Some(number) } else { leads_on.then_some(number + 1) };
                piece.library(number, of_return, hooks, bias)
            }
        };
        if !done {
            return false;
        }
    }
    let calls = hooks.iter().enumerate().filter(|(_, hook)| hook.saved.words() > 0);
    unwinding::tell(calls.map(|(number, hook)| {
        // What follows has no piece of its own.
        let number = number - usize::from(hook.follows());
        let begin = begins[number];
        (begin..begin + room_of(&hooks[number]) as u64, hook.saved.words())
    }));
    let imports = hooks.iter().zip(&begins).filter(|(hook, _)| hook.kind == HookKind::Import);
    // One that nobody can come to has no piece.
    let imports = imports.filter(|(hook, _)| imports::filled_in(hook, bias).next().is_some());
    imports::keep(
        imports.filter_map(|(hook, begin)| Some((imports::address(hook, bias)?, *begin))).collect(),
    );
    let Some(protections) = Protections::now() else { return false };
    protect(pieces, len, libc::PROT_READ | libc::PROT_EXEC)
        && hooks.iter().zip(begins).all(|(hook, begin)| match hook.kind {
            HookKind::Code | HookKind::EntryPoint => {
                hook.len == 0 || put_jump(hook.address.wrapping_add(bias), begin, hook.len)
            }
            HookKind::Import => {
                imports::filled_in(hook, bias).all(|(word, _)| put_word(word, begin, &protections))
            }
        })
}

fn room_of(hook: &Hook) -> usize {
    let rest = if hook.kind == HookKind::Code { REST } else { REST_OF_LIBRARY };
    (hook.copied.len() + rest).next_multiple_of(16)
}

/// New memory that the program's code reaches.
fn near_program(len: u64) -> Option<u64> {
    let (start, end) = program::extent();
    // What grows is behind the program: before it is better.
    let before =
        (1..REACH / STEP).filter_map(|step| start.checked_sub(step * STEP + len)).map(|at| at & !(PAGE - 1));
    let behind = (REACH / STEP / 2..REACH / STEP).map(|step| (end + step * STEP) & !(PAGE - 1));
    before.chain(behind).find(|&at| {
        // SAFETY: a mapping that replaces none that exists.
        let mapped = unsafe {
            libc::mmap(
                at as *mut libc::c_void,
                len as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        if mapped as u64 != at && mapped != libc::MAP_FAILED {
            // An old kernel takes the address for a wish.
            // SAFETY: it was mapped just now.
            unsafe { libc::munmap(mapped, len as usize) };
        }
        mapped as u64 == at
    })
}

fn protect(start: u64, len: u64, how: libc::c_int) -> bool {
    // SAFETY: the callers pass pages of the program's code, or of the pieces, and leave them executable.
    unsafe { libc::mprotect(start as *mut libc::c_void, len as usize, how) == 0 }
}

/// Replaces instructions by a jump.
fn put_jump(from: u64, to: u64, len: usize) -> bool {
    let first = from & !(PAGE - 1);
    let pages = (from + len as u64).next_multiple_of(PAGE) - first;
    let Some(distance) = distance(from + JUMP_LEN as u64, to) else { return false };
    if !protect(first, pages, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) {
        return false;
    }
    const JUMP: u8 = 0xe9;
    const TRAP: u8 = 0xcc;
    // SAFETY: the driver has found whole instructions of so many bytes there, into which nothing else leads; they can be written now,
    // and no other thread runs the program's code yet.
    unsafe {
        let at = from as *mut u8;
        at.write_volatile(JUMP);
        at.add(1).cast::<i32>().write_unaligned(distance);
        for behind in JUMP_LEN..len {
            at.add(behind).write_volatile(TRAP);
        }
    }
    protect(first, pages, libc::PROT_READ | libc::PROT_EXEC)
}

/// Replaces a word through which the program calls a function of a library.
fn put_word(at: u64, value: u64, protections: &Protections) -> bool {
    let first = at & !(PAGE - 1);
    let pages = (at + 8).next_multiple_of(PAGE) - first;
    let Some(before) = protections.at(at) else { return false };
    if !protect(first, pages, libc::PROT_READ | libc::PROT_WRITE) {
        return false;
    }
    // SAFETY: the driver has found out that the linker puts the address of a function there; it can be written now.
    unsafe { (at as *mut u64).write_volatile(value) };
    protect(first, pages, before)
}

fn distance(from: u64, to: u64) -> Option<i32> {
    i32::try_from(to.wrapping_sub(from) as i64).ok()
}

/// Where the next piece goes.
struct Piece {
    at: u64,
}

impl Piece {
    /// Writes the piece for a hook; false if something is out of reach. It may lead on to the next.
    fn write(&mut self, number: u32, hook: &Hook, bias: u64, leads_on: bool) -> bool {
        let end = (self.at + (hook.copied.len() + REST) as u64).next_multiple_of(16);
        let replaced = hook.address.wrapping_add(bias);
        let done = if hook.is_return() {
            self.copy(hook, replaced) && {
                self.call_trampoline(number, hook);
                self.bytes(&[0xc3]);
                true
            }
        } else {
            self.call_trampoline(number, hook);
            self.copy(hook, replaced) && {
                // jmp [rip]
                self.bytes(&[0xff, 0x25, 0, 0, 0, 0]);
                let next = if leads_on { end } else { replaced + hook.len as u64 };
                self.bytes(&next.to_le_bytes());
                true
            }
        };
        self.at = end;
        done
    }

    /// Writes the piece for a function of a library; false if that is not found. `of_return` is the hook of its return, if there is one.
    fn library(&mut self, number: usize, of_return: Option<usize>, hooks: &[Hook], bias: u64) -> bool {
        let hook = &hooks[number];
        let end = self.at + room_of(hook) as u64;
        let function = match hook.kind {
            HookKind::EntryPoint => hook.fields[0].wrapping_add(bias),
            // Nobody comes here.
            _ if imports::filled_in(hook, bias).next().is_none() => {
                self.at = end;
                return true;
            }
            _ => match imports::address(hook, bias) {
                Some(address) => address,
                None => return false,
            },
        };
        if !hook.is_return() {
            self.call_trampoline(number as u32, hook);
        }
        // An entry point passes on who has called it.
        self.bytes(hook.copied);
        match of_return {
            // jmp [rip]
            None => self.bytes(&[0xff, 0x25, 0, 0, 0, 0]),
            Some(number) => {
                let saved = hooks[number].saved;
                let words = saved.words();
                let rdi_to_r9: [&[u8]; 6] =
                    [&[0x57], &[0x56], &[0x52], &[0x51], &[0x41, 0x50], &[0x41, 0x51]];
                if saved.positions().count() < words {
                    // push rax
                    self.bytes(&[0x50]);
                }
                saved.positions().rev().for_each(|position| self.bytes(rdi_to_r9[usize::from(position)]));
                // call [rip + …]
                self.bytes(&[0xff, 0x15]);
                self.bytes(&(CALL_TRAMPOLINE as u32 + 4 + 1).to_le_bytes());
                self.call_trampoline(number as u32, &hooks[number]);
                // add rsp, 8 * words; ret
                self.bytes(&[0x48, 0x83, 0xc4, 8 * words as u8, 0xc3]);
            }
        }
        self.bytes(&function.to_le_bytes());
        self.at = end;
        true
    }

    /// push number; call [rip + 2]; jmp over the address.
    fn call_trampoline(&mut self, number: u32, hook: &Hook) {
        let trampoline = if hook.is_plain { plain_hook } else { foresee_hook };
        self.bytes(&[0x68]);
        self.bytes(&number.to_le_bytes());
        self.bytes(&[0xff, 0x15, 2, 0, 0, 0, 0xeb, 8]);
        self.bytes(&(trampoline as *const () as u64).to_le_bytes());
    }

    /// The instructions that are replaced, which were at `from`.
    fn copy(&mut self, hook: &Hook, from: u64) -> bool {
        let moved = self.at.wrapping_sub(from);
        let start = self.at;
        self.bytes(hook.copied);
        hook.fields.iter().all(|&field| {
            // SAFETY: the table's reader has seen that the field is within the copied bytes, which were written there just now.
            unsafe {
                let field = (start + field) as *mut i32;
                let old = i64::from(field.read_unaligned());
                match i32::try_from(old.wrapping_sub(moved as i64)) {
                    Ok(new) => {
                        field.write_unaligned(new);
                        true
                    }
                    Err(_) => false,
                }
            }
        })
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the mapping has room for all pieces (`put_in_place`), and can be written until the last is done.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at as *mut u8, bytes.len()) };
        self.at += bytes.len() as u64;
    }
}
