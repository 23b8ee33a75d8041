//! The recorder: from operations of the program to records in the raw trace.
//!
//! Whatever notices an operation (`compiler`, `c_library`, `rust_std`, `sdk`) ends up here; nothing here knows who called it. From
//! the outside in:
//!
//! | modules | hold |
//! |---|---|
//! | `accesses`, `atomics`, `edges`, `locks`, `objects`, `blocks`, `branches` | what each kind of operation is recorded as |
//! | `held_locks`, `thread_handles`, `watched`, `seen_values`, `code_filter` | what the runtime has to know for that |
//! | `joined` | accesses that are recorded along with others |
//! | `session` | the beginning of a recording, also in the child of a fork |
//! | `thread` | each thread's records |
//! | `ring`, `frames`, `leftovers` | where the chunks of threads come from, besides the end of the file |
//! | `trace_file`, `side_files`, `new_file`, `descriptor`, `limits`, `disk_space` | the files, and how large they may become |
//! | `order`, `status` | the counter that orders threads, and whether anything is recorded |

pub(crate) mod accesses;
pub(crate) mod atomics;
pub(crate) mod blocks;
pub(crate) mod branches;
pub(crate) mod code_filter;
pub(crate) mod descriptor;
mod disk_space;
pub(crate) mod edges;
mod frames;
pub(crate) mod held_locks;
pub(crate) mod joined;
mod leftovers;
pub(crate) mod limits;
pub(crate) mod locks;
mod new_file;
pub(crate) mod objects;
pub(crate) mod order;
pub(crate) mod ring;
pub(crate) mod seen_values;
pub(crate) mod session;
mod side_files;
pub(crate) mod status;
pub(crate) mod thread;
pub(crate) mod thread_handles;
pub(crate) mod trace_file;
pub(crate) mod watched;
