//! A look at what a thread does next.

use std::cell::Cell;
use std::fs::File;

use foresee_format::Tag;

use super::naming::Naming;
use super::roles::Role;
use super::stream::{Record, Stream};

/// How many records are looked at: a lock that is held for longer than that was not waited for with a limit of time.
const FAR: usize = 1 << 20;

/// The records of a thread from the current one on.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a> {
    pub(super) current: &'a Record,
    /// What follows.
    pub(super) stream: &'a Stream,
    pub(super) file: &'a File,
    /// For a trace that is still written: to be set if the answer depends on what comes later.
    pub(super) saw_the_end: Option<&'a Cell<bool>>,
}

impl Ahead<'_> {
    /// Whether the next thing that the thread does to the word of a lock is giving it back.
    pub(super) fn gives_back(&self, lock: u64, naming: &mut Naming) -> bool {
        let mut stream = self.stream.clone();
        let mut entered = None;
        let mut record = *self.current;
        for _ in 0..FAR {
            let [pc, addr, ..] = record.words;
            match record.tag {
                Tag::Enter => entered = naming.site(addr).entry.map(|of| of.role).or(entered),
                Tag::Load | Tag::Store | Tag::Rmw if addr == lock => {
                    let inlined = naming.site(pc).roles.first().map(|inlined| inlined.what.role);
                    return inlined.or(entered) == Some(Role::Unlock);
                }
                _ => {}
            }
            if stream.peek().is_none() && !matches!(stream.refill(self.file), Ok(Ok(()))) {
                self.saw_the_end.inspect(|saw| saw.set(true));
                return false;
            }
            let Some(next) = stream.take() else { return false };
            record = *next;
        }
        false
    }
}
