//! The file of the raw trace: its header, and the chunks that it grows by.
//!
//! Chunks that are mapped are allocated on disk first: a full disk is an error here, where the recording can stop with a message,
//! and never a SIGBUS at some store. The others are written as a whole.
//!
//! Copies of homes may go to side files, so that threads do not wait for each other in the kernel (`side_files`).
//!
//! The header stays mapped for as long as the process lives. Its words are only changed by atomic operations, so a reader finds a
//! consistent file whatever ends the process.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{
    CHUNK_HEADER_WORDS, CHUNK_MAGIC, CUT_WORD, END_WORD, FLAGS_WORD, HEADER_LEN, KEY_WORD, LEN_WORD,
    LENGTH_WORD, MAGIC, NAME_LEN, NAMES, OWNER_WORD, REQUEST_WORD, RunFlags, SIDE_LENGTHS_WORD, STOP_WORD,
    Stop, TEXT_OWNER, UNIT, VERSION, VERSION_WORD, WHY_WORD,
};

use super::descriptor::{self, FILES};
use super::{disk_space, limits, order, side_files, status};
use crate::message::say;

/// The mapped header; null without a trace.
static HEADER: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());

/// The mapped header's word by which readers request fresh keys; null without a trace.
static REQUEST: Apart = Apart(AtomicPtr::new(std::ptr::null_mut()));

/// Every access looks at it: nothing that changes shares its cache lines.
#[repr(align(128))]
struct Apart(AtomicPtr<AtomicU64>);

/// How long a file is, on cache lines that are fetched for nothing else.
#[repr(align(128))]
struct Length(AtomicU64);

/// How long the trace itself and its side files are.
static LENGTHS: [Length; FILES] = [const { Length(AtomicU64::new(0)) }; FILES];
/// How long they are together.
static ALL: AtomicU64 = AtomicU64::new(0);

fn set_lengths() {
    for (file, length) in LENGTHS.iter().enumerate() {
        length.0.store(if file == 0 { HEADER_LEN } else { 0 }, SeqCst);
    }
    ALL.store(HEADER_LEN, SeqCst);
}

/// Begins a trace in a new file; whether that can be.
pub(crate) fn open(fd: i32, flags: RunFlags) -> bool {
    descriptor::set(0, fd);
    disk_space::start(fd);
    set_lengths();
    let Ok(header) = map(fd, 0, HEADER_LEN) else { return false };
    // SAFETY: the header is mapped, longer than these words, and nobody else knows of it yet.
    unsafe {
        header.add(VERSION_WORD).write(VERSION);
        header.add(FLAGS_WORD).write(flags.word());
        header.write(u64::from_le_bytes(MAGIC));
    }
    // SAFETY: the header has this word, and stays mapped; from now on it is only used as an atomic.
    REQUEST.0.store(unsafe { header.add(REQUEST_WORD).cast() }, SeqCst);
    HEADER.store(header, SeqCst);
    true
}

/// Closes the files, which another process goes on to use: for the child of a fork.
pub(crate) fn leave_to_parent() {
    for fd in (0..FILES).filter_map(descriptor::take) {
        // SAFETY: touches no memory; the descriptor is the runtime's own. Not by the C library's `close`, which is interposed.
        unsafe { libc::syscall(libc::SYS_close, fd) };
    }
    HEADER.store(std::ptr::null_mut(), SeqCst);
}

/// A word of the header, if there is a trace.
fn header_word(word: usize) -> Option<&'static AtomicU64> {
    let header = HEADER.load(SeqCst);
    // SAFETY: the header is mapped for as long as the process lives, and longer than any of its words' numbers. After the start,
    // its words are only used as atomics.
    (!header.is_null()).then(|| unsafe { AtomicU64::from_ptr(header.add(word)) })
}

/// The process ends by itself.
pub(crate) fn note_end() {
    if let Some(word) = header_word(END_WORD) {
        word.store(1, SeqCst);
    }
}

