//! How calls order threads by descriptors and files: what stands behind `within` in the tables, or beside accesses.

use foresee_format::Unseen;
use libc::c_int;

use crate::c_library::channels::{FileIdentity, forks, gives, gives_to_log, learns, learns_about};
use crate::c_library::given;
use crate::c_library::names;
use crate::c_library::process::child_changed;
use crate::recorder::edges::{acquire_edge, both_edges};

/// Something is written to a descriptor at once.
pub(super) struct Giving(pub(super) c_int);

impl Giving {
    pub(super) fn begin(self, pc: u64) {
        gives(self.0, pc);
    }
}

/// An address is taken, which somebody may have given up just before.
pub(super) struct Binding(pub(super) c_int);

impl Binding {
    pub(super) fn begin(self, pc: u64) -> Learnt {
        gives(self.0, pc);
        Learnt(self.0, pc)
    }
}

/// Stands for the environment of the process. Whoever may change it while others look has an order for that: a lock of Rust's library, or one
/// of the program's.
static ENVIRONMENT: u8 = 0;

fn environment() -> u64 {
    (&raw const ENVIRONMENT) as u64
}

/// The environment is changed. The program may also read and write `environ` and what it leads to: how much of that a call does is not followed.
pub(super) struct ChangingEnvironment;

impl ChangingEnvironment {
    pub(super) fn begin(self, pc: u64) {
        both_edges(environment(), pc);
        given::unseen(Unseen::Environment, pc);
    }
}

/// Something is looked for in the environment.
pub(super) struct AskingEnvironment;

impl AskingEnvironment {
    pub(super) fn begin(self, pc: u64) -> Asked {
        given::unseen(Unseen::Environment, pc);
        Asked(pc)
    }
}

/// The call has ended.
pub(super) struct Asked(u64);

impl Drop for Asked {
    fn drop(&mut self) {
        acquire_edge(environment(), self.0);
    }
}

/// Something is written to the log of the system.
pub(super) struct Logging;

impl Logging {
    pub(super) fn begin(self, pc: u64) {
        gives_to_log(pc);
    }
}

/// Another process runs during the call.
pub(super) struct RunningChild;

impl RunningChild {
    pub(super) fn begin(self, pc: u64) -> ChildEnded {
        forks(pc);
        ChildEnded(pc)
    }
}

/// The call has ended, and with it the process.
pub(super) struct ChildEnded(u64);

impl Drop for ChildEnded {
    fn drop(&mut self) {
        child_changed(self.0);
    }
}

/// Something is asked of a descriptor that depends on what was given to it.
pub(super) struct Learning(pub(super) c_int);

impl Learning {
    pub(super) fn begin(self, pc: u64) -> Learnt {
        Learnt(self.0, pc)
    }
}

/// The call has ended.
pub(super) struct Learnt(c_int, u64);

impl Drop for Learnt {
    fn drop(&mut self) {
        learns(self.0, self.1);
    }
}

/// The position of a descriptor is changed, or only asked for.
pub(super) struct Moving {
    pub(super) fd: c_int,
    pub(super) to: libc::off_t,
    pub(super) from: c_int,
}

impl Moving {
    pub(super) fn begin(self, pc: u64) -> Learnt {
        if self.to != 0 || self.from != libc::SEEK_CUR {
            gives(self.fd, pc);
        }
        Learnt(self.fd, pc)
    }
}

/// What is known of a file was asked for by its name, with success or not.
pub(super) struct About(pub(super) *const libc::stat, pub(super) bool);

impl About {
    pub(super) fn record(self, pc: u64) {
        // SAFETY: the call has succeeded, so it has filled what the program passed.
        if let (Some(about), true) = (unsafe { self.0.as_ref() }, self.1) {
            asked_about(FileIdentity::from(about), pc);
        }
    }
}

/// The same by `statx`.
pub(super) struct AboutMore(pub(super) *const libc::statx, pub(super) bool);

impl AboutMore {
    pub(super) fn record(self, pc: u64) {
        // SAFETY: the call has succeeded, so it has filled what the program passed.
        if let (Some(about), true) = (unsafe { self.0.as_ref() }, self.1) {
            let device = libc::makedev(about.stx_dev_major, about.stx_dev_minor);
            asked_about(FileIdentity { device, inode: about.stx_ino, mode: about.stx_mode.into() }, pc);
        }
    }
}

fn asked_about(file: FileIdentity, pc: u64) {
    learns_about(file, pc);
    if file.mode & libc::S_IFMT == libc::S_IFDIR {
        names::learns_all(pc);
    }
}
