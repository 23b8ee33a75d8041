//! What threads hand over through the kernel: pipes, sockets, event counters, epoll, files.
//!
//! Memory does not show it, so it is recorded as edges (`recorder::edges`): whoever writes to a descriptor, or closes it,
//! releases before the call; whoever reads from it acquires after a call that succeeded. The edges of a descriptor are those of
//! its *channel*, so that both ends of a pipe meet:
//!
//! | descriptor | channel |
//! |---|---|
//! | pipe, FIFO, file | the file: device and inode |
//! | terminal | one for all: a terminal has two ends, which are two files |
//! | `socketpair`, `eventfd`, `epoll` | its own, from the call that made it |
//! | other sockets | one for all: which two are connected is the kernel's business |
//! | `signalfd` | that of all signals |
//! | other kinds without a file | one for all |
//!
//! What is given to a channel may come out of another: of an epoll that watches the descriptor, or of the descriptor that a
//! thread splices to. Such channels are *relays*: whoever gives to the first gives to the second, too (`relay`). And what is given
//! to another process may come out of anything that processes share: once the process has children, descriptors that existed
//! before are one channel more, together with all sockets and the end of a child (`OF_PROCESSES`).
//!
//! Other names of a descriptor (`dup`, `fcntl`) have its channel; one that was sent through a socket has that of its kind.
//! That gives edges which are not there (a reader need not have read what the writer wrote). They hide races, they never invent
//! one. A descriptor's channel is asked for once (`fstat`) and kept until the descriptor is closed, or its number is
//! given out again: then a read or a write costs one record more.
//!
//! A file may be mapped as well. Whoever maps it learns what was given to it; and what is written to it from then on changes memory
//! at no address that the call names, so it is recorded as unseen.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::Unseen;
use libc::{c_int, c_void};

use super::descriptor_lives;
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::unseen;
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::status;

/// The channel of each descriptor; 0: not known yet.
static CHANNELS: [AtomicU64; 1 << 14] = [const { AtomicU64::new(0) }; 1 << 14];

/// Channels are objects of the space for what synchronises, where no program has memory.
const OF_FILES: u64 = 1 << 50;
/// In the channel of a file: one on a disk, where others do not notice that it is closed.
const ON_DISK: u64 = 1 << 49;
const OF_THEIR_OWN: u64 = 1 << 51;
/// In the channel of an `eventfd`.
const OF_A_COUNTER: u64 = 1 << 48;
pub(crate) const OF_SOCKETS: u64 = 1 << 52;
const OF_THE_REST: u64 = 1 << 53;
const OF_TERMINALS: u64 = 1 << 53 | 8;
/// Whoever opens a FIFO waits for its other end to be opened.
pub(crate) const OF_OPENED_FIFOS: u64 = 1 << 53 | 16;
pub(crate) const OF_SIGNALS: u64 = 1 << 54;
pub(crate) const OF_TIMERS: u64 = 1 << 54 | 8;
pub(crate) const OF_PROCESSES: u64 = 1 << 54 | 16;
pub(crate) const OF_FILE_CHANGES: u64 = 1 << 54 | 24;
pub(crate) const OF_AIO: u64 = 1 << 54 | 40;
/// Where relays meet that share a place in the table.
const OF_RELAYS: u64 = 1 << 54 | 32;
const OF_IPC: u64 = 1 << 55;
pub(crate) const OF_NAMES: u64 = 1 << 56;

/// How often this process has made another one.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// The number of forks before each descriptor was made, as far as its making was seen.
static MADE_AFTER: [AtomicU32; 1 << 14] = [const { AtomicU32::new(0) }; 1 << 14];

/// Which of the first descriptors are no more what they were when the program started, by bits.
static REPLACED: AtomicU32 = AtomicU32::new(0);
/// So many descriptors every program has: the standard streams.
const STANDARD: c_int = 3;

