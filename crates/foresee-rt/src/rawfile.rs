//! The raw trace: creating it, getting chunks of it, giving up on it.
//!
//! The file grows by chunks. Those that are mapped are allocated on disk before: a full disk is an error here, where the
//! recording can stop with a message, and never a SIGBUS at some store. The others are written as a whole.

use std::ffi::CStr;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::SeqCst,
};

use foresee_format::{
    CHUNK_HEADER_WORDS, CHUNK_MAGIC, CUT_WORD, FLAGS_WORD, HEADER_LEN, KEY_WORD, LEN_WORD, LENGTH_WORD,
    MAGIC, NAME_LEN, NAMES, OWNER_WORD, RunFlags, STOP_WORD, Stop, TEXT_FACTS, TEXT_MAPS, TEXT_OWNER, UNIT,
    VERSION, VERSION_WORD, WHY_WORD,
};

use crate::branches;
use crate::buffer::COUNTER;
use crate::code;
use crate::limits;
use crate::reserve;
use crate::std_sync::is_rust_program;
use crate::watched;

/// Whether events are recorded: not, just as they come, or some in another way (watched variables, code that is left out). It
/// is one number, as every access asks for it.
static RECORDING: AtomicU8 = AtomicU8::new(NOT);
const NOT: u8 = 0;
const PLAINLY: u8 = 1;
const WITH_CARE: u8 = 2;

static STARTED: AtomicBool = AtomicBool::new(false);
static FILE: AtomicI32 = AtomicI32::new(-1);
/// The header, mapped for as long as the process lives.
static HEADER: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
/// The name that was given for the trace.
static PATH: [AtomicU8; libc::PATH_MAX as usize] = [const { AtomicU8::new(0) }; libc::PATH_MAX as usize];
static NEXT_CHUNK: AtomicU64 = AtomicU64::new(HEADER_LEN);

#[inline(always)]
pub(crate) fn recording() -> bool {
    RECORDING.load(Relaxed) != NOT
}

/// Whether events are recorded, and all of them just as they come.
#[inline(always)]
pub(crate) fn recording_plainly() -> bool {
    RECORDING.load(Relaxed) == PLAINLY
}

/// From now on, some events are recorded in another way.
pub(crate) fn take_care() {
    let _ = RECORDING.compare_exchange(PLAINLY, WITH_CARE, SeqCst, SeqCst);
}

/// The descriptor of the trace, or -1.
pub(crate) fn descriptor() -> i32 {
    FILE.load(Relaxed)
}

/// Ends recording for this process, and for nobody who shares the file: for the child of a fork.
pub(crate) fn forsake() {
    RECORDING.store(NOT, SeqCst);
}

/// Creates the trace that `FORESEE_RAW` names, if it does.
pub(crate) fn start() {
    if STARTED.swap(true, SeqCst) {
        return;
    }
    // SAFETY: the name ends in a zero byte; the value is used before the program can change its environment.
    let path = unsafe {
        let path = libc::getenv(c"FORESEE_RAW".as_ptr());
        if path.is_null() || *path == 0 {
            return;
        }
        CStr::from_ptr(path)
    };
    // SAFETY: asks the kernel's own answer.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        // A program with other rights than its user's must not write where its user says.
        return say(&[b"foresee: the program has other rights than its user (setuid): it runs unrecorded\n"]);
    }
    remember(path);
    limits::start();
    begin(path, create(path));
}

/// Begins the trace of the child of a fork: the parent's file is none of its business any more.
pub(crate) fn start_again() {
    // SAFETY: the descriptor is ours; the name was remembered, and ends in a zero byte.
    let path = unsafe {
        libc::syscall(libc::SYS_close, FILE.swap(-1, SeqCst));
        CStr::from_ptr(PATH.as_ptr().cast())
    };
    HEADER.store(std::ptr::null_mut(), SeqCst);
    NEXT_CHUNK.store(HEADER_LEN, SeqCst);
    begin(path, create_other(path));
}

fn begin(path: &CStr, fd: i32) {
    if fd < 0 {
        return say(&[
            b"foresee: cannot create the trace ",
            path.to_bytes(),
            b"; the program runs unrecorded\n",
        ]);
    }
    FILE.store(fd, SeqCst);
    reserve::start(fd);
    let Some(header) = map(fd, 0, HEADER_LEN) else {
        return say(&[
            b"foresee: cannot write the trace ",
            path.to_bytes(),
            b"; the program runs unrecorded\n",
        ]);
    };
    HEADER.store(header, SeqCst);
    // SAFETY: the header's first words are mapped, and nobody else uses them yet.
    unsafe {
        header.add(VERSION_WORD).write(VERSION);
        header.add(FLAGS_WORD).write(flags().word());
        header.write(u64::from_le_bytes(MAGIC));
    }
    write_facts();
    write_maps(0);
    let care = watched::any() || code::is_on();
    RECORDING.store(if care { WITH_CARE } else { PLAINLY }, SeqCst);
}

