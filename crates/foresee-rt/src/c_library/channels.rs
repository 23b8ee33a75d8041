//! What threads hand over through the kernel: pipes, sockets, event counters, epoll, files.
//!
//! Memory does not show it, so it is recorded as edges (`recorder::edges`): whoever writes to a descriptor, or closes it,
//! releases before the call; whoever reads from it acquires after a call that succeeded. The edges of a descriptor are those of
//! its *channel*, so that both ends of a pipe meet:
//!
//! | descriptor | channel |
//! |---|---|
//! | pipe, FIFO, file, terminal | the file: device and inode |
//! | `socketpair`, `eventfd`, `epoll` | its own, from the call that made it |
//! | other sockets | one for all: which two are connected is the kernel's business |
//! | `signalfd` | that of all signals |
//! | other kinds without a file | one for all |
//!
//! Other names of a descriptor (`dup`, `fcntl`) have its channel; one that was sent through a socket has that of its kind.
//! That gives edges which are not there (a reader need not have read what the writer wrote). They hide races, they never invent
//! one. A descriptor's channel is asked for once (`fstat`) and kept until the descriptor is closed, or its number is
//! given out again: then a read or a write costs one record more.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use libc::c_int;

use crate::real_functions::{Real, call_real};
use crate::recorder::edges::release_edge;
use crate::recorder::status;

/// The channel of each descriptor; 0: not known yet.
static CHANNELS: [AtomicU64; 1 << 14] = [const { AtomicU64::new(0) }; 1 << 14];

/// Channels are objects of the space for what synchronises, where no program has memory.
const OF_FILES: u64 = 1 << 50;
const OF_THEIR_OWN: u64 = 1 << 51;
pub(crate) const OF_SOCKETS: u64 = 1 << 52;
const OF_THE_REST: u64 = 1 << 53;
pub(crate) const OF_SIGNALS: u64 = 1 << 54;
pub(crate) const OF_TIMERS: u64 = 1 << 54 | 8;
const OF_IPC: u64 = 1 << 55;

/// Of a set of semaphores or a queue of messages of System V, by its id; they have their ids from the same numbers.
pub(crate) fn of_ipc(id: c_int) -> u64 {
    OF_IPC | u64::from(id as u32) << 3
}

/// A channel that nobody has yet.
pub(crate) fn new_channel() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    OF_THEIR_OWN | NEXT.fetch_add(8, Relaxed)
}

pub(crate) fn set_channel(fd: c_int, channel: u64) {
    if let Some(slot) = usize::try_from(fd).ok().and_then(|fd| CHANNELS.get(fd)) {
        slot.store(channel, SeqCst);
    }
}

/// The channel of a descriptor, if events are recorded and it is open.
pub(crate) fn channel(fd: c_int) -> Option<u64> {
    if !status::recording() || fd < 0 {
        return None;
    }
    let slot = CHANNELS.get(fd as usize);
    match slot.map_or(0, |slot| slot.load(SeqCst)) {
        0 => {
            let channel = identify(fd)?;
            set_channel(fd, channel);
            Some(channel)
        }
        known => Some(known),
    }
}

/// Called directly: the function that programs call records what they access.
pub(crate) static FSTAT: Real = Real::new(c"fstat");

fn identify(fd: c_int) -> Option<u64> {
    // SAFETY: `stat` is a C structure of numbers, for which zeroes are valid, and which `fstat` fills. `errno` is this thread's own;
    // it is put back, as it belongs to the program.
    unsafe {
        let errno = *libc::__errno_location();
        let mut stat: libc::stat = std::mem::zeroed();
        let failed = call_real!(FSTAT, (c_int, *mut libc::stat) -> c_int, fd, &mut stat) != 0;
        *libc::__errno_location() = errno;
        match stat.st_mode & libc::S_IFMT {
            _ if failed => None,
            libc::S_IFSOCK => Some(OF_SOCKETS),
            0 => Some(OF_THE_REST),
            _ => {
                let mixed = (stat.st_dev ^ stat.st_ino.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                Some(OF_FILES | mixed >> 24 << 3)
            }
        }
    }
}

/// Closes, as far as this module is concerned, all known descriptors from `first` to `last`.
pub(crate) fn closes_all(first: u32, last: u32, pc: u64) {
    let known = CHANNELS.iter().enumerate().skip(first as usize).take_while(|(fd, _)| *fd <= last as usize);
    for (fd, _) in known.filter(|(_, slot)| slot.load(SeqCst) != 0) {
        closes(fd as c_int, pc);
    }
}

/// Whoever reads from the descriptor may learn what was done so far.
pub(crate) fn gives(fd: c_int, pc: u64) {
    if let Some(channel) = channel(fd) {
        release_edge(channel, pc);
    }
}

/// A descriptor is about to be closed, which its reader may notice. Its number may be given out again right after.
pub(crate) fn closes(fd: c_int, pc: u64) {
    gives(fd, pc);
    set_channel(fd, 0);
}