/// Which channel gets what is given to a channel, by the hash of the latter; 0: none.
static RELAYS: [AtomicU64; 1 << 10] = [const { AtomicU64::new(0) }; 1 << 10];
/// Whether a place in the table stands for several relays.
static RELAYS_MEET: AtomicBool = AtomicBool::new(false);
/// A longer chain of relays is not followed; nor is one that ends in itself.
const LONGEST_CHAIN: usize = 4;
/// Whether anybody asked to be notified of changes of files.
static FILES_ARE_WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether anybody asked for a signal when something happens to a descriptor.
static SIGNALS_ARE_ASKED_FOR: AtomicBool = AtomicBool::new(false);

/// Whether anybody locked a file, which is unlocked when it is closed.
static FILES_ARE_LOCKED: AtomicBool = AtomicBool::new(false);

/// The channels of files that were mapped to be shared; with the last place taken, every file counts as one.
static MAPPED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// Of a set of semaphores or a queue of messages of System V, by its id; they have their ids from the same numbers.
pub(crate) fn of_ipc(id: c_int) -> u64 {
    OF_IPC | u64::from(id as u32) << 3
}

/// Whether descriptors of a channel can have no room for more.
pub(super) fn can_be_full(channel: u64) -> bool {
    channel & ON_DISK == 0
}

/// Whether a channel is that of a counter (`eventfd`).
pub(super) fn is_counter(channel: u64) -> bool {
    channel & OF_A_COUNTER != 0
}

/// The channel of a new counter.
pub(crate) fn new_counter() -> u64 {
    new_channel() | OF_A_COUNTER
}

/// A channel that nobody has yet.
pub(crate) fn new_channel() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    OF_THEIR_OWN | NEXT.fetch_add(8, Relaxed)
}

/// A descriptor is made or closed: it is not what it was.
fn replaces(fd: c_int) {
    descriptor_lives::renews(fd);
    if (0..STANDARD).contains(&fd) {
        REPLACED.fetch_or(1 << fd, SeqCst);
    }
}

fn is_as_at_start(fd: c_int) -> bool {
    (0..STANDARD).contains(&fd) && REPLACED.load(SeqCst) & 1 << fd == 0
}

fn set_channel(fd: c_int, channel: u64) {
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
        let channel = match stat.st_mode & libc::S_IFMT {
            _ if failed => None,
            libc::S_IFSOCK => Some(OF_SOCKETS),
            0 => Some(OF_THE_REST),
            libc::S_IFCHR if is_terminal(stat.st_rdev) => Some(OF_TERMINALS),
            // To the kernel it is a file, but one that can be full, and that is closed when nobody has it.
            libc::S_IFREG if is_message_queue(fd) => Some(FileIdentity::from(&stat).channel() & !ON_DISK),
            _ => Some(FileIdentity::from(&stat).channel()),
        };
        *libc::__errno_location() = errno;
        channel
    }
}

/// Whether a descriptor of a file is one of a message queue. `errno` is put back by the caller.
fn is_message_queue(fd: c_int) -> bool {
    /// What the kernel calls the file system that they are in.
    const MESSAGE_QUEUES: libc::__fsword_t = 0x1980_0202;
    // SAFETY: `statfs` is a C structure of numbers, for which zeroes are valid, and which the kernel fills.
    unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        libc::syscall(libc::SYS_fstatfs, fd, &raw mut about) == 0 && about.f_type == MESSAGE_QUEUES
    }
}

/// Whether a device is an end of a terminal that programs make: `/dev/ptmx`, or one of `/dev/pts`.
fn is_terminal(device: u64) -> bool {
    const OF_PTMX: (u32, u32) = (5, 2);
    let (major, minor) = (libc::major(device), libc::minor(device));
    (136..144).contains(&major) || (major, minor) == OF_PTMX
}

