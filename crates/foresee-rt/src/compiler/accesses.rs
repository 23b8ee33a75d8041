//! The ThreadSanitizer ABI, except for atomics: accesses, and functions that are entered and left.
//!
//! Each access first tries the fast path (`access_at_once`), whose code is inlined here and needs no stack, then longer ones (`further_access_at_once`, `known_access_at_once`) in
//! functions of their own; if that is not possible either it takes the long way, which may be slow.

use foresee_format::Tag;

use crate::entry_points::{access_entries, entries, entries_if_recording};
use crate::recorder::accesses::{maybe_watched, read_range, write_range};
use crate::recorder::thread::{
    AccessKind, access_at_once, accessing, alike_access_at_once, calling, entered_at_once, exited_at_once,
    further_access_at_once, known_access_at_once, seen_at_once,
};
use crate::recorder::{code_filter, seen_values, watched};

/// A read that is recorded just as it comes.
extern "C-unwind" fn alike_read<const SIZE: u8>(addr: u64, pc: u64) {
    if !alike_access_at_once(AccessKind::Read, addr, SIZE, pc) {
        further_read::<SIZE>(addr, pc);
    }
}

pub(super) extern "C-unwind" fn read<const SIZE: u8>(addr: u64, pc: u64) {
    if !access_at_once(AccessKind::Read, addr, SIZE, pc) {
        further_read::<SIZE>(addr, pc);
    }
}

#[inline(never)]
extern "C-unwind" fn further_read<const SIZE: u8>(addr: u64, pc: u64) {
    if !further_access_at_once(AccessKind::Read, addr, SIZE, pc) {
        special_read::<SIZE>(addr, pc);
    }
}

/// A read that may be one with what it sees, which has its own fast path: also without a stack.
#[inline(never)]
extern "C-unwind" fn special_read<const SIZE: u8>(addr: u64, pc: u64) {
    if known_access_at_once(AccessKind::Read, addr, SIZE, pc) {
        return;
    }
    if seen_values::are_recorded() {
        seen_values::touch(addr, SIZE);
        if seen_at_once::<SIZE>(addr, pc) {
            return;
        }
    }
    any_read::<SIZE>(addr, pc);
}

/// A write that is recorded just as it comes.
extern "C-unwind" fn alike_write<const SIZE: u8>(addr: u64, pc: u64) {
    if !alike_access_at_once(AccessKind::Write, addr, SIZE, pc) {
        further_write::<SIZE>(addr, pc);
    }
}

pub(super) extern "C-unwind" fn write<const SIZE: u8>(addr: u64, pc: u64) {
    if !access_at_once(AccessKind::Write, addr, SIZE, pc) {
        further_write::<SIZE>(addr, pc);
    }
}

#[inline(never)]
extern "C-unwind" fn further_write<const SIZE: u8>(addr: u64, pc: u64) {
    if !further_access_at_once(AccessKind::Write, addr, SIZE, pc) {
        special_write::<SIZE>(addr, pc);
    }
}

#[inline(never)]
extern "C-unwind" fn special_write<const SIZE: u8>(addr: u64, pc: u64) {
    if !known_access_at_once(AccessKind::Write, addr, SIZE, pc) {
        any_write::<SIZE>(addr, pc);
    }
}

#[inline(never)]
extern "C-unwind" fn any_read<const SIZE: u8>(addr: u64, pc: u64) {
    if SIZE <= 8 && watched::may_be(addr) {
        return maybe_watched(Tag::Read, Tag::ReadValue, addr, SIZE, pc);
    }
    if code_filter::leaves_out(pc) {
        return;
    }
    accessing(|local| local.read(addr, SIZE, pc));
}

#[inline(never)]
extern "C-unwind" fn any_write<const SIZE: u8>(addr: u64, pc: u64) {
    if SIZE <= 8 && watched::may_be(addr) {
        return maybe_watched(Tag::Write, Tag::WriteValue, addr, SIZE, pc);
    }
    if code_filter::leaves_out(pc) {
        return;
    }
    accessing(|local| local.access(AccessKind::Write, addr, SIZE, pc));
}

extern "C-unwind" fn read_write<const SIZE: u8>(addr: u64, pc: u64) {
    if SIZE <= 8 && watched::may_be(addr) {
        // The second access settles the first, which so has the value before the write.
        read::<SIZE>(addr, pc);
        return write::<SIZE>(addr, pc);
    }
    if code_filter::leaves_out(pc) {
        return;
    }
    if seen_values::are_recorded() {
        seen_values::touch(addr, SIZE);
    }
    accessing(|local| {
        local.read(addr, SIZE, pc);
        local.access(AccessKind::Write, addr, SIZE, pc);
    });
}

/// A virtual destructor sets the pointer to the table it already has: no write that anyone could see.
extern "C-unwind" fn vptr_update(at: *const u64, table: u64, pc: u64) {
    // SAFETY: the program is about to write to this pointer of an object that it is constructing or destroying, so it is mapped and
    // aligned. Another thread may write it at the same time in a racy program: hence a volatile load.
    if unsafe { at.read_volatile() } != table {
        write::<8>(at as u64, pc);
    }
}

extern "C-unwind" fn enter(call: u64, callee: u64) {
    if !entered_at_once(call, callee) {
        any_enter(call, callee);
    }
}

extern "C-unwind" fn exit(_pc: u64) {
    if !exited_at_once() {
        any_exit();
    }
}

