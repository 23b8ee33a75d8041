//! What calls into the runtime are: which announce accesses, which are events.

use iced_x86::FlowControl;

use super::callee::Call;
use super::coverage::Announcement;
use super::file_code::{FileCode, FunctionStart};
use super::flow::decode;

/// How many instructions of an entry point of the runtime come before it calls its function.
const ENTRY: usize = 40;

/// Functions that the runtime stands in front of and that are an event whenever they are called.
const EVENTS: &[&str] = &[
    "malloc",
    "calloc",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "_Znwm",
    "_Znam",
    "pthread_join",
    "pthread_barrier_wait",
    "sem_post",
];

/// Functions that the runtime stands in front of, and that also read a state of the process or its files which it does not see:
/// what they find there depends on what other threads did. (Those that only change it need not be here, nor those of streams,
/// which say so when they are called.)
const STATEFUL: &str = "access eaccess euidaccess faccessat chdir chmod chown fchmodat fchownat lchown lchmod close_range \
    closefrom creat creat64 dup dup2 dup3 fcntl fcntl64 fopen fopen64 freopen freopen64 fdopen popen fstat fstat64 fstatat \
    fstatat64 stat stat64 lstat lstat64 statx getcwd __getcwd_chk getgroups gethostname __gethostname_chk getloadavg getpeername \
    getsockname getsockopt setsockopt ioctl link linkat symlink symlinkat readlink readlinkat __readlink_chk __readlinkat_chk \
    realpath __realpath_chk mkdir mkdirat mkdtemp mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkstemps64 mkostemps mkostemps64 \
    shm_open shm_unlink sem_open sem_unlink mq_open mq_unlink mkfifo mkfifoat open open64 openat openat64 pathconf remove rename \
    renameat renameat2 rmdir opendir readdir readdir64 unlink unlinkat truncate truncate64 ftruncate ftruncate64 sigaction signal \
    bsd_signal __sysv_signal sigpending system uname utimes utimensat futimens futimes lutimes ttyname_r __ttyname_r_chk \
    ptsname_r setitimer alarm ualarm timer_settime timerfd_settime clock_settime read readv pread pread64 preadv preadv64 preadv2 \
    preadv64v2 __read_chk __pread_chk __pread64_chk recv recvfrom recvmsg recvmmsg __recv_chk __recvfrom_chk accept accept4 \
    mq_receive mq_timedreceive msgrcv eventfd_read poll ppoll select pselect epoll_wait epoll_pwait epoll_pwait2 wait wait3 wait4 \
    waitid waitpid aio_error aio_error64 aio_return aio_return64 aio_suspend aio_suspend64 semctl dlopen dlclose setjmp _setjmp \
    __sigsetjmp pclose lseek lseek64 fchdir vwprintf vfwprintf wprintf fwprintf vwscanf vfwscanf wscanf fwscanf __isoc99_vwscanf \
    __isoc99_vfwscanf __isoc99_wscanf __isoc99_fwscanf getitimer timer_gettime scandir scandir64 glob glob64 nftw nftw64 ftw ftw64 \
    mknod mknodat posix_spawn posix_spawnp msgctl listen";

/// Functions that the runtime stands in front of, and that call back.
const CALLING_BACK: [&str; 4] = ["qsort", "qsort_r", "pthread_once", "call_once"];

/// How functions of the system begin that keep addresses they are given, or give them to other threads.
const KEEPING: [&str; 16] = [
    "pthread_create",
    "thrd_create",
    "pthread_setspecific",
    "tss_set",
    "__pthread_register",
    "_pthread_cleanup_push",
    "pthread_atfork",
    "aio_",
    "lio_listio",
    "timer_create",
    "mq_notify",
    "setvbuf",
    "sigaltstack",
    "GOMP_",
    "__kmpc_",
    "on_exit",
];

