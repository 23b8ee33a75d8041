//! The records of one thread, in its order.
//!
//! Whoever merges threads asks each for its next record very often. So records are decoded in batches ([`Decoder`]), and then only taken from a list. While one batch is taken, the next may
//! be decoded by another thread ([`ahead`](super::ahead)).

use std::io;
use std::sync::Arc;

use super::ahead::{Ahead, Decoded, Workers};
use super::decoder::{Decoder, Ended};
use super::joined::Joined;
use super::record::Record;
use crate::raw::raw_files::RawFiles;

/// How many records are decoded at once.
const BATCH: usize = 1 << 7;
/// How many by another thread, which has to be worth the way.
const BATCH_AHEAD: usize = 1 << 11;

pub(crate) struct Stream {
    pub(crate) thread: u64,
    /// Records that are decoded, and how many of them are taken.
    ready: Vec<Record>,
    taken: usize,
    /// How many of the records that come next are delayed.
    delayed: usize,
    /// Decodes those that come after; an empty one while another thread has it.
    decoder: Box<Decoder>,
    ahead: Option<Ahead>,
}

impl Clone for Stream {
    fn clone(&self) -> Stream {
        let mut clone = self.without_ready();
        let later = std::mem::replace(&mut clone.ready, self.ready.clone());
        clone.ready.extend(later);
        Stream { taken: self.taken, ..clone }
    }
}

impl Stream {
    /// A stream without chunks; whether it `grows`.
    pub(super) fn new(thread: u64, version: u64, grows: bool, joined: Arc<Joined>) -> Stream {
        let decoder = Box::new(Decoder::new(version, grows, joined));
        Stream { thread, ready: Vec::new(), taken: 0, delayed: 0, decoder, ahead: None }
    }

    /// The decoder, which is here from now on.
    pub(super) fn decoder(&mut self) -> &mut Decoder {
        if let Some(ahead) = self.ahead.take() {
            let Decoded { decoder, records, ended: _ } = ahead.finish();
            self.decoder = decoder;
            self.ready.extend(records);
        }
        &mut self.decoder
    }

    /// Knows of all chunks that the other stream of the same thread knows of.
    pub(crate) fn take_chunks_of(&mut self, other: &Stream) {
        self.decoder().take_chunks_of(&other.decoder);
    }

    /// How many chunks it has begun to read, in a trace that is still written.
    pub(crate) fn chunks_passed(&self) -> usize {
        self.decoder.chunks_passed()
    }

    /// Whether the thread has ended: its last record is decoded.
    pub(crate) fn has_ended(&self) -> bool {
        self.decoder.has_ended()
    }

