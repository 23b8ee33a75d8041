//! The hooks of a program, and what is recorded where it comes to one.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Release};

use foresee_format::{ARG_INT, ARG_OBJECT, ARG_STR, SAVED_REGISTERS, Tag, ValueWord};

use super::table::Hook;
use crate::recorder::thread::always;
use crate::sdk::padded_text;

/// All hooks, by their numbers.
static HOOKS: AtomicPtr<Hook> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Keeps the hooks for ever.
pub(super) fn keep(hooks: Box<[Hook]>) -> &'static [Hook] {
    let hooks: &'static mut [Hook] = Box::leak(hooks);
    HOOKS.store(hooks.as_mut_ptr(), Release);
    COUNT.store(hooks.len(), Release);
    hooks
}

/// The program has come to a hook. `registers` are its registers, `frame` is where the return address is.
pub(super) extern "C" fn reached(registers: *const [u64; SAVED_REGISTERS], frame: *const u64, number: usize) {
    if number >= COUNT.load(Acquire) {
        return;
    }
    // SAFETY: there are so many hooks, which are never freed nor changed; the trampoline passes the address of what it has saved, and
    // of the return address.
    let (hook, registers, pc) = unsafe { (&*HOOKS.load(Acquire).add(number), &*registers, frame.read()) };
    always(|local| {
        if !hook.is_return() {
            padded_text(local, hook.parameters);
            local.plain(Tag::Arg, ARG_STR, [0]);
        }
        for value in hook.values {
            let value = ValueWord::from_word(*value);
            let bits = match registers.get(usize::from(value.register)) {
                Some(bits) => *bits,
                // SAFETY: the driver has found out that the function is called with an argument there.
                None => unsafe { frame.byte_add(value.offset as usize).read_unaligned() },
            };
            let kind = if value.object { ARG_OBJECT } else { ARG_INT };
            local.plain(Tag::Arg, kind, [value.value(bits)]);
        }
        padded_text(local, hook.name);
        local.stamped(Tag::Call, hook.detail, [pc]);
    });
}
