//! Streams of the C library (`FILE`): whoever uses one has its lock, and may give and take through its descriptor.
//!
//! **The lock.** POSIX has every function take the stream's lock, as `flockfile` does, unless it ends in `_unlocked`. What threads do
//! around their uses of one stream is therefore ordered, like around sections of a mutex, and is recorded as such sections: happens-before
//! has them in the order in which they were, and a prediction may have them in another. So the lock is taken here first, recorded, and taken
//! again by the real function; a thread may have it more than once. Whoever uses a stream before there is a second thread is before all
//! that other threads do: that is not recorded, as programs read whole files byte by byte then.
//!
//! **The state.** What a stream is in (its position, whether it is at its end) is no memory of the program, and what comes out of
//! it depends on what others did to it. A use that depends on it is recorded as unseen: its section keeps its place.
//!
//! **The descriptor.** A use that may write gives to the descriptor's channel before, one that may read takes from it after
//! (`channels`). What is only put into the buffer is given already then, as nobody knows when the C library writes it; a use that
//! writes the buffer of others (`fflush`) gives once more. So the uses that give to one descriptor keep their order. The
//! standard streams that the program got when it started are for the world outside: nobody in the program reads what is written there, and
//! what all threads print would order them all in every prediction. What the C library writes when the program ends is not given again.

use foresee_format::{EXCLUSIVE, Unseen};
use libc::{FILE, c_int, c_void};

use super::channels;
use super::room::{Giver, makes_room};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::{changed, unseen};
use crate::recorder::locks::{released, requested, tried};
use crate::recorder::thread::are_many;
use crate::recorder::{seen_values, status};

unsafe extern "C" {
    static stdin: *mut FILE;
    static stdout: *mut FILE;
    static stderr: *mut FILE;
    /// How many bytes are in a stream's buffer that are not written yet.
    fn __fpending(stream: *mut FILE) -> usize;
}

/// The program's standard streams, as they are now: a program may replace them.
pub(crate) fn standard_input() -> *mut FILE {
    // SAFETY: a variable of the C library, which it sets before any code of the program runs.
    unsafe { stdin }
}

pub(crate) fn standard_output() -> *mut FILE {
    // SAFETY: as above.
    unsafe { stdout }
}

pub(crate) fn standard_error() -> *mut FILE {
    // SAFETY: as above.
    unsafe { stderr }
}

static FLOCKFILE: Real = Real::new(c"flockfile");
static FUNLOCKFILE: Real = Real::new(c"funlockfile");

/// A stream's lock, which the thread may hold more than once. Code that compilers inline (`putc_unlocked`) accesses the stream
/// under it.
extern "C-unwind" fn lock(stream: *mut c_void, pc: u64) {
    requested(stream, EXCLUSIVE, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(FLOCKFILE, (*mut c_void) -> (), stream) };
    tried(0, stream, EXCLUSIVE, pc);
}

extern "C-unwind" fn try_lock(stream: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"ftrylockfile");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut c_void) -> c_int, stream) };
    tried(if result == 0 { 0 } else { libc::EBUSY }, stream, EXCLUSIVE, pc);
    result
}

extern "C-unwind" fn unlock(stream: *mut c_void, pc: u64) {
    released(stream, EXCLUSIVE, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(FUNLOCKFILE, (*mut c_void) -> (), stream) }
}

/// Whether a use may write to the descriptor.
#[derive(Clone, Copy)]
enum Gives {
    Always,
    /// If there is something in the buffer.
    IfPending,
    Never,
}

/// How a function of the C library uses a stream.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    stream: *mut FILE,
    locks: bool,
    gives: Gives,
    /// It may read from the descriptor.
    takes: bool,
    /// What it does depends on the stream's state.
    depends: bool,
}

/// Puts something into the stream.
pub(crate) fn writing(stream: *mut FILE) -> Use {
    Use { stream, locks: true, gives: Gives::Always, takes: false, depends: false }
}

/// Writes what is in the stream's buffer.
pub(crate) fn flushing(stream: *mut FILE) -> Use {
    Use { gives: Gives::IfPending, ..writing(stream) }
}

/// Gets something out of the stream.
pub(crate) fn reading(stream: *mut FILE) -> Use {
    Use { stream, locks: true, gives: Gives::Never, takes: true, depends: true }
}