/// A file was opened, or could not be: if it is a FIFO, that is because of who has opened its other end.
pub(crate) fn opened(fd: c_int, pc: u64) {
    if !status::recording() {
        return;
    }
    // SAFETY: as in `identify`.
    let is_fifo = unsafe {
        let errno = *libc::__errno_location();
        let mut stat: libc::stat = std::mem::zeroed();
        let is_there = fd >= 0 && call_real!(FSTAT, (c_int, *mut libc::stat) -> c_int, fd, &mut stat) == 0;
        *libc::__errno_location() = errno;
        if is_there { stat.st_mode & libc::S_IFMT == libc::S_IFIFO } else { fd < 0 && errno == libc::ENXIO }
    };
    if is_fifo {
        acquire_edge(OF_OPENED_FIFOS, pc);
    }
}

/// A call has failed: whether that may be because of what another thread did to the other end, and not for want of something.
pub(crate) fn failed_by_others() -> bool {
    // SAFETY: `errno` is this thread's own.
    !matches!(unsafe { *libc::__errno_location() }, libc::EAGAIN | libc::EINTR | libc::EBADF | libc::EFAULT)
}

/// What tells files apart, and what kind of file it is.
#[derive(Clone, Copy)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
}

impl From<&libc::stat> for FileIdentity {
    fn from(about: &libc::stat) -> FileIdentity {
        FileIdentity { device: about.st_dev, inode: about.st_ino, mode: about.st_mode }
    }
}

impl FileIdentity {
    fn channel(self) -> u64 {
        let mixed = (self.device ^ self.inode.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let is_on_disk = self.mode & libc::S_IFMT == libc::S_IFREG;
        OF_FILES | if is_on_disk { ON_DISK } else { 0 } | mixed >> 24 << 3
    }
}

/// The thread has asked for a file's size and times, which depend on what was written to it.
pub(crate) fn learns_about(file: FileIdentity, pc: u64) {
    acquire_edge(file.channel(), pc);
}

/// Closes, as far as this module is concerned, all known descriptors from `first` to `last`.
pub(crate) fn closes_all(first: u32, last: u32, pc: u64) {
    /// Of so many, those that were not used yet are asked for.
    const ASKED: usize = 256;
    let first = first as usize;
    let all = CHANNELS.iter().enumerate().skip(first).take_while(|(fd, _)| *fd <= last as usize);
    for (fd, _) in all.filter(|(fd, slot)| slot.load(SeqCst) != 0 || *fd < first + ASKED) {
        closes(fd as c_int, pc);
    }
}

/// A descriptor of this channel was made just now.
pub(crate) fn made(fd: c_int, channel: u64) {
    replaces(fd);
    set_channel(fd, channel);
    set_forks_before(fd, FORKS.load(SeqCst));
}

/// A descriptor was made whose other end a child has.
pub(crate) fn made_for_child(fd: c_int) {
    made(fd, 0);
    set_forks_before(fd, 0);
}

/// A descriptor was made that is another name of `original`.
pub(crate) fn made_as(fd: c_int, original: c_int, channel: u64) {
    replaces(fd);
    set_channel(fd, channel);
    set_forks_before(fd, forks_before(original));
}

fn set_forks_before(fd: c_int, forks: u32) {
    if let Some(slot) = usize::try_from(fd).ok().and_then(|fd| MADE_AFTER.get(fd)) {
        slot.store(forks, SeqCst);
    }
}

fn forks_before(fd: c_int) -> u32 {
    usize::try_from(fd).ok().and_then(|fd| MADE_AFTER.get(fd)).map_or(0, |slot| slot.load(SeqCst))
}

/// This process is about to make another one: what it has done so far, the other one's end comes after.
pub(crate) fn forks(pc: u64) {
    FORKS.fetch_add(1, SeqCst);
    release_edge(OF_PROCESSES, pc);
}

/// Whether this process has made others.
fn has_children() -> bool {
    FORKS.load(SeqCst) > 0
}

/// Whether another process may have the descriptor, or its other end.
fn is_shared(fd: c_int, channel: u64) -> bool {
    has_children() && (channel == OF_SOCKETS || forks_before(fd) < FORKS.load(SeqCst))
}

/// The field of a lock or semaphore of the C library by which it knows whether processes share it.
#[derive(Clone, Copy)]
pub(crate) struct SharingField {
    pub(crate) offset: usize,
    pub(crate) mask: u32,
}

impl SharingField {
    /// Whether other processes may have the object.
    pub(crate) fn is_set(self, object: *const c_void) -> bool {
        // SAFETY: the caller passes an initialised object of the C library's type that has this field, aligned for it; other threads
        // do not change the field, but may change its other bits.
        let field = unsafe { AtomicU32::from_ptr(object.byte_add(self.offset).cast_mut().cast()) };
        field.load(Relaxed) & self.mask != 0
    }