/// Keeps the name of the trace: the program may change its environment.
fn remember(path: &CStr) {
    for (slot, &byte) in PATH[..PATH.len() - 1].iter().zip(path.to_bytes()) {
        slot.store(byte, Relaxed);
    }
}

const CREATE: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC;

/// A new file of this name. One that has content is another process's (a program may start itself again).
fn create(path: &CStr) -> i32 {
    // SAFETY: paths end in a zero byte, `stat` is plain data that `fstat` fills.
    unsafe {
        let fd = libc::open(path.as_ptr(), CREATE, 0o666);
        let mut stat: libc::stat = std::mem::zeroed();
        if fd < 0 || (libc::fstat(fd, &mut stat) == 0 && stat.st_size == 0) {
            return out_of_the_way(fd);
        }
        libc::close(fd);
    }
    create_other(path)
}

/// A new file of this name and the process id; with a number if the process has had a trace already, before it became
/// another program.
fn create_other(path: &CStr) -> i32 {
    let mut other = [0u8; libc::PATH_MAX as usize];
    for attempt in 1..100 as libc::c_int {
        // SAFETY: the buffer is as long as it is said to be, and the name in it ends in a zero byte.
        unsafe {
            let form = if attempt == 1 { c"%s.%d" } else { c"%s.%d.%d" };
            let id: libc::c_int = libc::getpid();
            libc::snprintf(other.as_mut_ptr().cast(), other.len(), form.as_ptr(), path.as_ptr(), id, attempt);
            let fd = libc::open(other.as_ptr().cast(), CREATE | libc::O_EXCL, 0o666);
            if fd >= 0 || *libc::__errno_location() != libc::EEXIST {
                return out_of_the_way(fd);
            }
        }
    }
    -1
}

/// Moves a file descriptor to a high number: programs expect the low ones to be theirs.
fn out_of_the_way(fd: i32) -> i32 {
    if fd < 0 {
        return fd;
    }
    // SAFETY: duplicates and closes a descriptor that is ours.
    unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 512);
        if high < 0 {
            return fd;
        }
        libc::close(fd);
        high
    }
}

fn map(fd: i32, offset: u64, len: u64) -> Option<*mut u64> {
    if !may_grow_to(offset + len) {
        return None;
    }
    // SAFETY: a mapping at an address of the kernel's choice touches nothing that exists.
    unsafe {
        if libc::posix_fallocate(fd, offset as i64, len as i64) != 0 {
            return None;
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at =
            libc::mmap(std::ptr::null_mut(), len as usize, protection, libc::MAP_SHARED, fd, offset as i64);
        (at != libc::MAP_FAILED).then_some(at.cast())
    }
}

/// Whether the file may become so long: otherwise growing it would raise a signal that ends the program.
pub(crate) fn may_grow_to(length: u64) -> bool {
    // SAFETY: `limit` is plain data.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) != 0 || length <= limit.rlim_cur
    }
}

/// Grows the file by `len` bytes, which `place` puts at the offset it is given; what has this key needs them. `None` if that
/// cannot be, which ends the recording.
fn grow<R>(len: u64, key: u64, place: impl FnOnce(i32, u64) -> Option<R>) -> Option<R> {
    let offset = NEXT_CHUNK.fetch_add(len, SeqCst);
    let fd = FILE.load(Relaxed);
    if !reserve::has_room(fd, offset + len)
        && let Some(why) = limits::reached(fd, len, offset + len)
    {
        stop(key, why);
        return None;
    }
    let Some(placed) = place(fd, offset) else {
        stop(key, Stop::NoRoom);
        return None;
    };
    // SAFETY: the file's header is mapped for as long as the process lives.
    let length = unsafe { AtomicU64::from_ptr(HEADER.load(Relaxed).add(LENGTH_WORD)) };
    // By `fetch_max` the program would seem to use what compilers do not instrument.
    let _ = length.fetch_update(SeqCst, SeqCst, |length| (length < offset + len).then_some(offset + len));
    Some(placed)
}

/// A new chunk of `len` bytes, a multiple of the unit, for what has this key; `fourth` is the last word of its header. `None`
/// if there is none to be had, which ends the recording.
pub(crate) fn chunk(owner: u64, len: u64, fourth: u64, key: u64) -> Option<*mut u64> {
    let at = grow(len, key, |fd, offset| map(fd, offset, len))?;
    // SAFETY: the chunk is mapped and longer than its header, whose magic comes last.
    unsafe {
        at.add(KEY_WORD).write(fourth);
        give(at, owner, len);
    }
    Some(at)
}

/// Writes a copy of a chunk of `len` bytes, a multiple of the unit, behind everything else, to make room for what has this
/// key. If that cannot be, the recording ends.
///
/// SAFETY of the uses: the chunk is mapped.
pub(crate) unsafe fn copy(chunk: *const u64, len: u64, key: u64) -> bool {
    grow(len, key, |fd, offset| {
        // SAFETY: as the caller says.
        let done = may_grow_to(offset + len) && unsafe { write_at(fd, chunk.cast(), len, offset) };
        done.then_some(())
    })
    .is_some()
}

