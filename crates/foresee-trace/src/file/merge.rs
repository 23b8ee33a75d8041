//! Merges sorted streams: a tournament whose nodes remember the loser of their match.
//!
//! After the winner's stream has moved on, only the matches on its way to the top are played again: log₂ k steps for k
//! streams, each a minimum and a maximum without a branch to mispredict. A key packs the stamp and the number of the
//! stream, so that equal stamps are ordered by stream.

use super::MAX_STAMP;

const STREAM_BITS: u32 = 64 - MAX_STAMP.trailing_zeros();

/// How many streams can be merged at once.
pub(crate) const MAX_STREAMS: usize = 1 << STREAM_BITS;

/// A stream that has nothing more to say.
const ENDED: u64 = u64::MAX;

/// The streams' next stamps, and which is the smallest.
#[derive(Default)]
pub(crate) struct Tournament {
    /// `losers[0]` is the winner of all; the children of node i are 2i and 2i + 1, with the streams below the last.
    losers: Vec<u64>,
}

impl Tournament {
    /// Starts anew with streams 0, 1, … at these stamps.
    pub(crate) fn restart(&mut self, stamps: impl ExactSizeIterator<Item = u64>) {
        let leaves = stamps.len().next_power_of_two();
        let mut winners = vec![ENDED; 2 * leaves];
        for (stream, stamp) in stamps.enumerate() {
            winners[leaves + stream] = key(stream, stamp);
        }
        self.losers.clear();
        self.losers.resize(leaves, ENDED);
        for node in (1..leaves).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = a.min(b);
            self.losers[node] = a.max(b);
        }
        self.losers[0] = winners[1];
    }

    /// The stream with the smallest stamp, and that stamp; nothing if all have ended.
    #[inline]
    pub(crate) fn first(&self) -> Option<(usize, u64)> {
        match self.losers.first() {
            Some(&key) if key != ENDED => {
                Some(((key & (MAX_STREAMS as u64 - 1)) as usize, key >> STREAM_BITS))
            }
            _ => None,
        }
    }

    /// The smallest stamp of all streams but this one, which is first.
    pub(crate) fn second(&self, stream: usize) -> u64 {
        let mut node = (self.losers.len() + stream) / 2;
        let mut least = ENDED;
        while node > 0 {
            least = least.min(self.losers[node]);
            node /= 2;
        }
        least >> STREAM_BITS
    }

    /// Moves the first stream on to its next stamp.
    #[inline]
    pub(crate) fn replace_first(&mut self, stream: usize, stamp: u64) {
        let mut key = key(stream, stamp);
        let mut node = (self.losers.len() + stream) / 2;
        while node > 0 {
            let other = self.losers[node];
            self.losers[node] = key.max(other);
            key = key.min(other);
            node /= 2;
        }
        self.losers[0] = key;
    }
}

#[inline]
fn key(stream: usize, stamp: u64) -> u64 {
    stamp << STREAM_BITS | stream as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merges_like_sorting(mut streams in proptest::collection::vec(
            proptest::collection::vec(0u64..50, 1..20), 1..20,
        )) {
            streams.iter_mut().for_each(|s| s.sort_unstable());
            let mut expected: Vec<(u64, usize)> = Vec::new();
            for (i, stream) in streams.iter().enumerate() {
                expected.extend(stream.iter().map(|&stamp| (stamp, i)));
            }
            expected.sort_unstable();

            let mut at = vec![0; streams.len()];
            let mut merged = Vec::new();
            let mut tournament = Tournament::default();
            tournament.restart(streams.iter().map(|s| s[0]));
            while let Some((stream, stamp)) = tournament.first() {
                merged.push((stamp, stream));
                let others = streams.iter().zip(&at).enumerate().filter(|&(i, _)| i != stream);
                let second = others.filter_map(|(_, (s, &i))| s.get(i)).min();
                prop_assert!(second.is_none_or(|&second| tournament.second(stream) == second));
                at[stream] += 1;
                match streams[stream].get(at[stream]) {
                    Some(&next) => tournament.replace_first(stream, next),
                    None => {
                        // As the reader does it: an ended stream leaves, the others start anew.
                        let rest: Vec<u64> = streams.iter().zip(&at)
                            .map(|(s, &i)| s.get(i).copied().unwrap_or(MAX_STAMP - 1)).collect();
                        if at.iter().zip(&streams).all(|(&i, s)| i == s.len()) {
                            break;
                        }
                        tournament.restart(rest.into_iter());
                    }
                }
            }
            prop_assert_eq!(merged, expected);
        }
    }
}