    fn says_shared(self, object: *const c_void) -> bool {
        has_children() && self.is_set(object)
    }
}

/// What the thread did can be learnt through other processes, if they have the object.
pub(crate) fn gives_to_processes(object: *const c_void, field: SharingField, pc: u64) {
    if field.says_shared(object) {
        release_edge(OF_PROCESSES, pc);
    }
}

/// The thread learns what other processes were given, if they have the object.
pub(crate) fn takes_from_processes(object: *const c_void, field: SharingField, pc: u64) {
    if field.says_shared(object) {
        acquire_edge(OF_PROCESSES, pc);
    }
}

/// The thread learns of something that other processes may have done: changed which files there are, sent a signal, ended.
pub(crate) fn takes_from_children(pc: u64) {
    if has_children() {
        acquire_edge(OF_PROCESSES, pc);
    }
}

/// Somebody locks a file.
pub(crate) fn lock_files() {
    FILES_ARE_LOCKED.store(true, SeqCst);
}

/// Somebody asks to be notified of changes of files.
pub(crate) fn watch_files() {
    FILES_ARE_WATCHED.store(true, SeqCst);
}

/// The thread is about to change a file, or which files there are.
pub(crate) fn changes_files(pc: u64) {
    if FILES_ARE_WATCHED.load(Relaxed) {
        release_edge(OF_FILE_CHANGES, pc);
    }
}

/// The place of a channel in a table of so many; others may have the same.
pub(super) fn place_of<T, const SIZE: usize>(channel: u64, table: &[T; SIZE]) -> &T {
    let hash = channel.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    &table[hash as usize % SIZE]
}

fn relay_of(channel: u64) -> &'static AtomicU64 {
    place_of(channel, &RELAYS)
}

/// From now on, what is given to `from` is given to `to`; and so is what was given to it before.
pub(crate) fn relay(from: u64, to: u64, pc: u64) {
    if from == to {
        return;
    }
    let place = relay_of(from);
    loop {
        let known = place.load(SeqCst);
        if known == to || known == OF_RELAYS {
            return;
        }
        let new = if known == 0 { to } else { OF_RELAYS };
        // Before the table says so: whoever takes looks at it after what was given through the table.
        RELAYS_MEET.fetch_or(new == OF_RELAYS, SeqCst);
        if place.compare_exchange(known, new, SeqCst, SeqCst).is_ok() {
            break;
        }
    }
    acquire_edge(from, pc);
    release_edge(to, pc);
}

/// Whoever takes from the channel may learn what was done so far.
pub(super) fn give_to(channel: u64, pc: u64) {
    release_edge(channel, pc);
    let mut last = channel;
    for _ in 0..LONGEST_CHAIN {
        last = relay_of(last).load(SeqCst);
        if last == 0 || last == channel {
            break;
        }
        release_edge(last, pc);
    }
    if channel & OF_FILES != 0 {
        changes_files(pc);
    }
    may_signal(pc);
}

/// The thread is about to do something to a descriptor or file, for which somebody may have asked for a signal.
pub(crate) fn may_signal(pc: u64) {
    if SIGNALS_ARE_ASKED_FOR.load(Relaxed) {
        release_edge(OF_SIGNALS, pc);
    }
}

