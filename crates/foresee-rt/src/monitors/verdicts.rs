//! What is found without a trace is told in a file that `FORESEE_VERDICTS` names, as lines of fields with tabs between them:
//!
//! ```text
//! begin                                                       before the program's own code
//! verdict PROPERTY CATEGORY THREAD PLACE CERTAINTY MESSAGE    at the event
//! end PROPERTY EVENTS MISFITS GIVEN_UP                        when the process has ended by itself
//! thread NAME, local NAME                                     what formulas about what threads know mention, and is there
//! knowledge EVENTS VARIABLES                                  when the process has ended by itself
//! child                                                       of a fork: it is not monitored
//! crowd                                                       there are more threads than can be monitored
//! ```
//!
//! PLACE is the address of the code as the program's file has it, in hexadecimal, 0 if that is not known, or `end`; CERTAINTY is `sure`, or the name of a variable whose value was not known. Line ends, tabs and backslashes
//! in a field are written as `\n`, `\t` and `\\`. Each line is one write to the end of the file, which is opened for it: a program may do with descriptors whatever it likes.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::{environment, program};

/// Where the file is, and how far the program is from where its file says.
struct Destination {
    path: &'static CStr,
    bias: u64,
    /// The name that threads have unless they are named.
    usual_name: [u8; NAME],
}

static DESTINATION: OnceLock<Destination> = OnceLock::new();

/// How long the kernel's names of threads are.
const NAME: usize = 16;

/// Learns where the file is.
pub(in crate::monitors) fn start() {
    if let Some(path) = environment::text(c"FORESEE_VERDICTS") {
        DESTINATION.get_or_init(|| Destination { path, bias: program::load_bias(), usual_name: own_name() });
    }
}

/// Whether there is somebody to be told.
pub(in crate::monitors) fn are_told() -> bool {
    DESTINATION.get().is_some()
}

/// The kernel's name of this thread.
fn own_name() -> [u8; NAME] {
    let mut name = [0; NAME];
    // SAFETY: the call writes no more than 16 bytes to `name`.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// What this thread is called, as in a trace.
pub(in crate::monitors) fn thread_name(thread: u32) -> String {
    let own = own_name();
    let is_usual = DESTINATION.get().is_none_or(|destination| destination.usual_name == own);
    match thread {
        0 => "main".to_owned(),
        _ if is_usual => format!("T{thread}"),
        _ => String::from_utf8_lossy(own.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned(),
    }
}

/// Where code is, as the program's file has it; 0 if it is elsewhere.
pub(in crate::monitors) fn place(pc: u64) -> u64 {
    let bias = DESTINATION.get().map_or(0, |destination| destination.bias);
    if program::has_code_at(pc) { pc.wrapping_sub(bias) } else { 0 }
}

/// What is to be monitored is monitored.
pub(in crate::monitors) fn tell_begin() {
    line(&["begin"]);
}

/// In the place of code: at the end of the process.
pub(in crate::monitors) const AT_END: u64 = u64::MAX;

/// Something was found.
pub(in crate::monitors) struct Found<'f> {
    pub(in crate::monitors) property: &'f str,
    pub(in crate::monitors) category: &'f str,
    pub(in crate::monitors) thread: u32,
    pub(in crate::monitors) pc: u64,
    /// A variable whose value was not known.
    pub(in crate::monitors) unknown: Option<&'f str>,
    pub(in crate::monitors) message: &'f str,
}

/// Tells of it, if there is somebody to be told.
pub(in crate::monitors) fn tell(found: &Found<'_>) {
    let Found { property, category, thread, pc, unknown, message } = *found;
    let place = if pc == AT_END { "end".to_owned() } else { format!("{:x}", place(pc)) };
    let thread = thread_name(thread);
    line(&["verdict", property, category, &thread, &place, unknown.unwrap_or("sure"), message]);
}

/// The process ends, and a property has seen this.
pub(in crate::monitors) fn tell_end(property: &str, [events, misfits, given_up]: [u64; 3]) {
    line(&["end", property, &events.to_string(), &misfits.to_string(), &given_up.to_string()]);
}

/// A thread is called this, which a property mentions.
pub(in crate::monitors) fn tell_thread(name: &str) {
    line(&["thread", name]);
}

/// A thread assigns this variable of its own.
pub(in crate::monitors) fn tell_local(name: &str) {
    line(&["local", name]);
}

/// The process ends, and so many events were steps of formulas about what threads know; the values of some variables were perhaps not known.
pub(in crate::monitors) fn tell_end_of_knowledge(events: u64, unknown: &str) {
    line(&["knowledge", &events.to_string(), unknown]);
}

/// Not all threads are monitored.
pub(in crate::monitors) fn tell_crowd() {
    line(&["crowd"]);
}

/// This is the child of a fork, which is not monitored.
pub(in crate::monitors) fn tell_child() {
    line(&["child"]);
}

fn line(fields: &[&str]) {
    let Some(destination) = DESTINATION.get() else { return };
    let mut text = String::new();
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            text.push('\t');
        }
        for letter in field.chars() {
            let _ = match letter {
                '\n' => text.write_str("\\n"),
                '\t' => text.write_str("\\t"),
                '\\' => text.write_str("\\\\"),
                letter => text.write_char(letter),
            };
        }
    }
    text.push('\n');
    // SAFETY: the path ends in a zero byte, pointer and length are those of the text, and the descriptor is the one that was just opened. By system calls, as the C library's functions are
    // those of programs, which are recorded.
    unsafe {
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
        let fd = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, destination.path.as_ptr(), flags);
        if fd >= 0 {
            libc::syscall(libc::SYS_write, fd, text.as_ptr(), text.len());
            libc::syscall(libc::SYS_close, fd);
        }
    }
}