/// How the symbols of functions begin that C++'s library has as source.
const CXX_LIBRARY: [&str; 4] = ["_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx"];
/// In the names of those that keep what they are given by reference.
const CXX_KEEPING: [&str; 8] =
    ["3ref", "4cref", "wrapper", "thread", "async", "function", "bind", "oroutine"];

/// Whether a function is one of C++'s library that keeps nothing of what it is given.
pub(super) fn is_cxx_library(symbol: &str) -> bool {
    CXX_LIBRARY.iter().any(|beginning| symbol.starts_with(beginning))
        && !CXX_KEEPING.iter().any(|part| symbol.contains(part))
}

/// Whether a function of the system keeps an address that it is given, or gives it to another thread.
pub(super) fn keeps_arguments(symbol: &str) -> bool {
    KEEPING.iter().any(|beginning| symbol.starts_with(beginning))
}

/// Whether a function calls back.
pub(super) fn calls_back(symbol: &str) -> bool {
    CALLING_BACK.contains(&symbol)
}

/// Whether a function depends on a state that the runtime does not see.
pub(super) fn is_stateful(symbol: &str) -> bool {
    STATEFUL.split_ascii_whitespace().any(|name| name == symbol)
}

/// Whether a function is an entry point of the runtime, which leads to one of its functions at once.
pub(super) fn is_entry_point(code: &FileCode, start: FunctionStart) -> bool {
    let instructions = decode(code, start);
    instructions.iter().take(ENTRY).any(|one| {
        let leads = matches!(one.flow_control(), FlowControl::Call | FlowControl::UnconditionalBranch);
        leads
            && code.function_at(one.near_branch_target()).is_some_and(|to| to != start && code.is_runtime(to))
    })
}

/// What a call into the runtime is.
pub(super) fn runtime_call(symbol: &str) -> Call {
    if let Some(rest) = symbol.strip_prefix("__tsan_") {
        return match rest {
            "func_entry" => Call::Event,
            "func_exit" => Call::Leaves,
            "vptr_update" => Call::Announces(Announcement { writes: true, size: Some(8) }),
            "vptr_read" => Call::Announces(Announcement { writes: false, size: Some(8) }),
            "read_range" => Call::Announces(Announcement { writes: false, size: None }),
            "write_range" => Call::Announces(Announcement { writes: true, size: None }),
            _ if rest.starts_with("atomic") => atomic_load(rest).map_or(Call::Event, Call::Announces),
            _ => announcement(rest).map_or(Call::Tool, Call::Announces),
        };
    }
    if symbol.starts_with("__sanitizer_cov") {
        return Call::Tool;
    }
    match symbol {
        "exit" => Call::NeverReturns,
        _ if EVENTS.contains(&symbol) => Call::Event,
        _ => Call::Nothing,
    }
}

/// Functions that are not recorded in Rust programs, where Rust's library calls them for itself. (What is built with instrumentation
/// calls others.)
pub(super) fn is_copy(symbol: &str) -> bool {
    matches!(symbol, "memcpy" | "memmove" | "memset" | "realloc")
}

/// What `atomic32_load` announces: clang makes it the call, and leaves the instruction behind it, whose result nobody uses.
fn atomic_load(rest: &str) -> Option<Announcement> {
    let bits: u64 = rest.strip_prefix("atomic")?.strip_suffix("_load")?.parse().ok()?;
    Some(Announcement { writes: false, size: Some(bits / 8) })
}

/// What `read4`, `unaligned_write8` and the like announce.
fn announcement(rest: &str) -> Option<Announcement> {
    let rest = rest.strip_prefix("unaligned_").unwrap_or(rest);
    let rest = rest.strip_prefix("volatile_").unwrap_or(rest);
    let (writes, rest) = match rest.strip_prefix("read_write") {
        Some(rest) => (true, rest),
        None => match rest.strip_prefix("read") {
            Some(rest) => (false, rest),
            None => (true, rest.strip_prefix("write")?),
        },
    };
    let size = rest.strip_suffix("_pc").unwrap_or(rest).parse().ok()?;
    Some(Announcement { writes, size: Some(size) })
}
