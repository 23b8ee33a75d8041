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
//! Functions of libraries are the same to properties. The program calls them through words that the linker fills in, or they are entry points of this runtime; both lead to a piece
//! that does what one at an entry does and goes on to the function, or, if the result is asked for, calls it:
//!
//! ```text
//! push the hook's number; call the trampoline; push arguments that are asked for then; call the function; push the number of the return's hook; call the trampoline; add rsp, …; return
//! ```
//!
//! In all of them the stack is as the program has it when the trampoline is called, so that a function's result or its arguments are where
//! they are by all rights; the return address stays what it is, and unwinding does not see any of this, or is told how to pass through.
//!
//! A program without a table is not touched. A table that cannot be used ends the program with a message: properties that are held
//! against nothing would be kept.
//!
//! | file | what is there |
//! |---|---|
//! | `table` | reads the table |
//! | `hooks` | the hooks, and what is recorded at each |
//! | `code` | the pieces of code, and the jumps to them |
//! | `kept` | arguments, until functions of the program return |
//! | `imports` | functions of libraries |
//! | `unwinding` | says how to unwind through pieces that call a function |
//! | `trampoline` | saves the program's registers |

mod code;
mod hooks;
mod imports;
mod kept;
mod table;
mod trampoline;
mod unwinding;

use std::ffi::c_void;

use crate::environment;
use crate::message::fail;
use crate::recorder::session;

/// What a program that looks this function up has to call instead, so that its hook sees it.
pub(crate) fn in_front_of(function: *const c_void) -> Option<*const c_void> {
    imports::piece_of(function as u64).map(|piece| piece as *const c_void)
}

/// Puts the hooks in place, if there are any for this program.
pub(crate) fn start() {
    let Some(path) = environment::text(c"FORESEE_CALLS") else { return };
    let Some(hooks) = table::read(path) else { return };
    let Some(hooks) = hooks else {
        fail(b"the table of calls to record is damaged, or of another version of foresee: build the program anew")
    };
    if !trampoline::start() {
        fail(b"cannot record calls: the processor cannot save its vector registers in the compact form");
    }
    let hooks = hooks::keep(hooks);
    session::note_calls(hooks::names(hooks));
    if !code::put_in_place(hooks) {
        fail(b"cannot record calls: the program's code cannot be changed in memory");
    }
}
