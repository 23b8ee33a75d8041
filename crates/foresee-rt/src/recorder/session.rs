//! The beginning of a recording: the trace is created, and what is known of the process is written to it.
//!
//! The child of a fork is a run of its own: it leaves the parent's trace alone and begins another, under a name with its process id.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use foresee_format::{
    CALLS_OF, INITIAL_VALUE_OF, PLACE_OF, PROCESS, RunFlags, SOME_CALLS_OF, TEXT_CALLS, TEXT_FACTS,
    TEXT_JOINED, TEXT_MAPS, UNSIGNED,
};

use super::new_file::{self, Name};
use super::order::{self, Clock};
use super::{
    branches, code_filter, joined, ring, seen_values, side_files, status, thread, trace_file, watched,
};
use crate::message::say;
use crate::{environment, monitors, program, variables};

const PATH_LEN: usize = libc::PATH_MAX as usize;
/// The name that was given for the trace. It is kept, as the program may change its environment before it forks.
static PATH: [AtomicU8; PATH_LEN] = [const { AtomicU8::new(0) }; PATH_LEN];

/// This process was forked off another that is recorded.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// What hooks in the program record, for all traces of it.
static CALLS: OnceLock<Vec<u8>> = OnceLock::new();

/// Hooks are in place that record this ([`TEXT_CALLS`]). To be called before the recording begins.
pub(crate) fn note_calls(calls: Vec<u8>) {
    CALLS.get_or_init(|| calls);
}

/// Begins to record into the file that `FORESEE_RAW` names, if it does.
pub(crate) fn start() {
    if environment::is_set_in_vain(c"FORESEE_RAW") {
        // A program with other rights than its user's must not write where its user says.
        return say(&[b"foresee: the program has other rights than its user (setuid): it runs unrecorded\n"]);
    }
    let is_monitored = monitors::start();
    // A program that is started by others than the C library's start code ends, too.
    await_end();
    let Some(path) = environment::text(c"FORESEE_RAW") else {
        return if is_monitored {
            monitor_alone()
        };
    };
    for (slot, &byte) in PATH[..PATH_LEN - 1].iter().zip(path.to_bytes()) {
        slot.store(byte, Relaxed);
    }
    begin(path, new_file::create(path), is_monitored);
}

/// Ends recording for this process, and for nobody who shares the file: for the child of a fork.
pub(crate) fn suspend() {
    status::turn_off();
}

/// Begins the trace of the child of a fork.
pub(crate) fn start_in_child() {
    trace_file::leave_to_parent();
    IS_CHILD.store(true, Relaxed);
    let mut path = [0; PATH_LEN];
    for (byte, slot) in path.iter_mut().zip(&PATH) {
        *byte = slot.load(Relaxed);
    }
    match CStr::from_bytes_until_nul(&path) {
        Ok(path) if !path.is_empty() => {
            begin(path, new_file::create_for_this_process(path), monitors::start_in_child());
        }
        _ => monitors::leave_child_alone(),
    }
}

/// There is no trace. Keys are times where that can be, as nobody reads them and the counter is one for all threads.
fn monitor_alone() {
    order::start(Clock::Time, true);
    status::turn_on_monitors();
}

/// Has the end of the process noted. To be called before the C library registers what runs destructors: then it comes behind them, and behind what the program registers. Only the first call counts.
pub(crate) fn await_end() {
    static IS_AWAITED: AtomicBool = AtomicBool::new(false);
    if !IS_AWAITED.swap(true, Relaxed) {
        // SAFETY: the function stays, and does not look at its argument. (`atexit` is not in the C library itself, but linked to programs.)
        unsafe { __cxa_atexit(end, std::ptr::null_mut(), std::ptr::null_mut()) };
    }
}

