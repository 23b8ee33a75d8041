//! Reading a raw trace while the program still writes it.
//!
//! Threads write at their own pace, so the question is up to which key *all* records are there. A record's key is taken from
//! the runtime's counter just before the record is written. So whenever some thread has written a record of key `k`, every key
//! that is taken from then on is `k` or larger; smaller ones belong to records that are there, or are being written at
//! this moment: a few instructions, unless the thread is not running just then. A trace is looked at again and again,
//! some time apart ([`RawReader::look_again`]). What has a smaller key than the largest one seen at a look is taken to
//! be there at the next look, and is delivered.
//!
//! That is an assumption about time, so it is checked: a record that turns up with a key smaller than one that was delivered
//! makes the reading worthless, and [`RawReader::is_unsure`] says so. So does a question about the future of a thread
//! (`ahead`) that was answered too early. The trace is read again from the beginning then, when it is complete.
//!
//! **Cost.** Every record is passed twice: by a scout, which looks for the largest key, and by the reader.

use std::fs::File;

use foresee_format::NAMES;

use super::naming::Symbolizer;
use super::reader::RawReader;
use super::roles::LockTable;
use super::stream::Stream;
use crate::TraceError;

/// What is known of a trace that is still being written.
#[derive(Default)]
pub(super) struct Follow {
    /// Streams that run ahead of the reader's own.
    scouts: Vec<Stream>,
    /// The largest key at the last look.
    seen: u64,
    /// What has a smaller key is there.
    horizon: u64,
}

impl Follow {
    /// Whether everything up to this key is there.
    pub(super) fn has_all_before(&self, key: u64) -> bool {
        key < self.horizon
    }

    /// What has this key is not to be delivered before the next look.
    pub(super) fn wait_for(&mut self, key: u64) {
        self.horizon = self.horizon.min(key);
    }
}

impl RawReader {
    /// Begins to read a trace that is still being written; `None` if nothing is in it yet.
    pub fn follow(
        file: File,
        symbolizer: Box<dyn Symbolizer>,
        table: LockTable,
    ) -> Result<Option<RawReader>, TraceError> {
        if file.metadata()?.len() <= NAMES {
            return Ok(None);
        }
        let mut reader = RawReader::of_nothing(file, symbolizer, table);
        reader.follow = Some(Follow::default());
        match reader.look_again() {
            // The header's first word is the last to be written.
            Err(TraceError::NotATrace { .. }) => Ok(None),
            Err(why) => Err(why),
            Ok(()) if reader.streams.is_empty() => Ok(None),
            Ok(()) => Ok(Some(reader)),
        }
    }

    /// Looks at what was written since the last look, some time ago: a time in which a thread that runs has surely written what
    /// it was about to write.
    pub fn look_again(&mut self) -> Result<(), TraceError> {
        let Some(follow) = &mut self.follow else { return Ok(()) };
        follow.horizon = follow.seen;
        let (known, stop) = (self.streams.len(), self.stop);
        let all = self.look(true)?;
        let Some(follow) = &mut self.follow else { return Ok(()) };
        if self.stop != stop && self.stop <= self.reached {
            self.unsure.set(true);
        }
        follow.scouts.extend(self.streams.iter().skip(known).cloned());
        // A chunk whose header is not there yet may hide later ones, of which nothing is known.
        if !all {
            return Ok(());
        }
        for (scout, stream) in follow.scouts.iter_mut().zip(&self.streams) {
            scout.take_chunks_of(stream);
            scout.look_again(true);
            scout.skip_all(&self.file)?;
            follow.seen = follow.seen.max(scout.last_key());
        }
        Ok(())
    }

    /// The program has ended: from now on the trace is read to its end.
    pub fn end_following(&mut self) -> Result<(), TraceError> {
        if self.follow.take().is_some() {
            self.look(false)?;
        }
        Ok(())
    }

    /// Whether something came so late that what was delivered is not in the right order.
    pub fn is_unsure(&self) -> bool {
        self.unsure.get()
    }

    /// The file that is read.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Parts of the file, from which byte to which, that are read and will not be needed again.
    pub fn take_read(&mut self) -> Vec<(u64, u64)> {
        let Some(follow) = &self.follow else { return Vec::new() };
        let is_passed = |(stream, scout): (&Stream, &Stream)| stream.chunks_passed() <= scout.chunks_passed();
        if !self.streams.iter().zip(&follow.scouts).all(is_passed) {
            return Vec::new();
        }
        self.streams.iter_mut().flat_map(Stream::take_read).collect()
    }
}
