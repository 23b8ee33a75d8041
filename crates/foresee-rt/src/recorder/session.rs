//! The beginning of a recording: the trace is created, and what is known of the process is written to it.
//!
//! The child of a fork is a run of its own: it leaves the parent's trace alone and begins another, under a name with its process id.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use foresee_format::{
    INITIAL_VALUE_OF, PLACE_OF, PROCESS, RunFlags, TEXT_CALLS, TEXT_FACTS, TEXT_JOINED, TEXT_MAPS, UNSIGNED,
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
    // Without a trace, the child is not monitored: what its parent has done is not its own.
    if let Ok(path) = CStr::from_bytes_until_nul(&path)
        && !path.is_empty()
    {
        begin(path, new_file::create_for_this_process(path), monitors::start_in_child());
    }
}

/// There is no trace. Keys are times where that can be, as nobody reads them and the counter is one for all threads.
fn monitor_alone() {
    order::start(Clock::Time);
    status::turn_on_monitors();
    // SAFETY: the function stays, and does not look at its argument. It runs after those that the program registers. (`atexit` is not in the C library itself, but linked to programs.)
    unsafe { __cxa_atexit(end_monitors, std::ptr::null_mut(), std::ptr::null_mut()) };
}

unsafe extern "C" {
    fn __cxa_atexit(
        function: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

extern "C" fn end_monitors(_: *mut c_void) {
    thread::always(|local| monitors::end(local.monitored_thread()));
}

fn begin(path: &CStr, (name, fd): (Name, i32), is_monitored: bool) {
    if let Ok(name) = CStr::from_bytes_until_nul(&name) {
        side_files::start(name);
    }
    let clock = order::start(wanted_clock());
    let problem: &[u8] = if fd < 0 {
        b"foresee: cannot create the trace "
    } else if !trace_file::open(fd, flags(clock)) {
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

/// The counter, unless time is asked for (`FORESEE_CLOCK=time`: the driver does on many processors) and the moment of no record counts: it does where code may order threads unseen, where values are compared, and where the
/// beginning of the run is given up at some moment.
fn wanted_clock() -> Clock {
    let is_asked = environment::text(c"FORESEE_CLOCK").is_some_and(|clock| clock.to_bytes() == b"time");
    let needs_moments = || ring::is_on() || seen_values::are_recorded() || program::has_unknown_libraries();
    if is_asked && !needs_moments() { Clock::Time } else { Clock::Counter }
}

/// Libraries were loaded: code of theirs may order threads unseen from now on.
pub(crate) fn look_at_libraries() {
    if order::clock() == Clock::Time && program::has_unknown_libraries() {
        order::be_exact();
    }
}

/// What is known of the run before it begins.
fn flags(clock: Clock) -> RunFlags {
    RunFlags::NONE
        .with_if(RunFlags::IS_RUST, program::is_rust())
        .with_if(RunFlags::HAS_BRANCHES, branches::are_recorded())
        .with_if(RunFlags::ACCESSES_LEFT_OUT, code_filter::is_on())
        .with_if(RunFlags::HAS_SEEN_VALUES, seen_values::are_recorded())
        .with_if(RunFlags::KEYS_ARE_TIMES, clock == Clock::Time)
        .with_if(RunFlags::CHUNKS_STAY, thread::chunks_stay())
        .with_if(RunFlags::AFTER_FORK, IS_CHILD.load(Relaxed))
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
    trace_file::write_text(TEXT_FACTS, 0, &facts);
}

/// Writes which files are mapped where from this key on: at the start, and whenever that may have changed.
pub(crate) fn write_maps(key: u64) {
    if let Ok(maps) = std::fs::read("/proc/self/maps") {
        trace_file::write_text(TEXT_MAPS, key, &maps);
    }
}
