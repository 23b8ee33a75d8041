//! Functions that move data from one descriptor to another inside of the kernel.
//!
//! They read and write at once: what is given to the first comes out of the second, perhaps before the call returns. So the first
//! is a relay of the second (`channels::relay`).

use libc::{c_int, c_uint, off_t, size_t, ssize_t};

use crate::c_library::channels::{channel, gives, relay, takes};
use crate::c_library::given;
use crate::c_library::room::{Giver, makes_room};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};

/// Moves data by `real` from one descriptor to another. At which places of their files may be said at `places`, and is then updated there.
fn move_data<const N: usize>(
    from: c_int,
    to: c_int,
    places: [*mut off_t; N],
    pc: u64,
    real: impl FnOnce() -> ssize_t,
) -> ssize_t {
    places.into_iter().for_each(|at| given::reads(at, pc));
    let source = channel(from);
    if let (Some(source), Some(target)) = (source, channel(to)) {
        relay(source, target, pc);
    }
    gives(to, pc);
    if let Some(source) = source {
        makes_room(source, pc);
    }
    let giver = channel(to).and_then(|target| Giver::of(to, target));
    let moved = real();
    if moved > 0 {
        places.into_iter().for_each(|at| given::writes(at, pc));
    }
    if let Some(giver) = giver
        && moved > 0
    {
        giver.gave(moved as u64, pc);
    }
    if let Some(source) = source
        && moved >= 0
    {
        takes(from, source, pc);
    }
    moved
}

extern "C-unwind" fn splice_data(
    from: c_int,
    from_at: *mut off_t,
    to: c_int,
    to_at: *mut off_t,
    len: size_t,
    flags: c_uint,
    pc: u64,
) -> ssize_t {
    static REAL: Real = Real::new(c"splice");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    move_data(from, to, [from_at, to_at], pc, || unsafe {
        call_real!(
            REAL,
            (c_int, *mut off_t, c_int, *mut off_t, size_t, c_uint) -> ssize_t,
            from, from_at, to, to_at, len, flags
        )
    })
}

extern "C-unwind" fn copy_range(
    from: c_int,
    from_at: *mut off_t,
    to: c_int,
    to_at: *mut off_t,
    len: size_t,
    flags: c_uint,
    pc: u64,
) -> ssize_t {
    static REAL: Real = Real::new(c"copy_file_range");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    move_data(from, to, [from_at, to_at], pc, || unsafe {
        call_real!(
            REAL,
            (c_int, *mut off_t, c_int, *mut off_t, size_t, c_uint) -> ssize_t,
            from, from_at, to, to_at, len, flags
        )
    })
}

extern "C-unwind" fn duplicate_data(from: c_int, to: c_int, len: size_t, flags: c_uint, pc: u64) -> ssize_t {
    static REAL: Real = Real::new(c"tee");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    move_data(from, to, [], pc, || unsafe {
        call_real!(REAL, (c_int, c_int, size_t, c_uint) -> ssize_t, from, to, len, flags)
    })
}

extern "C-unwind" fn send_file(to: c_int, from: c_int, at: *mut off_t, len: size_t, pc: u64) -> ssize_t {
    static REAL: Real = Real::new(c"sendfile");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    move_data(from, to, [at], pc, || unsafe {
        call_real!(REAL, (c_int, c_int, *mut off_t, size_t) -> ssize_t, to, from, at, len)
    })
}

// A program may have functions of its own by these names.
weak_entries_of_six! {
    "splice" => splice_data;
    "copy_file_range" => copy_range;
}

weak_entries! {
    "tee" => duplicate_data, "r8";
    "sendfile" => send_file, "r8";
    "sendfile64" => send_file, "r8";
}