/// The last request for fresh keys.
#[inline(always)]
pub(crate) fn request() -> &'static AtomicU64 {
    static NONE: AtomicU64 = AtomicU64::new(0);
    let word = REQUEST.0.load(Relaxed);
    // SAFETY: null, or a word of the header, which is mapped for as long as the process lives, and only used as an atomic.
    unsafe { word.as_ref() }.unwrap_or(&NONE)
}

/// Makes a word at least this large. (By `fetch_max` the program would seem to use what compilers do not instrument.)
fn raise(word: &AtomicU64, to: u64) {
    let _ = word.fetch_update(SeqCst, SeqCst, |before| (before < to).then_some(to));
}

/// Maps a new part of the file, or says why that cannot be.
fn map(fd: i32, offset: u64, len: u64) -> Result<*mut u64, Stop> {
    if !limits::kernel_allows(offset + len) {
        return Err(Stop::NoRoom);
    }
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists.
    unsafe {
        loop {
            match libc::posix_fallocate(fd, offset as i64, len as i64) {
                0 => break,
                libc::EINTR => {}
                error => return Err(limits::why(error)),
            }
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at =
            libc::mmap(std::ptr::null_mut(), len as usize, protection, libc::MAP_SHARED, fd, offset as i64);
        if at == libc::MAP_FAILED { Err(limits::why(*libc::__errno_location())) } else { Ok(at.cast()) }
    }
}

/// Grows a file by `len` bytes, which `put` puts at the offset it is given, to make room for a record with this key. `None` if
/// that cannot be, which ends the recording.
fn grow<R>(file: usize, len: u64, key: u64, put: impl FnOnce(i32, u64) -> Result<R, Stop>) -> Option<R> {
    let offset = LENGTHS[file].0.fetch_add(len, SeqCst);
    let all = ALL.fetch_add(len, SeqCst) + len;
    let Some(fd) = descriptor::current(file) else {
        stop(key, Stop::Taken);
        return None;
    };
    if !disk_space::has_room(file, fd, offset + len, all)
        && let Some(why) = limits::reached(fd, len, all)
    {
        stop(key, why);
        return None;
    }
    let done = put(fd, offset).map_err(|why| stop(key, why)).ok()?;
    let word = if file == 0 { LENGTH_WORD } else { SIDE_LENGTHS_WORD + file - 1 };
    if let Some(length) = header_word(word) {
        raise(length, offset + len);
    }
    Some(done)
}

/// A new chunk of `len` bytes, a multiple of the unit, for a record with this key; `fourth` is the last word of its header. `None`
/// if there is none to be had, which ends the recording.
pub(crate) fn chunk(owner: u64, len: u64, fourth: u64, key: u64) -> Option<*mut u64> {
    let at = grow(0, len, key, |fd, offset| map(fd, offset, len))?;
    // SAFETY: `len` bytes, more than a header, are mapped there, and nobody else knows of them yet.
    unsafe {
        at.add(KEY_WORD).write(fourth);
        give(at, owner, len);
    }
    Some(at)
}

/// Makes zeroes a chunk of this owner. The magic, which makes it one, is written last.
///
/// # Safety
/// `len` bytes are mapped there, and belong to the caller alone.
pub(crate) unsafe fn give(at: *mut u64, owner: u64, len: u64) {
    // SAFETY: the words of a chunk's header are within these bytes, which are the caller's.
    unsafe {
        at.add(OWNER_WORD).write(owner);
        at.add(LEN_WORD).write(len);
        AtomicU64::from_ptr(at).store(CHUNK_MAGIC, SeqCst);
    }
}

/// Writes a copy of a thread's chunk of `len` bytes, a multiple of the unit, behind everything else, to make room for a record with
/// this key. If that cannot be, the recording ends.
///
/// # Safety
/// `len` bytes are mapped there.
pub(crate) unsafe fn copy(thread: u32, chunk: *const u64, len: u64, key: u64) -> bool {
    grow(side_files::of(thread), len, key, |fd, offset| {
        if !limits::kernel_allows(offset + len) {
            return Err(Stop::NoRoom);
        }
        // SAFETY: the caller vouches for these bytes; `errno` is this thread's own.
        unsafe {
            let done = write_at(fd, chunk.cast(), len, offset);
            if done { Ok(()) } else { Err(limits::why(*libc::__errno_location())) }
        }
    })
    .is_some()
}

/// Writes all bytes; not by the C library's function, at which a thread could be cancelled.
///
/// # Safety
/// There are `len` bytes at `bytes`.
unsafe fn write_at(fd: i32, mut bytes: *const u8, mut len: u64, mut offset: u64) -> bool {
    while len > 0 {
        // SAFETY: what is passed is the rest of the caller's bytes, as the kernel never says that it wrote more than it was given.
        unsafe {
            let written = libc::syscall(libc::SYS_pwrite64, fd, bytes, len, offset);
            if written <= 0 {
                if written < 0 && *libc::__errno_location() == libc::EINTR {
                    continue;
                }
                return false;
            }
            bytes = bytes.add(written as usize);
            len -= written as u64;
            offset += written as u64;
        }
    }
    true
}

/// Writes a text, which holds from this key on, into a chunk of its own; nothing where there is no trace, as where a program is only monitored.
pub(crate) fn write_text(kind: u64, key: u64, text: &[u8]) {
    if HEADER.load(SeqCst).is_null() {
        return;
    }
    let header = 8 * (CHUNK_HEADER_WORDS as u64 + 2);
    let len = (header + text.len() as u64).next_multiple_of(UNIT);
    let Some(at) = chunk(TEXT_OWNER, len, key, order::now()) else { return };
    // SAFETY: the chunk is this function's, and has room for its header, the text's two words and the text. The kind, which
    // makes the text valid, comes last. Nobody uses the mapping afterwards.
    unsafe {
        let body = at.add(CHUNK_HEADER_WORDS);
        body.add(2).cast::<u8>().copy_from(text.as_ptr(), text.len());
        body.add(1).write(text.len() as u64);
        AtomicU64::from_ptr(body).store(kind, SeqCst);
        libc::munmap(at.cast(), len as usize);
    }
}

/// Drops what has a smaller key than this from the trace: some of it is about to be lost.
pub(crate) fn raise_cut(key: u64) {
    if let Some(cut) = header_word(CUT_WORD) {
        raise(cut, key);
    }
}

/// Stops recording for good: what has this key is not recorded. What has a smaller one is, by all threads, and the header
/// says so. The key is noted before anything else goes unrecorded, and is the smallest of those that threads fail at together.
#[cold]
pub(crate) fn stop(key: u64, why: Stop) {
    if let Some(word) = header_word(STOP_WORD) {
        // Key 0 would mean "never stopped".
        let earlier = |stop| (stop == 0 || key < stop).then_some(key.max(1));
        let _ = word.fetch_update(SeqCst, SeqCst, earlier);
    }
    if !status::turn_off() {
        return;
    }
    if let Some(word) = header_word(WHY_WORD) {
        word.store(why as u64, SeqCst);
    }
    let why = why.why().as_bytes();
    say(&[b"foresee: recording stops: ", why, b"; the program goes on, and the trace up to here is valid\n"]);
}

/// Names a thread in the header's table, if the table is that long.
pub(crate) fn name_thread(thread: u32, name: &[u8]) {
    let header = HEADER.load(SeqCst);
    let at = NAMES + u64::from(thread) * NAME_LEN;
    if header.is_null() || at + NAME_LEN > HEADER_LEN {
        return;
    }
    let name = &name[..name.len().min(NAME_LEN as usize)];
    // SAFETY: the slot is within the mapped header. Two threads that name a third one at the same time may garble its name,
    // which the reader takes as any bytes.
    unsafe {
        let slot = header.cast::<u8>().add(at as usize);
        slot.write_bytes(0, NAME_LEN as usize);
        slot.copy_from(name.as_ptr(), name.len());
    }
}
