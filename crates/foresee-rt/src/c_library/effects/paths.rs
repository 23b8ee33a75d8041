//! Files by their names, and what is known of them: `sys/stat.h`, parts of `unistd.h` and `stdlib.h`.

use libc::{DIR, c_char, c_int, c_uint, gid_t, mode_t, off_t, size_t, ssize_t, timespec, timeval, uid_t};

use super::orders::{About, AboutMore, Giving, Learning, Moving};
use super::table::*;
use crate::c_library::names;
use crate::real_functions::{Real, call_real};

/// An entry of a directory was found, in memory of the C library's.
fn writes_entry(entry: *const libc::dirent) -> Access {
    // SAFETY: an entry that was found, or null.
    writes(entry, unsafe { entry.as_ref() }.map_or(0, |entry| entry.d_reclen.into()))
}

effects! {
    stat(path: Text, about: *mut libc::stat) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), About(about, failed == 0)];
    stat64(path: Text, about: *mut libc::stat) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), About(about, failed == 0)];
    lstat(path: Text, about: *mut libc::stat) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), About(about, failed == 0)];
    lstat64(path: Text, about: *mut libc::stat) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), About(about, failed == 0)];
    fstat(fd: c_int, about: *mut libc::stat) -> c_int, within Learning(fd),
        before [], after |failed| [writes_object(about, failed == 0)];
    fstat64(fd: c_int, about: *mut libc::stat) -> c_int, within Learning(fd),
        before [], after |failed| [writes_object(about, failed == 0)];
    fstatat(at: c_int, path: Text, about: *mut libc::stat, flags: c_int) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), About(about, failed == 0)];
    fstatat64(at: c_int, path: Text, about: *mut libc::stat, flags: c_int) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), About(about, failed == 0)];
    statx(at: c_int, path: Text, flags: c_int, mask: c_uint, about: *mut libc::statx) -> c_int, within names::looking_up(path),
        before [reads_path(path)], after |failed| [writes_object(about, failed == 0), AboutMore(about, failed == 0)];
    chmod(path: Text, mode: mode_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    lchmod(path: Text, mode: mode_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    fchmodat(at: c_int, path: Text, mode: mode_t, flags: c_int) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    mkdir(path: Text, mode: mode_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    mkdirat(at: c_int, path: Text, mode: mode_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    mkfifo(path: Text, mode: mode_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    mkfifoat(at: c_int, path: Text, mode: mode_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    utimensat(at: c_int, path: Text, times: *const [timespec; 2], flags: c_int) -> c_int, within names::changing(path),
        before [reads_path(path), reads_object(times)], after |_| [];
    futimens(fd: c_int, times: *const [timespec; 2]) -> c_int, within Giving(fd), before [reads_object(times)], after |_| [];
    utimes(path: Text, times: *const [timeval; 2]) -> c_int, within names::changing(path),
        before [reads_path(path), reads_object(times)], after |_| [];
    lutimes(path: Text, times: *const [timeval; 2]) -> c_int, within names::changing(path),
        before [reads_path(path), reads_object(times)], after |_| [];
    futimes(fd: c_int, times: *const [timeval; 2]) -> c_int, within Giving(fd), before [reads_object(times)], after |_| [];
    access(path: Text, mode: c_int) -> c_int, within names::looking_up(path), before [reads_path(path)], after |_| [];
    eaccess(path: Text, mode: c_int) -> c_int, within names::looking_up(path), before [reads_path(path)], after |_| [];
    euidaccess(path: Text, mode: c_int) -> c_int, within names::looking_up(path), before [reads_path(path)], after |_| [];
    faccessat(at: c_int, path: Text, mode: c_int, flags: c_int) -> c_int, within names::looking_up(path), before [reads_path(path)], after |_| [];
    chdir(path: Text) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    fchdir(fd: c_int) -> c_int, within names::changing(c".".as_ptr()), before [], after |_| [];
    fchmod(fd: c_int, mode: mode_t) -> c_int, within Giving(fd), before [], after |_| [];
    fchown(fd: c_int, user: uid_t, group: gid_t) -> c_int, within Giving(fd), before [], after |_| [];
    lseek(fd: c_int, to: off_t, from: c_int) -> off_t, within Moving { fd, to, from }, before [], after |_| [];
    lseek64(fd: c_int, to: off_t, from: c_int) -> off_t, within Moving { fd, to, from }, before [], after |_| [];
    rmdir(path: Text) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    unlink(path: Text) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    unlinkat(at: c_int, path: Text, flags: c_int) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    link(from: Text, to: Text) -> c_int, within names::changing(to).and(from), before [reads_path(from), reads_path(to)], after |_| [];
    linkat(old: c_int, from: Text, new: c_int, to: Text, flags: c_int) -> c_int, within names::changing(to).and(from),
        before [reads_path(from), reads_path(to)], after |_| [];
    symlink(from: Text, to: Text) -> c_int, within names::changing(to), before [reads_path(from), reads_path(to)], after |_| [];
    symlinkat(from: Text, at: c_int, to: Text) -> c_int, within names::changing(to), before [reads_path(from), reads_path(to)], after |_| [];
    truncate(path: Text, size: off_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    truncate64(path: Text, size: off_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    chown(path: Text, user: uid_t, group: gid_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    lchown(path: Text, user: uid_t, group: gid_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    fchownat(at: c_int, path: Text, user: uid_t, group: gid_t, flags: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [];
    pathconf(path: Text, name: c_int) -> libc::c_long, within names::looking_up(path), before [reads_path(path)], after |_| [];
    readlink(path: Text, to: *mut c_char, size: size_t) -> ssize_t, within names::looking_up(path),
        before [reads_path(path)], after |n| [writes(to, n.max(0) as usize)];
    readlinkat(at: c_int, path: Text, to: *mut c_char, size: size_t) -> ssize_t, within names::looking_up(path),
        before [reads_path(path)], after |n| [writes(to, n.max(0) as usize)];
    realpath(path: Text, to: *mut c_char) -> *mut c_char, within names::looking_up(path),
        before [reads_path(path)], after |text| [writes_text(text, true)];
    scandir(path: Text, list: Bytes, filter: Bytes, compare: Bytes) -> c_int, within names::listing(path), before [reads_path(path)], after |_| [];
    scandir64(path: Text, list: Bytes, filter: Bytes, compare: Bytes) -> c_int, within names::listing(path), before [reads_path(path)], after |_| [];
    glob(pattern: Text, flags: c_int, failed: Bytes, found: Bytes) -> c_int, within names::listing(pattern), before [reads_path(pattern)], after |_| [];
    glob64(pattern: Text, flags: c_int, failed: Bytes, found: Bytes) -> c_int, within names::listing(pattern), before [reads_path(pattern)], after |_| [];
    nftw(path: Text, visit: Bytes, open: c_int, flags: c_int) -> c_int, within names::listing(path), before [reads_path(path)], after |_| [];
    nftw64(path: Text, visit: Bytes, open: c_int, flags: c_int) -> c_int, within names::listing(path), before [reads_path(path)], after |_| [];
    ftw(path: Text, visit: Bytes, open: c_int) -> c_int, within names::listing(path), before [reads_path(path)], after |_| [];
    ftw64(path: Text, visit: Bytes, open: c_int) -> c_int, within names::listing(path), before [reads_path(path)], after |_| [];
    mknod(path: Text, mode: mode_t, device: libc::dev_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    mknodat(at: c_int, path: Text, mode: mode_t, device: libc::dev_t) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    opendir(path: Text) -> *mut DIR, within names::listing(path), before [reads_path(path)], after |_| [];
    readdir(of: *mut DIR) -> *mut libc::dirent, within names::listing(std::ptr::null()),
        before [], after |entry| [writes_entry(entry)];
    readdir64(of: *mut DIR) -> *mut libc::dirent, within names::listing(std::ptr::null()),
        before [], after |entry| [writes_entry(entry)];
    shm_open(name: Text, flags: c_int, mode: mode_t) -> c_int, within names::opening_with(name, flags),
        before [reads_path(name)], after |_| [];
    shm_unlink(name: Text) -> c_int, within names::changing(name), before [reads_path(name)], after |_| [];
    sem_open(name: Text, flags: c_int, mode: mode_t, value: c_uint) -> *mut libc::sem_t,
        within names::opening_with(name, flags),
        before [reads_path(name)], after |_| [];
    sem_unlink(name: Text) -> c_int, within names::changing(name), before [reads_path(name)], after |_| [];
    mq_open(name: Text, flags: c_int, mode: mode_t, about: *const libc::mq_attr) -> c_int,
        within names::opening_with(name, flags),
        before [reads_path(name)], after |_| [];
    mq_unlink(name: Text) -> c_int, within names::changing(name), before [reads_path(name)], after |_| [];
    getcwd(to: *mut c_char, size: size_t) -> *mut c_char, within names::listing(std::ptr::null()), before [], after |text| [writes_text(text, true)];
    mkstemp(path: *mut c_char) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [writes_text(path, true)];
    mkstemp64(path: *mut c_char) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkostemp(path: *mut c_char, flags: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkostemp64(path: *mut c_char, flags: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkstemps(path: *mut c_char, end: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkstemps64(path: *mut c_char, end: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkostemps(path: *mut c_char, end: c_int, flags: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkostemps64(path: *mut c_char, end: c_int, flags: c_int) -> c_int, within names::changing(path),
        before [reads_path(path)], after |_| [writes_text(path, true)];
    mkdtemp(path: *mut c_char) -> *mut c_char, within names::changing(path), before [reads_path(path)], after |_| [writes_text(path, true)];
}
