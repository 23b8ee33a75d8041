//! Have the threads of a program run since?
//!
//! Whoever reads a trace while it is written wants to know that each thread has written by now what it was about to write at an
//! earlier moment. That takes a thread a few instructions, but on a busy machine it may have to wait for them longer than any time one
//! would choose. The kernel knows: a thread that sleeps is not about to write, one that was given a processor since has
//! written, and so has one that keeps its processor for longer than the kernel needs to notice.

use std::fs;
use std::path::PathBuf;

/// The kernel notes how long a thread has run at least so often, in nanoseconds.
const NOTICED: u64 = 10_000_000;

/// The threads of a process at a moment.
pub(crate) struct RunningThreads {
    threads: Vec<Thread>,
}

struct Thread {
    folder: PathBuf,
    ran: Ran,
}

/// How long a thread has run, in nanoseconds, and how often it was given a processor.
#[derive(Clone, Copy)]
struct Ran {
    time: u64,
    times: u64,
}

impl RunningThreads {
    /// The threads of a process as they are now. There are none if the kernel does not tell of them.
    pub(crate) fn of(process: &str) -> RunningThreads {
        let folders = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let threads = folders.filter_map(|folder| {
            let folder = folder.path();
            let ran = ran(&folder)?;
            Some(Thread { folder, ran })
        });
        RunningThreads { threads: threads.collect() }
    }

    /// Whether each of them has run since, sleeps, or has ended.
    pub(crate) fn have_gone_on(&self) -> bool {
        self.threads.iter().all(Thread::has_gone_on)
    }
}

impl Thread {
    fn has_gone_on(&self) -> bool {
        let Some(now) = ran(&self.folder) else { return true };
        now.times != self.ran.times || now.time >= self.ran.time.saturating_add(NOTICED) || self.sleeps()
    }

    /// Whether it waits for something, or has ended. Waiting for a disk does not count: records are written to one.
    fn sleeps(&self) -> bool {
        let Ok(stat) = fs::read_to_string(self.folder.join("stat")) else { return true };
        // The name before it may have any character, but is in brackets.
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        matches!(state, Some('S' | 'Z' | 'X'))
    }
}

fn ran(folder: &std::path::Path) -> Option<Ran> {
    let text = fs::read_to_string(folder.join("schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let (time, _waited, times) = (numbers.next()?.ok()?, numbers.next()?, numbers.next()?.ok()?);
    Some(Ran { time, times })
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    fn send(child: &Child, signal: Signal) {
        kill_process(Pid::from_child(child), signal).unwrap();
    }

    fn is_stopped(process: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
    }

    fn soon(is_so: impl Fn() -> bool) {
        while !is_so() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_thread_that_cannot_run_has_not_gone_on() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let process = busy.id().to_string();
        send(&busy, Signal::STOP);
        soon(|| is_stopped(&process));
        let threads = RunningThreads::of(&process);
        assert_eq!(threads.threads.len(), 1);
        assert!(!threads.have_gone_on());
        send(&busy, Signal::CONT);
        soon(|| threads.have_gone_on());
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert!(threads.have_gone_on(), "it is gone");
    }

    #[test]
    fn a_thread_that_sleeps_is_not_waited_for() {
        let mut sleeps = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = sleeps.id().to_string();
        soon(|| RunningThreads::of(&process).threads.iter().all(Thread::sleeps));
        assert!(RunningThreads::of(&process).have_gone_on());
        sleeps.kill().unwrap();
        sleeps.wait().unwrap();
    }

    #[test]
    fn of_a_process_that_is_not_there_nothing_is_awaited() {
        assert!(RunningThreads::of("none").have_gone_on());
    }
}