/// Asks for the stream's position or changes it, for which its buffer may be written.
pub(crate) fn positioning(stream: *mut FILE) -> Use {
    Use { gives: Gives::IfPending, ..reading(stream) }
}

/// Asks for the stream's state, or changes it.
pub(crate) fn asking(stream: *mut FILE) -> Use {
    Use { takes: false, ..reading(stream) }
}

impl Use {
    /// The same by a function that leaves it to the program to take the lock.
    pub(crate) fn unlocked(self) -> Use {
        Use { locks: false, ..self }
    }

    /// The same by a function that reads or writes memory of the program in a way that is not known here.
    pub(crate) fn unseen(self) -> Use {
        Use { depends: true, ..self }
    }

    /// The stream is used from now on until the guard is dropped: also by the end of a thread that is cancelled in between, as the lock
    /// has to be given back.
    pub(crate) fn begin(self, pc: u64) -> Option<InUse> {
        if !status::recording() || self.stream.is_null() {
            return None;
        }
        if !are_many() {
            return seen_values::are_recorded().then_some(InUse { stream: self.stream, order: None, pc });
        }
        if self.locks {
            lock(self.stream.cast(), pc);
        }
        let fd = descriptor(self.stream);
        let gives = match self.gives {
            Gives::Always => true,
            // SAFETY: an open stream, whose lock this thread has, if its program wants that.
            Gives::IfPending => unsafe { __fpending(self.stream) > 0 },
            Gives::Never => false,
        };
        let gives = gives && channels::gives_by_stream(fd, pc);
        // Before the use: during it, the descriptor may be closed and its number be another's.
        let channel = channels::channel(fd);
        let giver = channel.filter(|_| gives).and_then(|channel| Giver::of(fd, channel));
        let taken = channel.filter(|_| self.takes);
        if let Some(channel) = taken {
            makes_room(channel, pc);
        }
        let order = Order { locked: self.locks, depends: self.depends, fd, channel: taken, giver };
        Some(InUse { stream: self.stream, order: Some(order), pc })
    }
}

/// A stream is being used.
pub(crate) struct InUse {
    stream: *mut FILE,
    /// How the use orders threads, if there are others.
    order: Option<Order>,
    pc: u64,
}

struct Order {
    locked: bool,
    depends: bool,
    fd: c_int,
    /// What it takes from.
    channel: Option<u64>,
    giver: Option<Giver>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let &mut InUse { stream, ref mut order, pc } = self;
        changes(stream, pc);
        let Some(Order { locked, depends, fd, channel, giver }) = order.take() else { return };
        if let Some(giver) = giver {
            giver.gave(1, pc);
        }
        if let Some(channel) = channel {
            channels::takes(fd, channel, pc);
        }
        if depends {
            unseen(Unseen::StreamState, pc);
        }
        if locked {
            unlock(stream.cast(), pc);
        }
    }
}

/// The beginning of the C library's streams, which code that is inlined into programs uses.
#[repr(C)]
struct Layout {
    flags: c_int,
    read: [u64; 3],
    write: [u64; 3],
    buffer: [u64; 2],
}

/// How long the whole is.
const STREAM_SIZE: u64 = 216;

/// The stream and its buffer have changed, unseen. Programs read them by code that is inlined (`getc_unlocked`).
fn changes(stream: *mut FILE, pc: u64) {
    if seen_values::are_recorded() {
        // SAFETY: the program passes an open stream, which it has for itself.
        let [from, to] = unsafe { (*stream.cast::<Layout>()).buffer };
        changed(stream as u64, STREAM_SIZE, pc);
        changed(from, to.saturating_sub(from), pc);
    }
}

/// The stream's descriptor; -1 if it has none.
pub(crate) fn descriptor(stream: *mut FILE) -> c_int {
    // SAFETY: the program passes an open stream. `errno` is this thread's own; it is put back, as it belongs to the program.
    unsafe {
        let errno = *libc::__errno_location();
        let fd = libc::fileno(stream);
        *libc::__errno_location() = errno;
        fd
    }
}

weak_entries! {
    "flockfile" => lock, "rsi";
    "ftrylockfile" => try_lock, "rsi";
    "funlockfile" => unlock, "rsi";
}