    /// Whether the thread has ended, and all its records are taken.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended() && self.peek().is_none()
    }

    /// Lets go what was for records that are still to come.
    pub(super) fn let_go(&mut self) {
        self.decoder().let_go();
        (self.ready, self.taken) = (Vec::new(), 0);
    }

    /// The chunks that were read to their ends since the last call, with their headers: nobody will ask for them again.
    pub(super) fn take_read(&mut self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let is_over = self.is_over();
        self.decoder().take_read(is_over)
    }

    /// What was read ahead may have changed. Whether the stream still `grows`.
    pub(crate) fn look_again(&mut self, grows: bool) {
        self.decoder().look_again(grows);
    }

    /// The key of the last record that was decoded here.
    pub(crate) fn last_key(&self) -> u64 {
        self.decoder.last_key()
    }

    /// The next record, if one is decoded.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Record> {
        self.ready.get(self.taken)
    }

    /// The next records, as far as they are decoded.
    pub(super) fn ready(&self) -> &[Record] {
        self.ready.get(self.taken..).unwrap_or_default()
    }

    /// The same stream after those.
    pub(super) fn without_ready(&self) -> Stream {
        let (decoder, ready) = match &self.ahead {
            Some(ahead) => ahead.copy(),
            None => (self.decoder.clone(), Vec::new()),
        };
        Stream { ready, taken: 0, decoder, ahead: None, ..*self }
    }

    /// Takes the next record, if one is decoded.
    #[inline]
    pub(super) fn take(&mut self) -> Option<&Record> {
        let record = self.ready.get(self.taken)?;
        self.taken += 1;
        self.delayed = self.delayed.saturating_sub(1);
        Some(record)
    }

    /// Takes so many records, if they are decoded.
    #[inline]
    pub(super) fn take_many(&mut self, count: usize) -> &[Record] {
        let from = self.taken;
        self.taken = (from + count).min(self.ready.len());
        self.delayed = self.delayed.saturating_sub(count);
        &self.ready[from..self.taken]
    }

    /// Whether the next record is delayed.
    pub(crate) fn is_delayed(&self) -> bool {
        self.delayed > 0
    }

    /// So many of the records that come next count as made at this key, which is not smaller than theirs.
    pub(super) fn delay(&mut self, count: usize, key: u64) {
        self.decoder().delay(key);
        self.delayed = count;
        for record in self.ready.iter_mut().skip(self.taken) {
            record.key = record.key.max(key);
        }
    }

    /// Gets the next records, once all are taken, and has those after them decoded by workers, if there are any; why there are none, if so.
    pub(super) fn refill(
        &mut self,
        files: &RawFiles,
        workers: Option<&Workers>,
    ) -> io::Result<Result<(), Ended>> {
        let used = std::mem::take(&mut self.ready);
        let most = if workers.is_some() { BATCH_AHEAD } else { BATCH };
        let (decoded, used) = match self.ahead.take() {
            Some(ahead) => (ahead.finish(), used),
            None => (Decoded::now(std::mem::take(&mut self.decoder), used, most, files), Vec::new()),
        };
        (self.decoder, self.ready, self.taken) = (decoded.decoder, decoded.records, 0);
        if let Some(workers) = workers
            && self.decoder.next_batch() == BATCH_AHEAD
            && matches!(decoded.ended, Ok(Ok(())))
        {
            self.ahead = Some(workers.decode(std::mem::take(&mut self.decoder), used, most));
        }
        decoded.ended
    }

    /// Goes on to the last record that is there.
    pub(crate) fn skip_all(&mut self, files: &RawFiles) -> io::Result<()> {
        (self.ready, self.taken) = (Vec::new(), 0);
        self.decoder().skip_all(files)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use foresee_format::{Tag, VERSION, first_word};
    use foresee_oracle::Random;

    use super::*;

    const COUNT: u64 = 30_000;

    /// A file with nothing but the records of one thread, each with its number as its key, and a stream of them.
    fn stream() -> (Arc<RawFiles>, Stream) {
        let mut file = tempfile::tempfile().unwrap();
        let write = |key| [first_word(Tag::Write, 8, key), 7, 8 * key];
        let words = (0..COUNT).flat_map(write);
        file.write_all(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
        let mut stream = Stream::new(3, VERSION, false, Arc::default());
        let half = 12 * COUNT;
        stream.decoder().add_chunk(0, half);
        stream.decoder().add_chunk(half, 2 * half);
        (Arc::new(RawFiles::one(file)), stream)
    }

    fn keys(mut stream: Stream, files: &RawFiles, workers: Option<&Workers>) -> Vec<u64> {
        let mut keys = Vec::new();
        loop {
            while let Some(record) = stream.take() {
                keys.push(record.key);
            }
            if !matches!(stream.refill(files, workers), Ok(Ok(()))) {
                return keys;
            }
        }
    }

    /// Whatever is asked for in between, and whoever has the decoder then.
    #[test]
    fn what_others_decode_comes_in_order() {
        let (files, whole) = stream();
        let workers = Workers::begin(&files);
        assert!(workers.is_some() || std::thread::available_parallelism().is_ok_and(|one| one.get() == 1));
        assert_eq!(keys(whole.clone(), &files, workers.as_ref()), (0..COUNT).collect::<Vec<_>>());
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (mut stream, mut taken) = (whole.clone(), 0);
            while taken < COUNT {
                if stream.peek().is_none() {
                    assert!(matches!(stream.refill(&files, workers.as_ref()), Ok(Ok(()))));
                }
                match random.below(40) {
                    0 => assert_eq!(keys(stream.clone(), &files, None), (taken..COUNT).collect::<Vec<_>>()),
                    1 => {
                        let from = taken + stream.ready().len() as u64;
                        let after = keys(stream.without_ready(), &files, workers.as_ref());
                        assert_eq!(after, (from..COUNT).collect::<Vec<_>>());
                    }
                    2 => drop(stream.decoder()),
                    _ => {
                        let count = random.below(3000);
                        for record in stream.take_many(count) {
                            assert_eq!(record.key, taken);
                            taken += 1;
                        }
                    }
                }
            }
            assert!(matches!(stream.refill(&files, workers.as_ref()), Ok(Err(Ended::Done | Ended::Cut))));
        }
    }

    /// What is made later is not what was decoded before.
    #[test]
    fn delays_count_for_what_others_have_decoded() {
        let (files, mut stream) = stream();
        let workers = Workers::begin(&files);
        for _ in 0..20 {
            stream.refill(&files, workers.as_ref()).unwrap().ok().unwrap();
        }
        let next = stream.peek().unwrap().key;
        stream.delay(5, next + 10);
        let keys = keys(stream, &files, workers.as_ref());
        assert_eq!(keys, (next..COUNT).map(|key| key.max(next + 10)).collect::<Vec<_>>());
    }
}
