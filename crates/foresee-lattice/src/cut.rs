//! Cuts as numbers.
//!
//! A cut is a count per thread. Packed into one integer, each count in a field of its own, with thread 0 in the highest bits,
//! * the cut after one more step of thread t is the number plus a constant, so what follows from a sorted list of cuts by steps of t
//!   is a sorted list: the explorer merges, and never hashes;
//! * two cuts compare as their counts do, thread by thread, whatever the widths of the fields: a list stays sorted when it is
//!   packed anew.
//!
//! Fields are as wide as the thread's known steps need, if all fit in 128 bits. Otherwise they count from the smallest cut of the
//! level, which moves on as the exploration does; and where even that is too wide, a cut is a boxed slice.

use std::fmt::Debug;

/// A packed cut.
pub trait Packed: Clone + Ord + Send + Sync + Debug {
    /// Packs counts.
    fn pack(layout: &Layout, counts: &[u32]) -> Self;

    /// The count of a thread.
    fn get(&self, layout: &Layout, thread: u32) -> u32;

    /// With one more step of the thread.
    fn bump(&self, layout: &Layout, thread: u32) -> Self;

    /// How many bytes one takes.
    fn bytes(layout: &Layout) -> usize;
}

macro_rules! integer {
    ($int:ty) => {
        impl Packed for $int {
            fn pack(layout: &Layout, counts: &[u32]) -> Self {
                let fields = counts.iter().zip(&layout.fields);
                fields.fold(0, |all, (&count, field)| all | <$int>::from(count - field.base) << field.shift)
            }

            #[inline]
            fn get(&self, layout: &Layout, thread: u32) -> u32 {
                let field = &layout.fields[thread as usize];
                ((*self >> field.shift) as u32 & field.mask) + field.base
            }

            #[inline]
            fn bump(&self, layout: &Layout, thread: u32) -> Self {
                *self + (1 << layout.fields[thread as usize].shift)
            }

            fn bytes(_: &Layout) -> usize {
                size_of::<Self>()
            }
        }
    };
}

integer!(u64);
integer!(u128);

impl Packed for Box<[u32]> {
    fn pack(_: &Layout, counts: &[u32]) -> Self {
        counts.into()
    }

    #[inline]
    fn get(&self, _: &Layout, thread: u32) -> u32 {
        self[thread as usize]
    }

    fn bump(&self, _: &Layout, thread: u32) -> Self {
        let mut next = self.clone();
        next[thread as usize] += 1;
        next
    }

    fn bytes(layout: &Layout) -> usize {
        // With what the allocator adds.
        size_of::<Self>() + 16 + layout.threads() * 4
    }
}

/// Where a thread's count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    shift: u32,
    mask: u32,
    base: u32,
}

/// How wide a packed cut must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Width {
    Bits64,
    Bits128,
    Boxed,
}

/// Where the counts are in packed cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    fields: Vec<Field>,
    /// How wide the cuts are.
    pub width: Width,
}

impl Layout {
    /// For cuts with these smallest and largest counts, and room for `most` of each thread if that fits.
    pub fn new(smallest: &[u32], largest: &[u32], most: &[u32]) -> Layout {
        let ranges = |from: &dyn Fn(usize) -> u32, to: &dyn Fn(usize) -> u32| {
            Layout::of((0..most.len()).map(|t| (from(t), to(t))))
        };
        ranges(&|_| 0, &|t| most[t])
            // With room for as many steps again, or at least a few: packing anew must not happen at every level.
            .or_else(|| ranges(&|t| smallest[t], &|t| roomy(smallest[t], largest[t], most[t])))
            .unwrap_or_else(|| {
                let fields = vec![Field { shift: 0, mask: u32::MAX, base: 0 }; most.len()];
                Layout { fields, width: Width::Boxed }
            })
    }

    fn of(ranges: impl Iterator<Item = (u32, u32)> + Clone) -> Option<Layout> {
        let bits = |(from, to): (u32, u32)| u32::BITS - (to - from).leading_zeros();
        let mut shift: u32 = ranges.clone().map(bits).sum();
        let (width, highest) = match shift {
            // One bit stays free, so that adding to the highest field cannot overflow.
            0..=63 => (Width::Bits64, 63),
            64..=127 => (Width::Bits128, 127),
            _ => return None,
        };
        let field = |(from, to)| {
            let bits = bits((from, to));
            shift -= bits;
            // A field of no bits has only its base; where it would be must be a valid place all the same.
            Field { shift: shift.min(highest), mask: ((1u64 << bits) - 1) as u32, base: from }
        };
        Some(Layout { fields: ranges.map(field).collect(), width })
    }

    /// Whether a cut with so many steps of a thread can be packed.
    #[inline]
    pub fn fits(&self, thread: u32, count: u32) -> bool {
        let field = &self.fields[thread as usize];
        count >= field.base && count - field.base <= field.mask
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.fields.len()
    }

    /// The counts of a cut.
    pub fn counts<K: Packed>(&self, cut: &K) -> Vec<u32> {
        (0..self.fields.len() as u32).map(|thread| cut.get(self, thread)).collect()
    }
}

fn roomy(smallest: u32, largest: u32, most: u32) -> u32 {
    let window = largest - smallest;
    largest.saturating_add(window.max(15)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_counts_and_order_whatever_the_layout() {
        let cuts: Vec<[u32; 3]> = vec![[3, 0, 9], [3, 1, 0], [3, 1, 8], [4, 0, 0], [4, 1, 9]];
        let most = [4, 1, 9];
        for layout in [
            Layout::new(&[0; 3], &[0; 3], &most),
            Layout::new(&[3, 0, 0], &[4, 1, 9], &[u32::MAX, 1, u32::MAX]),
        ] {
            let packed: Vec<u64> = cuts.iter().map(|cut| u64::pack(&layout, cut)).collect();
            assert!(packed.is_sorted());
            let wide: Vec<u128> = cuts.iter().map(|cut| u128::pack(&layout, cut)).collect();
            for ((cut, packed), wide) in cuts.iter().zip(&packed).zip(&wide) {
                assert_eq!(layout.counts(packed), cut);
                assert_eq!(layout.counts(wide), cut);
                assert_eq!(packed.bump(&layout, 0).get(&layout, 0), cut[0] + 1);
            }
        }
    }

    #[test]
    fn wide_fields_do_not_overlap() {
        let most = [2_500_000; 4];
        let layout = Layout::new(&[0; 4], &[0; 4], &most);
        assert_eq!(layout.width, Width::Bits128);
        let counts = [2_400_001, 7, 2_499_999, 12];
        let cut = u128::pack(&layout, &counts);
        assert_eq!(layout.counts(&cut), counts);
        assert_eq!(layout.counts(&cut.bump(&layout, 0)), [2_400_002, 7, 2_499_999, 12]);
    }

    #[test]
    fn what_does_not_fit_is_boxed() {
        let most = [u32::MAX; 5];
        assert_eq!(Layout::new(&[0; 5], &[1 << 30; 5], &most).width, Width::Boxed);
        let near = Layout::new(&[1 << 30; 5], &[(1 << 30) + 9; 5], &most);
        assert_eq!(near.width, Width::Bits64);
        assert!(near.fits(2, (1 << 30) + 20) && !near.fits(2, 1 << 31) && !near.fits(2, 0));
    }
}
