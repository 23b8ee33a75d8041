//! Calls that properties name: their arguments and results are recorded.
//!
//! The driver has worked out from the program's file where the functions are entered and left, and where the values are then
//! (`FORESEE_CALLS` names the table, [`foresee_format::CALLS_MAGIC`] says what it is like). Here jumps are put there, before the program's own code
//! runs. Each leads to a piece of code that is made for it:
//!
//! ```text
//! at an entry: push the hook's number; call the trampoline; the instructions that were replaced; jump back behind them
//! at a return: the instructions that were replaced; push the hook's number; call the trampoline; return
//! ```
//!
//! In either the stack is as the program has it when the trampoline is called, so that a function's result or its arguments are where
//! they are by all rights; the return address stays what it is, and unwinding does not see any of this.
//!
//! A program without a table is not touched. A table that cannot be used ends the program with a message: properties that are held
//! against nothing would be kept.
//!
//! | file | what is there |
//! |---|---|
//! | `table` | reads the table |
//! | `code` | the pieces of code, and the jumps to them |
//! | `trampoline` | saves the program's registers |

mod code;
mod table;
mod trampoline;

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Release};

use foresee_format::{ARG_INT, ARG_OBJECT, ARG_STR, SAVED_REGISTERS, Tag, ValueWord};

use self::table::Hook;
use crate::recorder::thread::always;
use crate::sdk::padded_text;
use crate::{environment, message};

/// All hooks, by their numbers.
static HOOKS: AtomicPtr<Hook> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Puts the hooks in place, if there are any for this program.
pub(crate) fn start() {
    let Some(path) = environment::text(c"FORESEE_CALLS") else { return };
    let Some(hooks) = table::read(path) else { return };
    let Some(hooks) = hooks else { fail(b"the table of calls to record is damaged") };
    if !trampoline::start() {
        fail(b"cannot record calls: the processor cannot save its vector registers in the compact form");
    }
    let count = hooks.len();
    let hooks: &'static mut [Hook] = Box::leak(hooks);
    HOOKS.store(hooks.as_mut_ptr(), Release);
    COUNT.store(count, Release);
    if !code::put_in_place(hooks) {
        fail(b"cannot record calls: the program's code cannot be changed in memory");
    }
}

fn fail(why: &[u8]) -> ! {
    message::say(&[b"foresee: ", why, b"\n"]);
    // SAFETY: ends the process without running any of the program's code, which has not begun.
    unsafe { libc::_exit(1) }
}

/// The program has come to a hook. `registers` are its registers, `frame` is where the return address is.
extern "C" fn reached(registers: *const [u64; SAVED_REGISTERS], frame: *const u64, number: usize) {
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
