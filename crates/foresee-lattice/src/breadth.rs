//! Which cuts of a level go on.

use super::cut::{Layout, Packed};
use super::guide::Guide;
use super::level::Level;
use super::machine::Machine;
use super::options::Breadth;

/// Leaves the most promising cuts of a level, with about so many entries; whether any had to go.
///
/// The observed run's cut comes first, then those with a state nearest to a verdict, then those nearest to the observed run, then
/// the smaller ones: a total order that depends on the level alone.
pub(super) fn select<K: Packed, S: Clone + Eq + Send + Sync, M: Machine<State = S>>(
    level: &mut Level<K, S>,
    layout: &Layout,
    guide: &Guide<'_, M>,
    observed: &[u32],
    entries: usize,
) -> bool {
    let breadth = match guide.options.breadth {
        Breadth::All => usize::MAX,
        Breadth::Most(most) => most.max(1),
    };
    if level.len() <= breadth.min(entries) {
        return false;
    }
    let mut ranks = Vec::new();
    let mut first = 0;
    for same in level.cuts.chunk_by(|a, b| a == b) {
        let states = &level.states[first..first + same.len()];
        let distance = states.iter().map(|state| guide.machine.distance(state)).min();
        let off: u64 = (observed.iter().zip(0..))
            .map(|(&count, thread)| u64::from(same[0].get(layout, thread).abs_diff(count)))
            .sum();
        ranks.push((off != 0, distance, off, first, first + same.len()));
        first += same.len();
    }
    // So many cuts have about as many entries as are allowed.
    let fitting = (entries as u128 * ranks.len() as u128 / level.len() as u128) as usize;
    let keep = breadth.min(fitting.max(1));
    if ranks.len() <= keep {
        return false;
    }
    ranks.select_nth_unstable(keep - 1);
    ranks.truncate(keep);
    ranks.sort_unstable_by_key(|&(.., first, _)| first);
    let mut kept = Level::new();
    for (.., first, end) in ranks {
        kept.cuts.extend_from_slice(&level.cuts[first..end]);
        kept.states.extend_from_slice(&level.states[first..end]);
    }
    *level = kept;
    true
}
