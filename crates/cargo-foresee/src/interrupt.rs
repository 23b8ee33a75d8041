//! Ctrl-C and its relatives: whom they are for, and what we do about them.
//!
//! While a program is being recorded they are the program's: on a terminal Ctrl-C reaches it by itself, everything else is
//! passed on, and foresee stays to pack what was recorded. While foresee works, the first Ctrl-C means: finish soon and
//! report what is known; the second one ends it. SIGTERM and SIGHUP mean the same; one that came while the program ran leaves
//! [`AFTER_TERM`] for what comes after, as whoever sent it is about to send SIGKILL. Nothing is left behind either way (`scratch`). SIGXFSZ
//! means a write that fails.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{SigId, flag, low_level};

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether the program was told to end by whoever wants us to end, too.
static TERMINATED: AtomicBool = AtomicBool::new(false);

/// How long we go on after that.
const AFTER_TERM: Duration = Duration::from_secs(5);

/// Set by Ctrl-C, once [`finish_on_interrupt`] was called: finish soon.
pub(crate) fn interrupted() -> &'static AtomicBool {
    &INTERRUPTED
}

/// From now on a file that would be larger than the user allows (`ulimit -f`) is an error where it is written, as a full disk is, and not the
/// end of this process. Programs that it runs do not inherit that.
pub(crate) fn survive_large_files() {
    // Without a handler it ends the process, as it would have anyway.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// From now on Ctrl-C sets [`interrupted`], and a second one ends this process.
pub(crate) fn finish_on_interrupt() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // The order matters: the second Ctrl-C is one that finds the flag set. Without a handler Ctrl-C ends
        // the process at once: no reason to fail.
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&INTERRUPTED));
            let _ = flag::register(signal, Arc::clone(&INTERRUPTED));
        }
    });
}

/// A program that was being recorded got the Ctrl-C: what we do with its recording is not to be cut short by it.
pub(crate) fn was_for_the_program() {
    INTERRUPTED.store(false, Ordering::Relaxed);
    if TERMINATED.swap(false, Ordering::Relaxed) {
        std::thread::spawn(|| {
            std::thread::sleep(AFTER_TERM);
            INTERRUPTED.store(true, Ordering::Relaxed);
        });
    }
}

/// Passes signals on to a program, as long as it lives.
pub(crate) struct PassOn {
    received: Arc<AtomicUsize>,
    handlers: Vec<SigId>,
}

impl PassOn {
    pub(crate) fn new() -> Self {
        let received = Arc::new(AtomicUsize::new(0));
        let handlers = [SIGINT, SIGTERM, SIGHUP].into_iter().filter_map(|signal| {
            let number = usize::try_from(signal).ok()?;
            flag::register_usize(signal, Arc::clone(&received), number).ok()
        });
        PassOn { handlers: handlers.collect(), received }
    }

    /// Sends what arrived since the last call.
    pub(crate) fn pass_to(&self, child: &std::process::Child) {
        match i32::try_from(self.received.swap(0, Ordering::Relaxed)) {
            Ok(SIGINT) if !in_foreground() => send(child, Signal::INT),
            Ok(signal @ (SIGTERM | SIGHUP)) => {
                TERMINATED.store(true, Ordering::Relaxed);
                send(child, if signal == SIGTERM { Signal::TERM } else { Signal::HUP });
            }
            _ => {}
        }
    }
}

impl Drop for PassOn {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            low_level::unregister(handler);
        }
        // Without another handler of ours these would be ignored from now on, not do what they do by default.
        finish_on_interrupt();
    }
}

/// Whether a terminal sends Ctrl-C to our whole process group, so that the program has it already.
fn in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|terminal| tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}

/// Sends a signal to a child that has not been waited for, so its id is still its own.
pub(crate) fn send(child: &std::process::Child, signal: Signal) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may be a zombie by now: nothing to send it then.
        let _ = kill_process(pid, signal);
    }
}
