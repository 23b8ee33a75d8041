//! Following: reading a raw trace while the program still writes it.
//!
//! Threads write at their own pace, so the question is up to which key *all* records are there. A record's key is taken from
//! the runtime's counter just before the record is written. So whenever some thread has written a record of key `k`, every key
//! that is taken from then on is `k` or larger; smaller ones belong to records that are there, or are being written at
//! this moment: a few instructions, unless the thread is not running just then. A trace is looked at again and again,
//! some time apart ([`Follower::look`]), in which each thread should have run. What has a smaller key than the largest one seen at a look is taken to
//! be there at the next look, and is delivered.
//!
//! **Where keys are those of pages**, a thread's accesses may have a key that it took long ago. So after each look the reader requests fresh keys
//! ([`REQUEST_WORD`](foresee_format::REQUEST_WORD)): what threads record once they have seen that has no smaller key than any that the look has found.
//!
//! That is an assumption about what others do, so it is checked: a record that turns up with a key smaller than one that was delivered
//! makes the reading worthless, and [`Merger::came_late`] says so. So does a question about the future of a thread
//! ([`Lookahead`](super::merging::Lookahead)) that was answered too early. The trace is read again from the beginning then, when it is complete.
//!
//! **Cost.** Every record is passed twice: by a scout, which looks for the largest key, and by the reader.

use foresee_format::RunFlags;

use super::merging::{Growth, Merger, Stream};
use crate::TraceError;

/// Looks at a trace that is still written, and says how far it can be read.
#[derive(Default)]
pub(crate) struct Follower {
    /// Streams that run ahead of the merger's own.
    scouts: Vec<Stream>,
    /// The largest key at the last look.
    seen: u64,
    /// How often fresh keys were requested.
    requests: u64,
}

impl Follower {
    /// Looks at what was written since the last look, some time ago: a time in which a thread that runs has surely written what
    /// it was about to write.
    pub(crate) fn look(&mut self, merger: &mut Merger) -> Result<(), TraceError> {
        merger.set_horizon(self.seen);
        let all = merger.look(Growth::Growing)?;
        for (scout, stream) in self.scouts.iter_mut().zip(merger.streams()) {
            if scout.thread != stream.thread {
                scout.clone_from(stream);
            }
        }
        self.scouts.extend(merger.streams().iter().skip(self.scouts.len()).cloned());
        // A chunk whose header is not there yet may hide later ones, of which nothing is known.
        if !all {
            return Ok(());
        }
        let mut seen = self.seen;
        let running = self.scouts.iter_mut().zip(merger.streams()).filter(|(scout, _)| !scout.has_ended());
        for (scout, stream) in running {
            scout.take_chunks_of(stream);
            scout.look_again(true);
            scout.skip_all(merger.files())?;
            seen = seen.max(scout.last_key());
        }
        self.requests += 1;
        let has_pages = merger.flags().contains(RunFlags::KEYS_OF_PAGES);
        if !has_pages || merger.request_fresh_keys(self.requests) {
            self.seen = seen;
        }
        Ok(())
    }

    /// The largest key at the last look.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// Parts of the file, from which byte to which, that neither the merger nor a scout will need again.
    pub(crate) fn take_read(&self, merger: &mut Merger) -> Vec<(u64, u64)> {
        let is_passed = |(stream, scout): (&Stream, &Stream)| {
            stream.chunks_passed() <= scout.chunks_passed() && (scout.has_ended() || !stream.is_over())
        };
        if merger.streams().iter().zip(&self.scouts).all(is_passed) { merger.take_read() } else { Vec::new() }
    }
}
