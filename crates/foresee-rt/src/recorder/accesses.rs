//! Accesses that are not recorded on the fast path: of watched variables, and of ranges of bytes.

use foresee_format::{ON_BEHALF, Tag, Unseen};

use super::thread::{AccessKind, access_at_once, accessing, always, inside};
use super::watched::{self, Access};
use super::{code_filter, seen_values, status};
use crate::program;

/// Records an access that may be of a watched variable: the filter says so, which is not always right.
#[cold]
#[inline(never)]
pub(crate) fn maybe_watched(tag: Tag, with_value: Tag, addr: u64, size: u8, pc: u64) {
    inside(|local| match Access::begin(addr, size, tag == Tag::Write) {
        Some(access) => local.with_value(with_value, access, pc),
        None => {
            if tag == Tag::Write {
                watched::disturb(addr, size.into());
            }
            local.access(
                if tag == Tag::Write { AccessKind::Write } else { AccessKind::Read },
                addr,
                size,
                pc,
            );
        }
    });
}

/// Records that these bytes are read.
pub(crate) extern "C-unwind" fn read_range(addr: u64, size: u64, pc: u64) {
    if size > 0 && !code_filter::leaves_out(pc) {
        accessing(|local| local.range(AccessKind::Read, addr, size, pc));
    }
}

/// Records that these bytes are written.
pub(crate) extern "C-unwind" fn write_range(addr: u64, size: u64, pc: u64) {
    if size > 0 {
        accessing(|local| {
            watched::disturb(addr, size);
            if !code_filter::leaves_out(pc) {
                local.range(AccessKind::Write, addr, size, pc);
            }
        });
    }
}

/// These bytes were written: records what watched variables among them are now.
pub(crate) fn has_written(addr: u64, size: u64, pc: u64) {
    if watched::any() {
        watched::within(addr, size)
            .for_each(|(start, size)| maybe_watched(Tag::Write, Tag::WriteValue, start, size, pc));
    }
}

/// Records that a function of Rust's library reads these bytes, and writes them if so, for who called it.
pub(crate) fn access_on_behalf(writes: bool, addr: u64, size: u64, pc: u64) {
    if size == 0 || !counts(pc) {
        return;
    }
    accessing(|local| {
        if writes {
            watched::disturb(addr, size);
        }
        if !code_filter::leaves_out(pc) {
            local.plain(Tag::ReadRange, ON_BEHALF, [pc, addr, size]);
            if writes {
                local.plain(Tag::WriteRange, ON_BEHALF, [pc, addr, size]);
            }
        }
    });
}

/// Records that a call of instrumented code accesses so many bytes: of a block that is new, of an object of the C library, or where no
/// memory is, for something else.
pub(crate) fn access_by_call(kind: AccessKind, addr: u64, size: u8, pc: u64) {
    if !program::is_instrumented_at(pc) || access_at_once(kind, addr, size, pc) {
        return;
    }
    if !code_filter::leaves_out(pc) {
        accessing(|local| local.access(kind, addr, size, pc));
    }
}

/// Records that these bytes may be others than they were, for those who compare what reads see.
pub(crate) fn changed(addr: u64, size: u64, pc: u64) {
    if size > 0 && seen_values::are_recorded() {
        always(|local| local.plain(Tag::Changed, 0, [pc, addr, size]));
    }
}

/// Records that a call accesses what nobody records: its thread does not change places with others around it.
pub(crate) fn unseen(what: Unseen, pc: u64) {
    inside(|local| local.plain(Tag::Unseen, what as u8, [pc]));
}

/// Whether what a function of the C library accesses on behalf of its caller is to be recorded: instrumented code called it, not
/// another library, which may order what it does in ways that are not seen; and the runtime is not calling it for itself.
pub(crate) fn counts(pc: u64) -> bool {
    status::recording() && program::is_instrumented_at(pc) && accessing(|_| ()).is_some()
}