/// Somebody asks for a signal when something happens to a descriptor.
pub(crate) fn ask_for_signals() {
    SIGNALS_ARE_ASKED_FOR.store(true, SeqCst);
}

/// The thread has mapped a part of a file, whose contents depend on what was written to it.
pub(crate) fn maps(fd: c_int, is_shared: bool, pc: u64) {
    let Some(channel) = channel(fd).filter(|channel| channel & OF_FILES != 0) else { return };
    learns(fd, pc);
    unseen(Unseen::MappedFile, pc);
    if is_shared {
        let free = |known: &&AtomicU64| {
            let before = known.compare_exchange(0, channel, SeqCst, SeqCst);
            before.is_ok() || before == Err(channel)
        };
        let _ = MAPPED.iter().find(free);
    }
}

fn is_mapped(channel: u64) -> bool {
    let known = || MAPPED.iter().map(|known| known.load(Relaxed)).take_while(|&known| known != 0);
    channel & OF_FILES != 0 && (known().any(|known| known == channel) || known().count() == MAPPED.len())
}

/// Whoever reads from the descriptor may learn what was done so far.
pub(crate) fn gives(fd: c_int, pc: u64) {
    if let Some(channel) = channel(fd) {
        if is_mapped(channel) {
            unseen(Unseen::MappedFile, pc);
        }
        leaves(fd, channel, pc);
    }
}

/// Whoever reads what is written to the log of the system may learn what was done so far: that is a socket, and the standard error if so asked for.
pub(crate) fn gives_to_log(pc: u64) {
    if status::recording() {
        give_to(OF_SOCKETS, pc);
        gives_by_stream(libc::STDERR_FILENO, pc);
    }
}

/// The same by what may be a standard stream: nobody in the program reads what that writes, if it is as it was at the start.
/// Returns whether there may be a reader.
pub(crate) fn gives_by_stream(fd: c_int, pc: u64) -> bool {
    let may_be_read = !is_as_at_start(fd);
    if may_be_read {
        gives(fd, pc);
    }
    may_be_read
}

/// Whatever streams have in their buffers is written.
pub(crate) fn gives_by_all_streams(pc: u64) {
    let known = CHANNELS.iter().enumerate().filter(|(_, slot)| slot.load(SeqCst) != 0);
    known.for_each(|(fd, _)| _ = gives_by_stream(fd as c_int, pc));
}

fn leaves(fd: c_int, channel: u64, pc: u64) {
    give_to(channel, pc);
    if is_shared(fd, channel) {
        release_edge(OF_PROCESSES, pc);
    }
}

/// The thread has learnt what was given to an object. Signals may come from other processes, too, or be sent because they ended.
pub(crate) fn takes_from(object: u64, pc: u64) {
    acquire_edge(object, pc);
    if object == OF_SIGNALS {
        takes_from_children(pc);
    }
}

/// The thread has learnt from the descriptor, which had this channel, what was given to it.
pub(crate) fn takes(fd: c_int, channel: u64, pc: u64) {
    takes_from(channel, pc);
    if RELAYS_MEET.load(SeqCst) {
        acquire_edge(OF_RELAYS, pc);
    }
    if is_shared(fd, channel) {
        acquire_edge(OF_PROCESSES, pc);
    }
}

/// As [`takes`], where the channel was not asked for before.
pub(crate) fn learns(fd: c_int, pc: u64) {
    if let Some(channel) = channel(fd) {
        takes(fd, channel, pc);
    }
}

/// A descriptor is about to be closed, which its reader may notice, unless it is a file on a disk. Its number may be given out again right after.
pub(crate) fn closes(fd: c_int, pc: u64) {
    match channel(fd) {
        Some(channel) if channel & ON_DISK != 0 && !FILES_ARE_LOCKED.load(SeqCst) => changes_files(pc),
        Some(channel) => leaves(fd, channel, pc),
        None => {}
    }
    set_channel(fd, 0);
    replaces(fd);
}
