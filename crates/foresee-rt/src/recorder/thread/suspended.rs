//! Threads of the trace that do not run at the moment: fibers.

use super::local::{Local, NOBODY};
use crate::recorder::frames::Frames;

/// Where a thread of the trace will go on to write when it runs again.
#[derive(Clone, Copy)]
pub(crate) struct Suspended {
    next: *mut u64,
    end: *mut u64,
    chunk: *mut u64,
    mapping: *mut u64,
    len: u64,
    turn: u64,
    thread: u32,
    depth: u32,
    frames: Frames,
}

impl Suspended {
    /// A thread without a number.
    pub(crate) const NEW: Suspended = Suspended {
        next: std::ptr::null_mut(),
        end: std::ptr::null_mut(),
        chunk: std::ptr::null_mut(),
        mapping: std::ptr::null_mut(),
        len: 0,
        turn: 0,
        thread: NOBODY,
        depth: 0,
        frames: Frames::NONE,
    };

    /// A thread that has not begun.
    pub(crate) fn of_thread(thread: u32) -> Suspended {
        Suspended { thread, ..Suspended::NEW }
    }

    /// The thread has ended.
    pub(crate) fn forget_frames(self) {
        self.frames.drop();
    }
}

impl Local {
    /// Goes on as another thread of the trace; returns the one that it was.
    pub(crate) fn switch_to(&self, other: Suspended) -> Suspended {
        self.near.forget();
        Suspended {
            next: self.next.replace(other.next),
            end: self.end.replace(other.end),
            chunk: self.chunk.replace(other.chunk),
            mapping: self.mapping.replace(other.mapping),
            len: self.len.replace(other.len),
            turn: self.turn.replace(other.turn),
            thread: self.thread.replace(other.thread),
            depth: self.depth.replace(other.depth),
            frames: self.frames.replace(other.frames),
        }
    }
}
