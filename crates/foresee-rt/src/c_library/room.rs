//! The room that channels have: whoever gives to a full one waits until somebody has taken from it.
//!
//! So whoever takes releases the channel's *room* before the call, and whoever had to wait acquires it after. But a giver that finds room may need
//! what was taken before it came, too: others may have filled the channel, and others emptied it. Which takings a giver needs
//! follows from how much the channel holds, which only the kernel knows (some writes share a page of a pipe, others do not). So a giver is taken
//! to need all of them once more went through the channel than the smallest one holds, and none before: then nobody can have waited.
//! That much gives edges which are not there. They hide races, they never invent one.
//!
//! A counter (`eventfd`) is full by values, not by their number: one that is given a large value is taken to be full from then on.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libc::{c_int, c_void};

use super::channels::{OF_SOCKETS, can_be_full, channel, give_to, is_counter, of_ipc, place_of};
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::acquire_edge;
use crate::recorder::thread::are_many;

/// In the object of the room that a channel has.
const OF_ROOM: u64 = 1 << 57;

/// What the smallest channel holds (the buffer of a socket can be made as small as that), and how much of it a message takes at
/// least: some sockets and queues hold ten messages.
const SMALLEST: u64 = 2304;
const LEAST_OF_A_MESSAGE: u64 = SMALLEST / 10;
/// So many events of a counter are one event each.
const FEW_EVENTS: u64 = 1 << 32;

/// How much was given so far to channels, by their hash.
static GIVEN: [AtomicU64; 1 << 10] = [const { AtomicU64::new(0) }; 1 << 10];

/// All sockets are one channel, but each has room of its own.
fn given(fd: c_int, channel: u64) -> &'static AtomicU64 {
    let which = if channel == OF_SOCKETS { channel | fd as u64 } else { channel };
    place_of(which, &GIVEN)
}

/// What stands for the room of a channel.
pub(super) fn room_of(channel: u64) -> u64 {
    channel | OF_ROOM
}

/// The thread is about to take from a channel, which makes room there.
pub(super) fn makes_room(channel: u64, pc: u64) {
    if can_be_full(channel) && are_many() {
        give_to(room_of(channel), pc);
    }
}

/// A thread that is about to give to a channel.
pub(super) struct Giver {
    fd: c_int,
    channel: u64,
    waits: bool,
}

impl Giver {
    /// None if the descriptor always has room.
    pub(super) fn of(fd: c_int, channel: u64) -> Option<Giver> {
        can_be_full(channel).then(|| Giver { fd, channel, waits: are_many() && is_full(fd) })
    }

    /// It has given so much; if that is not known (0), it may have filled the channel.
    pub(super) fn gave(self, size: u64, pc: u64) {
        let size = match size {
            _ if is_counter(self.channel) => 0,
            0 => SMALLEST,
            _ => size.max(LEAST_OF_A_MESSAGE),
        };
        let needs_others = self.waits || has_been_given_much(given(self.fd, self.channel), size);
        if needs_others && are_many() {
            acquire_edge(room_of(self.channel), pc);
        }
    }
}

/// Adds to what was given, which stays where it is once it is much.
fn has_been_given_much(given: &AtomicU64, size: u64) -> bool {
    given.load(Relaxed) > SMALLEST || given.fetch_add(size, Relaxed) + size > SMALLEST
}

/// If the descriptor is a counter, it is about to be given this value.
pub(super) fn counts_up(fd: c_int, value: u64) {
    if value >= FEW_EVENTS
        && let Some(channel) = channel(fd).filter(|&channel| is_counter(channel))
    {
        given(fd, channel).store(SMALLEST + 1, Relaxed);
    }
}

/// The same by a write of bytes.
pub(super) fn counts_up_by(fd: c_int, from: *const c_void, size: usize) {
    if size == size_of::<u64>() && !from.is_null() {
        // SAFETY: the program passes so many bytes to a function that reads them.
        counts_up(fd, unsafe { from.cast::<u64>().read_unaligned() });
    }
}

/// Whether there is no room for more.
fn is_full(fd: c_int) -> bool {
    static POLL: Real = Real::new(c"poll");
    let mut asked = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: asks about one descriptor, and does not wait.
    unsafe { call_real!(POLL, (*mut libc::pollfd, libc::nfds_t, c_int) -> c_int, &mut asked, 1, 0) == 0 }
}

/// The thread has been told that there is room: somebody may have made it.
pub(super) fn learns_of_room(fd: c_int, pc: u64) {
    if let Some(channel) = channel(fd) {
        acquire_edge(room_of(channel), pc);
    }
}

/// What stands for the room of a queue of System V.
pub(super) fn room_of_ipc(id: c_int) -> u64 {
    room_of(of_ipc(id))
}