unsafe extern "C" {
    fn __cxa_atexit(
        function: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

/// The process ends by itself, and has done all that it does then.
extern "C" fn end(_: *mut c_void) {
    if status::only_monitored() {
        thread::always(|local| monitors::end(local.monitored_thread()));
    }
    // A copy of the process that nobody has seen has the trace of the original.
    if status::recording() {
        trace_file::note_end();
    }
}

fn begin(path: &CStr, (name, fd): (Name, i32), is_monitored: bool) {
    if let Ok(name) = CStr::from_bytes_until_nul(&name) {
        side_files::start(name);
    }
    start_clock();
    let problem: &[u8] = if fd < 0 {
        b"foresee: cannot create the trace "
    } else if !trace_file::open(fd, flags()) {
        b"foresee: cannot write the trace "
    } else {
        write_facts();
        write_maps(0);
        if let Some(calls) = CALLS.get() {
            trace_file::write_text(TEXT_CALLS, 0, calls);
        }
        if !joined::text().is_empty() {
            trace_file::write_text(TEXT_JOINED, 0, joined::text());
        }
        seen_values::write_image();
        let some_are_special = watched::any() || code_filter::is_on();
        return status::turn_on(is_monitored, some_are_special, seen_values::are_recorded());
    };
    say(&[problem, path.to_bytes(), b"; the program runs unrecorded\n"]);
}

/// The counter with the moment of each record, unless pages are asked for (`FORESEE_CLOCK=time` or `pages`: by time or by the counter; the driver asks for time where there are many processors) and the moment of no record counts: it does where
/// code may order threads unseen, where values are compared, and where the beginning of the run is given up at some moment. With `FORESEE_CLOCK=moments` every record has the time of its own moment, whatever that costs.
fn start_clock() {
    let asked = environment::text(c"FORESEE_CLOCK").map_or(&b""[..], CStr::to_bytes);
    let moments_count = ring::is_on() || seen_values::are_recorded();
    let may_have_pages = !moments_count && !program::has_unknown_libraries();
    match asked {
        b"time" if may_have_pages => order::start(Clock::Time, true),
        b"pages" if may_have_pages => order::start(Clock::Counter, true),
        b"moments" if !moments_count => order::start(Clock::Time, false),
        _ => order::start(Clock::Counter, false),
    }
}

/// Libraries were loaded: code of theirs may order threads unseen from now on.
pub(crate) fn look_at_libraries() {
    if order::has_pages() && program::has_unknown_libraries() {
        order::be_exact();
    }
}

/// What is known of the run before it begins.
fn flags() -> RunFlags {
    RunFlags::NONE
        .with_if(RunFlags::IS_RUST, program::is_rust())
        .with_if(RunFlags::HAS_BRANCHES, branches::are_recorded())
        .with_if(RunFlags::ACCESSES_LEFT_OUT, code_filter::is_on())
        .with_if(RunFlags::HAS_SEEN_VALUES, seen_values::are_recorded())
        .with_if(RunFlags::KEYS_OF_PAGES, !order::moments_are_shared())
        .with_if(RunFlags::CHUNKS_STAY, thread::chunks_stay())
        .with_if(RunFlags::AFTER_FORK, IS_CHILD.load(Relaxed))
        .with_if(RunFlags::TELLS_END, true)
}

/// Writes facts about the process: they appear in `foresee trace info`, and properties have the first values of variables from them.
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
    fact(PROCESS, std::process::id().to_string().as_bytes());
    if let Ok(time) = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        fact("time", time.as_secs().to_string().as_bytes());
    }
    for variable in variables::all() {
        if let Some(value) = variable.value() {
            let unsigned = if variable.is_unsigned { UNSIGNED } else { "" };
            fact(&[INITIAL_VALUE_OF, &variable.name].concat(), format!("{value}{unsigned}").as_bytes());
        }
        if let Some(part) = &variable.part {
            let place = format!("{:x}:{:x}", variable.addr, variable.size);
            fact(&[PLACE_OF, part].concat(), place.as_bytes());
        }
    }
    // The driver says what it has asked for.
    let asked = |name: &'static CStr| {
        let text = environment::text(name).and_then(|text| text.to_str().ok()).unwrap_or_default();
        text.lines().filter_map(|line| line.split_once('\t'))
    };
    let exact = asked(c"FORESEE_CALLS_OF").filter(|_| CALLS.get().is_some());
    exact.for_each(|(how, function)| fact(&[CALLS_OF, function].concat(), how.as_bytes()));
    let some = asked(c"FORESEE_SOME_CALLS_OF");
    some.for_each(|(why, function)| fact(&[SOME_CALLS_OF, function].concat(), why.as_bytes()));
    trace_file::write_text(TEXT_FACTS, 0, &facts);
}

/// Writes which files are mapped where from this key on: at the start, and whenever that may have changed.
pub(crate) fn write_maps(key: u64) {
    if let Ok(maps) = std::fs::read("/proc/self/maps") {
        trace_file::write_text(TEXT_MAPS, key, &maps);
    }
}