#[inline(never)]
extern "C-unwind" fn any_enter(call: u64, callee: u64) {
    calling(|local| local.entered(call, callee));
}

#[inline(never)]
extern "C-unwind" fn any_exit() {
    calling(|local| local.exited());
}

entries_if_recording! {
    __tsan_func_entry => enter, "rsi";
    __tsan_func_exit => exit, "rdi";
    __tsan_vptr_update => vptr_update, "rdx";
    __tsan_vptr_read => read::<8>, "rsi";
    __tsan_read_range => read_range, "rdx";
    __tsan_write_range => write_range, "rdx";
}

macro_rules! accesses {
    ($($alike:path, $function:path: $($name:ident)*;)*) => {
        $(access_entries! { $($name => $alike, $function;)* })*
    };
}

accesses! {
    alike_read::<1>, read::<1>: __tsan_read1 __tsan_volatile_read1;
    alike_read::<2>, read::<2>: __tsan_read2 __tsan_volatile_read2 __tsan_unaligned_read2 __tsan_unaligned_volatile_read2;
    alike_read::<4>, read::<4>: __tsan_read4 __tsan_volatile_read4 __tsan_unaligned_read4 __tsan_unaligned_volatile_read4;
    alike_read::<8>, read::<8>: __tsan_read8 __tsan_volatile_read8 __tsan_unaligned_read8 __tsan_unaligned_volatile_read8;
    alike_read::<16>, read::<16>: __tsan_read16 __tsan_volatile_read16 __tsan_unaligned_read16 __tsan_unaligned_volatile_read16;
    alike_write::<1>, write::<1>: __tsan_write1 __tsan_volatile_write1;
    alike_write::<2>, write::<2>: __tsan_write2 __tsan_volatile_write2 __tsan_unaligned_write2 __tsan_unaligned_volatile_write2;
    alike_write::<4>, write::<4>: __tsan_write4 __tsan_volatile_write4 __tsan_unaligned_write4 __tsan_unaligned_volatile_write4;
    alike_write::<8>, write::<8>: __tsan_write8 __tsan_volatile_write8 __tsan_unaligned_write8 __tsan_unaligned_volatile_write8;
    alike_write::<16>, write::<16>: __tsan_write16 __tsan_volatile_write16 __tsan_unaligned_write16 __tsan_unaligned_volatile_write16;
}

entries_if_recording! {
    __tsan_read_write1 => read_write::<1>, "rsi";
    __tsan_read_write2 => read_write::<2>, "rsi";
    __tsan_unaligned_read_write2 => read_write::<2>, "rsi";
    __tsan_read_write4 => read_write::<4>, "rsi";
    __tsan_unaligned_read_write4 => read_write::<4>, "rsi";
    __tsan_read_write8 => read_write::<8>, "rsi";
    __tsan_unaligned_read_write8 => read_write::<8>, "rsi";
    __tsan_read_write16 => read_write::<16>, "rsi";
    __tsan_unaligned_read_write16 => read_write::<16>, "rsi";
}

/// Entry points to which the compiler passes the program counter itself.
macro_rules! accesses_with_pc {
    ($($function:path: $($name:ident)*;)*) => {
        $($(
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name(addr: u64, pc: u64) {
                $function(addr, pc);
            }
        )*)*
    };
}

accesses_with_pc! {
    read::<1>: __tsan_read1_pc;
    read::<2>: __tsan_read2_pc __tsan_unaligned_read2_pc;
    read::<4>: __tsan_read4_pc __tsan_unaligned_read4_pc;
    read::<8>: __tsan_read8_pc __tsan_unaligned_read8_pc;
    read::<16>: __tsan_read16_pc __tsan_unaligned_read16_pc;
    write::<1>: __tsan_write1_pc;
    write::<2>: __tsan_write2_pc __tsan_unaligned_write2_pc;
    write::<4>: __tsan_write4_pc __tsan_unaligned_write4_pc;
    write::<8>: __tsan_write8_pc __tsan_unaligned_write8_pc;
    write::<16>: __tsan_write16_pc __tsan_unaligned_write16_pc;
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_read_range_pc(addr: u64, size: u64, pc: u64) {
    read_range(addr, size, pc);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_write_range_pc(addr: u64, size: u64, pc: u64) {
    write_range(addr, size, pc);
}

/// Accesses by any address, which programs ask for by these names.
macro_rules! unaligned_accesses {
    ($($ty:ty, $size:literal: $load:ident $load_name:ident, $store:ident $store_name:ident;)*) => {
        $(
            extern "C" fn $load(at: *const $ty, pc: u64) -> $ty {
                read::<$size>(at as u64, pc);
                // SAFETY: the program asks for the value at this address.
                unsafe { at.read_unaligned() }
            }

            extern "C" fn $store(at: *mut $ty, value: $ty, pc: u64) {
                write::<$size>(at as u64, pc);
                // SAFETY: the program asks to write to this address.
                unsafe { at.write_unaligned(value) };
            }

            entries! {
                $load_name => $load, "rsi";
                $store_name => $store, "rdx";
            }
        )*
    };
}

unaligned_accesses! {
    u16, 2: load_2 __sanitizer_unaligned_load16, store_2 __sanitizer_unaligned_store16;
    u32, 4: load_4 __sanitizer_unaligned_load32, store_4 __sanitizer_unaligned_store32;
    u64, 8: load_8 __sanitizer_unaligned_load64, store_8 __sanitizer_unaligned_store64;
}
