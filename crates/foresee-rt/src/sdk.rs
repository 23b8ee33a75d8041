//! Annotations: the C ABI of the SDK (the crate `foresee` for Rust, `foresee.h` for C and C++).
//!
//! Both reach these functions by weak references, so annotated programs also run without this runtime. A name is a pointer and a
//! length, valid during the call, and goes into the thread's own records in front of the one that it is for
//! (`foresee_format` says how). An event's arguments come by calls of their own before it, so that building an event
//! takes no memory of the program, whose accesses would be recorded.
//!
//! Events, locals and the steps of operations take stamps: their order among threads is that of time, as monitors are to see it. Stamps order
//! records, they make no happens-before.

use foresee_format::{ARG_INT, ARG_OBJECT, ARG_STR, OperationStep, TEXT_ENDS, TEXT_PIECE, Tag};

use crate::entry_points::entries;
use crate::monitors;
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::{Ignored, Local, begin_ignoring, end_ignoring, inside, plain};
use crate::recorder::{status, watched};

/// Longer texts are cut.
pub(crate) const MAX_TEXT: usize = 4096;

/// A text that was passed.
fn bytes<'c>(start: *const u8, len: usize) -> &'c [u8] {
    if start.is_null() {
        return b"";
    }
    // SAFETY: the ABI asks for the address of `len` bytes that nobody changes during the call; no more than these are read, and not after it.
    unsafe { std::slice::from_raw_parts(start, len.min(MAX_TEXT)) }
}

fn text(local: &Local, start: *const u8, len: usize) {
    if status::only_monitored() {
        return;
    }
    let mut rest = bytes(start, len);
    loop {
        let (piece, after) = rest.split_at(rest.len().min(TEXT_PIECE));
        let mut words = [0_u64; TEXT_PIECE / 8];
        for (i, &byte) in piece.iter().enumerate() {
            words[i / 8] |= u64::from(byte) << (8 * (i % 8));
        }
        let ends = if after.is_empty() { TEXT_ENDS } else { 0 };
        local.plain(Tag::Text, piece.len() as u8 | ends, words);
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

extern "C-unwind" fn event(name: *const u8, len: usize, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.stamped(Tag::Named, 0, [pc]);
        local.monitor_event(bytes(name, len), pc);
    });
}

extern "C-unwind" fn int(value: u64, _pc: u64) {
    plain(Tag::Arg, ARG_INT, [value]);
}

extern "C-unwind" fn object(addr: u64, _pc: u64) {
    plain(Tag::Arg, ARG_OBJECT, [addr]);
}

extern "C-unwind" fn string(start: *const u8, len: usize, _pc: u64) {
    inside(|local| string_argument(local, start, len));
}

/// Records a text as an argument of what follows.
pub(crate) fn string_argument(local: &Local, start: *const u8, len: usize) {
    text(local, start, len);
    if status::monitored() {
        monitors::text_argument(bytes(start, len));
    }
    local.plain(Tag::Arg, ARG_STR, [0]);
}

extern "C-unwind" fn assign(name: *const u8, len: usize, value: u64, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.stamped(Tag::Local, 0, [pc, value]);
        local.monitor_assignment(bytes(name, len), value, pc);
    });
}

extern "C-unwind" fn on_violation(name: *const u8, len: usize, function: usize, argument: usize, _pc: u64) {
    inside(|_| monitors::register(bytes(name, len), function, argument));
}

extern "C-unwind" fn begin_block(name: *const u8, len: usize, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.plain(Tag::BlockBegin, 0, [pc]);
    });
}

extern "C-unwind" fn end_block(pc: u64) {
    plain(Tag::BlockEnd, 0, [pc]);
}

extern "C-unwind" fn call(name: *const u8, len: usize, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.stamped(Tag::Operation, OperationStep::Call as u8, [pc]);
    });
}

extern "C-unwind" fn returns(name: *const u8, len: usize, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.stamped(Tag::Operation, OperationStep::Return as u8, [pc]);
    });
}

extern "C-unwind" fn commit(pc: u64) {
    inside(|local| local.stamped(Tag::Operation, OperationStep::Commit as u8, [pc]));
}

extern "C-unwind" fn commit_begin(pc: u64) {
    inside(|local| local.stamped(Tag::Operation, OperationStep::CommitBegin as u8, [pc]));
}

extern "C-unwind" fn commit_end(pc: u64) {
    inside(|local| local.stamped(Tag::Operation, OperationStep::CommitEnd as u8, [pc]));
}

extern "C-unwind" fn watch(addr: u64, size: u64, name: *const u8, len: usize, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.plain(Tag::NameVariable, 0, [pc, addr, size]);
        watched::watch(addr..addr.saturating_add(size));
    });
}

extern "C-unwind" fn name_lock(addr: u64, size: u64, name: *const u8, len: usize, pc: u64) {
    inside(|local| {
        text(local, name, len);
        local.plain(Tag::NameLock, 0, [pc, addr, size]);
    });
}

extern "C-unwind" fn before(token: u64, pc: u64) {
    release_edge(token, pc);
}

extern "C-unwind" fn after(token: u64, pc: u64) {
    acquire_edge(token, pc);
}

/// What a thread does up to [`end_monitor`] is work of the monitors in the program, not the program's.
extern "C-unwind" fn begin_monitor(_pc: u64) {
    OF_MONITORS.into_iter().for_each(begin_ignoring);
}

extern "C-unwind" fn end_monitor(_pc: u64) {
    OF_MONITORS.into_iter().for_each(end_ignoring);
}

/// What of the work of monitors is not recorded.
const OF_MONITORS: [Ignored; 3] = [Ignored::Accesses, Ignored::Synchronisation, Ignored::Calls];

entries! {
    foresee_event => event, "rdx";
    foresee_arg_int => int, "rsi";
    foresee_arg_object => object, "rsi";
    foresee_arg_str => string, "rdx";
    foresee_local => assign, "rcx";
    foresee_on_violation => on_violation, "r8";
    foresee_block_begin => begin_block, "rdx";
    foresee_block_end => end_block, "rdi";
    foresee_call => call, "rdx";
    foresee_return => returns, "rdx";
    foresee_commit => commit, "rdi";
    foresee_commit_begin => commit_begin, "rdi";
    foresee_commit_end => commit_end, "rdi";
    foresee_watch => watch, "r8";
    foresee_name_lock => name_lock, "r8";
    foresee_happens_before => before, "rsi";
    foresee_happens_after => after, "rsi";
    foresee_monitor_begin => begin_monitor, "rdi";
    foresee_monitor_end => end_monitor, "rdi";
}
