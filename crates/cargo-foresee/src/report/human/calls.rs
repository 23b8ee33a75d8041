//! The calls that led to an event.

use foresee_trace::raw::is_library_function;

use crate::report::model::{Event, Location};
use crate::report::viewpoint::Viewpoint;

/// So many calls of a stack are shown.
const MOST_CALLS: usize = 6;

/// The calls, innermost first; those of libraries are folded, and left out where they only start a thread.
pub(super) fn calls(event: &Event, viewpoint: &Viewpoint) -> Vec<String> {
    let users = event.stack.iter().rposition(|frame| !is_library(frame)).map_or(0, |last| last + 1);
    let mut lines = Vec::new();
    let mut shown = 0;
    for frames in event.stack[..users].chunk_by(|a, b| is_library(a) && is_library(b)) {
        match frames {
            [frame] if !is_library(frame) => {
                let function = frame.function.as_deref().unwrap_or_default();
                let place = if frame.is_at(&event.location) {
                    String::new()
                } else {
                    format!(" ({})", viewpoint.place(&Location { function: None, ..frame.clone() }))
                };
                lines.push(format!("in {function}{place}"));
            }
            [_] => lines.push("… 1 library frame".to_owned()),
            frames => lines.push(format!("… {} library frames", frames.len())),
        }
        shown += frames.len();
        if lines.len() == MOST_CALLS && shown < users {
            lines.push(format!("… {} more", users - shown));
            break;
        }
    }
    lines
}

/// Whether a frame is not what a reader looks for in a stack: of a language's own library or one of locks, what a compiler
/// makes to call closures, or code whose source is not known.
fn is_library(frame: &Location) -> bool {
    let function = frame.function.as_deref().unwrap_or_default();
    let has_no_source = frame.file.is_some() && frame.line.is_none();
    let is_of_system = frame.file.as_ref().is_some_and(|file| file.starts_with("/usr/include/"));
    let calls_closure =
        function.contains(" as core::ops::function::FnOnce<") && function.contains(">>::call_once");
    let starts = ["__", "pthread_"].iter().any(|start| function.starts_with(start));
    has_no_source
        || is_of_system
        || calls_closure
        || starts
        || function.is_empty()
        || is_library_function(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str) -> Location {
        Location { function: Some(function.to_owned()), ..Location::default() }
    }

    #[test]
    fn frames_of_libraries() {
        for library in [
            "std::sys::backtrace::__rust_begin_short_backtrace::<app::main::{closure#0}, ()>",
            "<std::thread::Builder>::spawn::<app::work, ()>",
            "<lock_api::mutex::Mutex<parking_lot::raw_mutex::RawMutex, u32>>::lock",
            "<app::main::{closure#0} as core::ops::function::FnOnce<()>>::call_once",
            "<app::main::{closure#0} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}",
            "<alloc::boxed::Box<dyn core::ops::function::FnOnce<()>> as core::ops::function::FnOnce<()>>::call_once",
            "pthread_create",
        ] {
            assert!(is_library(&frame(library)), "{library}");
        }
        let without_source = Location { file: Some("app".to_owned()), ..frame("main") };
        let file = Some("/usr/include/c++/12/bits/std_thread.h".to_owned());
        let of_system = Location { file, line: Some(9), ..frame("main") };
        assert!(is_library(&without_source) && is_library(&of_system));
        for users in
            ["app::main", "<app::Bank as core::ops::drop::Drop>::drop", "stdlib::x", "work", "Bank::total()"]
        {
            assert!(!is_library(&frame(users)), "{users}");
        }
    }
}
