//! `std::string`: what headers leave to the library in optimised programs.
//!
//! A text is a pointer, a length, and 16 bytes for a short text or the room of a long one. Before a call, what the function will copy is
//! read; after it, what was changed is written: all, if the text has moved, and else from the first byte on that the function changes.
//! So nothing is recorded that the function does not touch, and other threads may use other parts of a text.

use libc::{c_char, c_int, size_t};

use super::accesses::{Caller, LIBRARY};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};

/// The layout of a text.
#[repr(C)]
struct Text {
    bytes: *mut c_char,
    len: size_t,
    short_or_room: [u8; 16],
}

/// Where a text is, how long it is, and how long it can become without moving.
#[derive(Clone, Copy)]
struct State {
    bytes: *mut c_char,
    len: size_t,
    room: size_t,
}

impl Text {
    /// The room of a short text, without the zero byte at its end.
    const SHORT: size_t = 15;

    /// The state, whose reading is recorded.
    ///
    /// # Safety
    /// There is a text.
    unsafe fn state(text: *const Text, caller: Caller) -> State {
        // SAFETY: by the caller; the room of a long text is where a short one would be.
        unsafe {
            let State { bytes, len, .. } = State { bytes: (*text).bytes, len: (*text).len, room: 0 };
            let inside = &raw const (*text).short_or_room;
            caller.reads(text as u64, 2 * size_of::<size_t>());
            if std::ptr::addr_eq(bytes, inside) {
                return State { bytes, len, room: Text::SHORT };
            }
            State { bytes, len, room: caller.read(inside.cast()) }
        }
    }
}

impl State {
    /// Records that the bytes of this range are read, as far as there are any.
    fn reads(self, from: size_t, to: size_t, caller: Caller) {
        let to = to.min(self.len);
        caller.reads(self.bytes.wrapping_add(from) as u64, to.saturating_sub(from));
    }
}

/// Calls a function that changes a text from this byte on, to a length that is given, for a text of the length it has.
///
/// # Safety
/// There is a text, also after the change.
unsafe fn changing<R>(
    text: *mut Text,
    from: impl FnOnce(size_t) -> size_t,
    len: impl FnOnce(size_t) -> size_t,
    caller: Caller,
    change: impl FnOnce() -> R,
) -> R {
    // SAFETY: by the caller.
    unsafe {
        let before = Text::state(text, caller);
        let from = from(before.len);
        before.reads(if len(before.len) > before.room { 0 } else { from }, before.len, caller);
        let result = change();
        let (bytes, len) = ((*text).bytes, (*text).len);
        if bytes == before.bytes {
            caller.writes(&raw const (*text).len as u64, size_of::<size_t>());
            caller.writes(bytes.wrapping_add(from) as u64, (len + 1).saturating_sub(from));
        } else {
            caller.writes(text as u64, 3 * size_of::<size_t>());
            caller.writes(bytes as u64, len + 1);
        }
        result
    }
}

extern "C-unwind" fn append(text: *mut Text, more: *const c_char, len: size_t, pc: u64) -> *mut Text {
    static REAL: Real =
        Real::of_library(c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm", LIBRARY);
    let caller = Caller::at(pc);
    caller.reads(more as u64, len);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        changing(
            text,
            |old| old,
            |old| old + len,
            caller,
            || call_real!(REAL, (*mut Text, *const c_char, size_t) -> *mut Text, text, more, len),
        )
    }
}