/// Writes all bytes; not by the C library's function, at which a thread could be cancelled.
///
/// SAFETY of the uses: there are `len` bytes.
unsafe fn write_at(fd: i32, mut bytes: *const u8, mut len: u64, mut offset: u64) -> bool {
    while len > 0 {
        // SAFETY: as the caller says; what is written is within these bytes.
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

/// Makes zeroes a chunk of this owner.
///
/// SAFETY of the uses: `len` bytes are mapped there, and are nobody else's. The magic comes last.
pub(crate) unsafe fn give(at: *mut u64, owner: u64, len: u64) {
    unsafe {
        at.add(OWNER_WORD).write(owner);
        at.add(LEN_WORD).write(len);
        AtomicU64::from_ptr(at).store(CHUNK_MAGIC, SeqCst);
    }
}

/// What has a smaller key than this is no part of the trace any more: some of it is about to be lost.
pub(crate) fn raise_cut(key: u64) {
    // SAFETY: the header is mapped for as long as the process lives.
    let cut = unsafe { AtomicU64::from_ptr(HEADER.load(SeqCst).add(CUT_WORD)) };
    let _ = cut.fetch_update(SeqCst, SeqCst, |before| (before < key).then_some(key));
}

/// The key that what happens now has, if it does not synchronise.
pub(crate) fn now() -> u64 {
    2 * COUNTER.load(SeqCst)
}

/// Stops recording for good: what has this key is not recorded. What has a smaller one is, by all threads, and the header
/// tells. The key is noted before anything else goes unrecorded, and is the smallest of those that threads fail at together.
#[cold]
pub(crate) fn stop(key: u64, why: Stop) {
    let header = HEADER.load(SeqCst);
    if !header.is_null() {
        // SAFETY: the header is mapped for as long as the process lives. Key 0 would mean "never stopped".
        let word = unsafe { AtomicU64::from_ptr(header.add(STOP_WORD)) };
        let earlier = |stop| (stop == 0 || key < stop).then_some(key.max(1));
        let _ = word.fetch_update(SeqCst, SeqCst, earlier);
    }
    if RECORDING.swap(NOT, SeqCst) == NOT {
        return;
    }
    if !header.is_null() {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(header.add(WHY_WORD)).store(why as u64, SeqCst) };
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
    // SAFETY: the slot is within the mapped header; two threads that name a third one may garble its name, no more.
    unsafe {
        let slot = header.cast::<u8>().add(at as usize);
        slot.write_bytes(0, NAME_LEN as usize);
        slot.copy_from(name.as_ptr(), name.len());
    }
}

/// What is known of the run before it begins.
fn flags() -> RunFlags {
    RunFlags::NONE
        .with_if(RunFlags::IS_RUST, is_rust_program())
        .with_if(RunFlags::HAS_BRANCHES, branches::are_told())
        .with_if(RunFlags::ACCESSES_LEFT_OUT, code::is_on())
}

fn write_facts() {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: &[u8]| {
        facts.extend_from_slice(name.as_bytes());
        facts.push(0);
        facts.extend(value.iter().filter(|&&byte| byte != 0));
        facts.push(0);
    };
    let command: Vec<u8> = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<&[u8]> = command.split(|&byte| byte == 0).collect();
    fact("command", words.join(&b' ').trim_ascii_end());
    if let Ok(directory) = std::env::current_dir() {
        fact("directory", directory.as_os_str().as_encoded_bytes());
    }
    fact("pid", std::process::id().to_string().as_bytes());
    if let Ok(time) = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        fact("time", time.as_secs().to_string().as_bytes());
    }
    write_text(TEXT_FACTS, 0, &facts);
}

/// Writes which files are mapped where from this key on: at the start, and whenever that may have changed.
pub(crate) fn write_maps(key: u64) {
    if let Ok(maps) = std::fs::read("/proc/self/maps") {
        write_text(TEXT_MAPS, key, &maps);
    }
}

fn write_text(kind: u64, key: u64, text: &[u8]) {
    let header = 8 * (CHUNK_HEADER_WORDS as u64 + 2);
    let len = (header + text.len() as u64).next_multiple_of(UNIT);
    let Some(at) = chunk(TEXT_OWNER, len, key, now()) else { return };
    // SAFETY: the chunk has room for its header, the text's two words and the text. The kind comes last.
    unsafe {
        let body = at.add(CHUNK_HEADER_WORDS);
        body.add(2).cast::<u8>().copy_from(text.as_ptr(), text.len());
        body.add(1).write(text.len() as u64);
        AtomicU64::from_ptr(body).store(kind, SeqCst);
        libc::munmap(at.cast(), len as usize);
    }
}

/// Tells the user something, on standard error, without allocating.
pub(crate) fn say(parts: &[&[u8]]) {
    for part in parts {
        // SAFETY: writes bytes that are there. If it fails there is nobody to tell.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
}
