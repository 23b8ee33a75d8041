//! From a place in the lattice back to the empty cut.
//!
//! The explorer keeps two levels and no way back. To show a run, it is walked again, the same way, and levels are kept as landmarks: all
//! of them if they are small, else every second, fourth, … one. From the target one goes back from landmark to landmark, and
//! between two of them by the same method. An exhaustive walk need only look at cuts within the target.
//!
//! Of several steps that lead to the same place, the one that comes last in the observed run is taken: what can stay
//! as observed does.
//!
//! **Cost.** Twice the walk, or a little more; [`LANDMARKS`] entries, or fewer if there is not as much memory.

use super::causality::SILENT;
use super::cut::Packed;
use super::guide::Guide;
use super::machine::Machine;
use super::walk::{Walk, front};

/// About so many entries are kept as landmarks.
const LANDMARKS: usize = 1 << 21;

/// A cut as counts, and a state.
type Entry<S> = (Vec<u32>, S);

/// The threads whose steps lead to this cut and state, in order.
pub(super) fn to<M: Machine>(
    guide: &Guide<'_, M>,
    level: usize,
    cut: &[u32],
    state: &M::State,
) -> Option<Vec<u32>> {
    let start = Walk::start(guide.causality.threads(), guide.machine.start());
    let mut path = Vec::with_capacity(level);
    back(guide, start, level, (cut.to_vec(), state.clone()), &mut path)?;
    path.reverse();
    Some(path)
}

/// Goes back from `target`, at `level`, to the level of `start`; adds the threads to the path, last first.
fn back<M: Machine>(
    guide: &Guide<'_, M>,
    start: Walk<M::State>,
    level: usize,
    mut target: Entry<M::State>,
    path: &mut Vec<u32>,
) -> Option<Entry<M::State>> {
    let length = level - start.level;
    let first = start.level;
    let (mut stride, mut kept) = (1, 0);
    let most = LANDMARKS.min(guide.entries(size_of::<u128>(), start.layout.threads()));
    let mut landmarks: Vec<Walk<M::State>> = Vec::new();
    let mut walk = start;
    while walk.level < level {
        if (walk.level - first).is_multiple_of(stride) {
            kept += walk.size().0;
            landmarks.push(walk.clone());
        }
        if kept > most && stride * 2 < length {
            stride *= 2;
            landmarks.retain(|landmark| (landmark.level - first).is_multiple_of(stride));
            kept = landmarks.iter().map(|landmark| landmark.size().0).sum();
        }
        walk.step(guide)?;
    }
    drop(walk);
    let mut level = level;
    while let Some(landmark) = landmarks.pop() {
        let at = landmark.level;
        target = if level - at == 1 {
            let (thread, before) = predecessor(guide, &landmark, &target)?;
            path.push(thread);
            before
        } else {
            back(guide, landmark, level, target, path)?
        };
        level = at;
    }
    Some(target)
}

/// The step that leads from an entry of this level to the target.
fn predecessor<M: Machine>(
    guide: &Guide<'_, M>,
    walk: &Walk<M::State>,
    (cut, state): &Entry<M::State>,
) -> Option<(u32, Entry<M::State>)> {
    let mut best: Option<(u32, u32, Entry<M::State>)> = None;
    for thread in 0..cut.len() as u32 {
        let Some(count) = cut[thread as usize].checked_sub(1) else { continue };
        let mut before = cut.clone();
        before[thread as usize] = count;
        let fits = before.iter().zip(0..).all(|(&count, thread)| walk.layout.fits(thread, count));
        let Some(step) = guide.causality.next(thread, |of| before[of as usize]).filter(|_| fits) else {
            continue;
        };
        if best.as_ref().is_some_and(|&(event, ..)| event > step.event) {
            continue;
        }
        let leads_here = |from: &M::State| match step.letter {
            SILENT => from == state,
            letter => guide.machine.step(from, letter).0 == *state,
        };
        let from = front!(&walk.front, level => {
            let entries = level.find(&Packed::pack(&walk.layout, &before));
            level.states[entries].iter().find(|from| leads_here(from)).cloned()
        });
        if let Some(from) = from {
            best = Some((step.event, thread, (before, from)));
        }
    }
    best.map(|(_, thread, before)| (thread, before))
}