extern "C-unwind" fn assign(text: *mut Text, other: *const Text, pc: u64) {
    static REAL: Real =
        Real::of_library(c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_", LIBRARY);
    if std::ptr::eq(text, other) {
        return;
    }
    let caller = Caller::at(pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        let other_state = Text::state(other, caller);
        other_state.reads(0, other_state.len, caller);
        changing(
            text,
            |_| 0,
            |_| other_state.len,
            caller,
            || {
                call_real!(REAL, (*mut Text, *const Text) -> (), text, other);
            },
        );
    }
}

/// Functions of a text and these arguments, after the first one, which says from where on it is changed; the length that it has then; and bytes that are
/// added, of which there are so many.
macro_rules! changers {
    ($($function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty,
        becomes $new:expr, reads $more:expr, $len:expr;)*) => {
        $(extern "C-unwind" fn $function(text: *mut Text, from: size_t, $($arg: $ty,)* pc: u64) -> $result {
            static REAL: Real = Real::of_library($name, LIBRARY);
            let caller = Caller::at(pc);
            let more: *const c_char = $more;
            if !more.is_null() {
                caller.reads(more as u64, $len);
            }
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
            unsafe {
                changing(text, |_| from, $new, caller, || {
                    call_real!(REAL, (*mut Text, size_t $(, $ty)*) -> $result, text, from $(, $arg)*)
                })
            }
        })*
    };
}

changers! {
    replace of c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm" (
        old: size_t, more: *const c_char, len: size_t
    ) -> *mut Text, becomes |before| (before + len).wrapping_sub(old), reads more, len;
    make_room of c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_mutateEmmPKcm" (
        old: size_t, more: *const c_char, len: size_t
    ) -> (), becomes |_| size_t::MAX, reads more, len;
    fill of c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE14_M_replace_auxEmmmc" (
        old: size_t, count: size_t, filler: c_int
    ) -> *mut Text, becomes |before| (before + count).wrapping_sub(old), reads std::ptr::null(), 0;
    remove of c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE8_M_eraseEmm" (
        count: size_t
    ) -> (), becomes |before| before.wrapping_sub(count), reads std::ptr::null(), 0;
}

/// The room for a new text: the number is the caller's, and the memory is nobody's yet.
extern "C-unwind" fn create(text: *mut Text, room: *mut size_t, before: size_t, pc: u64) -> *mut c_char {
    static REAL: Real =
        Real::of_library(c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm", LIBRARY);
    let caller = Caller::at(pc);
    caller.reads(room as u64, size_of::<size_t>());
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let made =
        unsafe { call_real!(REAL, (*mut Text, *mut size_t, size_t) -> *mut c_char, text, room, before) };
    caller.writes(room as u64, size_of::<size_t>());
    made
}

extern "C-unwind" fn reserve(text: *mut Text, room: size_t, pc: u64) {
    static REAL: Real =
        Real::of_library(c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function. If the text stays where it is, nothing
    // of it is changed.
    unsafe {
        let caller = Caller::at(pc);
        let before = Text::state(text, caller);
        before.reads(0, if room > before.room { before.len } else { 0 }, caller);
        call_real!(REAL, (*mut Text, size_t) -> (), text, room);
        if (*text).bytes != before.bytes {
            caller.writes(text as u64, 3 * size_of::<size_t>());
            caller.writes((*text).bytes as u64, before.len + 1);
        }
    }
}

extern "C-unwind" fn compare(text: *const Text, other: *const c_char, pc: u64) -> c_int {
    static REAL: Real =
        Real::of_library(c"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEPKc", LIBRARY);
    let caller = Caller::at(pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        let size = libc::strlen(other) + 1;
        Text::state(text, caller).reads(0, size, caller);
        caller.reads(other as u64, size);
        call_real!(REAL, (*const Text, *const c_char) -> c_int, text, other)
    }
}

extern "C-unwind" fn find(
    text: *const Text,
    wanted: *const c_char,
    from: size_t,
    len: size_t,
    pc: u64,
) -> size_t {
    static REAL: Real =
        Real::of_library(c"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcmm", LIBRARY);
    let caller = Caller::at(pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        let state = Text::state(text, caller);
        caller.reads(wanted as u64, len);
        let found = call_real!(
            REAL,
            (*const Text, *const c_char, size_t, size_t) -> size_t,
            text, wanted, from, len
        );
        state.reads(from, found.saturating_add(len), caller);
        found
    }
}

extern "C-unwind" fn find_byte(text: *const Text, wanted: c_int, from: size_t, pc: u64) -> size_t {
    static REAL: Real =
        Real::of_library(c"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        let caller = Caller::at(pc);
        let state = Text::state(text, caller);
        let found = call_real!(REAL, (*const Text, c_int, size_t) -> size_t, text, wanted, from);
        state.reads(from, found.saturating_add(1), caller);
        found
    }
}

weak_entries! {
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm" => append, "rcx";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_" => assign, "rdx";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm" => replace, "r9";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_mutateEmmPKcm" => make_room, "r9";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE14_M_replace_auxEmmmc" => fill, "r9";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE8_M_eraseEmm" => remove, "rcx";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm" => create, "rcx";
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm" => reserve, "rdx";
    "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEPKc" => compare, "rdx";
    "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcmm" => find, "r8";
    "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm" => find_byte, "rcx";
}
